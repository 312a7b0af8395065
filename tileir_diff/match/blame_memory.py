"""Why two memory accesses differ: the moment, the array, the axis of the grid, the stride or the index."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tileir_diff.match.blame import Finding
from tileir_diff.match.blame_indices import specific
from tileir_diff.match.changed_ops import changed_op
from tileir_diff.match.own_memory import other_table
from tileir_diff.match.same_cause import differing_parts

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame, Op
    from tileir_diff.match.model import Difference


def memory(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> list[Finding]:
    """Two values read from memory."""
    terms = blame.terms
    pa, pb = terms.args[a][0], blame.rename(terms.args[b][0])
    if pa != pb:
        gen_op = _without_partner(blame, gen_op)
        return [Finding(address(blame, pa, pb, ref_op, gen_op))]
    type_a, type_b = terms.attr[a][0], terms.attr[b][0]
    if type_a != type_b:
        return blame.one("element-type/changed", ref_op, gen_op, type_a, type_b)
    found = [Finding(each) for each in orderings(blame, ref_op, gen_op)] if ref_op and gen_op else []
    if found and _writes_before(terms, a) == _writes_before(terms, b):
        return found
    words = "reads before or after other writes of the array", "reads at another point"
    return [*found, *blame.one("token-order/changed", ref_op, gen_op, *words)]


def _writes_before(terms: Terms, memory: Term) -> object:
    """How many writes a load comes after; one that is not weak is numbered beside."""
    _, epoch, ordering, _ = terms.attr[memory]
    return epoch if ordering == "weak" else epoch[0]


def _without_partner(blame: Blame, gen_op: Op) -> Op:
    """Of several loads from one address the first that the reference does not make too: the wrong one."""
    terms = blame.terms

    def begins(effect: Effect) -> Term | None:
        """The address of the first lane: the order of its lanes is each side's own."""
        if effect.kind != "load" or effect.pointer is None:
            return None
        lanes = (symbol for symbol in terms.symbols[effect.pointer] if terms.kind[symbol] == "lane")
        return blame.rename(terms.subst(effect.pointer, dict.fromkeys(lanes, terms.zero)))

    address = next((begins(each) for each in blame.generated.effects if each.op is gen_op), None)
    if address is None:
        return gen_op
    ours = [each.op for each in blame.generated.effects if begins(each) == address]
    theirs = sum(begins(each) == address for each in blame.reference.effects)
    return ours[theirs] if 0 < theirs < len(ours) else gen_op


def orderings(blame: Blame, ref_op: TileOp, gen_op: TileOp) -> list[Difference]:
    """Memory ordering and scope of two accesses."""
    found: list[Difference] = []
    for key, rule in (("memory_ordering", "memory-order/ordering"), ("memory_scope", "memory-order/scope")):
        expected, actual = ref_op.get(key), gen_op.get(key)
        if expected != actual:
            found.append(blame.make(rule, ref_op, gen_op, str(expected), str(actual), part=key))
    return found


def address(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> Difference:
    """Two unequal addresses: another array, exchanged axes, another axis of the grid, or another index."""
    table = other_table(blame, a, b)
    if table is not None:
        return table
    base_a, base_b = bases(blame, a), bases(blame, b)
    if base_a != base_b:
        return blame.make("addressing/base", ref_op, gen_op, *array_words(blame, a, b))
    maps = _dim_map(ref_op), _dim_map(gen_op)
    mapped = None not in maps and maps[0] != maps[1]
    map_words = f"dim_map={list(maps[0] or ())}", f"dim_map={list(maps[1] or ())}"
    if _transposed(blame, a, b):
        rule, words = ("dim-map/changed", map_words) if mapped else ("shape-op/changed", blame.both(a, b))
        return blame.make(
            rule, ref_op, gen_op, *words, note="the two axes of the tile are exchanged", impact="logic"
        )
    read = specific(blame, a, b) or changed_op(blame, ref_op, gen_op)
    if read is not None:
        return read
    if mapped and _same_index(blame, ref_op, gen_op):
        return blame.make("dim-map/changed", ref_op, gen_op, *map_words, impact="logic")
    terms = blame.terms
    blocks_a, blocks_b = (frozenset(s for s in terms.symbols[t] if terms.kind[s] == "block") for t in (a, b))
    rule = "addressing/index" if blocks_a <= blocks_b or blocks_b <= blocks_a else "grid/axis"
    offsets = terms.sub(a, _sum(blame, base_a)), terms.sub(b, _sum(blame, base_b))
    words = tile_words(blame, ref_op, gen_op) or blame.both(*offsets)
    blame.parts[rule, id(gen_op)] = differing_parts(blame, a, b)
    exchanged = _is_exchanged(blame, ref_op, gen_op)
    note = "the indices of two dimensions are exchanged" if exchanged else ""
    return blame.make(rule, ref_op, gen_op, *words, part="index", note=note)


def _dim_map(op: Op) -> tuple[int, ...] | None:
    """How the view that an op accesses maps its dimensions; None for a pointer."""
    view = None if op is None else op.one("view")
    return None if view is None else getattr(view.type, "dim_map", None)


def _same_index(blame: Blame, ref_op: Op, gen_op: Op) -> bool:
    """Whether two accesses through views name the same tile."""
    indices = _tile_indices(blame, ref_op, gen_op)
    return indices is not None and indices[0] == indices[1]


def _tile_indices(blame: Blame, ref_op: Op, gen_op: Op) -> tuple[list[Term | None], list[Term | None]] | None:
    """Which tile two accesses name, one index a dimension of the view; None where one is no view."""
    if ref_op is None or gen_op is None or None in (ref_op.one("view"), gen_op.one("view")):
        return None
    ref = [blame.reference.values.get(value) for value in ref_op.group("index")]
    gen = [blame.generated.values.get(value) for value in gen_op.group("index")]
    return ref, [None if term is None else blame.rename(term) for term in gen]


def tile_words(blame: Blame, ref_op: Op, gen_op: Op) -> tuple[str, str] | None:
    """How two accesses through views name their tiles, as a kernel does: `[block.x, …]`; "…" is equal.

    None where something else tells them apart: a size, a stride, the tile's shape, its dimensions' order.
    """
    indices = _tile_indices(blame, ref_op, gen_op)
    if indices is None or indices[0] == indices[1] or _tiling(ref_op) != _tiling(gen_op):
        return None
    expected: list[str] = []
    actual: list[str] = []
    for ours, theirs in zip(*indices, strict=False):
        if ours is None or theirs is None:
            return None
        words = ("…", "…") if ours == theirs else blame.both(ours, theirs)
        expected.append(words[0])
        actual.append(words[1])
    return f"[{', '.join(expected)}]", f"[{', '.join(actual)}]"


def _is_exchanged(blame: Blame, ref_op: Op, gen_op: Op) -> bool:
    """Whether two accesses through views have the same indices in another order."""
    ref, gen = _tile_indices(blame, ref_op, gen_op) or ([], [])
    return ref != gen and None not in (*ref, *gen) and Counter(ref) == Counter(gen)


def _tiling(op: Op) -> tuple[object, ...]:
    """What makes an index of two views mean the same tile."""
    view = None if op is None else op.one("view")
    fields = ("tile", "traversal_strides", "dim_map")
    return tuple(getattr(view.type, field, None) for field in fields) if view is not None else ()


def _transposed(blame: Blame, a: Term, b: Term) -> bool:
    """Whether the addresses are equal with two lanes, or a lane and a reduced index, exchanged."""
    terms = blame.terms
    indices = [s for s in sorted(terms.symbols[b]) if terms.kind[s] in ("lane", "bound")]
    for position, x in enumerate(indices):
        for y in indices[position + 1 :]:
            if terms.attr[x][1] != terms.attr[y][1]:
                continue
            if terms.subst(b, {x: terms.atom(y), y: terms.atom(x)}) == a:
                return True
    return False


def bases(blame: Blame, pointer: Term) -> tuple[Term, ...]:
    """The pointer parameters that an address starts from; none where it is no address but a value read."""
    terms = blame.terms
    if terms.kind[pointer] != "poly":
        return ()
    return tuple(
        leaf
        for leaf in sorted(terms.symbols[pointer] & blame.pointers())
        if any(mono == (leaf,) and factor == 1 for mono, factor in terms.attr[pointer])
    )


def array_words(blame: Blame, a: Term, b: Term) -> tuple[str, str]:
    """How two pointers read: by their arrays, where these differ and are known."""
    arrays = bases(blame, a), bases(blame, b)
    if arrays[0] == arrays[1]:
        return blame.both(a, b)
    return _arrays(blame, arrays[0]) or blame.show(a), _arrays(blame, arrays[1]) or blame.show(b)


def _arrays(blame: Blame, leaves: tuple[Term, ...]) -> str:
    return ", ".join(blame.show(blame.terms.atom(leaf)) for leaf in leaves)


def _sum(blame: Blame, leaves: tuple[Term, ...]) -> Term:
    return blame.terms.sum((blame.terms.atom(leaf), 1) for leaf in leaves)
