"""The type list of an op: compares printed with actual operand types, and finds the types of the results."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tileir_diff.dialect.types import TOKEN, TileIRType, View
from tileir_diff.syntax.source import Problem

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.spec import OpSpec
    from tileir_diff.syntax.nodes import OpNode

_OWN_WAY = ("result", "results", "index")
Slots = tuple[tuple[str, ...], ...]


@cache
def type_slots(types: str) -> tuple[Slots, tuple[str, ...]]:
    """What `OpSpec.types` says: slots left of the arrow, and the results right of it."""
    left, _, right = types.partition("->")
    slots = tuple(tuple(slot.strip().split("=")) for slot in left.split(",") if slot.strip())
    return slots, tuple(name.strip() for name in right.split(",") if name.strip())


def result_types(
    spec: OpSpec,
    node: OpNode,
    groups: list[list[SSAValue]],
    types: list[TileIRType],
    results: list[TileIRType],
) -> list[TileIRType]:
    """Types of the results.

    `types` and `results` are the printed ones, left and right of `->`. Raises Problem.
    """
    left, right = type_slots(spec.types)
    if not left and not right:
        if types or results:
            raise Problem(f"{spec.name} prints no types", signature_start(node))
        return [TOKEN for _ in spec.results]
    by_name = {name.rstrip("?*"): group for name, group in zip(spec.operands, groups, strict=True)}
    shown = check_operands(spec, node, left, by_name, types)
    if shown is not None:
        if results:
            raise Problem(f"{spec.name} prints no '->'", signature_start(node))
        return [shown] * len(spec.results)
    if not right:
        return []
    if right == ("results",):
        # One type stands for all results, of which there are as many as the view has dimensions.
        return results * _rank(by_name["view"][0].type) if len(results) == 1 else results
    if not results and right == ("result_token",):
        return [TOKEN]  # `print` of 13.1, and the cuTile Rust printer
    if len(results) != len(right):
        raise Problem(
            f"expected {len(right)} result types of {spec.name}, found {len(results)}", signature_start(node)
        )
    return results


def check_operands(
    spec: OpSpec, node: OpNode, left: Slots, by_name: dict[str, list[SSAValue]], printed: list[TileIRType]
) -> TileIRType | None:
    """The type of the result if it is printed among those of the operands.

    Raises Problem for types that do not fit.
    """
    expected: list[list[SSAValue]] = []
    result_at = -1
    for slot in left:
        if len(slot) == 1 and slot[0] not in _OWN_WAY:
            expected += [[operand] for operand in by_name.get(slot[0], ())]
            continue
        operands = [operand for name in slot for operand in by_name.get(name, ())]
        if "result" in slot or "results" in slot:
            result_at = len(expected)
            expected.append(operands)
        elif slot[0] == "index":
            expected += [operands] if _one_type(operands) else [[operand] for operand in operands]
        elif operands:
            expected.append(operands)
    if len(printed) != len(expected):
        expected = _as_cutile_rs(left, by_name, expected, len(printed)) if result_at < 0 else expected
        if len(printed) != len(expected):
            wanted = f"{len(expected)} type{'s' * (len(expected) != 1)}"
            raise Problem(f"expected {wanted} for {spec.name}, found {len(printed)}", signature_start(node))
    for operands, type_ in zip(expected, printed, strict=True):
        for operand in operands:
            check(node, operand, type_)
    return printed[result_at] if result_at >= 0 else None


def check(node: OpNode, operand: SSAValue, printed: object) -> None:
    """Raises Problem when an operand does not have the printed type."""
    if operand.type is not printed and operand.type != printed:
        message = f"value '%{operand.name_hint or ''}' has type {operand.type}, but is used as {printed}"
        raise Problem(message, signature_start(node), "ssa/type")


def signature_start(node: OpNode) -> int:
    return node.signature.start if node.signature else node.name_start


def _as_cutile_rs(
    left: Slots, by_name: dict[str, list[SSAValue]], expected: list[list[SSAValue]], found: int
) -> list[list[SSAValue]]:
    """The cuTile Rust printer lists every operand of an atomic op, tokens too.

    And only the first of several indices.
    """
    every = [[operand] for group in by_name.values() for operand in group]
    if found == len(every):
        return every
    if left[-1][0] == "index" and found == len(left) < len(expected):
        return expected[:found]
    return expected


def _one_type(operands: list[SSAValue]) -> bool:
    return bool(operands) and all(operand.type == operands[0].type for operand in operands)


def _rank(view: object) -> int:
    return len(view.tile) if isinstance(view, View) else len(getattr(view, "shape", ()))
