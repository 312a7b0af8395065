"""The names of what is treated as equal, all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.errors import InputError
from tileir_diff.graph.floats import EQUIVALENCES
from tileir_diff.match.bound_values import HOST_VALUES
from tileir_diff.match.obligations import HOST_BOUNDS
from tileir_diff.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable


def equivalences() -> dict[str, str]:
    """All names that `--no-equivalence` takes, and what each treats as equal."""
    bounds = "places that are the same while the launch keeps a bound, which is a condition on the host"
    values = "kernels that are the same while arguments have certain values: a number, or that of another one"
    return {**EQUIVALENCES, HOST_BOUNDS: bounds, HOST_VALUES: values}


def check_equivalences(names: Iterable[str], where: str) -> None:
    """Raises InputError, naming the option or argument (``where``), for an equivalence there is not."""
    known = equivalences()
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise InputError(f"no equivalence '{name}'{hint}", where)
