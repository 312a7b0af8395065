"""Strides that the port has as numbers, and that are shorter than the rows they step over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.match import arguments
from tileir_diff.match.bound_values import is_launched
from tileir_diff.match.view_sizes import tensor_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


def short_strides(blame: Blame, attempt: Attempt) -> Iterator[Difference]:
    """Arrays of the reference whose rows would overlap, if its strides were what the port says.

    That is no condition on the host: arrays are seldom like that, and a stride that was taken from another
    array is. Nothing is told of strides that the reference, or a launch, gives itself.
    """
    terms = blame.terms
    bound = attempt.binding.reference
    if any(is_launched(terms, term) for term in bound):
        return
    roles = arguments.roles(attempt.reference)
    bases = {term: index for index, term in enumerate(attempt.reference.arguments)}
    taken = {
        (base, dim)
        for index, (base, word, dim) in roles.items()
        if word == "stride" and (term := bound[index]) is not None and terms.value(term) is not None
    }
    shapes = _shapes(terms, roles, bound)
    told: set[int] = set()
    for pair in (*attempt.match.pairs, *attempt.match.loads):
        ref, gen = pair.reference.effect, pair.generated.effect
        base = None if ref.base is None else bases.get(ref.base)
        if base is None or base in told:
            continue
        short = _of_view(terms, ref) if ref.coordinates else _short(*shapes.get(base, ([], [])))
        if short is None or (base, short[0]) not in taken:
            continue
        told.add(base)
        dim, stride, least = short
        words = f"at least {least} along dimension {dim}", f"{stride} along dimension {dim}"
        ops = tensor_view(ref.op), tensor_view(gen.op)
        yield blame.make("stride/changed", *ops, *words, part="strides", note="rows of the array overlap")


def _shapes(
    terms: Terms, roles: Mapping[int, tuple[int, str, int]], bound: Sequence[Term | None]
) -> dict[int, tuple[list[int | None], list[int | None]]]:
    """Sizes and strides of arrays, as far as known; elements of a row are next to each other."""
    known = {
        (base, word, dim): None if (term := bound[index]) is None else terms.value(term)
        for index, (base, word, dim) in roles.items()
    }
    found: dict[int, tuple[list[int | None], list[int | None]]] = {}
    for base, word, dim in known:
        last = max(d for b, _, d in known if b == base)
        if word == "shape" and dim == last:
            sizes, strides = (
                [known.get((base, each, d)) for d in range(last + 1)] for each in ("shape", "stride")
            )
            strides[last] = 1 if strides[last] is None else strides[last]
            found[base] = sizes, strides
    return found


def _of_view(terms: Terms, effect: Effect) -> tuple[int, int, int] | None:
    """As ``_short`` for the view of an access."""
    if len(effect.extents) != len(effect.strides):
        return None
    return _short([terms.value(x) for x in effect.extents], [terms.value(x) for x in effect.strides])


def _short(sizes: Sequence[int | None], strides: Sequence[int | None]) -> tuple[int, int, int] | None:
    """A dimension along which elements are nearer than one row is long, its stride, and that length."""
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        if size == 1 or stride is None or stride < 0:
            continue
        if stride == 0:
            return dim, stride, 1
        for length, step in zip(sizes, strides, strict=True):
            if length is not None and step is not None and 0 < step < stride <= step * (length - 1):
                return dim, stride, step * length
    return None
