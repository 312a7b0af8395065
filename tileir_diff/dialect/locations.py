"""Debug locations of `-g` dumps: aliases and call sites resolved to places in source files, on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lark import Token as Leaf

from tileir_diff.syntax.parser import parse_location
from tileir_diff.syntax.source import Problem

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import SourceLoc

# Call sites nest as deep as the source inlines; a dump with a longer chain is not a compiler's.
DEPTH = 64

Frames = tuple[tuple[str, int, int], ...]


class Locations:
    """The aliases of one dump, and the locations resolved so far."""

    def __init__(self, aliases: dict[str, Any]) -> None:
        self._aliases = aliases
        self._frames: dict[str, Frames] = {}

    def resolve(self, text: str, home: str | None) -> SourceLoc | None:
        """The innermost frame of `loc(...)` that lies in the file of the location `home`.

        Else the innermost one.
        """
        from tileir_diff.dialect.ir import SourceLoc

        frames = self.frames(text)
        if not frames:
            return None
        files = {frame[0] for frame in self.frames(home)[:1]} if home else set()
        chosen = next((frame for frame in frames if frame[0] in files), frames[0])
        return SourceLoc(*chosen)

    def frames(self, text: str) -> Frames:
        """All frames of a `loc(...)`, innermost first; () when it is unknown or malformed."""
        known = self._frames.get(text)
        if known is None:
            try:
                known = tuple(self._walk(parse_location(text[4:-1]), 0))
            except Problem:
                known = ()
            self._frames[text] = known
        return known

    def _walk(self, node: tuple[Any, ...], depth: int) -> list[tuple[str, int, int]]:
        if depth > DEPTH:
            return []
        match node[0]:
            case "file":
                return [node[1:]]
            case "alias":
                return self._alias(node[1], depth + 1)
            case "in":
                return self._walk(node[1], depth + 1)
            case "call":
                return self._walk(node[1], depth + 1) + self._walk(node[2], depth + 1)
            case "fused":
                return [frame for part in node[1] for frame in self._walk(part, depth + 1)]
            case "attribute":
                return self._attribute(node[1], depth + 1)
            case _:
                return []

    def _alias(self, name: str, depth: int) -> list[tuple[str, int, int]]:
        value = self._aliases.get(name)
        if type(value) is not Leaf:
            return []
        if value.type == "LOC":
            return self._walk(parse_location(str(value)[4:-1]), depth)
        if value.type == "ANGLED":
            return self._attribute(str(value), depth)
        return self._alias(str(value), depth) if value.type == "HASH" and depth < DEPTH else []

    def _attribute(self, text: str, depth: int) -> list[tuple[str, int, int]]:
        """`#cuda_tile.di_loc<#loc3 in #di_subprogram>`: the place before `in`."""
        head, _, rest = text.partition("<")
        if head.removeprefix("#cuda_tile.") != "di_loc":
            return []
        place = rest.partition(" in ")[0].strip()
        if place.startswith("loc("):
            place = place[4:-1]
        return self._walk(parse_location(place), depth)
