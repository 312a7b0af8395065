"""Names on the command line that mean nothing: refused, with the name that was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.errors import InputError
from tileir_diff.suggest import did_you_mean

if TYPE_CHECKING:
    from tileir_diff.match.launch import Launch


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
        hint = did_you_mean(prefix, (known or _all_rules()) if "/" in prefix else FAMILIES)
        hint = hint or "; `tileir-diff rules` lists them"
        raise InputError(f"no rule begins with '{prefix}'{hint}", where)


def _all_rules() -> list[str]:
    from tileir_diff.rules.catalogue import details  # loads all rules: only a mistake needs them

    return [name for name, _ in details()]


def check_launch(launch: Launch | None) -> None:
    """Raises InputError for an axis that no grid has; arguments are known only with the dumps."""
    if launch is None:
        return
    for side in (launch.reference, launch.generated):
        for name in side.named:
            if name == "grid" or name.startswith("grid."):
                raise InputError(f"no grid axis '{name}'; there are grid.x, grid.y, grid.z", "--launch")
