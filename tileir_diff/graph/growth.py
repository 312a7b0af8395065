"""Which integers that loops carry are no indices: what is loaded gets into them, or they grow by themselves.

``h = 31 * h + x`` is a hash, and wraps; ``i = i + step`` is an index, which is taken not to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import defining_op, is_bool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.ir import SSAValue

    from tileir_diff.graph.flows import Flows

_BOTH = ("lhs", "rhs")
_OPERANDS: dict[str, tuple[str, ...]] = {
    "absi": ("source",),
    "addi": _BOTH,
    "andi": _BOTH,
    "assume": ("value",),
    "broadcast": ("source",),
    "cat": _BOTH,
    "constant": (),
    "divi": _BOTH,
    "extract": ("source",),
    "exti": ("source",),
    "get_index_space_shape": (),
    "get_num_tile_blocks": (),
    "get_tensor_shape": (),
    "get_tile_block_id": (),
    "insert": ("source", "destination"),
    "iota": (),
    "maxi": _BOTH,
    "mini": _BOTH,
    "muli": _BOTH,
    "negi": ("source",),
    "permute": ("source",),
    "remi": _BOTH,
    "reshape": ("source",),
    "select": ("on_true", "on_false"),
    "shli": ("lhs",),
    "shri": ("lhs",),
    "subi": _BOTH,
    "trunci": ("source",),
}
"""The operands that an index may be made of, by op; what another op gives is data."""


def is_data(flows: Flows, carried: SSAValue) -> bool:
    """Whether a carried integer is no index. A condition that only chooses its value does not count."""
    reached, data = _reached(flows, flows.handed(carried) or ())
    return data or (carried in reached and any(_grows(flows, value, carried) for value in reached))


def _reached(flows: Flows, values: Iterable[SSAValue]) -> tuple[dict[SSAValue, None], bool]:
    """The integers that the values are made of, themselves included; and whether there is data among them."""
    reached: dict[SSAValue, None] = {}
    work = list(values)
    while work:
        value = work.pop()
        if value in reached or is_bool(value):
            continue
        reached[value] = None
        handed = flows.handed(value)
        op = defining_op(value)
        if handed is not None:
            work += handed
        elif op is not None:
            if op.short not in _OPERANDS:
                return reached, True
            work += [source for name in _OPERANDS[op.short] if (source := op.one(name)) is not None]
    return reached, False


def _grows(flows: Flows, value: SSAValue, carried: SSAValue) -> bool:
    """Whether the value is a multiple of what is carried, or has it in both of its summands."""
    op = defining_op(value)
    if op is None or op.short not in ("addi", "muli", "shli", "subi"):
        return False
    operands = [operand for name in _OPERANDS[op.short] if (operand := op.one(name)) is not None]
    needed = (carried in _reached(flows, (operand,))[0] for operand in operands)
    if op.short in ("addi", "subi"):
        return all(needed)
    return any(needed) and not (op.short == "muli" and any(map(_is_one, operands)))


def _is_one(value: SSAValue) -> bool:
    op = defining_op(value)
    return op is not None and op.short == "constant" and set(op.get("value").bits) == {1}
