"""Debug scopes of `-g` dumps: a kernel lies in the subprogram of its name, its ops in the same one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.dialect.verifier.broken import Broken, Rules

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

RULES: Rules = {
    "debug/kernel-call-site": "the location of a kernel is no call site",
    "debug/kernel-scope": "the scope of a kernel's location is a subprogram, not a block in one",
    "debug/linkage-name": "the subprogram of a kernel has the kernel's name as its linkage name",
    "debug/op-scope": "the scope of an op, followed outwards, is its kernel's subprogram",
    "debug/global-scope": "a global has no debug scope",
}

ALIAS: Final = re.compile(r"^[ \t]*(#[\w.$-]+)[ \t]*=[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
LINKAGE: Final = re.compile(r'linkageName\s*=\s*"((?:[^"\\]|\\.)*)"')
SCOPE: Final = re.compile(r"scope\s*=\s*")
# Aliases nest as deep as the source inlines; deeper ones are no compiler's.
DEPTH: Final = 64


class Place(NamedTuple):
    """What a location says: the scope of its outermost frame as text, and whether it is a call site."""

    scope: str
    call_site: bool


def has_scopes(text: str) -> bool:
    """A dump without this has nothing to check here."""
    return "di_subprogram<" in text


class Scopes:
    """The debug aliases of one dump."""

    def __init__(self, text: str) -> None:
        self._aliases: dict[str, str] = dict(ALIAS.findall(text))
        self._places: dict[str, Place | None] = {}
        self._subprograms: dict[str, str | None] = {}

    def place(self, location: str) -> Place | None:
        """What `loc(...)` says; None when it has no scope, or one that is not understood."""
        if location not in self._places:
            self._places[location] = self._place(location, False, 0)
        return self._places[location]

    def _place(self, text: str, call_site: bool, depth: int) -> Place | None:
        text = text.strip()
        if depth > DEPTH:
            return None
        if text.startswith("loc(") and text.endswith(")"):
            return self._place(text[4:-1], call_site, depth + 1)
        if text.startswith("callsite(") and text.endswith(")"):
            # The caller is what lies in the kernel.
            _, _, caller = _split(text[len("callsite(") : -1], " at ")
            return self._place(caller, True, depth + 1)
        if text.startswith("#cuda_tile.di_loc<") and text.endswith(">"):
            _, _, scope = _split(text[len("#cuda_tile.di_loc<") : -1], " in ")
            return Place(self._expand(scope), call_site)
        alias = self._aliases.get(text)
        return self._place(alias, call_site, depth + 1) if alias is not None else None

    def _expand(self, text: str) -> str:
        text = text.strip()
        for _ in range(DEPTH):
            if text not in self._aliases:
                break
            text = self._aliases[text]
        return text

    def subprogram(self, scope: str) -> str | None:
        """The text of the subprogram around `scope`; None when there is none."""
        if scope not in self._subprograms:
            self._subprograms[scope] = self._subprogram(scope)
        return self._subprograms[scope]

    def _subprogram(self, scope: str) -> str | None:
        for _ in range(DEPTH):
            if "di_subprogram<" in scope.partition(" ")[0]:
                return scope
            match = SCOPE.search(scope)
            if match is None:
                return None
            inner, comma, _ = _split(scope[match.end() :], ",")
            scope = self._expand(inner if comma else inner.removesuffix(">"))
        return None


def _split(text: str, separator: str) -> tuple[str, str, str]:
    """`text` around the last `separator` outside brackets and strings, or the first for a comma."""
    depth, quoted, found = 0, False, -1
    for position, letter in enumerate(text):
        if letter == '"' and text[position - 1 : position] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "(<[":
            depth += 1
        elif letter in ")>]":
            depth -= 1
        elif depth == 0 and text.startswith(separator, position):
            found = position
            if separator == ",":
                break
    if found < 0:
        return text, "", ""
    return text[:found], separator, text[found + len(separator) :]


def check_kernel(kernel: TileOp, scopes: Scopes) -> Broken | None:
    """The location of a kernel."""
    place = scopes.place(kernel.location_text) if kernel.location_text is not None else None
    if place is None:
        return None
    if place.call_site:
        return Broken("debug/kernel-call-site", "the location of a kernel cannot be a call site")
    if scopes.subprogram(place.scope) != place.scope:
        return Broken("debug/kernel-scope", "the debug scope of a kernel must be a subprogram")
    match, name = LINKAGE.search(place.scope), kernel.get("sym_name")
    if match is not None and match[1] != name:
        message = f'@{name} lies in the debug scope of a subprogram with linkage name "{match[1]}"'
        return Broken("debug/linkage-name", message, "sym_name")
    return None


def check_op(op: TileOp, kernel: TileOp, scopes: Scopes) -> Broken | None:
    """The location of an op in `kernel`."""
    place = scopes.place(op.location_text) if op.location_text is not None else None
    if place is None:
        return None
    home = scopes.place(kernel.location_text) if kernel.location_text is not None else None
    if home is None:
        message = f"`{op.short}` has a debug scope, but its kernel @{kernel.get('sym_name')} has none"
        return Broken("debug/op-scope", message)
    if scopes.subprogram(place.scope) != scopes.subprogram(home.scope):
        message = f"the debug scope of `{op.short}` is not in the subprogram of @{kernel.get('sym_name')}"
        return Broken("debug/op-scope", message)
    return None


def check_global(op: TileOp, scopes: Scopes) -> Broken | None:
    """The location of a global."""
    place = scopes.place(op.location_text) if op.location_text is not None else None
    if place is None:
        return None
    return Broken("debug/global-scope", f"@{op.get('sym_name')} is a global, it cannot have a debug scope")
