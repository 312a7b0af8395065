"""Numbers among the arguments of an operator: refused by name where the library could not be given them."""

from __future__ import annotations

import operator
from typing import Any, Final

_BITS: Final = 31


def whole(name: str, given: Any) -> int:
    """As a number of 32 bits. Raises TypeError or ValueError, with the argument's name."""
    number = any_whole(name, given)
    if not -(1 << _BITS) <= number < 1 << _BITS:
        raise ValueError(f"{name}: {number} does not fit 32 bits")
    return number


def any_whole(name: str, given: Any) -> int:
    """As an integer. Raises TypeError, with the argument's name."""
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{name}: an integer is needed, not {given!r}") from None


def real(name: str, given: Any) -> float:
    """As a number. Raises TypeError or ValueError, with the argument's name."""
    if isinstance(given, str):
        raise TypeError(f"{name}: a number is needed, not {given!r}")
    try:
        return float(given)
    except TypeError:
        raise TypeError(f"{name}: a number is needed, not {given!r}") from None
    except OverflowError:
        raise ValueError(f"{name}: {given} is too large") from None
