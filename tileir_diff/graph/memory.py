"""Loads, stores and atomics: effects on memory, and what a load gives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import GatherScatterView, StridedView
from tileir_diff.graph import floats
from tileir_diff.graph.arrays import UNKNOWN_ARRAY, meet
from tileir_diff.graph.constants import scalar
from tileir_diff.graph.untouched import writes
from tileir_diff.graph.values import (
    element_bits,
    element_name,
    is_bool,
    is_integer,
    is_used,
    operand,
    scalar_type,
    shape_of,
    signed_range,
    sort_of,
)
from tileir_diff.graph.views import access
from tileir_diff.graph.writes import History

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import Scalar
    from tileir_diff.graph.evaluate import Evaluator, Handler
    from tileir_diff.graph.kernel import Loop
    from tileir_diff.graph.terms import Term, Terms

POINTER_ATOMS = frozenset({"mem", "ite", "iop", "f", "symbol", "loop_result", "at", "carry"})
NEVER_WRITTEN = -1
"""The epoch of an array that the kernel does not write: loads from it are equal wherever they stand."""


# ---- arrays and their epochs -----------------------------------------------------------------------------


def _base(ev: Evaluator, pointer: Term) -> Term | None:
    """The parameter that a pointer term points into, else the pointer-valued atom that it starts from."""
    terms = ev.terms
    single = [mono[0] for mono, factor in terms.poly(pointer).items() if factor == 1 and len(mono) == 1]
    for atom in single:
        if atom in ev.pointers:
            return terms.atom(atom)
    for atom in single:
        if terms.kind[atom] in POINTER_ATOMS:
            return terms.atom(atom)
    return None


def _epoch(ev: Evaluator, arrays: frozenset[Term], pointer: Term) -> int:
    """How often the arrays may have been written there before, as far as program order tells."""
    if not meet(arrays, ev.written):
        return NEVER_WRITTEN
    return sum(
        [
            history.before(ev.terms, pointer)
            for array, history in ev.stored.items()
            if UNKNOWN_ARRAY in (array, *arrays) or array in arrays
        ]
    )


def _wrote(ev: Evaluator, arrays: frozenset[Term], pointer: Term) -> None:
    for array in sorted(arrays):
        ev.stored[array] = ev.stored.get(array, History()).then(pointer)


# ---- what a load gives -----------------------------------------------------------------------------------


def _loaded(ev: Evaluator, op: TileOp, fields: dict[str, Any], padding: Term | None) -> Term:
    """The value of a load: memory at its address and moment where the mask holds, else the padding."""
    terms = ev.terms
    pointer, mask = fields["pointer"], fields["mask"]
    chosen = _chosen(terms, pointer)
    if chosen is None or op.get("memory_ordering") != "weak":
        loaded = _read(ev, op, pointer, fields["base"], fields["arrays"])
        return _masked(ev, op, mask, loaded, padding)
    condition, *ways = chosen
    on_true, on_false = (
        _masked(ev, op, mask, _read(ev, op, way, *_array_of(ev, way, fields["arrays"])), padding)
        for way in ways
    )
    return terms.ite(condition, on_true, on_false, sort_of(op.results[0]))


def _masked(ev: Evaluator, op: TileOp, mask: Term, loaded: Term, padding: Term | None) -> Term:
    """What was read where the mask holds, else the padding."""
    terms = ev.terms
    result = op.results[0]
    if mask == terms.true:
        return loaded
    if padding is None:
        # two loads leave different things in their lanes: one node for all would cancel in a difference
        memory = terms.single(loaded)
        assert memory is not None
        which = terms.leaf("unpadded", _which(ev, op, memory))
        padding = ev.as_sort(terms.node("undefined", element_name(result), (memory, which)), result)
    return terms.ite(mask, loaded, padding, sort_of(result))


def _which(ev: Evaluator, op: TileOp, memory: Term) -> int:
    """Of the loads that read this and pad nothing, which one it is; what nothing uses counts for none."""
    loads = ev.unpadded.setdefault(memory, [])
    if op not in loads and is_used(op):
        loads.append(op)
    return loads.index(op) if op in loads else 0


def _chosen(terms: Terms, pointer: Term) -> tuple[Term, Term, Term] | None:
    """An address that one condition for all lanes chooses: the condition, and the two addresses.

    So a load of what is chosen reads as the choice between two loads, as an `if` has them.
    """
    choices = [atom for atom in terms.args[pointer] if terms.kind[atom] in ("ite", "b2i")]
    factor = terms.poly(pointer).get((choices[0],)) if len(choices) == 1 else None
    if factor is None:
        return None
    condition, *ways = terms.args[choices[0]]
    ways = ways or [terms.one, terms.zero]
    if any(terms.kind[symbol] in ("lane", "bound") for symbol in terms.symbols[condition]):
        return None
    rest = terms.sub(pointer, terms.scale(terms.atom(choices[0]), factor))
    if choices[0] in terms.args[rest]:
        return None
    first, second = (terms.add(rest, terms.scale(way, factor)) for way in ways)
    return condition, first, second


def _array_of(ev: Evaluator, pointer: Term, arrays: frozenset[Term]) -> tuple[Term | None, frozenset[Term]]:
    """The base of an address and the arrays that it may be of, which are of ``arrays``."""
    base = _base(ev, pointer)
    if base is not None and ev.terms.single(base) in ev.pointers:
        arrays = frozenset((base,))
    return base, arrays


def _read(ev: Evaluator, op: TileOp, pointer: Term, base: Term | None, arrays: frozenset[Term]) -> Term:
    """What memory holds at the address at this moment."""
    terms = ev.terms
    result = op.results[0]
    ordering = op.get("memory_ordering")
    epoch: int | tuple[int, int] = _epoch(ev, arrays, pointer)
    loops: list[Loop] = []
    if ordering != "weak":
        # another block may write between two such loads: each is a value of its own
        ev.polls[base] = ev.polls.get(base, 0) + 1
        epoch = (epoch, ev.polls[base])
        loops = list(ev.loops)
    elif epoch != NEVER_WRITTEN:
        loops = [loop for loop in ev.loops if writes(ev, loop, arrays, pointer)]
    truth = is_bool(result) and not terms.exact
    attr = ("i8" if truth else element_name(result), epoch, ordering, op.get("memory_scope"))
    moments = [terms.atom(loop.iteration) for loop in loops]
    memory = terms.node("mem", attr, (pointer, *moments))
    terms.origins[ev.side].setdefault(memory, op)
    if truth:  # a byte, of which any that is not zero is true
        return terms.negate(terms.eq0(terms.atom(memory)))
    return ev.as_sort(memory, result)


_PADDING = {"zero": 0.0, "neg_zero": -0.0, "nan": math.nan, "pos_inf": math.inf, "neg_inf": -math.inf}


def _padding(terms: Terms, name: str | None, element: Scalar) -> Term | None:
    """The value of lanes outside the tensor, as the view's type has it."""
    if name is None:
        return None
    if element.is_int:
        return scalar(terms, element, 0)
    bits = floats.encode(element.name, _PADDING[name])
    if bits is not None:
        return floats.constant(terms, element.name, bits)
    if name == "zero":
        return floats.constant(terms, element.name, 0)
    return terms.node("padding", (name, element.name), ())


# ---- effects ---------------------------------------------------------------------------------------------


def _fields(ev: Evaluator, value: SSAValue, where: SSAValue, pointer: Term, mask: Term) -> dict[str, Any]:
    """What every access says of itself; ``value`` has the shape and element type, ``where`` the address."""
    base = _base(ev, pointer)
    known = base is not None and ev.terms.single(base) in ev.pointers
    arrays = frozenset((base,)) if known else ev.arrays.of(where)
    if len(arrays) == 1 and UNKNOWN_ARRAY not in arrays:
        (base,) = arrays
    return {
        "pointer": pointer,
        "base": base,
        "arrays": arrays,
        "mask": mask,
        "shape": shape_of(value),
        "element": element_name(value),
    }


def _through_pointers(ev: Evaluator, op: TileOp, name: str, value: SSAValue) -> dict[str, Any]:
    mask = ev.optional(op, "mask")
    where = operand(op, name)
    fields = _fields(ev, value, where, ev.env[where], ev.terms.true if mask is None else mask)
    return fields | {"family": "pointer"}


def _through_view(ev: Evaluator, op: TileOp, value: SSAValue) -> dict[str, Any]:
    touched = access(ev, op)
    kind = ev.view(op, "view").type
    family = "partition"
    if isinstance(kind, GatherScatterView):
        family = "gather"
    elif isinstance(kind, StridedView):
        family = "strided"
    return _fields(ev, value, operand(op, "view"), touched.pointer, touched.mask) | {
        "family": family,
        "coordinates": touched.coordinates,
        "extents": touched.extents,
        "strides": touched.strides,
        "trusted": touched.trusted,
    }


def _load(ev: Evaluator, op: TileOp, fields: dict[str, Any], padding: Term | None) -> None:
    term = _loaded(ev, op, fields, padding)
    ev.set(op, term)
    ev.set_token(op, ev.effect("load", op, padding=padding, result=term, **fields), 1)


def _write(ev: Evaluator, kind: str, op: TileOp, fields: dict[str, Any], values: tuple[Term, ...]) -> None:
    effect = ev.effect(kind, op, values=values, **fields)
    _wrote(ev, effect.arrays, fields["pointer"])
    ev.set_token(op, effect, len(op.results) - 1)


def load_ptr(ev: Evaluator, op: TileOp) -> None:
    _load(ev, op, _through_pointers(ev, op, "source", op.results[0]), ev.optional(op, "padding"))


def load_view(ev: Evaluator, op: TileOp) -> None:
    result = op.results[0]
    fields = _through_view(ev, op, result)
    kind: Any = ev.view(op, "view").type
    _load(ev, op, fields, _padding(ev.terms, kind.padding, scalar_type(result)))


def store_ptr(ev: Evaluator, op: TileOp) -> None:
    fields = _through_pointers(ev, op, "destination", operand(op, "value"))
    _write(ev, "store", op, fields, (ev.operand(op, "value"),))


def store_view(ev: Evaluator, op: TileOp) -> None:
    fields = _through_view(ev, op, operand(op, "tile"))
    _write(ev, "store", op, fields, (ev.operand(op, "tile"),))


def atomic_red_view(ev: Evaluator, op: TileOp) -> None:
    fields = _through_view(ev, op, operand(op, "value"))
    _write(ev, "atomic_rmw", op, fields, (ev.operand(op, "value"),))


def atomic(ev: Evaluator, op: TileOp) -> None:
    """`atomic_rmw_tko` and `atomic_cas_tko`, which give what was there before."""
    result = op.results[0]
    kind, groups = _ATOMICS[op.short]
    fields = _through_pointers(ev, op, "pointers", result)
    values = tuple([ev.operand(op, name) for name in groups])
    attr = (op.short, op.get("mode"), _epoch(ev, fields["arrays"], fields["pointer"]), str(result.type))
    # it writes what it reads, so each iteration has a value of its own
    moments = [ev.terms.atom(loop.iteration) for loop in ev.loops]
    node = ev.terms.node("atomic", attr, (fields["pointer"], fields["mask"], *values, *moments))
    if is_integer(result):
        ev.terms.ranges.setdefault(node, signed_range(element_bits(result)))
    ev.set_node(op, node)
    _write(ev, kind, op, fields, values)


_ATOMICS = {
    "atomic_cas_tko": ("atomic_cas", ("cmp", "value")),
    "atomic_rmw_tko": ("atomic_rmw", ("arg",)),
}

HANDLERS: dict[str, Handler] = {
    "atomic_cas_tko": atomic,
    "atomic_red_view_tko": atomic_red_view,
    "atomic_rmw_tko": atomic,
    "load_ptr_tko": load_ptr,
    "load_view_tko": load_view,
    "store_ptr_tko": store_ptr,
    "store_view_tko": store_view,
}
