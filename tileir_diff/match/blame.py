"""Why two values differ: walk both terms from the root to the first place where they part.

One defect gives one finding: what hangs behind a place that differs is only walked where both sides still
compute the same kind of thing. The walk itself is here; what to say about a kind of term is in ``blame_*``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

from tileir_diff.dialect.types import Ptr
from tileir_diff.graph.evaluate import substitute_carries
from tileir_diff.graph.show import show, show_both
from tileir_diff.match.model import Difference
from tileir_diff.match.sites import defining_op, origin, site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias, Unpack

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Mono, Term

    Op: TypeAlias = TileOp | None
    """The op that a finding points at on one side; None where there is none."""

MAX_DEPTH = 300
MAX_VALUES = 2000
"""How many values of a side are looked at for one that is equal."""


class Finding(NamedTuple):
    """A difference, and whether both sides still had the same shape around it."""

    difference: Difference
    structural: bool = False
    """The two terms are different kinds of computation: a parent may explain it better."""


class Lens(NamedTuple):
    """How terms of the reference and of the generated side read for one pair of effects: with the lanes of
    the effects, under their conditions. ``key``: its number."""

    ours: Callable[[Term], Term]
    theirs: Callable[[Term], Term]
    key: int


class Remarks(TypedDict, total=False):
    """Fields of a ``Difference`` that most of them leave as they are."""

    status: str
    impact: str | None
    note: str
    detail: Mapping[str, object]


class Blame:
    """Explains differences between two kernels whose terms share one store."""

    def __init__(self, reference: Kernel, generated: Kernel, names: dict[Term, str]) -> None:
        self.reference = reference
        self.generated = generated
        self.terms = reference.terms
        self.names = names
        """Names of the parameters, for showing terms."""
        self.memo: dict[tuple[Term, Term], list[Finding]] = {}
        self.renamed: dict[Term, Term] = {}
        """Iteration and carry leaves of generated loops, as those of the reference loop they belong to."""
        self.paired: set[tuple[int, int]] = set()
        """Loops, by uid, whose differences have been told."""
        self.unequal_loops: set[tuple[int, int]] = set()
        """Those of them that differ."""
        self.told_again = False
        """Whether a walk has met loops whose differences had been told."""
        self.parts: dict[tuple[str, int], frozenset[Mono]] = {}
        """By rule and op of the generated side: the summands in which an address or a mask differs."""
        self.settled: frozenset[int] = frozenset()
        """``assume`` ops (by id) that both sides have in the same place, with the same predicate."""
        self._pointers: frozenset[Term] | None = None
        self._right: dict[int, frozenset[Term]] = {}
        self.lens: Lens | None = None
        """How the values of both sides read where the pair of effects that is explained takes place."""

    def show(self, term: Term) -> str:
        return show(self.terms, term, self.names)

    def both(self, a: Term, b: Term) -> tuple[str, str]:
        """How two unequal terms read."""
        return show_both(self.terms, a, b, self.names)

    def make(
        self,
        rule: str,
        reference: Op,
        generated: Op,
        expected: str,
        actual: str,
        *,
        part: str | None = None,
        **remarks: Unpack[Remarks],
    ) -> Difference:
        """A difference at an op of each side, see ``Difference`` for the fields."""
        sites = site(self.reference, reference, part), site(self.generated, generated, part)
        return Difference(rule, *sites, expected, actual, **remarks)

    def one(
        self,
        rule: str,
        reference: Op,
        generated: Op,
        expected: str,
        actual: str,
        *,
        part: str | None = None,
        structural: bool = False,
        **remarks: Unpack[Remarks],
    ) -> list[Finding]:
        """``make`` as the only finding of a walk."""
        made = self.make(rule, reference, generated, expected, actual, part=part, **remarks)
        return [Finding(made, structural)]

    def rename(self, term: Term) -> Term:
        """A generated term with the symbols of paired loops replaced."""
        return substitute_carries(self.terms, term, self.renamed, {}) if self.renamed else term

    def generated_term(self, value: SSAValue) -> Term | None:
        """What a value of the generated side is, with the symbols of paired loops replaced."""
        term = self.generated.values.get(value)
        return self.rename(term) if isinstance(term, int) else None

    def ops(self, a: Term, b: Term, ref_user: Op, gen_user: Op) -> tuple[Op, Op]:
        """The ops that compute the two terms; the users where nothing is known to."""
        return (
            origin(self.reference, a, ref_user) or ref_user,
            self.generated_op(b, gen_user) or gen_user,
        )

    def generated_op(self, term: Term, user: Op) -> Op:
        """The op of the generated side that computes a term whose symbols may have been replaced."""
        for value in () if user is None else user.operands:
            if self._is(value, term):
                op = defining_op(value)
                if op is not None:
                    return op
        return origin(self.generated, term)

    def _is(self, value: SSAValue, term: Term) -> bool:
        """Whether a value of the generated side is a term, as it is or as it reads where it is used."""
        now = self.generated_term(value)
        return now is not None and (now == term or (self.lens is not None and self.lens.theirs(now) == term))

    def misread(self, term: Term, op: Op) -> bool:
        """Whether an op computes what the reference has too, so that not it is wrong, but who reads it.

        An op that only hands on what another computes was meant to compute something else.
        """
        if not self.terms.symbols[term]:
            return True
        if not self._is_right(term):
            return False
        values = list(self.generated.values)[:MAX_VALUES]
        return next((defining_op(value) for value in values if self._is(value, term)), op) is op

    def _is_right(self, term: Term) -> bool:
        """Whether the reference has this value too, if for another use."""
        lens = self.lens
        key = 0 if lens is None else lens.key
        if key not in self._right:
            plain = [value for value in self.reference.values.values() if isinstance(value, int)][:MAX_VALUES]
            self._right[key] = frozenset(plain).union(() if lens is None else map(lens.ours, plain))
        return term in self._right[key]

    def pointers(self) -> frozenset[Term]:
        """The symbols of the pointer parameters of both sides."""
        if self._pointers is None:
            leaves: set[Term] = set()
            for kernel in (self.reference, self.generated):
                parameters = kernel.entry.regions[0].block.args
                for param, term in zip(parameters, kernel.arguments, strict=True):
                    leaf = self.terms.single(term)
                    if leaf is not None and isinstance(getattr(param.type, "element", None), Ptr):
                        leaves.add(leaf)
            self._pointers = frozenset(leaves)
        return self._pointers

    def values(self, reference: Term, generated: Term, ref_user: Op, gen_user: Op) -> list[Difference]:
        """Root causes for a value that one op of each side uses."""
        return [finding.difference for finding in self.walk(reference, generated, ref_user, gen_user, 0)]

    def walk(self, a: Term, b: Term, ref_user: Op, gen_user: Op, depth: int) -> list[Finding]:
        """Root causes for two terms, each pair of terms once."""
        from tileir_diff.match.blame_values import explain, unexplained

        b = self.rename(b)
        if a == b:
            return []
        key = (a, b)
        if key in self.memo:
            return self.memo[key]
        self.memo[key] = []  # a pair met again below itself adds nothing
        if depth > MAX_DEPTH:
            found = unexplained(self, a, b, ref_user, gen_user)
        else:
            found = explain(self, a, b, ref_user, gen_user, depth)
        self.memo[key] = found
        return found


def first_of(differences: Iterable[Difference]) -> list[Difference]:
    """One finding per rule and place; of hints, which are many at one place, one per hint."""
    seen: set[tuple[object, ...]] = set()
    kept: list[Difference] = []
    for difference in differences:
        key = (
            difference.rule,
            id(difference.reference.op) if difference.reference else None,
            id(difference.generated.op) if difference.generated else None,
            difference.expected if difference.rule.split("/")[0].endswith("-hint") else None,
        )
        if key not in seen:
            seen.add(key)
            kept.append(difference)
    return kept
