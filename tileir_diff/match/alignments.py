"""Alignment of the memory that a kernel brings itself: allocations of a block, and globals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.ir import TileOp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


def alignments(blame: Blame, attempt: Attempt) -> Iterator[Difference]:
    """Memory that is aligned less than in the reference; more is no difference."""
    theirs = _own_memory(attempt.generated)
    for term, (ref_op, wanted) in _own_memory(attempt.reference).items():
        gen_op, given = theirs.get(term, (None, wanted))
        if given < wanted:
            words = (f"alignment = {size}" if size else "no alignment" for size in (wanted, given))
            yield blame.make("divisibility/weaker", ref_op, gen_op, *words)


def _own_memory(kernel: Kernel) -> dict[Term, tuple[TileOp, int]]:
    """By address, the op that gives it and its alignment in bytes; 0: that of an element."""
    found: dict[Term, tuple[TileOp, int]] = {}
    for op in kernel.ops:
        if op.short in ("alloca", "get_global"):
            source = op if op.short == "alloca" else _definition(op, kernel.entry)
            address = kernel.values.get(op.results[0])
            if source is not None and isinstance(address, int):
                found.setdefault(address, (op, source.get("alignment") or 0))
    return found


def _definition(op: TileOp, entry: TileOp) -> TileOp | None:
    """The global that the op gives the address of."""
    module = entry.parent_op()
    others = module.inner() if isinstance(module, TileOp) else ()
    name = op.get("sym_name")
    return next((each for each in others if each.short == "global" and each.get("sym_name") == name), None)
