"""Names on the command line that mean nothing: refused, with the name that was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.match.launch import Launch

HOST_BOUNDS = "host-bounds"
"""The one equivalence that is no matter of floats: sizes that the host keeps equal."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'check'?`, or nothing if no known name is close."""
    from difflib import get_close_matches  # only a mistake needs it

    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def check_equivalences(names: Iterable[str]) -> None:
    """Raises InputError for an equivalence that does not exist."""
    names = tuple(names)
    if not names:
        return
    from tileir_diff.graph.floats import EQUIVALENCES

    known = (*EQUIVALENCES, HOST_BOUNDS)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise InputError(f"no equivalence '{name}'{hint}", "--no-equivalence")


def check_selection(prefixes: tuple[str, ...], where: str) -> None:
    """Raises InputError, naming the option or file (``where``), for a prefix that no rule begins with."""
    if not prefixes:
        return
    from tileir_diff.rules import FAMILIES, family
    from tileir_diff.verdict import Selection

    named = [prefix.partition("/")[0] for prefix in prefixes if "/" in prefix]
    modules = {name: family(name) for name in named}
    known = [f"{name}/{detail}" for name, module in modules.items() if module for detail in module.DETAILS]
    for prefix in Selection(prefixes).unknown((*FAMILIES, *known)):
        hint = did_you_mean(prefix, known if "/" in prefix and known else FAMILIES)
        hint = hint or "; `tileir-diff rules` lists them"
        raise InputError(f"no rule begins with '{prefix}'{hint}", where)


def check_launch(launch: Launch | None) -> None:
    """Raises InputError for an axis that no grid has; arguments are known only with the dumps."""
    if launch is None:
        return
    for side in (launch.reference, launch.generated):
        for name in side.named:
            if name == "grid" or name.startswith("grid."):
                raise InputError(f"no grid axis '{name}'; there are grid.x, grid.y, grid.z", "--launch")
