"""Records of the rules: what a family knows of its details, and the finding that comes out.

Impacts are ordered: a finding's impact is the worst that the difference can do.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference, Site

IMPACTS = ("none", "hint", "edge", "ulp", "precision", "bounds", "assume", "logic")
"""From harmless to worst."""

STATUSES = ("DIFFERS", "MISSING", "EXTRA", "SEMANTIC_EQUIV")

MESSAGE_LIMIT = 100
"""Longest message of a finding, in characters: it must be useful as one line of a log."""


def impact_rank(impact: str) -> int:
    """Position on the scale. An impact that is not on it counts as the worst."""
    return IMPACTS.index(impact) if impact in IMPACTS else len(IMPACTS) - 1


class Detail(NamedTuple):
    """One pattern of a family: `mask/missing` is the detail "missing" of "mask".

    `message`, `effect` and `fix` are templates over `expected`, `actual`, `op`, `at` and the difference's
    own values.
    `op` is the name of the op, `at` the place in the kernel's source (" at softmax.rs:58") or empty.
    """

    impact: str
    message: str
    effect: str
    fix: str
    fixes: Mapping[str, str] = MappingProxyType({})
    """The fix in the words of one front end, by its name: {"cutile-rust": "pass `Some(mask)` ..."}."""
    cause: str = "translation"
    """Where the mistake is: "host" for what only the host code can mend."""


class Finding(NamedTuple):
    """A difference as one rule sees it. Severity and cause are added by the verdict."""

    rule: str
    impact: str
    status: str
    reference: Site | None
    generated: Site | None
    expected: str
    actual: str
    message: str
    effect: str
    fix: str
    evidence: str = ""
    also: tuple[int, ...] = ()
    """Other lines of the generated dump where the same shows."""
    cause: str = "translation"
    matters: bool = False
    """Whether evidence shows that a difference of cost is one: it is critical whatever its impact."""

    @property
    def family(self) -> str:
        return self.rule.partition("/")[0]


class Family(Protocol):
    """What a module of this package offers; `judge` and `words` are optional."""

    __doc__: str | None
    DETAILS: Mapping[str, Detail]

    def judge(self, difference: Difference) -> Detail | None:
        """The detail for a special case, None for the table's."""
        ...

    def words(self, detail: str, value: str) -> str:
        """How `expected` and `actual` read in a sentence: "reverse=True" is "in reverse"."""
        ...


def is_absent(value: str) -> bool:
    """Whether `expected` or `actual` says that there is nothing on that side."""
    return value in ("", "nothing")
