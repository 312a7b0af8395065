"""Formulas that are cut to fit a line: what both sides have alike goes first, and brackets stay whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

ELLIPSIS = "…"
BRACKETS = {"(": ")", "[": "]"}
OPENING = {closing: opening for opening, closing in BRACKETS.items()}
TOKEN = re.compile(r" (?:\+|-|and|or) |, | (?:\?|:|<=|<|==|/) |\*|[()\[\]]|(?:(?! \S{1,3} |, )[^*()\[\]])+|.")
SUMS = frozenset({" + ", " - ", " and ", " or "})
"""Between parts of which some may be left out: "… + x"."""
WORTH = 4
"""Brackets around less than this are not worth leaving out."""
COMMA, CHOICE, LOAD = ", ", " ? ", "load"
TYPE = re.compile(r"\w<")


class Group(NamedTuple):
    """Brackets with what is in them."""

    opening: str
    nodes: tuple[Node, ...]
    closing: str


Node: TypeAlias = "str | Group"


def shortened(text: str, other: str, width: int) -> str | None:
    """``text`` in at most ``width`` characters, still unlike ``other``; None where that is not possible.

    Left out are, until the rest fits: the insides of brackets that both have, parts of sums and conjunctions
    that both have, and the innermost brackets; in the end all parts that read alike then.
    """
    if TYPE.search(text):
        return None
    for line, unlike in zip(_steps(text, other), _steps(other, text), strict=False):
        if len(line) <= width and line != unlike:
            return line
    return None


def _steps(text: str, other: str) -> Iterator[str]:
    """The text with more and more left out."""
    nodes, shared = _parsed(text), frozenset(_pieces(_parsed(other)))
    yield text
    nodes = _without_groups(nodes, shared)
    yield _written(nodes)
    nodes = _without_parts(nodes, shared)
    yield _written(nodes)
    nodes = _without_masks(nodes)
    yield _written(nodes)
    depths = range(6, 1, -1)
    flat = [_down_to(nodes, depth) for depth in depths]
    yield from map(_written, flat)
    theirs = _without_masks(_parsed(other))
    for depth, less in zip(depths, flat, strict=True):
        yield _written(_without_alike(less, frozenset(_pieces(_down_to(theirs, depth)))))
    yield _written(_down_to(nodes, 1))


def balanced(text: str) -> str:
    """A text that was cut, with the brackets it lacks; those that only close at its end are left out."""
    waiting: list[str] = []
    kept = before = ""
    for at, char in enumerate(text):
        if char in BRACKETS:
            waiting.append(BRACKETS[char])
        elif waiting[-1:] == [char]:
            waiting.pop()
        elif char in OPENING:
            if not text[at:].strip(ELLIPSIS + "".join(OPENING)):
                return f"{before}{kept}{ELLIPSIS}"
            before = OPENING[char] + before
        kept += char
    return before + kept + "".join(reversed(waiting))


def _parsed(text: str) -> tuple[Node, ...]:
    stack: list[tuple[str, list[Node]]] = [("", [])]
    for token in TOKEN.findall(text):
        opening, nodes = stack[-1]
        if token in BRACKETS:
            stack.append((token, []))
        elif token == BRACKETS.get(opening):
            stack.pop()
            stack[-1][1].append(Group(opening, tuple(nodes), token))
        else:
            nodes.append(token)
    while len(stack) > 1:
        opening, nodes = stack.pop()
        stack[-1][1].append(Group(opening, tuple(nodes), BRACKETS[opening]))
    return tuple(stack[0][1])


def _written(nodes: tuple[Node, ...]) -> str:
    return "".join(
        node if isinstance(node, str) else f"{node.opening}{_written(node.nodes)}{node.closing}"
        for node in nodes
    )


def _pieces(nodes: tuple[Node, ...]) -> Iterator[str]:
    """What could be left out of another text, if it stands there too."""
    for element in _elements(nodes):
        yield _written(element)
        for _, part in _parts(element):
            yield _written(part)
    for at, node in enumerate(nodes):
        if not isinstance(node, str):
            yield _name(nodes, at) + _written((node,))
            yield from _pieces(node.nodes)


def _name(nodes: tuple[Node, ...], at: int) -> str:
    """What stands before a bracket: the name of a function, or nothing."""
    before = nodes[at - 1] if at else ""
    return before if isinstance(before, str) else ""


def _elements(nodes: tuple[Node, ...]) -> list[tuple[Node, ...]]:
    """The parts of a list."""
    elements: list[list[Node]] = [[]]
    for node in nodes:
        if node == COMMA:
            elements.append([])
        else:
            elements[-1].append(node)
    return [tuple(element) for element in elements]


def _parts(nodes: tuple[Node, ...]) -> list[tuple[str, tuple[Node, ...]]]:
    """The parts of a sum or a conjunction, each with the sign before it."""
    parts: list[tuple[str, list[Node]]] = [("", [])]
    for node in nodes:
        if isinstance(node, str) and node in SUMS:
            parts.append((node, []))
        else:
            parts[-1][1].append(node)
    return [(sign, tuple(part)) for sign, part in parts]


def _without_groups(nodes: tuple[Node, ...], shared: frozenset[str]) -> tuple[Node, ...]:
    """With nothing in the brackets that the other text has too, the outermost first."""
    kept: list[Node] = []
    for at, node in enumerate(nodes):
        if isinstance(node, str):
            kept.append(node)
            continue
        if _name(nodes, at) + _written((node,)) in shared:
            kept.append(_emptied(nodes, at, node))
        else:
            kept.append(node._replace(nodes=_without_groups(node.nodes, shared)))
    return tuple(kept)


def _emptied(nodes: tuple[Node, ...], at: int, group: Group) -> Node:
    """Brackets without what is in them; a load with its mask reads as a load."""
    name = _name(nodes, at)
    if len(_written(group.nodes)) < WORTH or (name.endswith(" ") and name.strip()[-1:].isalnum()):
        return group  # "a < b (unsigned)" says how it is compared
    if _masked_load(group) is not None:
        return f"{LOAD}[{ELLIPSIS}]"
    return group._replace(nodes=(ELLIPSIS,))


def _masked_load(group: Group) -> Group | None:
    """What a load with a mask reads: `x + 4` of `(n < 4 ? load[x + 4] : 0)`."""
    if group.opening != "(" or CHOICE not in group.nodes:
        return None
    loads = (each for i, each in enumerate(group.nodes) if _name(group.nodes, i) == LOAD)
    return next((each for each in loads if isinstance(each, Group)), None)


def _without_masks(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """With loads in the place of loads with a mask."""
    kept: list[Node] = []
    for node in nodes:
        load = None if isinstance(node, str) else _masked_load(node)
        if load is not None:
            kept += [LOAD, load]
        else:
            kept.append(node if isinstance(node, str) else node._replace(nodes=_without_masks(node.nodes)))
    return tuple(kept)


def _without_parts(nodes: tuple[Node, ...], shared: frozenset[str]) -> tuple[Node, ...]:
    """Without the parts of sums that the other text has too, the innermost first; those beside it are one."""
    inner = tuple(
        node if isinstance(node, str) else node._replace(nodes=_without_parts(node.nodes, shared))
        for node in nodes
    )
    parts = list(zip(_parts(nodes), _parts(inner), strict=True))
    if len(parts) == 1 or any("," in part or " ? " in part for (_, part), _ in parts):
        return inner
    kept: list[Node] = []
    for (sign, whole), (_, part) in parts:
        left_out = _written(whole) in shared
        if left_out and kept[-1:] == [ELLIPSIS]:
            continue
        kept += [sign] if sign else []
        kept += [ELLIPSIS] if left_out else part
    return tuple(kept)


def _without_alike(nodes: tuple[Node, ...], shared: frozenset[str]) -> tuple[Node, ...]:
    """Without the elements of lists, and parts of sums, that the other text has too."""
    elements = _elements(nodes)
    kept: list[Node] = []
    for element in elements:
        kept += [COMMA] if kept else []
        whole = _written(element)
        if len(elements) > 1 and len(whole) >= WORTH and whole in shared:
            kept.append(ELLIPSIS)
            continue
        inner = tuple(
            node if isinstance(node, str) else node._replace(nodes=_without_alike(node.nodes, shared))
            for node in element
        )
        kept += _without_parts(inner, shared)
    return tuple(kept)


def _down_to(nodes: tuple[Node, ...], depth: int) -> tuple[Node, ...]:
    """With nothing in the brackets that stand in so many others."""
    kept: list[Node] = []
    for at, node in enumerate(nodes):
        if isinstance(node, str):
            kept.append(node)
        elif depth == 1:
            kept.append(_emptied(nodes, at, node))
        else:
            kept.append(node._replace(nodes=_down_to(node.nodes, depth - 1)))
    return tuple(kept)
