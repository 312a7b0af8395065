"""What the parts of one bytecode file share: its version, and the tables of strings, types and constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.bytecode.debug_info import DebugInfo
from tileir_diff.bytecode.encoding import Table
from tileir_diff.bytecode.types import encode_type

if TYPE_CHECKING:
    from xdsl.ir import Attribute


class Tables:
    """The tables of a file of version 13.`version`."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.strings = Table()
        self.types = Table()
        self.constants = Table()
        self.debug = DebugInfo(self.string)
        self._types: dict[Attribute, int] = {}

    def string(self, text: str) -> int:
        """The number of a string."""
        return self.strings.number(text.encode("utf-8", "surrogatepass"))

    def type(self, type_: Attribute) -> int:
        """The number of a type; those inside it come before it. Raises Unwritable."""
        number = self._types.get(type_)
        if number is None:
            number = self._types[type_] = self.types.number(encode_type(self, type_))
        return number
