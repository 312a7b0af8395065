"""Functions of the kernel's module that its entry calls: what takes many arguments, written once.

A helper's name says all that its calls have in common, so that the same kernel always gets the same ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.transpile import layout
from tileir_diff.transpile.layout import INDENT, WIDTH, Call
from tileir_diff.transpile.spelling import ORDERING, SCOPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.transpile.writer import Writer

INDEX: Final = "ijklmn"
"""What the indices of a view are called, by dimension."""


class Access(NamedTuple):
    """What accesses have in common: how they are ordered, what is hinted and promised."""

    rank: int
    ordering: str
    scope: str | None
    token: bool
    latency: int | None = None
    tma: bool = True
    inbounds: tuple[bool, ...] = ()
    counted: str = "i32"

    @property
    def suffix(self) -> str:
        """The words of a name for what is not the usual."""
        words = [] if self.ordering == "weak" else [self.ordering, self.scope or ""]
        words += [] if self.latency is None else [f"latency_{self.latency}"]
        words += [] if self.tma else ["no_tma"]
        words += [f"inside_{INDEX[dim]}" for dim, inside in enumerate(self.inbounds) if inside]
        words += [] if self.counted == "i32" else [self.counted]
        words += [] if self.token else ["untied"]
        return "".join(f"_{word}" for word in words if word)

    @property
    def modes(self) -> tuple[str, str]:
        return f"ordering::{ORDERING[self.ordering]}", f"scope::{SCOPES[self.scope or 'tl_blk']}"

    @property
    def hints(self) -> tuple[str, str, str]:
        """TMA, latency, and along which dimensions every access lies inside."""
        latency = "None" if self.latency is None else f"Some({self.latency}i32)"
        flags = self.inbounds or (False,) * self.rank
        inside = f"[{', '.join('true' if flag else 'false' for flag in flags)}]"
        return f"tma::{'Enabled' if self.tma else 'Disabled'}", latency, inside

    @property
    def indices(self) -> list[str]:
        return [f"{name}: {self.counted}" for name in INDEX[: self.rank]]


class Helpers:
    """Those that one module needs, in the order of their names."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}

    @property
    def lines(self) -> list[str]:
        """All of them, each with an empty line behind it."""
        return [line for name in sorted(self._texts) for line in (*self._texts[name], "")]

    def names(self) -> list[str]:
        return sorted(self._texts)

    def pointer_tile(self, w: Writer, scalar: SSAValue) -> str:
        """A pointer parameter as a tile of rank 0."""
        return w.other(scalar)

    def addresses(self, rank: int, index: str) -> str:
        """`BASE + OFFSET`, in elements, for a tile of offsets."""
        name = f"addresses_{rank}d" + ("" if index == "i64" else f"_{index}")
        start = "PointerTile<*mut E, { [] }>"
        ones = ", ".join(["1"] * rank)
        body = [
            f"let start: {start} = pointer_to_tile(base);",
            f"let one: PointerTile<*mut E, {{ [{ones}] }}> = start.reshape(shape![{ones}]);",
            "let shape: Shape<S> = Shape::<S> { dims: &[] };",
            "let all: PointerTile<*mut E, S> = one.broadcast(shape);",
            "all.offset_tile(offset)",
        ]
        parameters = ["base: *mut E", f"offset: Tile<{index}, S>"]
        doc = "The addresses of the elements at these offsets."
        return self._add(name, rank, parameters, "PointerTile<*mut E, S>", body, doc, unsafe=False)

    def wide(self, rank: int) -> str:
        """A scalar of 32 bits in all elements of a tile of 64."""
        ones = ", ".join(["1"] * rank)
        body = [
            "let scalar: Tile<i32, { [] }> = scalar_to_tile(number);",
            "let long: Tile<i64, { [] }> = exti(scalar);",
            f"let one: Tile<i64, {{ [{ones}] }}> = long.reshape(shape![{ones}]);",
            "one.broadcast(shape)",
        ]
        name = f"wide_{rank}d"
        doc = "The same number in all elements, in 64 bits."
        parameters = ["number: i32", "shape: Shape<S>"]
        return self._add(name, rank, parameters, "Tile<i64, S>", body, doc, unsafe=False, generic="")

    def floored(self, word: str) -> str:
        """Division of scalars that rounds down, and what it leaves."""
        quotient = [
            "let dividend: Tile<i32, { [] }> = scalar_to_tile(dividend);",
            "let divisor: Tile<i32, { [] }> = scalar_to_tile(divisor);",
            "let quotient: Tile<i32, { [] }> = divi(dividend, divisor, rounding::NegativeInf);",
            "tile_to_scalar(quotient)",
        ]
        remainder = [
            "let rest: i32 = dividend % divisor;",
            "let wrong: bool = ((rest < 0i32) ^ (divisor < 0i32)) & (rest != 0i32);",
            "let wrong: Tile<bool, { [] }> = scalar_to_tile(wrong);",
            "let raised: i32 = rest + divisor;",
            "let raised: Tile<i32, { [] }> = scalar_to_tile(raised);",
            "let rest: Tile<i32, { [] }> = scalar_to_tile(rest);",
            "let floored: Tile<i32, { [] }> = select(wrong, raised, rest);",
            "tile_to_scalar(floored)",
        ]
        name, body, doc = {
            "quotient": ("floor_div", quotient, "The quotient, rounded down."),
            "remainder": ("floor_mod", remainder, "What remains of it: with the sign of the divisor."),
        }[word]
        parameters = ["dividend: i32", "divisor: i32"]
        return self._add(name, 0, parameters, "i32", body, doc, unsafe=False, generic="")

    def compare_unsigned(self, rank: int, element: str, word: str, function: str) -> str:
        """A comparison of integers read as unsigned ones."""
        wide = f"u{element[1:]}"
        body = [
            f"let left: Tile<{wide}, S> = bitcast(left);",
            f"let right: Tile<{wide}, S> = bitcast(right);",
            f"{function}(left, right)",
        ]
        name = f"{word}_unsigned_{rank}d" + ("" if element == "i64" else f"_{element}")
        parameters = [f"left: Tile<{element}, S>", f"right: Tile<{element}, S>"]
        doc = "Compares unsigned numbers: a negative one is a large one."
        return self._add(name, rank, parameters, "Tile<bool, S>", body, doc, unsafe=False, generic="")

    def load(self, how: Access, with_token: bool) -> str:
        """A tile of a view by its indices; with its token, where that is used."""
        name = f"load_{how.rank}d{how.suffix}" + ("_then" if with_token else "")
        call = Call(
            "load_view_raw", "view", f"[{', '.join(INDEX[: how.rank])}]", _token(how), *how.modes,
            *how.hints, "shape", unsafe=True,
        )  # fmt: skip
        body = ["let shape: Shape<S> = Shape::<S> { dims: &[] };"]
        body += layout.let("(tile, done)", "(Tile<E, S>, Token)", call, INDENT * 2)
        parameters = ["view: &Partition<E, S>", *how.indices, *_tied(how)]
        doc = f"A tile of {_dimensions(how.rank)}{_said(how)}."
        return self._loaded(name, how, parameters, body, doc, with_token)

    def store(self, how: Access) -> str:
        """A tile into a view, by its indices."""
        name = f"store_{how.rank}d{how.suffix}"
        call = Call(
            "store_view_raw", "view", "tile", f"[{', '.join(INDEX[: how.rank])}]", _token(how), *how.modes,
            *how.hints, unsafe=True,
        )  # fmt: skip
        body = [*layout.let("done", "Token", call, INDENT * 2), "done"]
        parameters = ["view: &Partition<E, S>", "tile: Tile<E, S>", *how.indices, *_tied(how)]
        doc = f"Stores a tile of {_dimensions(how.rank)}{_said(how)}."
        return self._add(name, how.rank, parameters, "Token", body, doc)

    def gather(self, how: Access, element: str, mask: bool, padding: bool, with_token: bool) -> str:
        """What lies at addresses: of those in the mask, with the padding elsewhere."""
        word = "gather" if mask and padding else "gather_unpadded" if mask else "gather_all"
        name = f"{word}_{how.rank}d{_typed(how, element)}{how.suffix}" + ("_then" if with_token else "")
        call = Call(
            "load_ptr_tko", "pointers", how.modes[0], _scope(how), _some("mask", mask),
            _some("padding", padding), _token(how), f"Latency::<{how.latency or 0}>", unsafe=True,
        )  # fmt: skip
        shape = _shape(how.rank)
        parameters = [f"pointers: PointerTile<*mut E, {shape}>"]
        parameters += [f"mask: Tile<bool, {shape}>"] * mask + ["padding: E"] * padding + _tied(how)
        which = "where the mask holds" if mask else "at these addresses"
        doc = f"Loads {which}{_said(how)}."
        if padding and how.rank > 1:
            return self._flat(name, how, [*parameters, "flat: Shape<F>"], call, doc, with_token)
        body = layout.let("(tile, done)", f"(Tile<E, {shape}>, Token)", call, INDENT * 2)
        return self._loaded(name, how, parameters, body, doc, with_token, element)

    def _flat(
        self, name: str, how: Access, parameters: Sequence[str], call: Call, doc: str, with_token: bool
    ) -> str:
        """A padded load of several dimensions, as one of one: the front end pads no other."""
        body = ["let pointers: PointerTile<*mut E, F> = pointers.reshape(flat);"]
        if "Some(mask)" in call.operands:
            body.append("let mask: Tile<bool, F> = mask.reshape(flat);")
        body += layout.let("(tile, done)", "(Tile<E, F>, Token)", call, INDENT * 2)
        body.append("let shape: Shape<S> = Shape::<S> { dims: &[] };")
        body.append("let tile: Tile<E, S> = tile.reshape(shape);")
        body.append("(tile, done)" if with_token else "tile")
        result = "(Tile<E, S>, Token)" if with_token else "Tile<E, S>"
        generics = f"E: ElementType, const S: [i32; {how.rank}], const F: [i32; 1]"
        return self._add(name, 0, parameters, result, body, doc, generic=generics)

    def scatter(self, how: Access, element: str, mask: bool) -> str:
        """A tile to addresses: to those in the mask."""
        name = f"{'scatter' if mask else 'scatter_all'}_{how.rank}d{_typed(how, element)}{how.suffix}"
        call = Call(
            "store_ptr_tko", "pointers", "tile", how.modes[0], _scope(how), _some("mask", mask), _token(how),
            f"Latency::<{how.latency or 0}>", unsafe=True,
        )  # fmt: skip
        shape = _shape(how.rank)
        parameters = [f"pointers: PointerTile<*mut E, {shape}>", f"tile: Tile<E, {shape}>"]
        parameters += [f"mask: Tile<bool, {shape}>"] * mask + _tied(how)
        body = [*layout.let("done", "Token", call, INDENT * 2), "done"]
        doc = f"Stores {'where the mask holds' if mask else 'at these addresses'}{_said(how)}."
        return self._concrete(name, how, parameters, "Token", body, doc, element)

    def _loaded(
        self, name: str, how: Access, parameters: Sequence[str], body: list[str], doc: str, with_token: bool,
        element: str = "",
    ) -> str:  # fmt: skip
        shape = _shape(how.rank)
        result = f"(Tile<E, {shape}>, Token)" if with_token else f"Tile<E, {shape}>"
        last = "(tile, done)" if with_token else "tile"
        return self._concrete(name, how, parameters, result, [*body, last], doc, element)

    def _concrete(
        self, name: str, how: Access, parameters: Sequence[str], result: str, body: list[str], doc: str,
        element: str,
    ) -> str:  # fmt: skip
        """Of rank 0 for one element type: the front end forgets that of a generic scalar."""
        if how.rank:
            return self._add(name, how.rank, parameters, result, body, doc)
        texts = [_named(each, element) for each in (*parameters, result, *body)]
        count = len(parameters)
        return self._add(name, 0, texts[:count], texts[count], texts[count + 1 :], doc, generic="")

    def _add(
        self, name: str, rank: int, parameters: Sequence[str], result: str, body: Sequence[str], doc: str,
        unsafe: bool = True, generic: str = "E: ElementType",
    ) -> str:  # fmt: skip
        if name not in self._texts:
            generics = [generic] * bool(generic) + [f"const S: [i32; {rank}]"] * bool(rank)
            listed = f"<{', '.join(generics)}>" if generics else ""
            head = f"{'unsafe ' if unsafe else ''}fn {name}{listed}"
            lines = [line if line.startswith(INDENT) else INDENT * 2 + line for line in body]
            head_lines = [f"{INDENT}/// {doc}", *signature(head, parameters, result)]
            self._texts[name] = [*head_lines, *lines, f"{INDENT}}}"]
        return name


def signature(head: str, parameters: Sequence[str], result: str) -> list[str]:
    """The head of a function in a module."""
    tail = f") -> {result} {{" if result else ") {"
    line = f"{INDENT}{head}({', '.join(parameters)}{tail}"
    if len(line) <= WIDTH:
        return [line]
    return [f"{INDENT}{head}(", *(f"{INDENT}{INDENT}{each}," for each in parameters), f"{INDENT}{tail}"]


def _typed(how: Access, element: str) -> str:
    """The element type in a name, where a helper is for one."""
    return "" if how.rank else f"_{element}"


def _named(text: str, element: str) -> str:
    """A text about elements of a type E, for this one."""
    return re.sub(r"\bE\b", element, text)


def _shape(rank: int) -> str:
    return "S" if rank else "{ [] }"


def _dimensions(rank: int) -> str:
    return f"{rank} dimension{'s' * (rank != 1)}"


def _token(how: Access) -> str:
    return "Some(token)" if how.token else "None"


def _tied(how: Access) -> list[str]:
    return ["token: Token"] * how.token


def _scope(how: Access) -> str:
    return "None::<scope::TileBlock>" if how.scope is None else f"Some({how.modes[1]})"


def _some(name: str, there: bool) -> str:
    return f"Some({name})" if there else "None"


def _said(how: Access) -> str:
    """What of it is not the usual, in words."""
    said = [] if how.ordering == "weak" else [f"{how.ordering} in scope {how.scope}"]
    said += [] if how.latency is None else [f"latency {how.latency}"]
    said += [] if how.tma else ["without TMA"]
    said += [f"inside along {INDEX[dim]}" for dim, inside in enumerate(how.inbounds) if inside]
    return f"; {', '.join(said)}" if said else ""
