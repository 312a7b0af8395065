"""Where the parts of an op stand in its text.

Found by reading the op's text once more, so that it costs nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.assign import Assigned, assign
from tileir_diff.dialect.generic import collect
from tileir_diff.syntax.nodes import Argument, Listing, OpNode, Pair
from tileir_diff.syntax.parser import parse_file_syntax
from tileir_diff.syntax.source import Problem, SourceText
from tileir_diff.syntax.token import Token as Leaf

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.syntax.source import Span

RESULTS: Final = re.compile(r"%[\w$.\-]+(?:\s*:\s*\d+)?(?:\s*,\s*%[\w$.\-]+(?:\s*:\s*\d+)?)*(?=\s*=)")
CLOSING: Final = {"(": ")", "{": "}"}


def part_span(op: TileOp, name: str) -> Span | None:
    """The span of an operand group, an attribute, "results", "name" or "types";

    None for what is not in the text.
    """
    if op.dump is None or op.start == op.end:
        return None
    text = op.text
    found = _offsets(op, text, name)
    if found is None or found[0] >= found[1]:
        return None
    return op.dump.text.span(op.start + found[0], op.start + found[1])


def _offsets(op: TileOp, text: str, name: str) -> tuple[int, int] | None:
    if name == "results":
        match = RESULTS.match(text)
        return match.span() if match else None
    node = _reread(text)
    if node is None:
        return None
    if name == "name":
        return node.name_start, node.name_start + len(node.name)
    if name == "types":
        return _types(node, text)
    try:
        found, operands = _parts(op, node)
    except Problem:
        return None
    nodes = operands.get(name)
    if nodes:
        return _start(nodes[0]), _end(nodes[-1])
    where = found.where.get(name)
    return (_start(where), _end(where)) if where is not None else None


def _reread(text: str) -> OpNode | None:
    """The op's syntax. Its head alone is not a whole op: open brackets are closed again."""
    head = text.rstrip()
    closing = ""
    while head and head[-1] in CLOSING:
        closing += CLOSING[head[-1]]
        head = head[:-1].rstrip()
    for tail in (closing, closing + " : () -> ()"):
        try:
            ops = parse_file_syntax(SourceText(text.rstrip() + tail)).ops
        except Exception as error:
            from tileir_diff.errors import InputError

            if not isinstance(error, InputError):
                raise
            continue
        return ops[0] if len(ops) == 1 else None
    return None


def _parts(op: TileOp, node: OpNode) -> tuple[Assigned, dict[str, list[Any]]]:
    spec = op.spec
    sizes = dict(zip([group.rstrip("?*") for group in spec.operands], op.segments, strict=True))
    if node.name.startswith('"'):
        found, leaves, _ = collect(spec, node)
        return found, _take(list(sizes), sizes, leaves)
    found = assign(spec, node)
    if spec.custom in ("for", "loop"):
        return found, _loop_parts(found, node)
    named = {key: [value] for key, value in found.named_operands.items()}
    if spec.bracket in sizes:
        named[spec.bracket] = list(found.bracketed)
    rest = [name for name in sizes if name not in named]
    return found, {**_take(rest, sizes, found.positional), **named}


def _take(names: list[str], sizes: dict[str, int], leaves: list[Leaf]) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {}
    start = 0
    for name in names:
        parts[name] = list(leaves[start : start + sizes[name]])
        start += sizes[name]
    return parts


def _loop_parts(found: Assigned, node: OpNode) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {}
    groups = [
        *found.groups,
        *([node.signature.bindings] if node.signature and node.signature.bindings else []),
    ]
    for group in groups:
        if group.kind == "range":
            parts |= {
                name: [leaf] for name, leaf in zip(("lower", "upper", "step"), group.values, strict=True)
            }
        elif group.kind == "bindings":
            parts["inits"] = [init for _, init in group.values]
    return parts


def _start(node: Any) -> int:
    if type(node) is Leaf:
        return node.start_pos or 0
    if type(node) is Pair:
        return node.key.start_pos or 0
    return _start(node.name) if type(node) is Argument else node.start


def _end(node: Any) -> int:
    if type(node) is Leaf:
        return node.end_pos or 0
    if type(node) is Pair:
        return _end(node.value)
    return _end(node.values[-1]) if not isinstance(node, Listing) else node.end


def _types(node: OpNode, text: str) -> tuple[int, int] | None:
    """From after `:` or `->` to the last type, with its closing parenthesis."""
    signature = node.signature
    leaves = (signature.results or signature.types) if signature else None
    if signature is None or not leaves:
        return None
    start = signature.start + (1 if text.startswith(":", signature.start) else 2)
    start += len(text[start:]) - len(text[start:].lstrip())
    end = _end(leaves[-1])
    return start, end + (1 if text.startswith(")", end) else 0)
