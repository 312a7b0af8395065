"""The small changes of one op by which a mistake in it could be put right."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.ir.core import SSAValues

from tileir_diff.dialect.attributes import DenseElements, value
from tileir_diff.dialect.ir import op_class
from tileir_diff.match.align import operand_groups

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp

WORDS = {
    "predicate": (
        "equal",
        "not_equal",
        "less_than",
        "less_than_or_equal",
        "greater_than",
        "greater_than_or_equal",
    ),
    "signed": ("signed", "unsigned"),
    "rounding": ("zero", "negative_inf", "positive_inf"),
}
"""Attributes of integer ops that are one of a few words."""
ALIKE = (
    ("addi", "subi", "muli"),
    ("divi", "remi"),
    ("mini", "maxi"),
    ("andi", "ori", "xori"),
    ("shli", "shri"),
    ("addf", "subf", "mulf", "divf"),
    ("maxf", "minf"),
    ("exp", "exp2"),
    ("log", "log2"),
    ("sin", "cos"),
    ("sqrt", "rsqrt"),
    ("floor", "ceil"),
)
"""Ops of the same operands that are written for each other."""
SYMMETRIC = frozenset({"addi", "muli", "mini", "maxi", "andi", "ori", "xori", "addf", "mulf", "maxf", "minf"})
BLOCKS = frozenset({"get_tile_block_id", "get_num_tile_blocks"})


class Edit(NamedTuple):
    """One op, and the op that it would be; ``what``, ``name`` and ``operand`` as in ``align.Local``."""

    op: TileOp
    twin: TileOp
    what: str
    name: str = ""
    operand: int = -1

    @contextmanager
    def applied(self) -> Generator[None]:
        """While it lasts, the op is the other one; who reads what it reads is not told."""
        fields, kind = dict(vars(self.op)), type(self.op)
        vars(self.op).update(vars(self.twin))
        self.op.__class__ = type(self.twin)
        try:
            yield
        finally:
            vars(self.op).update(fields)
            self.op.__class__ = kind


def own_edits(op: TileOp) -> Iterator[Edit]:
    """The small changes of an op that need nothing but itself: another mode, kind or order."""
    if op.short in BLOCKS:
        for first, second in combinations(range(3), 2):
            results = list(op.results)
            results[first], results[second] = results[second], results[first]
            yield Edit(op, _twin(op, results=SSAValues(results)), "results")
        return
    for name, words in WORDS.items():
        now = op.get(name)
        if now in words and (name != "rounding" or op.short == "divi"):
            yield from (with_attribute(op, name, word) for word in words if word != now)
    if op.short == "permute":
        yield from _permutations(op)
    for group in ALIKE:
        if op.short in group:
            yield from (Edit(op, _twin(op, other), "kind") for other in group if other != op.short)
    read = list(op.operands)
    if op.short == "select" and read[1] is not read[2]:
        yield Edit(op, _reading(op, [read[0], read[2], read[1]]), "operand", "on_true", 1)
    if len(read) == 2 and op.short not in SYMMETRIC and read[0].type == read[1].type:
        yield Edit(op, _reading(op, read[::-1]), "operand", "lhs", 0)


def _permutations(op: TileOp) -> Iterator[Edit]:
    """Other orders of dimensions that give a tile of the same shape."""
    now: tuple[int, ...] = op.get("permutation")
    shape: Any = op.results[0].type
    for first, second in combinations(range(len(now)), 2):
        if shape.shape[first] == shape.shape[second]:
            order = list(now)
            order[first], order[second] = order[second], order[first]
            yield with_attribute(op, "permutation", tuple(order))


def swapped(op: TileOp, group: str) -> Iterator[Edit]:
    """The op with two operands of a group, such as the indices of an access, in each other's place."""
    read = list(op.operands)
    places = [index for index, (name, _) in enumerate(operand_groups(op)) if name == group]
    for first, second in combinations(places, 2):
        if read[first] is not read[second] and read[first].type == read[second].type:
            order = list(read)
            order[first], order[second] = order[second], order[first]
            yield Edit(op, _reading(op, order), "operand", group, first)


def with_attribute(op: TileOp, name: str, data: Any) -> Edit:
    return Edit(op, _twin(op, properties={**op.properties, name: value(data)}), "attribute", name)


def with_literal(op: TileOp, bits: int) -> Edit:
    """A splat constant of another number, given by its bit pattern."""
    dense: DenseElements = op.get("value")
    return with_attribute(op, "value", DenseElements(dense.element, dense.shape, (bits,)))


def with_operand(op: TileOp, index: int, name: str, new: SSAValue) -> Edit:
    """The op reading another value; ``name``: the group of the operand."""
    read = list(op.operands)
    return Edit(op, _reading(op, [*read[:index], new, *read[index + 1 :]]), "operand", name, index)


def left_out(op: TileOp, source: SSAValue) -> Edit:
    """The op handing on what it, or an op before it, reads."""
    twin = _twin(op, "broadcast", properties={}, _operands=SSAValues([source]), segments=(1,))
    return Edit(op, twin, "extra")


def _reading(op: TileOp, operands: Sequence[SSAValue]) -> TileOp:
    return _twin(op, _operands=SSAValues(operands))


def _twin(op: TileOp, short: str = "", **fields: Any) -> TileOp:
    """A detached copy of the op, with the same results, and other fields."""
    twin = copy(op)
    if short:
        twin.__class__ = op_class(short)
    for name, field in fields.items():
        setattr(twin, name, field)
    return twin
