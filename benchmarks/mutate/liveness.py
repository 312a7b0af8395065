"""Which values matter: everything that reaches memory, a branch around it, a print or an assertion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import BlockArgument, OpResult, SSAValue

from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EFFECTS = frozenset(
    {
        "store_ptr_tko", "store_view_tko", "atomic_cas_tko", "atomic_rmw_tko", "atomic_red_view_tko",
        "print_tko",
        "assert", "memory_fence_alias_tko", "gdc_wait_tko", "gdc_launch_dependents_tko",
    }
)  # fmt: skip

TERMINATORS = ("continue", "break", "yield")


def walk(op: TileOp) -> Iterator[TileOp]:
    """All ops inside, in the order of the text."""
    for inner in op.inner():
        yield inner
        yield from walk(inner)


def parent(op: TileOp) -> TileOp | None:
    above = op.parent_op()
    return above if isinstance(above, TileOp) else None


def target(terminator: TileOp) -> TileOp | None:
    """The op whose results or carried values a terminator gives."""
    above = parent(terminator)
    if terminator.short == "yield":
        return above
    while above is not None and above.short not in ("for", "loop"):
        above = parent(above)
    return above


class Liveness:
    """The live values and ops of one entry.

    Tokens are not followed: they order, they carry no data.
    """

    def __init__(self, entry: TileOp) -> None:
        self.ops: set[TileOp] = set()
        self.values: set[SSAValue] = set()
        self.terminators: dict[TileOp, list[TileOp]] = {}
        self._todo: list[SSAValue] = []
        ops = list(walk(entry))
        for op in ops:
            if op.short in TERMINATORS:
                above = target(op)
                if above is not None:
                    self.terminators.setdefault(above, []).append(op)
        for op in ops:
            if op.short in EFFECTS:
                self._op(op)
                self._all(op.operands)
        while self._todo:
            self._value(self._todo.pop())

    def op(self, op: TileOp) -> bool:
        """Whether what `op` does or gives matters."""
        return op in self.ops

    def operand(self, op: TileOp, index: int) -> bool:
        """Whether operand `index` of `op` matters."""
        value = op.operands[index]
        if value.type == TOKEN:
            return False
        if op.short in TERMINATORS:
            above = target(op)
            return above is not None and self._carried(op, above, index)
        if op.short in ("for", "loop") and value in op.group("inits"):
            place = index - (len(op.operands) - len(op.group("inits")))
            offset = 1 if op.short == "for" else 0
            argument = op.regions[0].block.args[place + offset]
            result_live = op.short == "for" and op.results[place] in self.values
            return argument in self.values or result_live
        return op in self.ops

    def _carried(self, terminator: TileOp, above: TileOp, index: int) -> bool:
        if above.short in ("reduce", "scan", "if"):
            return above.results[index] in self.values if index < len(above.results) else False
        if terminator.short == "break":
            return above.results[index] in self.values
        argument = above.regions[0].block.args[index + (1 if above.short == "for" else 0)]
        return argument in self.values or (above.short == "for" and above.results[index] in self.values)

    def _all(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            if value.type != TOKEN and value not in self.values:
                self.values.add(value)
                self._todo.append(value)

    def _op(self, op: TileOp) -> None:
        """The op runs for an effect or a result: so does everything that decides whether it runs."""
        if op in self.ops:
            return
        self.ops.add(op)
        if op.short == "loop":
            self._exits(op)
        if op.short == "for":
            self._all((*op.group("lower"), *op.group("upper"), *op.group("step")))
        if op.short == "if":
            self._all(op.group("condition"))
        above = parent(op)
        if above is not None and above.spec.custom != "function":
            self._op(above)

    def _exits(self, loop: TileOp) -> None:
        for terminator in self.terminators.get(loop, []):
            above = parent(terminator)
            while above is not None and above is not loop:
                self._op(above)
                above = parent(above)

    def _value(self, value: SSAValue) -> None:
        if isinstance(value, OpResult):
            op = value.op
            assert isinstance(op, TileOp)
            self._op(op)
            index = value.index
            if op.short == "for":
                self._all((op.group("inits")[index], op.regions[0].block.args[index + 1]))
                self._terminated(op, index, ("continue",))
            elif op.short == "loop":
                self._terminated(op, index, ("break",))
            elif op.short == "if":
                self._terminated(op, index, ("yield",))
            elif op.short in ("reduce", "scan"):
                self._all(op.operands)
                for terminator in self.terminators.get(op, []):
                    self._op(terminator)
                    self._all(terminator.operands)
            elif op.short == "load_ptr_tko" and not op.group("mask"):
                self._all(op.group("source"))  # padding that no lane takes
            else:
                self._all(op.operands)
        elif isinstance(value, BlockArgument):
            op = value.block.parent_op()
            if not isinstance(op, TileOp) or op.spec.custom == "function":
                return
            self._op(op)
            if op.short == "for" and value.index > 0:
                self._all((op.group("inits")[value.index - 1],))
                self._terminated(op, value.index - 1, ("continue",))
            elif op.short == "loop":
                self._all((op.group("inits")[value.index],))
                self._terminated(op, value.index, ("continue",))

    def _terminated(self, op: TileOp, index: int, by: tuple[str, ...]) -> None:
        for terminator in self.terminators.get(op, []):
            if terminator.short in by:
                self._op(terminator)
                if index < len(terminator.operands):
                    self._all((terminator.operands[index],))
