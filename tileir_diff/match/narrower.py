"""Index arithmetic that one side does in other steps, or in fewer bits, than the other.

The comparison takes index arithmetic of 32 bits and more not to wrap. Where both sides do the same with a
number, it wraps alike. Where only the generated side's is narrow, that the number fits is the host's to
guarantee; where what may have wrapped is compared or divided otherwise, that it has not is taken for granted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph.integers import fits, index_like
from tileir_diff.match.obligations import obligation
from tileir_diff.match.overflow import OVERFLOW_OPS, relied_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.search import Attempt

WIDE = 64
READ = {
    "absi": "read as a number", "cmpi": "compared", "divi": "divided", "itof": "read as a number",
    "maxi": "compared", "mini": "compared", "remi": "divided", "shri": "divided",
}  # fmt: skip
"""Ops whose result is another where an operand has wrapped, and what they do with it."""
SHAPES = ("reshape", "broadcast")
MODULAR = frozenset({"addi", "muli", "negi", "subi"})
"""Ops whose low bits do not depend on the high ones of the operands."""
FLAGS = ("predicate", "signed", "rounding", "rounding_mode")


def narrower(blame: Blame, attempt: Attempt) -> list[str]:
    """What must fit the generated side's narrow integers, in words; notes what is taken for granted."""
    numbers = _Numbers(blame, attempt)
    _note_what_is_read(blame, numbers)
    found: dict[TileOp, tuple[Term, int]] = {}
    if not blame.generated.name.startswith("_Z"):  # what tile C++ says of its arithmetic is noted as such
        found.update((op, (term, _bits(op.results[0]))) for op, term in relied_on(blame, attempt).items())
    for op in blame.generated.ops:
        bits = _bits(op.results[0]) if op.short in OVERFLOW_OPS else WIDE
        term = numbers.generated(op.results[0]) if 1 < bits < WIDE else None
        if term is None or fits(blame.terms, term, bits) or not blame.generated.is_used(op):
            continue
        alike = numbers.narrow.get(term, [])
        widened = _widened(op.results[0])
        if widened:
            if not any(_widened(value) or widened <= _reads(value) for value in alike):
                found[op] = term, bits
        elif term in numbers.wide and not alike:
            found[op] = term, bits
    lines: dict[str, None] = {}
    for op, (term, bits) in found.items():
        # a sum that fits is right whatever its parts do
        if not any(user in found for user in _users(op.results[0])):
            lines[obligation(blame.terms, term, f"{blame.show(term)} fits i{bits}")] = None
    return list(lines)


class _Numbers:
    """The integers of both sides, over the same symbols."""

    def __init__(self, blame: Blame, attempt: Attempt) -> None:
        self.blame = blame
        terms = self.terms = blame.terms
        self.iterations: dict[Term, Term] = {}
        for pair in (*attempt.match.loads, *attempt.match.pairs):
            for ref, gen in zip(pair.reference.effect.loops, pair.generated.effect.loops, strict=False):
                self.iterations.setdefault(gen.iteration, terms.atom(ref.iteration))
        self.wide: set[Term] = set()
        """The reference's, of 64 bits."""
        self.narrow: dict[Term, list[Any]] = {}
        """The reference's, of fewer bits, with the values that are used."""
        for value, term in blame.reference.values.items():
            if not isinstance(term, int):
                continue
            if _bits(value) >= WIDE:
                self.wide.add(term)
            elif not hasattr(value.owner, "results") or blame.reference.is_used(value.owner):  # pyright: ignore[reportArgumentType]
                self.narrow.setdefault(term, []).append(value)
        known = [terms.symbols[term] for term in (*self.wide, *self.narrow)]
        self.symbols = frozenset[int]().union(*known)

    def generated(self, value: Any) -> Term | None:
        """A value of the generated side, as the reference would have it; None where that is not known."""
        term = self.blame.generated_term(value)
        if term is None:
            return None
        renamed = self.terms.subst(term, self.iterations) if self.iterations else term
        unknown = self.terms.symbols[renamed] - self.symbols
        return None if any(self.terms.kind[x] in ("iter", "carry") for x in unknown) else renamed

    def reference(self, value: Any) -> Term | None:
        term = self.blame.reference.values.get(value)
        return term if isinstance(term, int) else None


def _note_what_is_read(blame: Blame, numbers: _Numbers) -> None:
    """Numbers that may have wrapped and that only one side compares, or divides, as it does."""
    sides = (blame.reference, numbers.reference), (blame.generated, numbers.generated)
    read = [_read(blame, kernel, number) for kernel, number in sides]
    for (kernel, _), own, other in zip(sides, read, reversed(read), strict=True):
        for key in own:
            if key not in other:
                kernel.assume(own[key])


def _read(blame: Blame, kernel: Kernel, number: Any) -> Mapping[object, str]:
    terms = blame.terms
    found: dict[object, str] = {}
    for op in kernel.ops:
        if op.short not in READ or not 1 < (bits := _bits(op.operands[0])) < WIDE:
            continue
        operands = tuple(number(value) for value in op.operands)
        known = [term for term in operands if term is not None]
        if len(known) < len(operands) or not kernel.is_used(op):
            continue
        if any(
            not fits(terms, term, bits) and index_like(terms, term) and _is_sum(terms, term) for term in known
        ):
            key = op.short, bits, operands, tuple(str(op.get(flag)) for flag in FLAGS)
            found[key] = f"index arithmetic in i{bits} does not wrap before it is {READ[op.short]}"
    return found


def _is_sum(terms: Any, term: Term) -> bool:
    """Whether anything is computed: what a parameter holds has not wrapped."""
    return terms.single(term) is None


def _widened(value: Any) -> frozenset[str]:
    """The ops that see it where a number has wrapped, as it is widened; none where it is only cut again."""
    found: set[str] = set()
    work: list[tuple[Any, bool, bool]] = [(value, False, False)]
    known = {value}
    while work:
        number, wide, computed = work.pop()
        for user in _users(number):
            short = getattr(user, "short", "")
            if short == "exti" or (wide and short in MODULAR):
                if user.results[0] not in known:
                    known.add(user.results[0])
                    work.append((user.results[0], True, computed or short != "exti"))
            elif short == "offset" or (wide and short not in (*SHAPES, "trunci")):
                found.add("arithmetic" if computed else short)
    return frozenset(found)


def _reads(value: Any) -> frozenset[str]:
    """The ops that read a number as it is, wrapped or not."""
    return frozenset(short for user in _users(value) if (short := getattr(user, "short", "")) in READ)


def _users(value: Any) -> Iterator[Any]:
    """The ops that read a value, also in another shape."""
    work: list[Any] = [value]
    while work:
        for use in work.pop().uses:
            yield use.operation
            if getattr(use.operation, "short", "") in SHAPES:
                work.append(use.operation.results[0])


def _bits(value: Any) -> int:
    return getattr(getattr(value.type, "element", None), "bits", 0)
