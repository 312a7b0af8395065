"""What a dump from a front end consists of."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from tileir_diff.errors import InputError

SCHEMA: Final = "tileir-dump/1"
ARCHITECTURE: Final = re.compile(r"sm_(\d+)[af]?")
OLDEST: Final = 80
"""The first architecture that Tile IR is assembled for."""


class Dumped(NamedTuple):
    """What a front end made of a kernel: bytecode, text with locations, what it was specialised for."""

    bytecode: bytes
    text: str
    specialised: dict[str, Any]


def check_architecture(given: str) -> str:
    """The architecture. Raises InputError for what no GPU of Tile IR is called."""
    found = ARCHITECTURE.fullmatch(given)
    if found is None or int(found[1]) < OLDEST:
        raise InputError(f"'{given}' is no architecture of Tile IR, as sm_90 or sm_100", "--arch")
    return given
