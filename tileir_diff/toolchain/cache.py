"""Where results are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(name: str) -> Path:
    """A folder of ours: below XDG_CACHE_HOME, or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()
    return root / "tileir-diff" / name
