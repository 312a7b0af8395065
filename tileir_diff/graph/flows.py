"""Which values of a dump a value is one of, across branches and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import BlockArgument, OpResult

from tileir_diff.dialect.ir import TileOp
from tileir_diff.graph.values import defining_op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.ir import SSAValue

LOOPS = ("for", "loop")
_HANDED_TO = {"break": LOOPS, "continue": LOOPS, "yield": ("if",)}


class Flows:
    """The values that ``if``, ``for`` and ``loop`` hand on in one entry."""

    def __init__(self, ops: Iterable[TileOp]) -> None:
        self.ends: dict[TileOp, list[TileOp]] = {}
        """By `if`, `for` or `loop` the terminators that hand values to it."""
        for op in ops:
            owners = _HANDED_TO.get(op.short)
            if owners is not None:
                owner = op.parent_op()
                while isinstance(owner, TileOp) and owner.short == "if" and "if" not in owners:
                    owner = owner.parent_op()
                if isinstance(owner, TileOp) and owner.short in owners:
                    self.ends.setdefault(owner, []).append(op)

    def handed(self, value: SSAValue) -> list[SSAValue] | None:
        """The values that an argument of a loop's body, or a result of a loop or an `if`, is one of.

        None for any other value.
        """
        if isinstance(value, BlockArgument):
            loop = value.owner.parent_op()
            if not isinstance(loop, TileOp) or loop.short not in LOOPS:
                return None
            index = value.index - (loop.short == "for")
            if index < 0:
                return None  # the index of the loop
            return [*loop.group("inits")[index : index + 1], *self._handed(loop, index, "continue")]
        op = defining_op(value)
        if op is None or op.short not in ("if", *LOOPS) or not isinstance(value, OpResult):
            return None
        if op.short == "for":
            inits = op.group("inits")[value.index : value.index + 1]
            kinds = ("continue", "break")
            return [*inits, *(each for kind in kinds for each in self._handed(op, value.index, kind))]
        return self._handed(op, value.index, "yield" if op.short == "if" else "break")

    def _handed(self, op: TileOp, index: int, kind: str) -> list[SSAValue]:
        ends = [end for end in self.ends.get(op, ()) if end.short == kind]
        return [end.operands[index] for end in ends if index < len(end.operands)]
