"""Loops and conditions: carried values, terminators and their parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import TensorView
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import TILE_VIEWS, phrase
from tileir_diff.dialect.verifier.reduction import REDUCTIONS, reduction_yield

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Block, Region, SSAValue


FUNCTIONS = ("entry", "testing$func")
TERMINATORS = frozenset(("return", "continue", "break", "yield"))

RULES: Rules = {
    "for/bounds-type": "lower bound, upper bound and step of a for have one type",
    "for/induction-variable": "the first region argument of a for has the type of its bounds",
    "loop/carried": "initial values, region arguments and (of a for) results have the same types",
    "loop/carried-view": "no view is carried by a loop or given by a loop or an if",
    "if/arguments": "a branch of an if has no arguments",
    "if/else-required": "an if with results has an else branch",
    "terminator/missing": "a block ends in a terminator; the text of a dump may leave an empty one out",
    "terminator/last": "a terminator is the last op of its block",
    "return/parent": "return stands in a kernel, under nothing but if and loop",
    "return/operands": "return gives the results of its function: a kernel has none",
    "continue/parent": "continue stands in a for or loop, under nothing but if",
    "continue/operands": "continue gives the next carried values of its loop",
    "break/parent": "break stands in a loop, under nothing but if; a for has no break",
    "break/operands": "break gives the results of its loop",
    "yield/parent": "yield ends a branch of an if, or the region of a reduce or scan",
    "yield/operands": "yield gives the results of its if",
}

# Terminator -> the ops it leaves, and the ops that may lie between.
_LEAVES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "return": (FUNCTIONS, ("if", "loop")),
    "continue": (("for", "loop"), ("if",)),
    "break": (("loop",), ("if",)),
    "yield": (("if", *REDUCTIONS), ()),
}


def only_block(region: Region) -> Block | None:
    """The block of a region, None where it is empty (the absent else of an if)."""
    return region.blocks[0] if region.blocks else None


def _types(values: Sequence[SSAValue]) -> list[object]:
    return [value.type for value in values]


def _listed(types: Sequence[object]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


def _no_views(op: TileOp, values: Sequence[SSAValue], what: str) -> Broken | None:
    for value in values:
        if isinstance(value.type, (TensorView, *TILE_VIEWS)):
            return Broken("loop/carried-view", f"{what} of `{op.short}` cannot be a view, found {value.type}")
    return None


def _for_bounds(op: TileOp) -> Broken | None:
    lower, upper, step = (operand.type for operand in op.operands[:3])
    if lower != upper or lower != step:
        message = f"the bounds and step of `for` must have one type, found {lower}, {upper} and {step}"
        return Broken("for/bounds-type", message, "operand:1" if lower != upper else "operand:2")
    block = only_block(op.regions[0])
    if block is None or not block.args:
        return Broken(
            "for/induction-variable", "the region of `for` needs an argument for its induction variable"
        )
    if block.args[0].type != lower:
        message = (
            f"the induction variable of `for` must have the bounds' type {lower}, found {block.args[0].type}"
        )
        return Broken("for/induction-variable", message)
    return None


def _for_carried(op: TileOp) -> Broken | None:
    block = only_block(op.regions[0])
    inits = _types(op.operands[3:])
    arguments = _types(block.args[1:]) if block is not None else []
    results = _types(op.results)
    if not inits == arguments == results:
        found = f"{_listed(inits)}, {_listed(arguments)} and {_listed(results)}"
        message = (
            f"initial values, region arguments and results of `for` must have the same types, found {found}"
        )
        return Broken("loop/carried", message)
    return _no_views(op, op.results, "a carried value")


def _loop_carried(op: TileOp) -> Broken | None:
    block = only_block(op.regions[0])
    inits = _types(op.operands)
    arguments = _types(block.args) if block is not None else []
    if inits != arguments:
        found = f"{_listed(inits)} and {_listed(arguments)}"
        message = f"initial values and region arguments of `loop` must have the same types, found {found}"
        return Broken("loop/carried", message)
    return _no_views(op, op.operands, "a carried value") or _no_views(op, op.results, "a result")


def _if_branches(op: TileOp) -> Broken | None:
    has_else = len(op.regions) > 1 and only_block(op.regions[1]) is not None
    if op.results and not has_else:
        return Broken("if/else-required", f"an `if` with {len(op.results)} result(s) needs an else branch")
    for region in op.regions:
        block = only_block(region)
        if block is not None and block.args:
            return Broken("if/arguments", f"a branch of `if` has no arguments, found {len(block.args)}")
    return _no_views(op, op.results, "a result")


def terminated(op: TileOp) -> Broken | None:
    """Every block of `op` ends in a terminator: the reader has put in those that the text left out."""
    for region in op.regions:
        block = only_block(region)
        if block is None:
            continue
        last = block.last_op
        if isinstance(last, TileOp) and last.short in TERMINATORS:
            continue
        wanted = tuple(name for name, (leaves, _) in _LEAVES.items() if op.short in leaves)
        if wanted:
            return Broken("terminator/missing", f"a block of `{op.short}` must end in {phrase(wanted)}")
    return None


def expected_operands(terminator: str, target: TileOp) -> list[object]:
    """Types of the operands that `terminator` needs when it leaves `target`."""
    if terminator == "return":
        signature = target.get("function_type")
        return list(signature.outputs) if signature is not None else []
    if terminator == "continue" and target.short == "loop":
        return _types(target.operands)
    return _types(target.results)


def _terminator(op: TileOp) -> Broken | None:
    if op.next_op is not None:
        return Broken("terminator/last", f"`{op.short}` must be the last op of its block")
    leaves, between = _LEAVES[op.short]
    target = op.parent_op()
    while isinstance(target, TileOp) and target.short in between and target.short not in leaves:
        target = target.parent_op()
    if not isinstance(target, TileOp) or target.short not in leaves:
        where = f"`{target.short}`" if isinstance(target, TileOp) else "nothing"
        allowed = f" under nothing but {phrase(between)}" if between else ""
        message = f"`{op.short}` must stand in {phrase(leaves)}{allowed}, found in {where}"
        return Broken(f"{op.short}/parent", message)
    if target.short in REDUCTIONS:
        return reduction_yield(op, target)
    expected, found = expected_operands(op.short, target), _types(op.operands)
    if expected != found:
        message = (
            f"`{op.short}` must give {_listed(expected)} to its `{target.short}`, found {_listed(found)}"
        )
        return Broken(f"{op.short}/operands", message)
    return None


CONSTRAINTS: Constraints = {
    "for": (_for_bounds, _for_carried),
    "loop": (_loop_carried,),
    "if": (_if_branches,),
    **dict.fromkeys(sorted(TERMINATORS), (_terminator,)),
}
