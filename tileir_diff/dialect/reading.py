"""Attribute text to plain values: enums, numbers, strings, hints, assumptions, lists."""

from __future__ import annotations

import re
from typing import Any, Final

from tileir_diff.dialect.attributes import Assumption, Bounded, DivBy, SameElements
from tileir_diff.dialect.spec import OVERFLOW_WORDS, AttributeSpec
from tileir_diff.dialect.type_reader import function_type
from tileir_diff.syntax.nodes import FunctionTypeNode, Listing, Typed
from tileir_diff.syntax.parser import parse_body
from tileir_diff.syntax.source import Problem
from tileir_diff.syntax.token import Token as Leaf

ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2})|(.))", re.DOTALL)
SHORT_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}

HintPairs = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
_HINTS: dict[str, HintPairs] = {}
_ASSUMPTIONS: dict[str, Assumption] = {}
_KEEP: Final = 10_000


def at(node: Any) -> int:
    """Offset of a node in the text it was parsed from."""
    return (node.start_pos or 0) if type(node) is Leaf else getattr(node, "start", 0)


def enum_word(spec: AttributeSpec, text: str, offset: int) -> str:
    """The canonical word of an enum. Raises Problem for one that the attribute does not take."""
    word = OVERFLOW_WORDS.get(text, text)
    if word not in spec.values:
        raise Problem(
            f"unknown {spec.key or spec.name} '{text[:40]}', expected one of {', '.join(spec.values)}", offset
        )
    return word


def unescape(text: str) -> str:
    """The content of a string literal with its quotes. Hex pairs are UTF-8 bytes."""
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    out = bytearray()
    last = 0
    for match in ESCAPE.finditer(inner):
        out += inner[last : match.start()].encode("utf-8", "surrogatepass")
        code, pair, char = match.groups()
        if code is not None:
            out += chr(min(int(code, 16), 0x10FFFF)).encode("utf-8", "replace")
        elif pair is not None:
            out.append(int(pair, 16))
        else:
            out += SHORT_ESCAPES.get(char, char).encode("utf-8", "replace")
        last = match.end()
    out += inner[last:].encode("utf-8", "surrogatepass")
    return out.decode("utf-8", "replace")


def read_named(text: str) -> list[tuple[str, Any, int]]:
    """`a = 1, b` as (name, value node, offset); a name alone has the value None. Raises Problem."""
    named: list[tuple[str, Any, int]] = []
    for term in parse_body(text):
        first = term.values[0]
        if term.relation == "=":
            named.append(
                (term.key, Typed(first, term.values[1]) if len(term.values) > 1 else first, at(first))
            )
        elif (
            not term.relation
            and len(term.values) == 1
            and type(first) is Leaf
            and first.type in ("WORD", "STRING")
        ):
            named.append((str(first).strip('"'), None, at(first)))
        else:
            raise Problem("expected name = value", at(first))
    return named


def read_value(spec: AttributeSpec, node: Any) -> Any:
    """The plain value of a node for an attribute. Raises Problem, offsets as those of the node."""
    if type(node) is Typed and spec.kind != "elements":
        node = node.value  # `0 : i32`: the attribute's own type says as much
    return _READERS[spec.kind](spec, node)


def _read_enum(spec: AttributeSpec, node: Any) -> str:
    text = str(node)
    if type(node) is not Leaf:
        raise Problem(f"expected a value of {spec.name}", at(node))
    if node.type == "NUMBER":
        if not text.isdigit() or int(text) >= len(spec.values):
            raise Problem(f"{spec.name} has no value {text[:40]}", at(node))
        return spec.values[int(text)]
    if node.type == "ANGLED":
        text = text[text.index("<") + 1 : -1].strip()
    return enum_word(spec, text.strip('"'), at(node))


def _read_bool(spec: AttributeSpec, node: Any) -> bool:
    if node is None or str(node) in ("true", "unit", "1"):
        return True
    if str(node) not in ("false", "0"):
        raise Problem(f"expected true or false for {spec.name}", at(node))
    return False


def _read_int(spec: AttributeSpec, node: Any) -> int:
    try:
        return int(str(node), 10)
    except ValueError:
        raise Problem(f"expected a whole number for {spec.name}", at(node)) from None


def _items(node: Any) -> tuple[list[Any], int]:
    """The values of `[1, 2]` or `array<i32: 1, 2>`, and what to add to their offsets."""
    if type(node) is Listing:
        return node.values, 0
    text = str(node)
    if type(node) is not Leaf or not text.startswith("array<"):
        raise Problem("expected a list", at(node))
    shift = at(node) + len("array<")
    with Problem.shifted(shift):
        terms = parse_body(text[len("array<") : -1])
    # `array<i32>` is empty: its one term is the element type.
    return [term.values[0] for term in terms if term is not terms[0] or term.relation], shift


def _read_ints(spec: AttributeSpec, node: Any) -> tuple[int, ...]:
    values, shift = _items(node)
    with Problem.shifted(shift):
        return tuple([_read_int(spec, value) for value in values])


def _read_bools(spec: AttributeSpec, node: Any) -> tuple[bool, ...]:
    values, shift = _items(node)
    with Problem.shifted(shift):
        return tuple([_read_bool(spec, value) for value in values])


def _read_string(spec: AttributeSpec, node: Any) -> str:
    text = str(node)
    if type(node) is not Leaf or node.type not in ("STRING", "SYMBOL"):
        raise Problem(f"expected a string for {spec.name}", at(node))
    text = text[1:] if text.startswith("@") else text
    return unescape(text) if text.startswith('"') else text


def _read_hints(spec: AttributeSpec, node: Any) -> HintPairs:
    text = str(node)
    if type(node) is not Leaf or "<" not in text:
        raise Problem("expected hints such as <sm_100 = {occupancy = 2}>", at(node))
    opening = text.index("<") + 1
    return read_hints(text[opening:-1], at(node) + opening)


def read_hints(text: str, offset: int) -> HintPairs:
    """`sm_100 = {occupancy = 2}` as pairs. Raises Problem."""
    known = _HINTS.get(text)
    if known is None:
        if len(_HINTS) > _KEEP:
            _HINTS.clear()
        with Problem.shifted(offset):
            known = tuple([(arch, _hints_of(arch, node, where)) for arch, node, where in read_named(text)])
        _HINTS[text] = known
    return known


def _hints_of(arch: str, node: Any, where: int) -> tuple[tuple[str, Any], ...]:
    if type(node) is list:
        return ()
    if type(node) is not Leaf or node.type != "DICT":
        raise Problem(f"expected {arch} = {{...}}", where)
    with Problem.shifted(where + 1):
        return tuple([(key, _hint(value)) for key, value, _ in read_named(str(node)[1:-1])])


def _hint(node: Any) -> Any:
    text = str(node)
    if text in ("true", "false") or node is None:
        return text != "false"
    if type(node) is not Leaf or node.type not in ("NUMBER", "WORD", "STRING"):
        raise Problem("expected a number, word or string as hint", at(node))
    return int(text) if text.lstrip("-").isdigit() else text.strip('"')


def read_assumption(text: str, offset: int) -> Assumption:
    """`div_by<...>`, `bounded<...>` or `same_elements<...>`. Raises Problem."""
    known = _ASSUMPTIONS.get(text)
    if known is None:
        if len(_ASSUMPTIONS) > _KEEP:
            _ASSUMPTIONS.clear()
        head, _, inner = text.partition("<")
        short = head.removeprefix("#").removeprefix("cuda_tile.")
        reader = _ASSUMPTION_READERS.get(short)
        if reader is None:
            raise Problem(f"unknown predicate '{short}', expected div_by, bounded or same_elements", offset)
        with Problem.shifted(offset + len(head) + 1):
            known = _ASSUMPTIONS[text] = reader(inner[:-1])
    return known


def _div_by(text: str) -> DivBy:
    terms = parse_body(text)
    words = [[str(value) for value in term.values] for term in terms]
    match words:
        case [[divisor]]:
            return DivBy(_number(divisor))
        case [[divisor], ["every", every, "along", along]]:
            return DivBy(_number(divisor), _number(every), _number(along))
        case _:
            raise Problem("expected div_by<D> or div_by<D, every E along A>", 0)


def _bounded(text: str) -> Bounded:
    match [[str(value) for value in term.values] for term in parse_body(text)]:
        case [[lower], [upper]]:
            return Bounded(*(None if bound == "?" else _number(bound) for bound in (lower, upper)))
        case _:
            raise Problem("expected bounded<lower, upper>, with '?' for no bound", 0)


def _same_elements(text: str) -> SameElements:
    terms = parse_body(text)
    if len(terms) != 1 or type(terms[0].values[0]) is not Listing:
        raise Problem("expected same_elements<[1, 4]>", 0)
    return SameElements(tuple([_number(str(leaf)) for leaf in terms[0].values[0].values]))


_ASSUMPTION_READERS: Final[dict[str, Any]] = {
    "div_by": _div_by,
    "bounded": _bounded,
    "same_elements": _same_elements,
}


def _number(text: str) -> int:
    try:
        return int(text, 10)
    except ValueError:
        raise Problem(f"expected a whole number, found '{text[:40]}'", 0) from None


def _read_assumption(spec: AttributeSpec, node: Any) -> Assumption:
    return read_assumption(str(node), at(node))


def _read_type(spec: AttributeSpec, node: Any) -> Any:
    if type(node) is not FunctionTypeNode:
        raise Problem("expected a function type such as (tile<f32>) -> ()", at(node))
    return function_type(node)


def _read_literals(spec: AttributeSpec, node: Any) -> Any:
    """Kept as nodes until the operands' element types are known."""
    if type(node) is not Listing:
        raise Problem(f"expected a list of {spec.name}", at(node))
    return node.values


def _read_elements(spec: AttributeSpec, node: Any) -> tuple[str, int, Any]:
    """The inside of `dense<...>` with its offset and the type after it.

    Read once the result type is known.
    """
    leaf, type_ = (node.value, node.type) if type(node) is Typed else (node, None)
    text = str(leaf)
    if type(leaf) is not Leaf or not text.startswith("dense<"):
        raise Problem("expected dense<...>", at(leaf))
    return text[len("dense<") : -1], at(leaf) + len("dense<"), type_


def read_sizes(node: Any) -> list[int]:
    """`array<i32: 1, 2, 0>` or `[1, 2, 0]`. Raises Problem."""
    values, shift = _items(node)
    with Problem.shifted(shift):
        return [_number(str(value)) for value in values]


_READERS: Final[dict[str, Any]] = {
    "enum": _read_enum,
    "bool": _read_bool,
    "int": _read_int,
    "ints": _read_ints,
    "bools": _read_bools,
    "string": _read_string,
    "hints": _read_hints,
    "assumption": _read_assumption,
    "type": _read_type,
    "literals": _read_literals,
    "elements": _read_elements,
}
