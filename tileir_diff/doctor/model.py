"""What one check of the environment found."""

from __future__ import annotations

from typing import Final, NamedTuple

SCHEMA: Final = "tileir-doctor/1"

OK, NOTE, MISSING, WRONG = "ok", "note", "missing", "wrong"
"""`note`: it works, and there is something to know. `missing` costs a feature; `wrong` is there and fails."""


class Check(NamedTuple):
    """One thing that was looked for.

    `found`: its version and place, empty where it is missing. `needs`: what asks for it. `advice`: what to
    know, or to do.
    """

    name: str
    status: str
    found: str
    needs: str
    advice: str = ""
