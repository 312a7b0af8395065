"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# Two shared cores: how long an example takes says nothing about the code.
settings.register_profile("tileir-diff", deadline=None)
settings.load_profile("tileir-diff")
