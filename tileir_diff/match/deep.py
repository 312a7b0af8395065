"""Room for expressions that nest deeply: of a table of a thousand selections each holds the next."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

FRAMES = 5000
"""Python's own limit is 1000. A call from Python to Python takes nothing of the stack that can overflow."""


@contextmanager
def deep() -> Generator[None]:
    """Raises InputError where an expression nests more deeply than that."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        yield
    except RecursionError:
        raise InputError("an expression nests too deeply to be compared") from None
    finally:
        sys.setrecursionlimit(before)
