"""An integer op that computes something else of the same operands: the root of an index that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.match.blame_indices import CONDITIONS, integer_modes
from tileir_diff.match.sites import text

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame, Op
    from tileir_diff.match.model import Difference

KINDS = frozenset(
    {"addi", "subi", "muli", "divi", "remi", "mini", "maxi", "shli", "shri", "andi", "ori", "xori"}
)
COMMUTATIVE = frozenset({"addi", "muli", "mini", "maxi", "andi", "ori", "xori"})
BOUNDS = {"mini", "maxi"}
MAX_OPS = 2000


def changed_op(blame: Blame, ref_op: Op, gen_op: Op) -> Difference | None:
    """The first op behind ``gen_op`` that does another thing with the operands of one behind ``ref_op``.

    Neither value is computed anywhere on the other side; so the two stand for each other.
    """
    if ref_op is None or gen_op is None:
        return None
    ours, theirs = _behind(blame, blame.reference, ref_op), _behind(blame, blame.generated, gen_op)
    values = _values(blame, blame.reference), _values(blame, blame.generated)
    wanted = {operands: op for op, value, operands in ours[::-1] if value not in values[1]}
    for gen, value, operands in theirs:
        if value in values[0]:
            continue
        ref = wanted.get(operands)
        if ref is not None:
            return _difference(blame, ref, gen)
        ref = wanted.get(operands[::-1])
        if ref is not None and ref.short == gen.short and gen.short not in COMMUTATIVE:
            words = (", ".join(map(blame.show, each)) for each in (operands[::-1], operands))
            return blame.make("arithmetic/operands", ref, gen, *words)
    return None


def _difference(blame: Blame, ref: Any, gen: Any) -> Difference | None:
    """Two ops of the same operands: another mode, or the other bound."""
    if ref.short == gen.short:
        modes = integer_modes(blame, ref, gen)
        return modes[0] if modes else None
    if {ref.short, gen.short} != BOUNDS:
        return None  # ops of two other kinds may have the same operands by chance
    return blame.make("arithmetic/op", ref, gen, text(ref), text(gen))


def _behind(blame: Blame, kernel: Kernel, op: Any) -> list[tuple[Any, Term, tuple[Term, ...]]]:
    """The integer ops that an op's operands come from, in order: op, its value, its operands."""
    found: list[tuple[Any, Term, tuple[Term, ...]]] = []
    seen: set[int] = set()
    work: list[Any] = [op]
    while work and len(seen) < MAX_OPS:
        each = work.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        work.extend(_owner(value) for value in each.operands)
        if getattr(each, "short", "") in KINDS:
            terms = [_term(blame, kernel, value) for value in (each.results[0], *each.operands)]
            if terms[0] is not None and blame.terms.kind[terms[0]] in CONDITIONS:
                continue  # conditions are compared as masks
            known = tuple(term for term in terms if term is not None)
            if len(known) == len(terms):
                found.append((each, known[0], known[1:]))
    return sorted(found, key=lambda item: item[0].span.line)


def _values(blame: Blame, kernel: Kernel) -> set[Term | None]:
    """All values of a side."""
    return {_term(blame, kernel, value) for value in kernel.values}


def _owner(value: SSAValue) -> Any:
    """The op behind a value; of a block's argument, the op that has the block."""
    owner: Any = value.owner
    return owner if hasattr(owner, "operands") else owner.parent_op()


def _term(blame: Blame, kernel: Kernel, value: SSAValue) -> Term | None:
    term = kernel.values.get(value)
    if not isinstance(term, int):
        return None
    return blame.rename(term) if kernel is blame.generated else term
