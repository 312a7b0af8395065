"""Reduce actions of the grammar: one method a rule, called while the text is parsed.

No tree is built in between.

Every method takes the rule's children with all tokens kept, so positions in `c` follow the grammar text.
"""

from __future__ import annotations

from typing import Any

from tileir_diff.syntax.nodes import (
    Argument,
    FunctionTypeNode,
    Group,
    Listing,
    OpNode,
    Pair,
    RegionNode,
    Shaped,
    ShapeGroup,
    Signature,
    SyntaxFile,
    Term,
    Typed,
)
from tileir_diff.syntax.token import Token

RESULTS = 9999  # more than any op has


class MisplacedToken(Exception):  # noqa: N818  (the parser makes a Problem of it)
    """A token that the grammar lets pass and the syntax does not; the parser turns it into an InputError."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


class Actions:
    """Builds syntax nodes; holds the aliases of the dump that is being parsed.

    A rule whose action is None stands for its one part.
    """

    def __init__(self) -> None:
        self.aliases: dict[str, Any] = {}

    # ---- file
    def file(self, c: list[Any]) -> SyntaxFile:
        return SyntaxFile(c[0], self.aliases)

    def no_statements(self, c: list[Any]) -> list[OpNode]:
        return []

    def more_statements(self, c: list[Any]) -> list[OpNode]:
        c[0].append(c[1])
        return c[0]

    def alias(self, c: list[Any]) -> list[OpNode]:
        self.aliases[str(c[1])] = c[3]
        return c[0]

    # ---- op
    def op(self, c: list[Any]) -> OpNode:
        node: OpNode = c[0]
        child: Any
        for child in c[1:]:
            kind: type[object] = child.__class__
            if kind is Signature:
                node.signature = child
                node.end = child.end or node.end
            elif kind is Group:
                node.arguments = child
            elif kind is Token:
                if child.type == "LOC":
                    node.location = child
                else:
                    node.attributes = child
            elif type(child[0]) is RegionNode:
                node.regions = child
                if node.arguments is None:  # else they stand on a line of their own
                    node.end = child[0].start + 1
            else:
                node.items = child
                node.end = _end(child[-1]) or node.end
        return node

    def head_line(self, c: list[Any]) -> OpNode:
        results, name = c
        text, word, end = results.lstrip(), name.lstrip(), name.end_pos
        return OpNode(text, word, results.end_pos - len(text), end - len(word), end)

    def head_inline(self, c: list[Any]) -> OpNode:
        names, _, name = c
        results = [(str(token)[1:], count) for token, count in names]
        return OpNode(results, str(name).lstrip(), names[0][0].start_pos, _start(name), name.end_pos)

    def head_bare(self, c: list[Any]) -> OpNode:
        start = _start(c[0])
        return OpNode(None, str(c[0]).lstrip(), start, start, c[0].end_pos)

    def first_name(self, c: list[Any]) -> list[tuple[Token, int]]:
        return [(c[0], _count(c[2]) if len(c) > 1 else 0)]

    def more_names(self, c: list[Any]) -> list[tuple[Token, int]]:
        c[0].append((c[2], _count(c[4]) if len(c) > 3 else 0))
        return c[0]

    # ---- items
    def first_item(self, c: list[Any]) -> list[Any]:
        return c

    def next_item(self, c: list[Any]) -> list[Any]:
        items, item = c
        if item.type == "SSA":
            previous = items[-1]
            if type(previous) is Token and previous.type == "SSA":
                raise MisplacedToken("expected ',' between operands", item)
        items.append(item)
        return items

    def next_node(self, c: list[Any]) -> list[Any]:
        c[0].append(c[1])
        return c[0]

    def listed_item(self, c: list[Any]) -> list[Any]:
        c[0].append(c[2])
        return c[0]

    def first_pair(self, c: list[Any]) -> list[Any]:
        return [Pair(c[0], c[2])]

    def next_pair(self, c: list[Any]) -> list[Any]:
        c[0].append(Pair(c[1], c[3]))
        return c[0]

    def listed_pair(self, c: list[Any]) -> list[Any]:
        c[0].append(Pair(c[2], c[4]))
        return c[0]

    def first_bindings(self, c: list[Any]) -> list[Any]:
        return [c[1]]

    def next_bindings(self, c: list[Any]) -> list[Any]:
        c[0].append(c[2])
        return c[0]

    # ---- groups
    def empty_group(self, c: list[Any]) -> Group:
        return Group("empty", [], c[0].start_pos, c[1].end_pos)

    def operand_group(self, c: list[Any]) -> Group:
        return Group("operands", c[1], c[0].start_pos, c[2].end_pos)

    def arguments(self, c: list[Any]) -> Group:
        return Group("arguments", c[1], c[0].start_pos, c[2].end_pos)

    def bindings(self, c: list[Any]) -> Group:
        return Group("bindings", c[1], c[0].start_pos, c[2].end_pos)

    def range(self, c: list[Any]) -> Group:
        if str(c[2]) != "to":
            raise MisplacedToken("expected 'to' after the lower bound", c[2])
        if str(c[5]) != "step":
            raise MisplacedToken("expected 'step' after the upper bound", c[5])
        return Group("range", [c[1], c[3], c[6]], c[0].start_pos, c[7].end_pos)

    def region_group(self, c: list[Any]) -> Group:
        return Group("regions", c[1], c[0].start_pos, c[1][0].start + 1)

    def argument(self, c: list[Any]) -> Argument:
        return Argument(c[0], c[2])

    def first_binding(self, c: list[Any]) -> list[tuple[Token, Token]]:
        return [(c[0], c[2])]

    def listed_binding(self, c: list[Any]) -> list[tuple[Token, Token]]:
        c[0].append((c[2], c[4]))
        return c[0]

    # ---- types
    types = None

    def types_only(self, c: list[Any]) -> Signature:
        return Signature(c[0].start_pos, c[1], None)

    def types_to_types(self, c: list[Any]) -> Signature:
        return Signature(c[0].start_pos, c[1], c[3])

    def to_types(self, c: list[Any]) -> Signature:
        return Signature(c[0].start_pos, None, c[1])

    def types_with_bindings(self, c: list[Any]) -> Signature:
        return Signature(c[0].start_pos, c[1], c[5] if len(c) > 4 else None, c[3])

    def no_types(self, c: list[Any]) -> list[Token]:
        return []

    # ---- regions
    def if_else(self, c: list[Any]) -> list[RegionNode]:
        return [c[0], c[2]]

    def plain_region(self, c: list[Any]) -> RegionNode:
        return RegionNode(c[1], None, c[0].start_pos, c[2].end_pos)

    def labelled_region(self, c: list[Any]) -> RegionNode:
        arguments = c[2] if type(c[2]) is Group else None
        return RegionNode(c[-2], arguments, c[0].start_pos, c[-1].end_pos)

    # ---- lists
    def first(self, c: list[Any]) -> list[Any]:
        return c

    def listed(self, c: list[Any]) -> list[Any]:
        c[0].append(c[2])
        return c[0]

    def second(self, c: list[Any]) -> Any:
        return c[1]

    def next_value(self, c: list[Any]) -> list[Any]:
        c[0].append(c[1])
        return c[0]

    atom = value = first_of = None

    # ---- inside of `<...>` and `{...}`
    def body(self, c: list[Any]) -> list[Term]:
        return c[0]

    def no_terms(self, c: list[Any]) -> list[Term]:
        return []

    def plain_term(self, c: list[Any]) -> Term:
        return Term(c[0])

    def named_term(self, c: list[Any]) -> Term:
        return Term([c[2], c[4]] if len(c) > 3 else [c[2]], str(c[0]).strip('"'), "=")

    def literal_term(self, c: list[Any]) -> Term:
        return Term([c[2]], str(c[0]), ":")

    def typed_term(self, c: list[Any]) -> Term:
        return Term([c[0]], "", "typed")

    def shaped(self, c: list[Any]) -> Shaped:
        return Shaped(c[0], c[1])

    def empty_braces(self, c: list[Any]) -> list[Any]:
        return []

    def function_type(self, c: list[Any]) -> FunctionTypeNode:
        inputs: list[Any] = c[1] if len(c) == 5 else []
        last: Any = c[-1]
        outputs: list[Any] = [last] if isinstance(last, Token) else last
        return FunctionTypeNode(inputs, outputs, c[0].start_pos)

    def paren_shape(self, c: list[Any]) -> ShapeGroup:
        return ShapeGroup("".join(str(token) for token in c[1:-1]), c[0].start_pos)

    def empty_list(self, c: list[Any]) -> Listing:
        return Listing([], c[0].start_pos, c[1].end_pos)

    def list(self, c: list[Any]) -> Listing:
        return Listing(c[1], c[0].start_pos, c[2].end_pos)

    def typed_element(self, c: list[Any]) -> Typed:
        return Typed(c[0], c[2])

    # ---- inside of `loc(...)`: nested tuples (kind, ...)
    def location_alias(self, c: list[Any]) -> tuple[Any, ...]:
        return ("alias", str(c[0]))

    def location_unknown(self, c: list[Any]) -> tuple[Any, ...]:
        return ("unknown",)

    def location_file(self, c: list[Any]) -> tuple[Any, ...]:
        return ("file", str(c[0])[1:-1], _whole(c[2]), _whole(c[4]))

    def location_named(self, c: list[Any]) -> tuple[Any, ...]:
        return ("in", c[2])

    def location_call(self, c: list[Any]) -> tuple[Any, ...]:
        return ("call", c[2], c[4])

    def location_fused(self, c: list[Any]) -> tuple[Any, ...]:
        return ("fused", c[2])

    def location_attribute(self, c: list[Any]) -> tuple[Any, ...]:
        return ("attribute", str(c[0]))


def _end(node: Any) -> int:
    """Where an item ends; 0 where it does not know."""
    if type(node) is Token:
        return node.end_pos or 0
    return _end(node.value) if type(node) is Pair else getattr(node, "end", 0)


def _start(token: Token) -> int:
    """Where a word starts that may carry the line break and indentation before it."""
    return token.end_pos - len(str(token).lstrip())  # type: ignore[operator]


def _whole(token: Token) -> int:
    if not token.isdigit():
        raise MisplacedToken("expected a whole number", token)
    return int(token)


def _count(token: Token) -> int:
    count = _whole(token)
    if not 1 <= count <= RESULTS:
        raise MisplacedToken("expected a number of results", token)
    return count
