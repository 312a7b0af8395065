"""Writes the ops of an entry as statements: names, forms of values, what may stand inside another expression.

A value of rank 0 has two forms in cuTile Rust, a scalar (`i32`) and a tile (`Tile<i32, { [] }>`); an integer
tile also has an unsigned one. Each is made where it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.dialect.types import Ptr, Tile, Token
from tileir_diff.transpile import layout
from tileir_diff.transpile.layout import Call, Struct
from tileir_diff.transpile.refusal import refuse
from tileir_diff.transpile.spelling import (
    ELEMENTS,
    LITERALS,
    MACRO_RANK,
    RESERVED,
    dims,
    literal,
    named,
    tile_type,
    type_text,
    unsigned,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.transpile.arguments import Arrays
    from tileir_diff.transpile.helpers import Helpers
    from tileir_diff.transpile.plan import Plan

SCALAR: Final = "scalar"
TILE: Final = "tile"
UNSIGNED: Final = "unsigned"
OTHER: Final = "other"
RAW: Final = "raw"
"""Forms of values; OTHER is the only one of tokens, views and tensors, RAW that of pointer parameters."""
ATOM: Final = 9
"""The strength of what needs no parentheses anywhere."""
LONGEST: Final = 40
"""Expressions above this length get a name."""


class Expression(NamedTuple):
    """A text and how strongly it holds together: that of its weakest operator."""

    text: str
    strength: int = ATOM


class Writer:
    """The statements of one entry, block by block."""

    def __init__(self, plan: Plan, arrays: Arrays, helpers: Helpers) -> None:
        self.plan = plan
        self.arrays = arrays
        self.helpers = helpers
        self.lines: list[str] = []
        self.indent = layout.INDENT * 2
        self._scopes: list[dict[tuple[SSAValue, str], Expression]] = [{}]
        self._made: list[dict[tuple[str, str], str]] = [{}]
        self._waiting: dict[SSAValue, tuple[str, Expression]] = {}
        self._calls: dict[SSAValue, tuple[str, Call]] = {}
        self._taken = {*RESERVED, *(each.name for each in arrays.arguments)}

    # ---- statements

    def fresh(self, noun: str) -> str:
        """A name that is not taken: the noun, or with a number."""
        name, count = noun, 1
        while name in self._taken:
            count += 1
            name = f"{noun}_{count}"
        self._taken.add(name)
        return name

    def let(self, name: str, type_: str, value: layout.Text, mutable: bool = False) -> None:
        self.lines += layout.let(name, type_, value, self.indent, mutable)

    def assign(self, name: str, value: layout.Text) -> None:
        self.lines += layout.assign(name, value, self.indent)

    def do(self, value: Call) -> None:
        self.lines += layout.statement(value, self.indent)

    def line(self, text: str) -> None:
        self.lines.append(f"{self.indent}{text}")

    def enter(self) -> None:
        """Begins a block: what is made in it is not seen outside."""
        self.indent += layout.INDENT
        self._scopes.append({})
        self._made.append({})

    def leave(self) -> None:
        self.indent = self.indent[: -len(layout.INDENT)]
        self._scopes.pop()
        self._made.pop()

    # ---- definitions

    def bind(self, value: SSAValue, form: str, text: str, strength: int = ATOM) -> None:
        """Says what a value is called from here to the end of the block."""
        self._scopes[-1][value, form] = Expression(text, strength)

    def define(self, value: SSAValue, form: str, text: layout.Text, noun: str, strength: int = ATOM) -> None:
        """Names a value; an operator's result that is used once, and here, may stand where it is used."""
        if isinstance(text, str) and strength < ATOM and self._may_wait(value, text):
            self._waiting[value] = (form, Expression(text, strength))
            return
        if isinstance(text, Call) and form != OTHER and self._handed_on(value):
            self._calls[value] = (form, text)
            return
        name = self.fresh(noun)
        self.let(name, self.form_type(value, form), text)
        self.bind(value, form, name)

    def _may_wait(self, value: SSAValue, text: str) -> bool:
        users = self.plan.users.get(value, [])
        if len(users) != 1 or self.plan.uses[value] != 1 or len(text) > LONGEST:
            return False
        owner = value.owner
        return users[0].parent is getattr(owner, "parent", None) and users[0].short not in KEEPS_NAMES

    def _handed_on(self, value: SSAValue) -> bool:
        """Whether a value is only what a loop hands on, in this block: it is assigned where it is made."""
        users = self.plan.users.get(value, [])
        here = getattr(value.owner, "parent", None)
        return self.plan.uses[value] == 1 and users[0].short == "continue" and users[0].parent is here

    def assigned(self, value: SSAValue, form: str) -> layout.Text:
        """A value that is assigned: a call where it waits, else as `take`."""
        waiting = self._calls.get(self.plan.of(value))
        if waiting is None or waiting[0] != form:
            return self.take(value, form).text
        del self._calls[self.plan.of(value)]
        return waiting[1]

    def form_type(self, value: SSAValue, form: str) -> str:
        """The type of a value in a form."""
        type_ = value.type
        if form == OTHER or not isinstance(type_, Tile) or isinstance(type_.element, Ptr):
            return type_text(type_)
        element = ELEMENTS[type_.element.name]
        if form == SCALAR:
            return element
        return tile_type(type_, unsigned(element) if form == UNSIGNED and element != "bool" else element)

    def _place(self, value: SSAValue) -> TileOp:
        owner = value.owner
        return owner if hasattr(owner, "short") else self.plan.entry  # pyright: ignore[reportReturnType]

    # ---- uses

    def tile(self, value: SSAValue) -> str:
        """The name of a tile; that of rank 0 as a tile."""
        return self.take(value, TILE).text

    def scalar(self, value: SSAValue) -> str:
        """A scalar: a name, a literal or an expression."""
        return self.take(value, SCALAR).text

    def name(self, value: SSAValue, form: str) -> str:
        """As `take`, with a name where it would be an expression."""
        found = self.take(value, form)
        if found.text.isidentifier():
            return found.text
        value = self.plan.of(value)
        name = self.fresh("number" if form == SCALAR else "operand")
        self.let(name, self.form_type(value, form), found.text)
        return name

    def operand(self, value: SSAValue, form: str, strength: int) -> str:
        """An operand of an operator of that strength."""
        found = self.take(value, form)
        return found.text if found.strength >= strength else f"({found.text})"

    def other(self, value: SSAValue) -> str:
        """A token, a view or a tensor."""
        return self.take(value, OTHER).text

    def waits(self, value: SSAValue) -> bool:
        """Whether a value is an expression that will stand where it is used."""
        return self.plan.of(value) in self._waiting

    def token(self) -> str:
        """The token that orders nothing, which the entry begins with."""
        return "token"

    def there(self, value: SSAValue, form: str) -> str | None:
        """A value's name in a form, where it has one here."""
        found = self._known(self.plan.of(value), form)
        return None if found is None else found.text

    def any_value(self, value: SSAValue, form: str) -> layout.Text | None:
        """A value of the same type, whichever is easy to write; None where none is."""
        type_ = value.type
        if isinstance(type_, Token):
            return self.token()
        if not isinstance(type_, Tile) or isinstance(type_.element, Ptr):
            return None
        element = ELEMENTS[type_.element.name]
        zero = {"bool": "false", "f32": "0.0f32", "f64": "0.0f64"}.get(element, f"0{element}")
        if element not in ("bool", *LITERALS):
            zero = f"{element}::ZERO"
        if form == SCALAR:
            return zero if "::" not in zero else None
        return self._filled(zero, type_)

    def is_raw(self, value: SSAValue) -> bool:
        """Whether a value is a pointer parameter."""
        return self._known(self.plan.of(value), RAW) is not None

    def raw(self, value: SSAValue) -> str:
        """A pointer parameter's name."""
        return self.take(value, RAW).text

    def scalar_of_constant(self, value: SSAValue) -> str:
        """The number that all elements of a tile are, as a scalar."""
        number = self.plan.constant(value)
        assert number is not None
        element = ELEMENTS[number.element.name]
        text = literal(number)
        if text is not None and not _is_wide(number):
            return text
        if text is not None:  # the front end reads the digits of a scalar as an i32, without their sign
            return self._through_tile(text, element)
        wide = _as_f32(number)
        if wide is not None:
            source = wide if "::" not in wide else self._through_tile(wide, "f32")
            return self.shared(element, Call("convert_scalar", source), _noun(wide))
        text = named(number)
        if text is not None:
            return self._through_tile(text, element)
        kind = Tile((), number.element)
        tile = self._from_bits(tile_type(kind), kind, number.element.bits, number.bits[0])
        return self.shared(element, Call("tile_to_scalar", tile), f"{tile}_scalar")

    def _through_tile(self, text: str, element: str) -> str:
        """A constant that is no literal, as a scalar: only tiles are made of it."""
        tile = self.shared(f"Tile<{element}, {{ [] }}>", Call("constant", text, "shape![]"), _noun(text))
        return self.shared(element, Call("tile_to_scalar", tile), f"{tile}_scalar")

    def is_scalar(self, value: SSAValue) -> bool:
        """Whether a value of rank 0 is at hand as a scalar; a constant is."""
        value = self.plan.of(value)
        if self.plan.constant(value) is not None:
            return True
        waiting = self._waiting.get(value)
        return waiting[0] == SCALAR if waiting else self._known(value, SCALAR) is not None

    def take(self, value: SSAValue, form: str) -> Expression:
        """A value in a form, made where it is not there yet."""
        value = self.plan.of(value)
        waiting = self._waiting.pop(value, None)
        if waiting is not None:
            own, expression = waiting
            if own == form:
                return expression
            name = self.fresh("operand")
            self.let(name, self.form_type(value, own), expression.text)
            self.bind(value, own, name)
        call = self._calls.pop(value, None)
        if call is not None:
            name = self.fresh("next")
            self.let(name, self.form_type(value, call[0]), call[1])
            self.bind(value, call[0], name)
        found = self._known(value, form)
        if found is not None:
            return found
        number = self.plan.constant(value)
        made = self._constant(value, number, form) if number is not None else self._converted(value, form)
        if number is None:
            self.bind(value, form, made.text)
        return made

    def _known(self, value: SSAValue, form: str) -> Expression | None:
        for scope in reversed(self._scopes):
            if (value, form) in scope:
                return scope[value, form]
        return None

    def _converted(self, value: SSAValue, form: str) -> Expression:
        if form == OTHER and (known := self._known(value, RAW)):
            kind = self.form_type(value, OTHER)
            return Expression(self.shared(kind, Call("pointer_to_tile", known.text), f"{known.text}_start"))
        if form == SCALAR and (known := self._known(value, TILE)):
            return self._kept(value, SCALAR, Call("tile_to_scalar", known.text), known.text, "scalar")
        if form == TILE and (known := self._known(value, SCALAR)):
            return self._kept(value, TILE, Call("scalar_to_tile", known.text), known.text, "tile")
        if form == TILE and (known := self._known(value, UNSIGNED)):
            return self._kept(value, TILE, Call("bitcast", known.text), known.text, "signed")
        if form == UNSIGNED:
            type_ = value.type
            assert isinstance(type_, Tile)
            source = self.tile(value)
            if str(type_.element) == "i1":
                return Expression(source)
            return self._kept(value, UNSIGNED, Call("bitcast", source), source, "unsigned")
        raise refuse(self._place(value), "its result is not there where it is used")

    def _kept(self, value: SSAValue, form: str, made: Call, of: str, word: str) -> Expression:
        stem = of if of.isidentifier() else "value"
        name = self.fresh(f"{stem}_{word}")
        self.let(name, self.form_type(value, form), made)
        return Expression(name)

    # ---- constants

    def _constant(self, value: SSAValue, number: DenseElements, form: str) -> Expression:
        type_ = value.type
        assert isinstance(type_, Tile)
        if form == SCALAR:
            return Expression(self.scalar_of_constant(value))
        text = literal(number)
        tile = self.form_type(value, form)
        if form == UNSIGNED and text is not None:
            signed = self.form_type(value, TILE)
            source = self.shared(signed, Call("constant", text, self.shape(type_.shape)), _noun(text))
            return Expression(self.shared(tile, Call("bitcast", source), f"{source}_unsigned"))
        if (text := text or named(number)) is not None:
            return Expression(self.shared(tile, self._filled(text, type_), _noun(text)))
        element, bits = number.element.name, number.bits[0]
        wide = _as_f32(number)
        if wide is not None:
            source_type = tile_type(type_, "f32")
            source = self.shared(source_type, Call("constant", wide, self.shape(type_.shape)), _noun(wide))
            made = Call("convert_tile", source)
            return Expression(self.shared(tile, made, f"{source}_{ELEMENTS[element]}"))
        return Expression(self._from_bits(tile, type_, number.element.bits, bits))

    def _filled(self, text: str, type_: Tile) -> Call:
        """A tile of one number. What the front end makes of `constant(false, ..)` is true."""
        if text == "false":
            shape = [self.shape(type_.shape)] if type_.shape else []
            return Call("broadcast_scalar" if shape else "scalar_to_tile", text, *shape)
        return Call("constant", text, self.shape(type_.shape))

    def _from_bits(self, tile: str, type_: Tile, width: int, bits: int) -> str:
        """A number by its bits: a NaN, or one of 8 bits."""
        if width not in (8, 16, 32, 64):
            raise refuse(self.plan.entry, f"a constant {type_.element} that is not a number")
        signed = bits - (1 << width) if bits >> (width - 1) else bits
        whole = Call("constant", f"{signed}i{width}", self.shape(type_.shape))
        source = self.shared(tile_type(type_, f"i{width}"), whole, "bits")
        return self.shared(tile, Call("bitcast", source), "constant_of_bits")

    def shared(self, type_: str, value: layout.Text, noun: str) -> str:
        """The name of a value that is the same wherever it is made: a constant."""
        text = value if isinstance(value, str) else value.text
        for scope in reversed(self._made):
            if (type_, text) in scope:
                return scope[type_, text]
        name = self.fresh(noun)
        self.let(name, type_, value)
        self._made[-1][type_, text] = name
        return name

    def start(self, value: SSAValue, form: str) -> layout.Text:
        """What a variable begins with: a constant is made in its place."""
        number, type_ = self.plan.constant(value), value.type
        text = None if number is None else literal(number) or named(number)
        if form == TILE and text is not None and isinstance(type_, Tile):
            return self._filled(text, type_)
        return self.take(value, form).text

    def shape(self, shape: Sequence[int]) -> str:
        """A shape as an argument."""
        if len(shape) <= MACRO_RANK:
            return f"shape![{', '.join(map(str, shape))}]"
        return self.shared(f"Shape<{dims(shape)}>", Struct(f"Shape::<{dims(shape)}>", "dims: &[]"), "extents")

    def array(self, numbers: Iterable[int]) -> str:
        """A constant array as an argument."""
        listed = list(numbers)
        if len(listed) <= MACRO_RANK:
            return f"const_array![{', '.join(map(str, listed))}]"
        return self.shared(f"Array<{dims(listed)}>", Struct(f"Array::<{dims(listed)}>", "dims: &[]"), "order")


KEEPS_NAMES: Final = (
    "atomic_cas_tko", "atomic_red_view_tko", "atomic_rmw_tko", "for", "load_ptr_tko", "loop", "reshape",
    "broadcast", "store_ptr_tko", "store_view_tko", "yield",
)  # fmt: skip
"""Ops whose operands are named before: methods, and what is long without them."""
NOUNS: Final = {"0": "zero", "1": "one", "2": "two", "true": "all", "false": "none"}


def _noun(text: str) -> str:
    """What a constant is called."""
    digits = text
    for element in ("i8", "i16", "i32", "i64", "f32", "f64"):
        digits = digits.removesuffix(element)
    digits = digits.removesuffix(".0")
    if "::" in text:
        return {"INFINITY": "infinity", "NEG_INFINITY": "minus_infinity", "ZERO": "zero", "ONE": "one"}[
            text.partition("::")[2]
        ]
    return NOUNS.get(digits) or (f"number_{digits}" if digits.isdecimal() else "constant_of")


def _is_wide(number: DenseElements) -> bool:
    """Whether it is an integer whose digits do not fit in 32 bits."""
    return number.element.is_int and abs(number.ints()[0]) >= 1 << 31


def _as_f32(number: DenseElements) -> str | None:
    """A number of a narrow float type as an f32, which holds all of them."""
    from math import isnan

    from tileir_diff.dialect.attributes import DenseElements as Elements
    from tileir_diff.dialect.scalars import encode
    from tileir_diff.dialect.types import SCALARS

    if number.element.name not in ("f16", "bf16", "tf32"):
        return None
    [value] = number.floats()
    wide = Elements(SCALARS["f32"], (), (encode(value, "f32"),))
    return None if isnan(value) else literal(wide) or named(wide)
