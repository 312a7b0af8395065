"""Sizes of tensor views that no mask shows: where tiles hold one element, or are promised to lie inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import defining_op
from tileir_diff.match.obligations import block_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

MANY = 1 << 12
"""An index that is made of so many blocks is not looked at, value by value."""


def promised_inside(terms: Terms, effect: Effect) -> list[Term]:
    """What an access through a view promises: that its lanes lie inside along some dimensions."""
    inbounds = (effect.op.get("inbounds") or ()) if effect.coordinates else ()
    return [inside for kept, inside in zip(inbounds, _inside(terms, effect), strict=False) if kept]


def view_sizes(blame: Blame, attempt: Attempt) -> Iterator[Difference]:
    """Sizes that differ along such dimensions, where one front end wrote both kernels.

    An access beyond the size is undefined behaviour, so equal effects do not tell. Two front ends may well
    give such a size in different forms: of these an index counts that does go beyond.
    """
    if not attempt.one_front_end:
        yield from _beyond(blame, attempt)
        return
    for pair in (*attempt.match.pairs, *attempt.match.loads):
        a, b = pair.reference.effect, pair.generated.effect
        if len(a.extents) != len(b.extents) or a.shape != b.shape:
            continue
        for dim, (expected, actual) in enumerate(zip(a.extents, b.extents, strict=True)):
            unseen = all(_is_trusted(effect, dim) for effect in (a, b))
            if unseen and expected != blame.rename(actual):
                ops = tensor_view(a.op), tensor_view(b.op)
                words = (f"{blame.show(size)} along dimension {dim}" for size in (expected, actual))
                yield blame.make("mask/changed", *ops, *words, part="shape", impact="bounds")


def unchecked_bounds(attempt: Attempt) -> Iterator[Term]:
    """That blocks lie in the views of the generated side, where equal accesses do not check it.

    Beyond the size of a view, which may be another one than the reference's, such an access is undefined
    behaviour. Nothing is told of what follows from the reference's access.
    """
    terms = attempt.reference.terms
    for pair in (*attempt.match.pairs, *attempt.match.loads):
        if not pair.equal or attempt.one_front_end:
            continue
        ref, gen = pair.reference.effect, pair.generated.effect
        known = (*terms.conjuncts(pair.reference.condition), *pair.given, *_inside(terms, ref))
        for dim, atom in enumerate(_inside(terms, gen)):
            if (
                _is_trusted(gen, dim)
                and block_only(attempt.reference, atom)
                and not terms.implies(known, atom)
            ):
                yield atom


def _inside(terms: Terms, effect: Effect) -> list[Term]:
    """That an access through a view lies inside, by dimension."""
    sides = zip(effect.coordinates, effect.extents, strict=False)
    return [terms.compare("less_than", at, size) for at, size in sides]


def _beyond(blame: Blame, attempt: Attempt) -> Iterator[Difference]:
    """Accesses of the generated side whose index leaves the view, where the reference's stays inside."""
    for pair in (*attempt.match.pairs, *attempt.match.loads):
        a, b = pair.reference.effect, pair.generated.effect
        left = _left(blame, b) if pair.equal else None  # another index is told as one
        if left is None or _left(blame, a) is not None:
            continue
        dim, last, size = left
        words = f"more than {last} along dimension {dim}", f"{size} along dimension {dim}"
        ops = tensor_view(a.op), tensor_view(b.op)
        yield blame.make("mask/changed", *ops, *words, part="shape", impact="bounds")


def _left(blame: Blame, effect: Effect) -> tuple[int, int, int] | None:
    """A dimension with tiles of one element that an access leaves: its last index there, and the size."""
    terms = blame.terms
    if effect.guard != terms.true or "pointer" in (effect.family, None):
        return None
    for dim, (coordinate, extent) in enumerate(zip(effect.coordinates, effect.extents, strict=False)):
        size, (_, last) = terms.value(extent), terms.range(coordinate)
        if size is None or not _is_trusted(effect, dim):
            continue
        if effect.shape[dim] > max(size, 1):
            return dim, effect.shape[dim] - 1, size  # not even the first tile lies inside
        if effect.shape[dim] != 1 or last is None or last < size:
            continue
        largest = _largest(terms, coordinate)
        if largest is not None and largest >= size:
            return dim, largest, size
    return None


def _is_trusted(effect: Effect, dim: int) -> bool:
    """Whether an access makes no check along a dimension: of tiles of one element, and where it promises."""
    if dim >= len(effect.shape) or effect.family not in ("partition", "strided", "gather"):
        return False
    inbounds = effect.op.get("inbounds") or ()
    one = effect.shape[dim] == 1 and effect.family == "partition"
    return one or (dim < len(inbounds) and bool(inbounds[dim]))


def _largest(terms: Terms, index: Term) -> int | None:
    """The largest value that an index takes which is made of one block index: all values of that occur.

    None where that is not known.
    """
    if len(terms.symbols[index]) != 1:
        return None
    (block,) = terms.symbols[index]
    _, last = terms.range(block)
    if terms.kind[block] != "block" or last is None or last >= MANY:
        return None
    if terms.single(index) == block:
        return last
    values = [terms.value(terms.subst(index, {block: terms.const(at)})) for at in range(last + 1)]
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def tensor_view(access: TileOp) -> TileOp:
    """The op that made the tensor view under an access, the access itself where it is not in sight."""
    op: TileOp = access
    for group in ("view", "tensor_view"):
        value = op.one(group)
        maker = None if value is None else defining_op(value)
        if maker is None:
            return access
        op = maker
    return op
