"""Makes `benchmarks` importable however pytest was started: it is not part of the installed package."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parents[2])

if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
