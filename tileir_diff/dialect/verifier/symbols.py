"""Entries, globals and constants: signatures, initial values, and symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tileir_diff.dialect.ir import TileOp, ops_of
from tileir_diff.dialect.types import Tile
from tileir_diff.dialect.verifier.access import pointee, result_tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tileir_diff.dialect.attributes import DenseElements


RULES: Rules = {
    "entry/results": "a kernel has no results",
    "entry/parameter-rank": "a tile that is a kernel's parameter has rank 0",
    "global/rank": "a global is a tile of rank 1",
    "constant/element-type": "a literal has the element type of its constant",
    "constant/shape": "a literal has the shape of its constant",
    "symbol/empty": "the name of a kernel or global is not empty",
    "symbol/redefinition": "every kernel and global of a module has a name of its own",
    "get_global/symbol": "get_global names a global of its module",
    "get_global/pointee": "get_global gives a pointer to the element type of its global",
}

_DEFINING = ("entry", "global", "testing$func")
NAMING = frozenset((*_DEFINING, "get_global"))
"""Ops with the name of a symbol."""


def entry(op: TileOp) -> Broken | None:
    signature = op.get("function_type")
    if signature is not None and signature.outputs:
        outputs = ", ".join(str(output) for output in signature.outputs)
        return Broken("entry/results", f"a kernel has no results, found {outputs}")
    block = op.regions[0].blocks[0] if op.regions[0].blocks else None
    for number, argument in enumerate(block.args if block is not None else ()):
        if isinstance(argument.type, Tile) and argument.type.shape:
            message = f"a kernel takes tiles of rank 0 only, found {argument.type} as parameter {number}"
            return Broken("entry/parameter-rank", message, f"type:{argument.type}")
    return None


def constant(op: TileOp) -> Broken | None:
    return _literal(op.get("value"), result_tile(op))


def _literal(value: DenseElements, tile: Tile) -> Broken | None:
    if value.element != tile.element:
        message = f"a literal of {value.element} cannot initialise {tile}"
        return Broken("constant/element-type", message, "value")
    if tuple(value.shape) != tile.shape or len(value.bits) not in (1, tile.size):
        shape = "x".join(map(str, value.shape)) or "rank 0"
        message = f"a literal of shape {shape} with {len(value.bits)} pattern(s) cannot initialise {tile}"
        return Broken("constant/shape", message, "value")
    return None


def global_tile(op: TileOp) -> Tile | None:
    """The type of a global; None where its printer left out the value."""
    value = op.get("value")
    return Tile(tuple(value.shape), value.element) if value is not None else None


def global_(op: TileOp) -> Broken | None:
    tile = global_tile(op)
    if tile is None:
        return None
    if len(tile.shape) != 1:
        return Broken("global/rank", f"a global is a tile of rank 1, found {tile}", "result")
    return _literal(op.get("value"), op.get("type"))


def symbol_name(op: TileOp) -> str | None:
    """The symbol that `op` defines in its module."""
    return op.get("sym_name") if op.short in _DEFINING else None


def symbols_of(module: Operation) -> dict[str, TileOp]:
    """Symbol -> the first op that defines it, over the blocks of one module."""
    found: dict[str, TileOp] = {}
    for region in module.regions:
        for block in region.blocks:
            for op in ops_of(block):
                name = symbol_name(op) if isinstance(op, TileOp) else None
                if name is not None:
                    found.setdefault(name, cast("TileOp", op))
    return found


def check_symbol(op: TileOp, symbols: dict[str, TileOp]) -> Broken | None:
    """`symbols` are those of the module that holds `op`."""
    name = symbol_name(op)
    if name is not None:
        if not name:
            return Broken("symbol/empty", f"the name of this {op.short} is empty", "sym_name")
        first = symbols.get(name)
        if first is not None and first is not op:
            message = f"@{name} is already defined at line {first.span.line}"
            return Broken("symbol/redefinition", message, "sym_name")
        return None
    if op.short != "get_global":
        return None
    name = op.get("sym_name")
    target = symbols.get(name)
    if target is None or target.short != "global":
        return Broken("get_global/symbol", f"@{name} is not a global of this module", "sym_name")
    target_pointee, tile = pointee(result_tile(op)), global_tile(target)
    if tile is not None and target_pointee != tile.element:
        message = f"@{name} holds {tile.element}, the result points to {target_pointee}"
        return Broken("get_global/pointee", message, "result")
    return None


CONSTRAINTS: Constraints = {"entry": (entry,), "constant": (constant,), "global": (global_,)}
