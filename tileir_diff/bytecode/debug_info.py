"""The debug section: a table of scopes and places, and for each op of each entry the number of its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.bytecode.encoding import Table, offsets, pad, varint
from tileir_diff.bytecode.locations import (
    CallSite,
    CompileUnit,
    File,
    LexicalBlock,
    LocationReader,
    NotHeldError,
    Place,
    Subprogram,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tileir_diff.dialect.ir import TileOp

COMPILE_UNIT, FILE, LEXICAL_BLOCK, PLACE, SUBPROGRAM, CALL_SITE = range(1, 7)
UNKNOWN: Final = 0


class DebugInfo:
    """Locations of one file. `string` gives the number of a string; `dropped` counts locations left out."""

    def __init__(self, string: Callable[[str], int]) -> None:
        self._string = string
        self._table = Table(first=1)  # 0 is no location
        self._numbers: dict[Any, int] = {None: UNKNOWN}
        self._reader: LocationReader | None = None
        self._entries: list[list[int]] = []
        self.dropped = 0

    def collect(self, entries: Sequence[TileOp]) -> None:
        """Takes up the locations of all entries: their own, then those of their ops, in order of the text."""
        for entry in entries:
            ops: list[Any] = list(entry.walk())
            self._entries.append([self._location(op) for op in ops])

    def entry_number(self, index: int) -> int:
        """What the record of an entry (0-based) refers to: 0 when there are no locations at all."""
        return index + 1 if len(self._table) else UNKNOWN

    def _location(self, op: TileOp) -> int:
        if op.location_text is None:
            return UNKNOWN
        if self._reader is None:
            locations = op.dump.locations if op.dump is not None else None
            self._reader = LocationReader(locations.texts if locations is not None else {})
        try:
            return self._number(self._reader.read(op.location_text))
        except NotHeldError:
            self.dropped += 1
            return UNKNOWN

    def _number(self, item: Any) -> int:
        number = self._numbers.get(item)
        if number is None:
            number = self._numbers[item] = self._table.number(self._encode(item))
        return number

    def _encode(self, item: Any) -> bytes:
        """A tag and its fields: what it refers to comes before it in the table."""
        match item:
            case File(name, directory):
                fields = (FILE, self._string(name), self._string(directory))
            case CompileUnit(file):
                fields = (COMPILE_UNIT, self._number(file))
            case Subprogram(file, line, name, linkage_name, unit, scope_line):
                names = (self._string(name), self._string(linkage_name))
                fields = (SUBPROGRAM, self._number(file), line, *names, self._number(unit), scope_line)
            case LexicalBlock(scope, file, line, column):
                fields = (LEXICAL_BLOCK, self._number(scope), self._number(file), line, column)
            case Place(scope, filename, line, column):
                fields = (PLACE, self._number(scope), self._string(filename), line, column)
            case CallSite(callee, caller):
                fields = (CALL_SITE, self._number(callee), self._number(caller))
            case _:
                raise NotHeldError
        return b"".join(map(varint, fields))

    def encode(self) -> bytes:
        """The content of the section; empty when no op has a location."""
        if not len(self._table):
            return b""
        content = bytearray(varint(len(self._entries)))
        pad(content, 4)
        content += offsets(map(len, self._entries), 4)
        content += varint(sum(map(len, self._entries)))
        pad(content, 8)
        for number in [number for entry in self._entries for number in entry]:
            content += number.to_bytes(8, "little")
        return bytes(content) + self._table.encode(4)
