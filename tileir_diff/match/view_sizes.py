"""Sizes of tensor views that no mask shows: along a dimension whose tiles hold one element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import defining_op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


def view_sizes(blame: Blame, attempt: Attempt) -> Iterator[Difference]:
    """Sizes that differ along such dimensions, where one front end wrote both kernels.

    An index beyond the size is undefined behaviour, so equal effects do not tell. Two front ends may well
    give such a size in different forms.
    """
    if not attempt.one_front_end:
        return
    for pair in (*attempt.match.pairs, *attempt.match.loads):
        a, b = pair.reference.effect, pair.generated.effect
        if len(a.extents) != len(b.extents) or a.shape != b.shape:
            continue
        for dim, (expected, actual) in enumerate(zip(a.extents, b.extents, strict=True)):
            if dim < len(a.shape) and a.shape[dim] == 1 and expected != blame.rename(actual):
                ops = _tensor_view(a.op), _tensor_view(b.op)
                words = (f"index {dim} < {blame.show(size)}" for size in (expected, actual))
                yield blame.make("mask/changed", *ops, *words, part="shape", impact="bounds")


def _tensor_view(access: TileOp) -> TileOp:
    """The op that made the tensor view under an access, the access itself where it is not in sight."""
    op: TileOp = access
    for group in ("view", "tensor_view"):
        value = op.one(group)
        maker = None if value is None else defining_op(value)
        if maker is None:
            return access
        op = maker
    return op
