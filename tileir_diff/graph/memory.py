"""Loads, stores and atomics: effects on memory, and what a load gives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import GatherScatterView, StridedView
from tileir_diff.graph import floats
from tileir_diff.graph.constants import scalar
from tileir_diff.graph.facts import UNKNOWN_ARRAY, written_arrays
from tileir_diff.graph.values import (
    element_bits,
    element_name,
    is_integer,
    operand,
    ops_within,
    scalar_type,
    shape_of,
    signed_range,
    sort_of,
)
from tileir_diff.graph.views import access

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


def _array(ev: Evaluator, pointer: Term) -> Term | None:
    """The array a pointer term points into: its pointer-valued atom."""
    terms = ev.terms
    single = [mono[0] for mono, factor in terms.poly(pointer).items() if factor == 1 and len(mono) == 1]
    for atom in single:
        if atom in ev.pointers:
            return terms.atom(atom)
    for atom in single:
        if terms.kind[atom] in POINTER_ATOMS:
            return terms.atom(atom)
    return None


def _epoch(ev: Evaluator, array: Term | None) -> int:
    """How often the array was written before, as far as program order tells."""
    if array is None:
        return sum(ev.stored.values()) if ev.written else NEVER_WRITTEN
    if array not in ev.written and UNKNOWN_ARRAY not in ev.written:
        return NEVER_WRITTEN
    return ev.stored.get(array, 0)


def _wrote(ev: Evaluator, array: Term | None) -> None:
    key = UNKNOWN_ARRAY if array is None else array
    ev.stored[key] = ev.stored.get(key, 0) + 1


def _writes(ev: Evaluator, loop: Loop, array: Term | None) -> bool:
    """Whether the body of a loop writes the array."""
    written = ev.written_in.get(loop.uid)
    if written is None:
        written = ev.written_in[loop.uid] = written_arrays(ops_within(loop.op), ev.env)
    return bool(written) and (array is None or array in written or UNKNOWN_ARRAY in written)


# ---- what a load gives -----------------------------------------------------------------------------------


def _loaded(ev: Evaluator, op: TileOp, pointer: Term, mask: Term, padding: Term | None) -> Term:
    """The value of a load: memory at its address and moment where the mask holds, else the padding."""
    terms = ev.terms
    result = op.results[0]
    array = _array(ev, pointer)
    ordering = op.get("memory_ordering")
    epoch: int | tuple[int, int] = _epoch(ev, array)
    loops: list[Loop] = []
    if ordering != "weak":
        # another block may write between two such loads: each is a value of its own
        ev.polls[array] = ev.polls.get(array, 0) + 1
        epoch = (epoch, ev.polls[array])
        loops = list(ev.loops)
    elif epoch != NEVER_WRITTEN:
        loops = [loop for loop in ev.loops if _writes(ev, loop, array)]
    attr = (element_name(result), epoch, ordering, op.get("memory_scope"))
    moments = [terms.atom(loop.iteration) for loop in loops]
    memory = terms.node("mem", attr, (pointer, *moments))
    _bound(terms, memory, result)
    terms.origins[ev.side].setdefault(memory, op)
    loaded = ev.as_sort(memory, result)
    if mask == terms.true:
        return loaded
    if padding is None:
        # two loads leave different things in their lanes: one node for all would cancel in a difference
        padding = ev.as_sort(terms.node("undefined", (element_name(result),), (memory,)), result)
    return terms.ite(mask, loaded, padding, sort_of(result))


def _bound(terms: Terms, memory: Term, value: SSAValue) -> None:
    """What is read is a number of its type."""
    if is_integer(value):
        terms.ranges.setdefault(memory, signed_range(element_bits(value)))


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


def _fields(ev: Evaluator, value: SSAValue, pointer: Term, mask: Term) -> dict[str, Any]:
    """What every access says of itself; ``value`` has the shape and element type."""
    return {
        "pointer": pointer,
        "base": _array(ev, pointer),
        "mask": mask,
        "shape": shape_of(value),
        "element": element_name(value),
    }


def _through_pointers(ev: Evaluator, op: TileOp, name: str, value: SSAValue) -> dict[str, Any]:
    mask = ev.optional(op, "mask")
    fields = _fields(ev, value, ev.operand(op, name), ev.terms.true if mask is None else mask)
    return fields | {"family": "pointer"}


def _through_view(ev: Evaluator, op: TileOp, value: SSAValue) -> dict[str, Any]:
    touched = access(ev, op)
    kind = ev.view(op, "view").type
    family = "partition"
    if isinstance(kind, GatherScatterView):
        family = "gather"
    elif isinstance(kind, StridedView):
        family = "strided"
    return _fields(ev, value, touched.pointer, touched.mask) | {
        "family": family,
        "coordinates": touched.coordinates,
        "extents": touched.extents,
        "strides": touched.strides,
    }


def _load(ev: Evaluator, op: TileOp, fields: dict[str, Any], padding: Term | None) -> None:
    term = _loaded(ev, op, fields["pointer"], fields["mask"], padding)
    ev.set(op, term)
    ev.set_token(op, ev.effect("load", op, padding=padding, result=term, **fields), 1)


def _write(ev: Evaluator, kind: str, op: TileOp, fields: dict[str, Any], values: tuple[Term, ...]) -> None:
    effect = ev.effect(kind, op, values=values, **fields)
    _wrote(ev, effect.base)
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
    attr = (op.short, op.get("mode"), _epoch(ev, fields["base"]), str(result.type))
    # it writes what it reads, so each iteration has a value of its own
    moments = [ev.terms.atom(loop.iteration) for loop in ev.loops]
    node = ev.terms.node("atomic", attr, (fields["pointer"], fields["mask"], *values, *moments))
    _bound(ev.terms, node, result)
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
