"""When Python looks for garbage.

Modules and terms refer to each other and live until a comparison ends: a search among them finds nothing,
and at Python's own pace searches are a twentieth of all time.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

NEW_OBJECTS = 50_000
"""So many new objects before a search, where it is this package that decides."""

_lock = Lock()
_inside = 0
_before = (0, 0, 0)


@contextmanager
def rare_searches() -> Generator[None]:
    """Fewer searches until the last of all that are inside, nested or in other threads, has left.

    What the program has set is put back then; searches that it made rarer, or switched off, stay so.
    """
    global _inside, _before
    with _lock:
        if not _inside:
            _before = gc.get_threshold()
            if 0 < _before[0] < NEW_OBJECTS:
                gc.set_threshold(NEW_OBJECTS, *_before[1:])
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                gc.set_threshold(*_before)
