"""Formulas that are cut to fit a line: what both sides have alike goes first, where they differ stays.

A formula is read as a tree of calls, sums and lists, and laid beside that of the other side: what has an
equal counterpart is left out first, then what is deep inside, then what stands around the first difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ELLIPSIS = "…"
BRACKETS = {"(": ")", "[": "]"}
OPENING = {closing: opening for opening, closing in BRACKETS.items()}
TOKEN = re.compile(r" (?:\+|-|and|or) |, | (?:\?|:|<=|<|==|/) |\*|[()\[\]]|(?:(?! \S{1,3} |, )[^*()\[\]])+|.")
COMMA, CHOICE, LOAD = ", ", " ? ", "load["
LEVELS = (
    frozenset({COMMA}),
    frozenset({CHOICE, " : "}),
    frozenset({" and ", " or "}),
    frozenset({" <= ", " < ", " == "}),
    frozenset({" + ", " - "}),
    frozenset({"*", " / "}),
)
"""Signs between parts, those that bind least first."""
LISTS, CHOICES, SUMS = 0, 1, frozenset({2, 4})
"""Levels: parts of the last may be left out together: "… + x"."""
UNORDERED = frozenset({2, 4, 5})
MINUS = frozenset({" - ", " / "})
CALL, LEAF, JOIN = 10, 11, 12
WORTH = 4
"""Less than this is not worth leaving out."""
DEEPEST = 6
NESTED = 100
"""What has more brackets in each other is no formula that a reader could follow."""
TYPE = re.compile(r"\w<")


@dataclass(slots=True, eq=False)
class Tree:
    """A part of a formula."""

    kind: int
    """An index of `LEVELS`, or CALL, LEAF or JOIN (a name beside a bracket)."""
    text: str
    parts: list[Tree] = field(default_factory=list["Tree"])
    signs: list[str] = field(default_factory=list[str])
    """Before each part."""
    head: str = ""
    tail: str = ""
    """Of a call: its name with the opening bracket, and the closing one."""
    same: bool = False
    """It has an equal counterpart."""
    paired: bool = False
    """It has a counterpart that is like it from outside."""

    def shell(self) -> tuple[int, str]:
        """How it looks from outside."""
        return self.kind, self.head


@dataclass(frozen=True, slots=True)
class Style:
    """How much is left out."""

    calls: bool = False
    """What is in the brackets of calls that both have."""
    sums: bool = False
    """Parts of sums that both have."""
    lists: bool = False
    """Elements of lists that both have, and the masks of loads."""
    depth: int = 99
    """What stands in so many brackets of what only this side has."""
    first: bool = False
    """What is inside all but the first of the places that differ."""
    bare: bool = False
    """And those places themselves."""


STYLES = (
    Style(),
    Style(calls=True),
    Style(calls=True, sums=True),
    *(Style(calls=True, sums=True, lists=True, depth=depth) for depth in range(DEEPEST, 1, -1)),
    *(Style(calls=True, sums=True, lists=True, depth=depth, first=True) for depth in range(DEEPEST, 0, -1)),
    *(Style(calls=True, sums=True, lists=True, depth=depth, first=True, bare=True) for depth in (2, 1)),
)


def shortened(text: str, other: str, width: int) -> str | None:
    """``text`` in at most ``width`` characters, still unlike ``other``; None where that is not possible.

    The first place where the two differ is kept; brackets stay whole.
    """
    if TYPE.search(text) or max(_nesting(text), _nesting(other)) > NESTED:
        return None
    last = ""
    for line, unlike in zip_longest(_steps(text, other), _steps(other, text)):
        last = unlike or last
        if line is None:
            return None
        if len(line) <= width and line != last:
            return line
    return None


def _nesting(text: str) -> int:
    """How many brackets are open at once, at most."""
    return max(accumulate((char in BRACKETS) - (char in OPENING) for char in text), default=0)


def balanced(text: str) -> str:
    """A text that was cut, with the brackets it lacks; those that only close at its end are left out."""
    waiting: list[str] = []
    kept = before = ""
    for at, char in enumerate(text):
        if char in BRACKETS:
            waiting.append(BRACKETS[char])
        elif waiting[-1:] == [char]:
            waiting.pop()
        elif char in OPENING and char in waiting:
            while waiting[-1] != char:  # cut inside the inner ones
                kept += waiting.pop()
            waiting.pop()
        elif char in OPENING:
            if not text[at:].strip(ELLIPSIS + "".join(OPENING)):
                return f"{before}{kept.rstrip(ELLIPSIS)}{ELLIPSIS}" + "".join(reversed(waiting))
            before = OPENING[char] + before
        kept += char
    return before + kept + "".join(reversed(waiting))


def _steps(text: str, other: str) -> Iterator[str]:
    """The text with more and more left out."""
    tree, theirs = _tree(text), _tree(other)
    _mark(tree, theirs)
    for style in STYLES:
        yield _drawn(tree, style)
    path = _path(tree)
    for inner in (each for each in path[1:] if each.kind != LISTS):
        for depth in (2, 1):
            shown = _drawn(inner, replace(STYLES[-1], depth=depth))
            before, _, after = text.partition(inner.text)
            shown = f"{ELLIPSIS if before else ''}{shown}{ELLIPSIS if after else ''}"
            yield shown.replace(ELLIPSIS * 2, ELLIPSIS)


def _tree(text: str) -> Tree:
    """The formula as a tree; brackets that do not match are those of the text made whole."""
    return _row(_calls(TOKEN.findall(balanced(text))), 0)


def _calls(tokens: list[str]) -> list[str | Tree]:
    """Brackets, with the name before them, as one node each."""
    stack: list[tuple[str, list[str | Tree]]] = [("", [])]
    for token in tokens:
        if token in BRACKETS:
            stack.append((token, []))
            continue
        if token not in OPENING:
            stack[-1][1].append(token)
            continue
        opening, nodes = stack.pop()
        inner, around = _row(nodes, 0), stack[-1][1]
        name = around[-1] if around else ""
        if isinstance(name, Tree) or not name or name[-1] == " " or _is_sign(name):
            name = ""
        else:
            around.pop()
        head = name + opening
        around.append(Tree(CALL, head + inner.text + token, [inner], [""], head, token))
    return stack[0][1]


def _is_sign(token: str) -> bool:
    return any(token in signs for signs in LEVELS)


def _row(nodes: list[str | Tree], level: int) -> Tree:
    """Nodes as parts between signs of the level, or of the next that has some."""
    if level == len(LEVELS):
        parts = [Tree(LEAF, node) if isinstance(node, str) else node for node in nodes]
        if len(parts) == 1:
            return parts[0]
        return Tree(JOIN if parts else LEAF, "".join(part.text for part in parts), parts, [""] * len(parts))
    groups: list[list[str | Tree]] = [[]]
    signs = [""]
    for node in nodes:
        if isinstance(node, str) and node in LEVELS[level]:
            signs.append(node)
            groups.append([])
        else:
            groups[-1].append(node)
    parts = [_row(group, level + 1) for group in groups]
    if len(parts) == 1:
        return parts[0]
    text = "".join(sign + part.text for sign, part in zip(signs, parts, strict=True))
    return Tree(level, text, parts, signs)


def _mark(tree: Tree, other: Tree) -> None:
    """Says of each part whether it has a counterpart in the other."""
    if tree.text == other.text:
        tree.same = tree.paired = True
        return
    if tree.shell() != other.shell() or tree.kind == LEAF:
        _mark_apart(tree, frozenset(part.text for part in _all(other)))
        return
    tree.paired = True
    for part, counterpart in _pairs(tree, other):
        if counterpart is None:
            _mark_apart(part, frozenset(each.text for each in _all(other)))
        else:
            _mark(part, counterpart)


def _mark_apart(tree: Tree, theirs: frozenset[str]) -> None:
    tree.same = tree.kind != LEAF and tree.text in theirs
    if not tree.same:
        for part in tree.parts:
            _mark_apart(part, theirs)


def _all(tree: Tree) -> Iterator[Tree]:
    yield tree
    for part in tree.parts:
        yield from _all(part)


def _pairs(tree: Tree, other: Tree) -> list[tuple[Tree, Tree | None]]:
    """Each part with its counterpart: by place where the order counts, else an equal one, or one like it."""
    if tree.kind not in UNORDERED and len(tree.parts) == len(other.parts):
        return list(zip(tree.parts, other.parts, strict=True))
    left = [(sign in MINUS, part) for sign, part in zip(other.signs, other.parts, strict=True)]
    found: dict[int, Tree] = {}
    for exact in (True, False):
        for at, (sign, part) in enumerate(zip(tree.signs, tree.parts, strict=True)):
            like = (
                (minus, each)
                for minus, each in left
                if minus == (sign in MINUS)
                and (part.text == each.text if exact else part.shell() == each.shell())
            )
            match = None if at in found else next(like, None)
            if match is not None:
                found[at] = match[1]
                left.remove(match)
    return [(part, found.get(at)) for at, part in enumerate(tree.parts)]


def _path(tree: Tree) -> list[Tree]:
    """From the whole to the first part that has no counterpart."""
    path = [tree]
    while path[-1].paired and not path[-1].same:
        unlike = next((part for part in path[-1].parts if not part.same), None)
        if unlike is None:
            break
        path.append(unlike)
    while len(path) > 1 and path[-1].kind == LEAF and path[-2].kind != CALL:
        path.pop()  # "n" alone says less than "i0 < n"
    return path


def _drawn(tree: Tree, style: Style, depth: int = 0) -> str:
    """The tree in a style; `depth`: brackets of what only this side has around it."""
    if tree.kind == LEAF:
        return tree.text
    if tree.kind == CALL:
        inside = tree.parts[0]
        left_out = (tree.same and style.calls) or depth >= style.depth
        if left_out:
            return _emptied(tree)
        load = _masked_load(inside) if style.lists else None
        if load is not None:
            return _drawn(load, style, depth)
        return tree.head + _drawn(inside, style, depth + (not tree.paired)) + tree.tail
    return _drawn_row(tree, style, depth)


def _drawn_row(tree: Tree, style: Style, depth: int) -> str:
    line = ""
    was_left_out = seen = False
    merged = style.sums and tree.kind in SUMS and not all(part.same for part in tree.parts)
    bare = style.bare and tree.paired and (tree.kind in SUMS or tree.kind == LISTS)
    lists = style.lists and tree.kind in (LISTS, CHOICES) and not tree.same
    for sign, part in zip(tree.signs, tree.parts, strict=True):
        left_out = part.same and (merged or (lists and len(part.text) >= WORTH))
        left_out = left_out or (bare and seen and len(part.text) >= WORTH)
        if merged and left_out and was_left_out:
            continue
        inner = style.depth if style.first and seen and tree.paired else depth
        line += sign + (ELLIPSIS if left_out else _drawn(part, style, inner))
        was_left_out = left_out
        seen = seen or not part.same
    return line


def _emptied(tree: Tree) -> str:
    """A call without what is in it; of a choice, what it chooses between."""
    inside = tree.parts[0]
    if len(inside.text) < WORTH or inside.text == "unsigned":  # "a < b (unsigned)" says how it is compared
        return tree.text
    if inside.kind != CHOICES:
        return tree.head + ELLIPSIS + tree.tail
    load = _masked_load(inside)
    if load is not None:
        return LOAD + ELLIPSIS + load.tail
    parts = (
        part.text if part.kind == LEAF else _emptied(part) if part.kind == CALL else ELLIPSIS
        for part in inside.parts
    )
    shown = "".join(sign + part for sign, part in zip(inside.signs, parts, strict=True))
    return tree.head + shown + tree.tail


def _masked_load(inside: Tree) -> Tree | None:
    """What a load with a mask reads: `load[x + 4]` of `n < 4 ? load[x + 4] : 0`, if not the mask differs."""
    if inside.kind != CHOICES or (inside.paired and not inside.same and not inside.parts[0].same):
        return None
    return next((part for part in inside.parts[1:] if part.head == LOAD), None)
