"""SSA: every operand is defined before its use, in a scope that the use can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.broken import Broken, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp

RULES: Rules = {
    "ssa/type": "a value is used with the type that it was defined with",
    "ssa/undefined-value": "a value is defined before its use, in a scope that the use can see",
}


class Scopes:
    """The values that can be seen at one point of a walk through a module.

    A region sees what is around it, unless its op is isolated (a kernel or module).
    """

    def __init__(self) -> None:
        self._visible: set[int] = set()
        self._stack: list[tuple[set[int], list[int]]] = []
        self._own: list[int] = []

    def define(self, values: Sequence[SSAValue]) -> None:
        own = [id(value) for value in values]
        self._visible.update(own)
        self._own += own

    def enter(self, isolated: bool) -> None:
        self._stack.append((self._visible, self._own))
        if isolated:
            self._visible = set()
        self._own = []

    def leave(self) -> None:
        self._visible.difference_update(self._own)
        self._visible, self._own = self._stack.pop()

    def check(self, op: TileOp) -> Broken | None:
        for position, operand in enumerate(op.inputs):
            if id(operand) not in self._visible:
                name = f"%{operand.name_hint}" if operand.name_hint else "an operand"
                message = f"{name} is used where its definition does not reach"
                return Broken("ssa/undefined-value", message, f"operand:{position}")
        return None
