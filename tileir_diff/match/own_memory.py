"""Memory that a kernel brings itself, allocations of a block and globals: alignment, and who may write."""

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


READ_ONLY, WRITABLE = "constant", "writable"


def own_memory(blame: Blame, attempt: Attempt) -> Iterator[Difference]:
    """Memory that is aligned less than in the reference, more is no difference; globals that only one side
    takes as never written."""
    theirs = _own_memory(attempt.generated)
    accessed = {array for effect in attempt.generated.effects for array in effect.arrays}
    for term, (ref_op, ref_source) in _own_memory(attempt.reference).items():
        if term not in theirs:
            continue
        gen_op, gen_source = theirs[term]
        wanted, given = (source.get("alignment") or 0 for source in (ref_source, gen_source))
        if given < wanted:
            words = (f"alignment = {size}" if size else "no alignment" for size in (wanted, given))
            yield blame.make("divisibility/weaker", ref_op, gen_op, *words)
        kept, promised = (bool(source.get("constant")) for source in (ref_source, gen_source))
        if kept != promised and term in accessed:
            rule = "constant/read-only" if promised else "constant/writable"
            words = (READ_ONLY if each else WRITABLE for each in (kept, promised))
            yield blame.make(rule, ref_op, gen_op, *words)


def other_table(blame: Blame, a: Term, b: Term) -> Difference | None:
    """Two addresses in globals that differ in one value, as a difference of this value."""
    terms = blame.terms
    tables: list[TileOp] = []
    for kernel, address in ((blame.reference, a), (blame.generated, b)):
        known = _own_memory(kernel)
        parts = (mono[0] for mono, factor in terms.items(address) if len(mono) == 1 and factor == 1)
        found = [known[each][1] for leaf in parts if (each := terms.atom(leaf)) in known]
        tables += [op for op in found if op.short == "global" and op.get("value") is not None]
    if len(tables) != 2:
        return None
    values = [op.get("value") for op in tables]
    if (values[0].element, values[0].shape) != (values[1].element, values[1].shape):
        return None
    numbers = [value.ints() if value.element.is_int else value.floats() for value in values]
    others = [at for at, (x, y) in enumerate(zip(*numbers, strict=False)) if x != y]
    if len(others) != 1:
        return None
    expected, actual = (f"{each[others[0]]} as element {others[0]}" for each in numbers)
    return blame.make("constant/value", tables[0], tables[1], expected, actual, part="value")


def _own_memory(kernel: Kernel) -> dict[Term, tuple[TileOp, TileOp]]:
    """By address the op that gives it, and the op that defines the memory."""
    found: dict[Term, tuple[TileOp, TileOp]] = {}
    for op in kernel.ops:
        if op.short in ("alloca", "get_global"):
            source = op if op.short == "alloca" else _definition(op, kernel.entry)
            address = kernel.values.get(op.results[0])
            if source is not None and isinstance(address, int):
                found.setdefault(address, (op, source))
    return found


def _definition(op: TileOp, entry: TileOp) -> TileOp | None:
    """The global that the op gives the address of."""
    module = entry.parent_op()
    others = module.inner() if isinstance(module, TileOp) else ()
    name = op.get("sym_name")
    return next((each for each in others if each.short == "global" and each.get("sym_name") == name), None)
