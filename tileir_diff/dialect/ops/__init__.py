"""The op tables, one module a family, as in the dialect's own documentation."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tileir_diff.dialect.ops import (
    atomic,
    control,
    conversion,
    floating,
    integer,
    math,
    memory,
    mma,
    reduction,
    shape,
    structure,
    token,
    view,
)

if TYPE_CHECKING:
    from tileir_diff.dialect.spec import OpSpec

TABLES = (
    structure.OPS, shape.OPS, integer.OPS, floating.OPS, math.OPS, conversion.OPS, mma.OPS, reduction.OPS,
    control.OPS, memory.OPS, view.OPS, atomic.OPS, token.OPS,
)  # fmt: skip

OPS: dict[str, OpSpec] = {spec.name: spec for table in TABLES for spec in table}

# Names of other versions: the op was renamed, its opcode was not.
ALIASES = {"pow": "fpowf", "print": "print_tko", "func": "testing$func"}


@cache
def canonical_name(name: str) -> str:
    """The table's name of an op as printed: without dialect prefix, old names replaced."""
    short = name.removeprefix("cuda_tile.")
    return ALIASES.get(short, short)
