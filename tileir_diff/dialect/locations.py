"""Debug locations of `-g` dumps: aliases and call sites resolved to places in source files, on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.syntax.parser import parse_location
from tileir_diff.syntax.source import Problem
from tileir_diff.syntax.token import Token as Leaf

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import SourceLoc

# Far more than any compiler inlines or fuses; bounds what a hostile dump can ask for.
DEPTH = 64
FRAMES = 64

Frames = tuple[tuple[str, int, int], ...]


class Locations:
    """The aliases of one dump, and the locations resolved so far."""

    def __init__(self, aliases: dict[str, Any]) -> None:
        self._aliases = aliases
        self._frames: dict[str, Frames] = {}

    @property
    def texts(self) -> dict[str, str]:
        """What each alias stands for, as it is written."""
        return {name: str(value) for name, value in self._aliases.items() if type(value) is Leaf}

    def resolve(self, text: str, home: str | None) -> SourceLoc | None:
        """The innermost frame of `loc(...)` in the file of the location `home`, else the innermost one."""
        from tileir_diff.dialect.ir import SourceLoc

        frames = self.frames(text)
        if not frames:
            return None
        files = {frame[0] for frame in self.frames(home)[:1]} if home else set[str]()
        chosen = next((frame for frame in frames if frame[0] in files), frames[0])
        return SourceLoc(*chosen)

    def frames(self, text: str, depth: int = 0) -> Frames:
        """All frames of a location, innermost first; () when it is unknown or malformed.

        The text is `loc(...)`, an alias or a location attribute.
        """
        known = self._frames.get(text)
        if known is None:
            self._frames[text] = ()  # what refers to itself has no frames
            try:
                known = self._walk(_inside(text), depth)[:FRAMES]
            except Problem:
                known = ()
            self._frames[text] = known
        return known

    def _walk(self, node: tuple[Any, ...], depth: int) -> Frames:
        if depth > DEPTH:
            return ()
        match node[0]:
            case "file":
                return (node[1:],)
            case "alias":
                value = self._aliases.get(node[1])
                return self.frames(str(value), depth + 1) if type(value) is Leaf else ()
            case "in":
                return self._walk(node[1], depth + 1)
            case "call":
                return self._walk(node[1], depth + 1) + self._walk(node[2], depth + 1)
            case "fused":
                frames: Frames = ()
                for part in node[1]:
                    frames += self._walk(part, depth + 1)
                    if len(frames) > FRAMES:
                        break
                return frames
            case "attribute":
                return self.frames(node[1], depth + 1)
            case _:
                return ()


def _inside(text: str) -> tuple[Any, ...]:
    """The node of `loc(...)`, `#alias` or `#cuda_tile.di_loc<place in scope>`. Raises Problem."""
    head, angle, rest = text.partition("<")
    if angle and head.removeprefix("#cuda_tile.") == "di_loc":
        text = rest.partition(" in ")[0].strip()
    return parse_location(text[4:-1] if text.startswith("loc(") else text)
