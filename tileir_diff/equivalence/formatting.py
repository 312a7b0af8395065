"""printf, as far as a kernel needs it; a tile prints its elements in brackets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from tileir_diff.equivalence.constants import plain
from tileir_diff.equivalence.dtypes import bits

if TYPE_CHECKING:
    from tileir_diff.equivalence.backend import Tensor

SPECIFIER: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcsp%])")


def formatted(text: str, values: list[tuple[Tensor, str]]) -> str:
    """The text with each specifier replaced by its value (a tensor of the tile's shape, and its type)."""
    rest = iter(values)

    def replace(match: re.Match[str]) -> str:
        kind = match[1]
        if kind == "%":
            return "%"
        value = next(rest, None)
        return match[0] if value is None else _show(match[0], kind, plain(*value), bits(value[1]))

    return SPECIFIER.sub(replace, text)


def _show(specifier: str, kind: str, value: Any, width: int) -> str:
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        return f"[{', '.join(_show(specifier, kind, each, width) for each in parts)}]"
    plain_ = re.sub(r"hh|ll|[hljztL]", "", specifier)
    if kind in "diouxXc":
        number = int(value)
        if kind in "ouxX":
            number &= (1 << width) - 1
            plain_ = re.sub("[+ ]", "", plain_)  # an unsigned number has no sign
        return re.sub("[iu]$", "d", plain_) % number
    if kind in "aA":
        return float(value).hex()
    if kind in "sp":
        return str(value)
    return plain_ % float(value)
