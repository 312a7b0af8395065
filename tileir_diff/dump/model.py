"""What a dump from a front end consists of."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

SCHEMA: Final = "tileir-dump/1"


class Dumped(NamedTuple):
    """What a front end made of a kernel: bytecode, text with locations, what it was specialised for."""

    bytecode: bytes
    text: str
    specialised: dict[str, Any]
