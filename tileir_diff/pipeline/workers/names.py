"""Names that workers and gates agree on."""

from __future__ import annotations

import re


def module_name(variant: str) -> str:
    """The Rust module that holds a variant's kernel, where kernel.rs has several."""
    name = re.sub(r"\W", "_", variant).lower()
    return name if not name[:1].isdigit() else f"v_{name}"
