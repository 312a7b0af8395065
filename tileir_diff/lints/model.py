"""Records of the lints: what one finds in one dump, without a second one to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tileir_diff.excerpt import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts

SEVERITIES = ("warn", "info")
"""Warn: results can be wrong, or a hint has no effect. Info: worth a look; often meant."""

PREFIX = "lint/"


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One place that is legal and has bitten people.

    `rule` is `lint/<name>`, `entry` the kernel's symbol without `@`. `message` is one line of at most 100
    characters that says what is there, `fix` what to write instead.
    """

    rule: str
    severity: str
    op: TileOp
    entry: str
    message: str
    fix: str

    @property
    def line(self) -> int:
        """Line of the op in the dump as given; 0 for an op that was not read from one."""
        return self.op.span.line

    @property
    def column(self) -> int:
        return self.op.span.column


@dataclass(frozen=True, slots=True)
class Hit:
    """What one lint reports; the table adds rule and entry. `severity` None is the lint's own."""

    op: TileOp
    message: str
    fix: str
    severity: str | None = None


class Lint(Protocol):
    """What a module of this package offers. Its docstring is the only source of its page."""

    __doc__: str | None
    SEVERITY: str

    def check(self, facts: EntryFacts) -> Iterator[Hit]:
        """The places in one entry, in any order."""
        ...


MESSAGE_LIMIT = 100
"""Longest message, in characters: it must be useful as one line of a log."""


def shorten(message: str) -> str:
    """A message cut to the limit."""
    return cut(message, MESSAGE_LIMIT)
