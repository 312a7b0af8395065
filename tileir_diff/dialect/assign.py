"""Sorts what stands between an op's name and its types into operand groups and attributes.

The op's table entry says what there may be. The order of attributes is free, as in the dialect's own parsers
where they are lenient; operands keep theirs.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.reading import enum_word, read_assumption, read_hints, read_named, read_value
from tileir_diff.syntax.nodes import Group, Listing, OpNode, Pair
from tileir_diff.syntax.source import Problem
from tileir_diff.syntax.token import Token as Leaf

if TYPE_CHECKING:
    from tileir_diff.dialect.spec import AttributeSpec, OpSpec

# Bookkeeping of the printers and of debug information; says nothing about what the op does.
IGNORED_PROPERTIES: Final = {"operandSegmentSizes", "resultSegmentSizes", "arg_attrs", "res_attrs", "di_name"}


class Assigned:
    """Operand leaves and attribute values of one op.

    `positional` are operands outside brackets; `bracketed` those inside; `where` maps attribute names to
    nodes.
    """

    __slots__ = (
        "attributes",
        "bracketed",
        "groups",
        "named_operands",
        "node",
        "positional",
        "properties",
        "where",
    )

    def __init__(self, node: OpNode) -> None:
        self.node = node
        self.positional: list[Leaf] = []
        self.bracketed: list[Leaf] = []
        self.named_operands: dict[str, Any] = {}
        self.attributes: dict[str, Any] = {}
        self.where: dict[str, Any] = {}
        self.groups: list[Group] = []
        self.properties: dict[str, Any] = {}

    def set(self, name: str, data: Any, node: Any) -> None:
        if name in self.attributes:
            raise Problem(f"'{name}' is given twice", position(node))
        self.attributes[name] = data
        self.where[name] = node


class Lookup:
    """How one op's table entry is found from the text: words, heads before `<`, keys before `=`."""

    __slots__ = ("assumption", "bracket", "elements", "keys", "names", "string", "symbol", "words", "wrapped")

    def __init__(self, spec: OpSpec) -> None:
        self.words: dict[str, list[tuple[AttributeSpec, Any]]] = {}
        self.wrapped: dict[str, AttributeSpec] = {}
        self.keys: dict[str, AttributeSpec] = {}
        self.names: dict[str, AttributeSpec] = {}
        self.symbol = self.string = self.elements = self.assumption = self.bracket = None
        for attribute in spec.attributes:
            self.names[attribute.odsname or attribute.name] = attribute
            self.names.setdefault(attribute.name, attribute)
            match attribute.style:
                case "keyword":
                    for word in attribute.values:
                        self.words.setdefault(word, []).append((attribute, word))
                case "flag":
                    for word in attribute.values or (attribute.name,):
                        self.words.setdefault(word, []).append((attribute, True))
                case "wrapped":
                    self.wrapped[attribute.key] = attribute
                case "pair":
                    self.keys[attribute.key] = attribute
                case "symbol":
                    self.symbol = attribute
                case "string":
                    self.string = attribute
                case "elements":
                    self.elements = attribute
                case "assumption":
                    self.assumption = attribute
                case "list":
                    self.bracket = attribute
                case _:
                    pass


@cache
def lookup(spec: OpSpec) -> Lookup:
    return Lookup(spec)


def assign(spec: OpSpec, node: OpNode) -> Assigned:
    """Raises Problem for anything that the op cannot have."""
    found = Assigned(node)
    table = lookup(spec)
    pending: AttributeSpec | None = None  # `overflow nsw`, `rounding zero`: the word before the value
    for item in node.items:
        if isinstance(item, Leaf):
            token = item.type
            if token == "SSA":
                found.positional.append(item)
            elif token == "WORD":
                if pending is not None:
                    found.set(pending.name, enum_word(pending, str(item), position(item)), item)
                    pending = None
                    continue
                pending = _word(spec, table, found, item)
            else:
                _leaf(spec, table, found, item, token)
        elif isinstance(item, Pair):
            _pair(spec, table, found, item)
        elif isinstance(item, Listing):
            _listing(spec, table, found, item)
        else:
            found.groups.append(item)
    if pending is not None:
        raise Problem(f"expected a value after '{pending.key}'", node.end)
    if node.attributes is not None:
        read_dictionary(spec, found, node.attributes)
    return found


def _word(spec: OpSpec, table: Lookup, found: Assigned, item: Leaf) -> AttributeSpec | None:
    word = str(item)
    for attribute, data in table.words.get(word, ()):
        if attribute.name not in found.attributes:
            found.set(attribute.name, data, item)
            return None
    if word in table.words:
        raise Problem(f"'{word}' is given twice, or with its opposite", position(item))
    if word in table.wrapped:
        return table.wrapped[word]
    if word == "attributes" or (word == "in" and spec.custom == "for"):
        return None
    raise Problem(f"unexpected '{word}' in {spec.name}{_choices(table)}", position(item))


def _choices(table: Lookup) -> str:
    words = (
        list(table.words) + [f"{key}<...>" for key in table.wrapped] + [f"{key} = ..." for key in table.keys]
    )
    return f", which takes {', '.join(words)}" if words else ", which takes no keyword here"


def _leaf(spec: OpSpec, table: Lookup, found: Assigned, item: Leaf, token: str) -> None:
    text = str(item)
    if token == "ANGLED":
        head, _, inner = text.partition("<")
        head = head.removeprefix("#").removeprefix("cuda_tile.")
        attribute = table.wrapped.get(head)
        if attribute is not None:
            found.set(
                attribute.name,
                enum_word(attribute, inner[:-1].strip(), position(item) + len(text) - len(inner)),
                item,
            )
        elif table.assumption is not None:
            found.set(table.assumption.name, read_assumption(text, position(item)), item)
        elif head == "optimization_hints" and "optimization_hints" in table.keys:
            found.set("hints", read_hints(inner[:-1], position(item) + len(text) - len(inner)), item)
        else:
            raise Problem(f"unexpected '{head}<...>' in {spec.name}{_choices(table)}", position(item))
    elif token == "ANGLE":
        if text == "<structural-op>":
            raise Problem(
                f"the cuTile Rust printer leaves out what {spec.name} does: "
                "export bytecode and disassemble that instead",
                position(item),
            )
        if table.elements is None:
            raise Problem(f"unexpected '<' in {spec.name}", position(item))
        found.set(table.elements.name, text[1:-1], item)
    elif token == "DICT":
        read_dictionary(spec, found, item)
    elif token == "STRING" and table.string is not None:
        found.set(table.string.name, read_value(table.string, item), item)
    elif token == "SYMBOL" and table.symbol is not None:
        found.set(table.symbol.name, read_value(table.symbol, item), item)
    else:
        raise Problem(f"unexpected '{text[:40]}' in {spec.name}", position(item))


def _pair(spec: OpSpec, table: Lookup, found: Assigned, item: Pair) -> None:
    key = str(item.key)
    attribute = table.keys.get(key)
    if attribute is not None:
        found.set(attribute.name, read_value(attribute, item.value), item)
        return
    if key in IGNORED_PROPERTIES:
        return
    wanted = "token?" if key == "token" else f"{key}*"
    if wanted not in spec.operands or (key == "token" and getattr(item.value, "type", "") != "SSA"):
        raise Problem(f"unexpected '{key} =' in {spec.name}{_choices(table)}", position(item.key))
    if key in found.named_operands:
        raise Problem(f"'{key}' is given twice", position(item.key))
    found.named_operands[key] = item.value


def _listing(spec: OpSpec, table: Lookup, found: Assigned, item: Listing) -> None:
    if table.bracket is not None:
        found.set(table.bracket.name, read_value(table.bracket, item), item)
        return
    if not spec.bracket or found.bracketed:
        raise Problem(f"unexpected '[' in {spec.name}", item.start)
    for leaf in item.values:
        if type(leaf) is not Leaf or leaf.type != "SSA":
            raise Problem("expected a value as index", position(leaf))
        found.bracketed.append(leaf)


def read_dictionary(spec: OpSpec, found: Assigned, leaf: Leaf) -> None:
    """Attributes of `{...}` (or `<{...}>`): those of the op by their names in generic form.

    Others need a dialect prefix.
    """
    text = str(leaf)
    skip = 2 if text.startswith("<{") else 1
    table = lookup(spec)
    start = position(leaf) + skip
    with Problem.shifted(start):
        for key, node, where in read_named(text[skip:-skip]):
            attribute = table.names.get(key)
            if attribute is not None:
                found.set(attribute.name, read_value(attribute, node), leaf)
            elif key in IGNORED_PROPERTIES:
                found.properties[key] = node
            elif key == "rounding_mode" and str(node) == "0":
                # cuTile Rust gives the default mode to every op that reduces, to those without modes too.
                continue
            elif "." not in key:
                raise Problem(f"{spec.name} has no attribute '{key}'", where)


def position(node: Any) -> int:
    """Offset of a node in the dump."""
    if type(node) is Leaf:
        return node.start_pos or 0
    if type(node) is Pair:
        return node.key.start_pos or 0
    return getattr(node, "start", 0)
