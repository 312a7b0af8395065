"""Prints a module in the disassembler's form. What it prints reads back as the same module."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dialect.numbers import print_elements, print_scalar
from tileir_diff.dialect.signature import type_slots
from tileir_diff.dialect.spec import OVERFLOW_WORDS, REQUIRED, AttributeSpec, OpSpec
from tileir_diff.dialect.types import Ptr, Tile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import ModuleOp, TileOp

PIECE: Final = re.compile(r"([^$@\[]*)(?:\[\$(\w+)\]|\$(\w+)|@(\w+))")
STEM: Final = re.compile(r"[A-Za-z_$.\-][\w$.\-]*")
NAME: Final = re.compile(r"(?:\d+|[A-Za-z_$.\-][\w$.\-]*)")
SYMBOL: Final = re.compile(r"[A-Za-z_][\w$.]*")
FLAG_WORDS: Final = {short: long for long, short in OVERFLOW_WORDS.items()}
# Types that MLIR leaves out after a literal.
UNTYPED: Final = ("f64", "i64", "i1")


def print_module(module: ModuleOp) -> str:
    """The text of a module; wrapped in `cuda_tile.module` only if it has a name or producer to keep."""
    printer = Printer()
    name, producer = module.get("sym_name"), module.get("producer")
    if not name and producer is None:
        printer.block(module.body, 0)
        return "".join(printer.lines)
    attributes = "" if producer is None else f" attributes {{producer = {quote(producer)}}}"
    printer.lines.append(f"cuda_tile.module{f' {symbol(name)}' if name else ''}{attributes} {{\n")
    printer.block(module.body, 1)
    return "".join([*printer.lines, "}\n"])


def print_op(op: TileOp) -> str:
    """One op with its regions, without a line break at the end.

    Values from outside keep the names they had.
    """
    if op.spec.custom == "module":
        return print_module(op)  # pyright: ignore[reportArgumentType]
    printer = Printer()
    printer.op(op, 0, [])
    return "".join(printer.lines).rstrip("\n")


class Piece(NamedTuple):
    """A part of an op's form: literal text before it, and what it shows."""

    lead: str
    kind: str
    name: str


@cache
def pieces(spec: OpSpec) -> tuple[Piece, ...]:
    """The parts of an op between its name and its types, in print order."""
    form = spec.form
    if not form:
        operands = ", ".join(f"${group.rstrip('?*')}" for group in spec.operands)
        form = " ".join([operands, *(f"@{attribute.name}" for attribute in spec.attributes)])
    found: list[Piece] = []
    for lead, listed, group, attribute in PIECE.findall(form):
        kind = "list" if listed else "group" if group else "attribute"
        found.append(Piece(lead, kind, listed or group or attribute))
    return tuple(found)


class Printer:
    """Prints ops with unique names: the ones they had, with a suffix where two would be equal."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[SSAValue, str] = {}
        self.taken: set[str] = set()
        self.number = 0

    # ---- names
    def name(self, value: SSAValue) -> str:
        """The name of a value; for one from outside of what is printed, the one it had."""
        return self.names.get(value) or f"%{value.name_hint or '<unnamed>'}"

    def _free(self, hint: str | None) -> str:
        """A name that is not taken in the regions around."""
        if hint is not None and NAME.fullmatch(hint) and hint not in self.taken:
            return hint
        if hint is not None and STEM.fullmatch(hint):
            stem, count = hint, 0
            while f"{stem}_{count}" in self.taken:
                count += 1
            return f"{stem}_{count}"
        while str(self.number) in self.taken:
            self.number += 1
        return str(self.number)

    def define(self, value: SSAValue, scope: list[str]) -> str:
        name = self._free(value.name_hint)
        self.taken.add(name)
        scope.append(name)
        self.names[value] = f"%{name}"
        return f"%{name}"

    def results(self, op: TileOp, scope: list[str]) -> str:
        """`%a, %b = ` or, for any number of results, `%a:2 = `."""
        results = op.results
        if not results:
            return ""
        if len(results) == 1 or not op.spec.results[0].endswith("*"):
            return ", ".join([self.define(result, scope) for result in results]) + " = "
        hint = results[0].name_hint
        name = self._free(hint.partition("#")[0] if hint else None)
        self.taken.add(name)
        scope.append(name)
        for index, result in enumerate(results):
            self.names[result] = f"%{name}#{index}"
        return f"%{name}:{len(results)} = "

    # ---- blocks and ops
    def block(self, block: Block, depth: int) -> None:
        """The ops of a block, names defined there given free afterwards."""
        scope: list[str] = []
        for op in block.ops:
            self.op(op, depth, scope)  # pyright: ignore[reportArgumentType]
        self.taken.difference_update(scope)

    def op(self, op: TileOp, depth: int, scope: list[str]) -> None:
        spec = op.spec
        if spec.name in ("continue", "yield") and not op.results and not op.operands and _elided(op):
            return
        pad = "  " * depth
        self.lines.append(pad)
        special = getattr(self, f"_{spec.custom}", None) if spec.custom in _CUSTOM else None
        if special is not None:
            special(op, depth, scope)
            return
        # Operands print before results are named: they cannot see them.
        body = self.form(op)
        types = self.types(op)
        self.lines.append(f"{self.results(op, scope)}{spec.name}{body}{types}\n")

    def form(self, op: TileOp) -> str:
        spec = op.spec
        text = ""
        for lead, kind, name in pieces(spec):
            if kind == "attribute":
                shown = self.attribute(op, name)
            else:
                values = op.group(name)
                shown = ", ".join([self.name(value) for value in values])
                if kind == "list":
                    shown = f"[{shown}]"
            if shown:
                text += (lead if text or lead.strip() not in (",", "") else "") + shown
        return f" {text.strip()}" if text.strip() else ""

    def attribute(self, op: TileOp, name: str) -> str:
        """An attribute as it is written; empty where it has its default."""
        spec = next(attribute for attribute in op.spec.attributes if attribute.name == name)
        stored: Any = op.properties.get(name)
        data: Any = spec.default if stored is None else stored.data
        if data is None or (spec.default is not REQUIRED and data == spec.default):
            return ""
        return print_attribute(spec, data)

    def types(self, op: TileOp) -> str:
        spec = op.spec
        left, right = type_slots(spec.types)
        if not left and not right:
            return ""
        shown = [text for slot in left for text in self._slot(op, slot)]
        text = f" : {', '.join(shown)}" if shown else ""
        if right and op.results:
            results = op.results[:1] if right == ("results",) else op.results
            text += f" -> {', '.join([str(result.type) for result in results])}"
        return text

    def _slot(self, op: TileOp, slot: tuple[str, ...]) -> list[str]:
        first = slot[0]
        if first in ("result", "results"):
            return [str(op.results[0].type)]
        types = [str(value.type) for value in op.group(first)]
        return types[:1] if first == "index" and len(set(types)) == 1 else types

    # ---- ops with a form of their own
    def _function(self, op: TileOp, depth: int, scope: list[str]) -> None:
        block = op.regions[0].block
        inner: list[str] = []
        outer_taken, self.taken, outer_number, self.number = self.taken, set(), self.number, 0
        arguments = ", ".join([f"{self.define(value, inner)}: {value.type}" for value in block.args])
        outputs = op.get("function_type").outputs
        results = f" -> {', '.join(map(str, outputs))}" if outputs else ""
        hints = self.attribute(op, "hints").replace(" = <", "=<", 1) if op.spec.name == "entry" else ""
        head = (
            f"{op.spec.name} {symbol(op.get('sym_name'))}({arguments}){results}{f' {hints}' if hints else ''}"
        )
        self.lines.append(f"{head} {{\n")
        self.block(block, depth + 1)
        self.lines.append(f"{'  ' * depth}}}\n")
        self.taken, self.number = outer_taken, outer_number

    def _elements(self, op: TileOp, depth: int, scope: list[str]) -> None:
        value = op.get("value")
        literal = f" <{print_elements(value)}>" if value is not None else ""
        if op.spec.name == "constant":
            self.lines.append(f"{self.results(op, scope)}constant{literal} : {op.results[0].type}\n")
            return
        words = [self.attribute(op, name) for name in ("visibility", "constant", "sym_name", "alignment")]
        self.lines.append(
            f"global {' '.join([word for word in words if word])}{literal} : {op.get('type')}\n"
        )

    def _tensor_view(self, op: TileOp, depth: int, scope: list[str]) -> None:
        base = op.group("base")[0]
        lists: list[str] = []
        for name in ("shape", "strides"):
            dynamic = iter(op.group(name))
            items = [
                str(item) if item is not None else self.name(next(dynamic))
                for item in op.get(f"static_{name}")
            ]
            lists.append(f"{name} = [{', '.join(items)}]")
        operands = op.group("shape") + op.group("strides")
        types = [str(operand.type) for operand in operands[:1]]
        if (
            isinstance(base.type, Tile)
            and isinstance(base.type.element, Ptr)
            and base.type.element.attr is not None
        ):
            types = [str(base.type)]
        shown = f"{types[0]} -> {op.results[0].type}" if types else str(op.results[0].type)
        text = f"make_tensor_view {self.name(base)}, {', '.join(lists)} : {shown}\n"
        self.lines.append(self.results(op, scope) + text)

    def _reduce(self, op: TileOp, depth: int, scope: list[str]) -> None:
        operands = op.group("operands")
        words = [self.attribute(op, attribute.name) for attribute in op.spec.attributes]
        words = [word.replace(" = ", "=", 1) for word in words]
        head = f"{op.spec.name} {', '.join(map(self.name, operands))} {' '.join(words)}"
        types = f"{_types(operands)} -> {_types(op.results)}"
        block = op.regions[0].block
        results = self.results(op, scope)
        inner: list[str] = []
        arguments = ", ".join([f"{self.define(value, inner)}: {value.type}" for value in block.args])
        self.lines.append(f"{results}{head} : {types}\n{'  ' * depth}({arguments}) {{\n")
        self._body(block, depth, inner)
        self.lines.append(f"{'  ' * depth}}}\n")

    def _for(self, op: TileOp, depth: int, scope: list[str]) -> None:
        lower, upper, step = (self.name(op.group(name)[0]) for name in ("lower", "upper", "step"))
        inits = [self.name(value) for value in op.group("inits")]
        block = op.regions[0].block
        results = self.results(op, scope)
        inner: list[str] = []
        variable, *carried = (self.define(value, inner) for value in block.args)
        unsigned = "unsigned " if op.get("unsigned_cmp") else ""
        head = f"for {unsigned}{variable} in ({lower} to {upper}, step {step}) : {block.args[0].type}"
        if inits:
            head += f" iter_values({_bindings(carried, inits)}) -> ({_types(op.results)})"
        self.lines.append(f"{results}{head} {{\n")
        self._body(block, depth, inner)
        self.lines.append(f"{'  ' * depth}}}\n")

    def _loop(self, op: TileOp, depth: int, scope: list[str]) -> None:
        inits = [self.name(value) for value in op.group("inits")]
        block = op.regions[0].block
        results = self.results(op, scope)
        inner: list[str] = []
        carried = [self.define(value, inner) for value in block.args]
        head = "loop"
        if inits:
            head += f" iter_values({_bindings(carried, inits)}) : {_types(block.args)}"
        if op.results:
            head += f" {'->' if inits else ':'} {_types(op.results)}"
        self.lines.append(f"{results}{head} {{\n")
        self._body(block, depth, inner)
        self.lines.append(f"{'  ' * depth}}}\n")

    def _if(self, op: TileOp, depth: int, scope: list[str]) -> None:
        head = f"if {self.name(op.group('condition')[0])}"
        if op.results:
            head += f" -> ({_types(op.results)})"
        self.lines.append(f"{self.results(op, scope)}{head} {{\n")
        for index, region in enumerate(op.regions):
            if index:
                self.lines.append(f"{'  ' * depth}}} else {{\n")
            self._body(region.block, depth, [])
        self.lines.append(f"{'  ' * depth}}}\n")

    def _body(self, block: Block, depth: int, inner: list[str]) -> None:
        number = self.number
        self.block(block, depth + 1)
        self.taken.difference_update(inner)
        self.number = number


_CUSTOM: Final = ("function", "elements", "tensor_view", "reduce", "for", "loop", "if")


def _elided(op: TileOp) -> bool:
    """Whether the parser puts this empty terminator back by itself."""
    parent = op.parent_op()
    spec: OpSpec | None = getattr(parent, "spec", None)
    return spec is not None and spec.implicit and spec.terminator == op.spec.name


def _types(values: Sequence[SSAValue]) -> str:
    return ", ".join([str(value.type) for value in values])


def _bindings(names: Sequence[str], inits: Sequence[str]) -> str:
    return ", ".join([f"{name} = {init}" for name, init in zip(names, inits, strict=True)])


def print_attribute(spec: AttributeSpec, data: Any) -> str:
    """An attribute with this value, in the op's own form."""
    match spec.kind:
        case "enum":
            word = FLAG_WORDS.get(str(data), str(data))
            return f"{spec.key}<{word}>" if spec.style == "wrapped" else word
        case "bool" if spec.style == "flag":
            return (spec.values or (spec.name,))[0]
        case "bool":
            return f"{spec.key} = {'true' if data else 'false'}"
        case "int":
            return f"{spec.key} = {data}"
        case "ints":
            return f"[{', '.join(map(str, data))}]"
        case "bools":
            return f"{spec.key} = [{', '.join(['true' if item else 'false' for item in data])}]"
        case "string":
            return symbol(data) if spec.style == "symbol" else quote(data)
        case "hints":
            return f"{spec.key} = <{print_hints(data)}>"
        case "literals":
            return f"{spec.key} = [{', '.join(map(_identity, data))}]"
        case _:
            return str(data)


def print_hints(pairs: Any) -> str:
    """`sm_100 = {latency = 3}, ...`."""
    return ", ".join(
        [
            f"{arch} = {{{', '.join([f'{key} = {_hint(item)}' for key, item in hints])}}}"
            for arch, hints in pairs
        ]
    )


def _hint(item: Any) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    return str(item) if isinstance(item, int) or SYMBOL.fullmatch(item) else quote(item)


def _identity(value: Any) -> str:
    text = print_scalar(value.element, value.bits[0])
    # A float in hex always has its type, since it reads as an integer without.
    untyped = value.element.name in UNTYPED and not text.startswith("0x")
    return text if untyped else f"{text} : {value.element}"


def symbol(name: str) -> str:
    return f"@{name}" if SYMBOL.fullmatch(name) else f"@{quote(name)}"


def quote(text: str) -> str:
    """A string literal with MLIR's escapes: hex pairs for what is not printable ASCII."""
    out: list[str] = []
    for byte in text.encode("utf-8", "surrogatepass"):
        char = chr(byte)
        if char == "\\":
            out.append("\\\\")
        elif 0x20 <= byte < 0x7F and char != '"':
            out.append(char)
        else:
            out.append(f"\\{byte:02X}")
    return f'"{"".join(out)}"'
