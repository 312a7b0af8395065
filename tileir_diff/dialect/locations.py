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
        """The innermost frame of `loc(...)` in the file of the location `home`, else the innermost one.

        `home` is the location of the kernel itself.
        """
        from tileir_diff.dialect.ir import SourceLoc

        frames = self.frames(text)
        if not frames:
            return None
        start = self.frames(home)[:1] if home else ()
        own = [frame for frame in frames if start and frame[0] == start[0][0]]
        file, line, column = own[0] if own else frames[0]
        calls = [frame for frame in self._calls(text) if frame in own and frame not in start]
        called = SourceLoc(*calls[-1]) if calls and calls[-1][1] != line else None
        return SourceLoc(file, line, column, called)

    def _calls(self, text: str) -> Frames:
        """The frames from which a location is called, innermost first."""
        try:
            node = _inside(text)
            for _ in range(DEPTH):
                if node[0] == "call":
                    return self._walk(node[2], 0)
                value = self._aliases.get(node[1]) if node[0] == "alias" else None
                if type(value) is not Leaf:
                    break
                node = _inside(str(value))
        except Problem:
            pass
        return ()

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
