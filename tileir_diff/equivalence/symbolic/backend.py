"""z3, which only proofs need.

It is an optional dependency, and has no types.
"""

from __future__ import annotations

import importlib
from typing import Any

from tileir_diff.errors import InputError


def load() -> Any:
    """The z3 module. Raises InputError where it is not installed."""
    try:
        return importlib.import_module("z3")
    except ImportError as error:
        raise InputError(
            f"proofs need z3, which cannot be imported ({error}); "
            "install it with: pip install 'tileir-diff[prove]'"
        ) from None


z3: Any = load()
