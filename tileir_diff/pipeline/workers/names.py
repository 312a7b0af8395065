"""Names that workers and gates agree on."""

from __future__ import annotations

import re
from typing import Final

MANGLED: Final = re.compile(r"_A(\d)")
"""How cuTile Python writes the rank of an array in an entry's name, parameter by parameter."""


def python_ranks(entry: str) -> list[int]:
    """Ranks of the arrays that an entry of cuTile Python takes, by its name; none for other front ends."""
    return [] if entry.startswith("_Z") else [int(digit) for digit in MANGLED.findall(entry)]


def module_name(variant: str) -> str:
    """The Rust module that holds a variant's kernel, where kernel.rs has several."""
    name = re.sub(r"\W", "_", variant).lower()
    return name if not name[:1].isdigit() else f"v_{name}"
