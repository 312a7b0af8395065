"""Promises that an integer op does not wrap, which the other side does not make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph.values import around, is_bool, is_used, signed_range
from tileir_diff.match.canonical import outward, trips

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.align import Alignment
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

    Key = tuple[int, ...]

OVERFLOW_OPS = frozenset({"addi", "subi", "muli", "shli", "negi", "trunci"})
INDEX_OPS, SHAPE_OPS = ("addi", "muli", "negi", "subi"), ("broadcast", "extract", "permute", "reshape")
FLAGS = {"nsw": frozenset({"nsw"}), "nuw": frozenset({"nuw"}), "nw": frozenset({"nsw", "nuw"})}


def relied_on(blame: Blame, attempt: Attempt) -> dict[TileOp, Term]:
    """The generated ops whose promise makes an address of loaded numbers equal, each with its number.

    The reference leaves the address to a view, or to wider integers, where nothing wraps: without the promise
    the port would be wrong. What is left is that the number fits, which is the host's to guarantee.
    """
    found: dict[TileOp, Term] = {}
    if "offset" not in attempt.unwraps or "offset" in attempt.reference.unwrapped:
        return found
    for op in blame.generated.ops:
        value = blame.generated.values.get(op.results[0]) if op.short in INDEX_OPS else None
        wrapped = blame.terms.single(value) if isinstance(value, int) else None
        nsw = wrapped is not None and "nsw" in flags_of(op) and blame.terms.kind[wrapped] == "wrap"
        if wrapped is not None and nsw and _is_address(op):
            found[op] = blame.terms.args[wrapped][0]
    return found


def _is_address(op: TileOp) -> bool:
    """Whether all that is made of a number by index arithmetic is addresses, or indices of views."""
    users = [use.operation for use in op.results[0].uses]
    return bool(users) and all(_reads_address(user) for user in users)


def _reads_address(user: Any) -> bool:
    if user.short in ("offset", "load_view_tko", "store_view_tko"):
        return True
    return user.short in (*INDEX_OPS, *SHAPE_OPS, "exti") and _is_address(user)


def overflow_promises(
    blame: Blame, alignment: Alignment | None, relied: Collection[TileOp] = ()
) -> list[Difference]:
    """Flags by which a generated op promises not to wrap, where nothing shows that it does not.

    The reference's op that it is compared with is the one that it aligns with, else one of the same value.
    What the signed arithmetic of tile C++ promises is the language's and says nothing about the port: in
    another front end it is no difference, and noted in ``generated.assumptions``. Nor is what ``relied_on``
    gives.
    """
    pairs = () if alignment is None else alignment.pairs
    aligned: dict[TileOp, TileOp] = {gen: ref for ref, gen in pairs if ref.short in OVERFLOW_OPS}
    stated = _stated(blame.reference)
    spoken = _is_cpp(blame.generated) and not _is_cpp(blame.reference)
    found: list[Difference] = []
    seen: set[object] = set()
    for op, key in _computing(blame.generated):
        if not flags_of(op):
            continue
        partner = aligned.get(op)
        known = (flags_of(partner), partner) if partner is not None else stated.get(key, (NOTHING, None))
        promised = frozenset(flag for flag in flags_of(op) - known[0] if not _holds(blame, op, flag))
        if spoken and "nsw" in promised:
            blame.generated.assume("signed arithmetic of tile C++ does not wrap, as the language promises")
            promised -= {"nsw"}
        if op in relied:
            promised -= {"nsw"}
        if not promised or (partner is None and key in seen) or not is_used(op):
            continue
        seen.add(key)
        words = "none" if known[1] is None else str(known[1].get("overflow")), str(op.get("overflow"))
        status = "EXTRA" if known[1] is None else "DIFFERS"
        found.append(
            blame.make("integer-mode/overflow", known[1], op, *words, part="overflow", status=status)
        )
    return found


NOTHING = frozenset[str]()


def flags_of(op: TileOp) -> frozenset[str]:
    return FLAGS.get(str(op.get("overflow")), NOTHING)


def _bits(op: TileOp) -> int:
    kind: Any = op.results[0].type
    return kind.element.bits


def _is_cpp(kernel: Kernel) -> bool:
    return kernel.name.startswith("_Z")


def _computing(kernel: Kernel) -> Iterator[tuple[TileOp, Key]]:
    """The ops that may make such a promise, each with its value and width, and the loops around it.

    The value is a function of the iterations of these loops, which are named alike on both sides.
    """
    opened = {loop.op: loop for loop in kernel.loops}
    for op in kernel.ops:
        term = kernel.values.get(op.results[0]) if op.short in OVERFLOW_OPS else None
        if isinstance(term, int):
            loops = tuple(loop for above in reversed(around(op)) if (loop := opened.get(above)) is not None)
            yield op, (outward(kernel.terms, loops, term), _bits(op), *trips(kernel.terms, loops))


def _stated(kernel: Kernel) -> Mapping[Key, tuple[frozenset[str], TileOp]]:
    """By value, width and loops what is promised of it, and the last op that computes it."""
    found: dict[Key, tuple[frozenset[str], TileOp]] = {}
    for op, key in _computing(kernel):
        old = found[key][0] if key in found else NOTHING
        found[key] = (flags_of(op) | old, op)
    return found


def _holds(blame: Blame, op: TileOp, flag: str) -> bool:
    """Whether the facts show that the op does not wrap."""
    terms = blame.terms
    if any(is_bool(operand) for operand in op.operands):
        return False
    values = [blame.generated.values.get(operand) for operand in op.operands]
    operands = [value for value in values if isinstance(value, int)]
    exact = exact_result(terms, op, operands) if len(operands) == len(values) else None
    low, high = (None, None) if exact is None else terms.range(exact)
    if low is None or high is None:
        return False
    smallest, largest = signed_range(_bits(op))
    if flag == "nsw":
        return smallest <= low and high <= largest
    # read as unsigned, a negative operand is a large one
    return low >= 0 and high <= 2 * largest + 1 and all(terms.nonneg(value) for value in operands)


def exact_result(terms: Terms, op: TileOp, operands: list[Term]) -> Term | None:
    """What the op would give in integers of any size."""
    first, *others = operands
    match op.short:
        case "addi":
            return terms.add(first, *others)
        case "subi":
            return terms.sub(first, *others)
        case "muli":
            return terms.mul(first, *others)
        case "negi":
            return terms.scale(first, -1)
        case "trunci":
            return first
        case _:
            amount = terms.value(others[0])
            return None if amount is None or not 0 <= amount < _bits(op) else terms.scale(first, 1 << amount)
