"""What a comparison of two modules returns, and what it is asked for.

The matcher fills these records; rules, verdict and report only read them.
Everything is ordered: lists keep the order in which the matcher decided, root causes first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the dialect is heavy to import, and these records only carry references to its ops
    from collections.abc import Iterable, Mapping

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.match.launch import ArgumentMap, Launch
    from tileir_diff.match.proofs import Prover


class Site(NamedTuple):
    """One op of one side, and the part of it that a finding points at.

    `part` names an operand group or attribute ("mask", "dim"); None points at the whole op.
    """

    op: TileOp
    entry: str
    part: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the generated kernel does not read like the reference."""

    rule: str
    """`family/detail`, such as "mask/missing"."""
    reference: Site | None
    generated: Site | None
    expected: str
    """How the reference reads, short and human: "n < A.shape0"."""
    actual: str
    status: str = "DIFFERS"
    """DIFFERS, MISSING (in generated), EXTRA (in generated) or SEMANTIC_EQUIV."""
    impact: str | None = None
    """Overrides the rule's own impact where the comparison knows better."""
    note: str = ""
    """One more sentence of evidence: "holds for the launch given only"."""
    detail: Mapping[str, object] = field(default_factory=lambda: dict[str, object]())
    """Named values for the rule's message template."""
    also: tuple[int, ...] = ()
    """Other lines of the generated dump where the same shows."""

    def at_lines_too(self, others: Iterable[Difference]) -> Difference:
        """This difference in place of others too, whose lines it names."""
        own = self.generated.op.span.line if self.generated is not None else 0
        lines = set(self.also)
        for each in others:
            lines.update(each.also, (each.generated.op.span.line,) if each.generated is not None else ())
        return replace(self, also=tuple(sorted(lines - {own})))


@dataclass(slots=True)
class ArgumentPair:
    """Parameters of the reference and the generated entry that stand for each other.

    More than one on a side means that they only together are the other side's: base, size and stride of one
    array.
    """

    reference: tuple[str, ...]
    generated: tuple[str, ...]
    how: str
    """given, role, name, use or unmatched."""


class Matched(NamedTuple):
    """What of one pair of entries is which, for evidence from outside the comparison."""

    reference: TileOp
    """The entry."""
    generated: TileOp
    operations: tuple[tuple[TileOp, TileOp], ...] = ()
    """Memory operations that are each other's, equal or not: loads first, each in the reference's order."""
    parameters: Mapping[int, int] = MappingProxyType({})
    """The reference's parameter for each generated one that has a partner, by position."""


class Equivalence(NamedTuple):
    """Something written differently on both sides and treated as equal."""

    name: str
    """Name of the equivalence, as `--no-equivalence` takes it."""
    reference: Site | None
    generated: Site | None
    why: str


class Semantics(NamedTuple):
    """What the semantic step says of two entries.

    `outcome`: "settled" by structure, with nothing to run; "equal" in all runs; "different" on an input;
    "not-run", with the reason in `detail`. `runs`: inputs on which both sides ran. `commands`: how to run
    either side on the input that shows a difference.
    """

    reference: str
    generated: str
    outcome: str
    detail: str
    runs: int = 0
    seed: int = 0
    commands: tuple[str, ...] = ()


class Execution(NamedTuple):
    """How both sides are to be run: on how many inputs, from which seed, for how many seconds a pair of
    entries at most; `folder`: where an input that shows a difference is written; `small`: it is made small
    first; `tolerance`: rtol and atol by array, which ordinary numbers must keep besides."""

    runs: int = 40
    seed: int = 0
    budget: float = 60.0
    folder: str | None = None
    small: bool = True
    tolerance: Mapping[str, tuple[float, float]] = MappingProxyType({})


@dataclass(slots=True)
class Comparison:
    """All that the matcher found out about two modules."""

    pairs: list[tuple[str | None, str | None, float]]
    """Matched entries: reference symbol, generated symbol, similarity from 0 to 1; None: no partner."""
    arguments: list[ArgumentPair]
    differences: list[Difference]
    """Root causes first."""
    equivalences: list[Equivalence]
    obligations: list[str]
    """What the host must guarantee for the result to hold: "A.shape0 = 333"."""
    assumptions: list[str]
    """Approximations that the comparison made."""
    not_checked: list[str]
    """What was not compared, and why."""
    matched: list[Matched] = field(default_factory=lambda: list[Matched]())
    """The pairs of entries that were compared."""
    semantics: list[Semantics] = field(default_factory=list[Semantics])
    """What running both sides gave, where it was asked for."""


class CompareOptions(NamedTuple):
    """What the user tells the comparison."""

    launch: Launch | None = None
    args: ArgumentMap | None = None
    """Generated argument -> reference argument, as given by `--args`."""
    entry: str | None = None
    """Compare only this entry (symbol of either side)."""
    disabled_equivalences: frozenset[str] = frozenset()
    """Equivalences that count as differences: `--no-equivalence NAME`."""
    prover: Prover | None = None
    """Says what it can about effects that the normal form does not show to be equal: `--prove`."""
