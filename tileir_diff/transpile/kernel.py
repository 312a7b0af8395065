"""One entry as a module of cuTile Rust, and what a launch has to say of it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dialect.types import (
    GatherScatterView,
    PartitionView,
    Ptr,
    StridedView,
    TensorView,
    Tile,
)
from tileir_diff.graph.values import element_name, ops_within
from tileir_diff.transpile import arithmetic, memory, reductions, shapes
from tileir_diff.transpile.arguments import read_arguments, stated_texts
from tileir_diff.transpile.control import Control
from tileir_diff.transpile.helpers import Helpers, signature
from tileir_diff.transpile.layout import INDENT, Call
from tileir_diff.transpile.plan import Plan
from tileir_diff.transpile.refusal import refuse, refuse_type
from tileir_diff.transpile.spelling import ELEMENTS, RESERVED
from tileir_diff.transpile.writer import RAW, SCALAR, Writer

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.dialect.types import Scalar
    from tileir_diff.transpile.arguments import Arrays

HANDLERS: Final = {**arithmetic.HANDLERS, **memory.HANDLERS, **reductions.HANDLERS, **shapes.HANDLERS}
ENTRY_HINTS: Final = ("occupancy", "num_cta_in_cga", "num_worker_warps_per_cta")
"""What the attribute of an entry can hint."""
MANGLED: Final = re.compile(r"_Kt\d.*$")
"""What cuTile Python puts behind the name of a kernel."""


class Transpiled(NamedTuple):
    """A kernel in cuTile Rust: its text, the path of its entry, and the arguments of a launch (`--like`)."""

    text: str
    entry: str
    likes: tuple[str, ...]


def transpile(entry: TileOp, path: str, name: str | None = None) -> Transpiled:
    """Translates one entry. `path` is the dump's, named in the first line; `name` is the Rust entry's.

    Raises InputError for what is not covered, at its place.
    """
    chosen = name or rust_name(entry.symbol)
    plan = Plan(entry)
    arrays = read_arguments(plan)
    helpers = Helpers()
    writer = Writer(plan, arrays, helpers)
    _begin(writer, plan, arrays)
    Control(writer, lambda op: _write(writer, op)).block(plan.body)
    strided = any(plan.live(op) and op.short in memory.USES for op in ops_within(entry))
    parameters = [f"{each.name}: {each.text}" for each in arrays.arguments]
    lines = [
        f"//! {chosen}: translated from {os.path.basename(path)}.",
        "",
        "#[cutile::module]",
        f"pub mod {chosen} {{",
        f"{INDENT}use cutile::core::*;",
        *([f"{INDENT}use cutile::tileir::*;"] if strided else []),
        "",
        *helpers.lines,
        f"{INDENT}#[cutile::entry({_hints(entry)})]",
        *signature(f"pub unsafe fn {chosen}", parameters, ""),
        *writer.lines,
        f"{INDENT}}}",
        "}",
    ]
    likes = tuple(each.like for each in arrays.arguments)
    return Transpiled("\n".join(lines) + "\n", f"{chosen}::{chosen}", likes)


def rust_name(symbol: str) -> str:
    """A name for a Rust function: that of the kernel's source, as far as the symbol tells."""
    plain = MANGLED.sub("", symbol).removesuffix("_entry").split(".")[-1]
    name = re.sub(r"\W+", "_", plain).strip("_").lower() or "kernel"
    name = name if not name[0].isdecimal() else f"kernel_{name}"
    return f"{name}_kernel" if name in RESERVED else name


def _begin(w: Writer, plan: Plan, arrays: Arrays) -> None:
    """The token, and what the parameters are called and assumed to be."""
    w.let("token", "Token", Call("new_token_unordered"))
    for parameter, name in arrays.names.items():
        form, element = _parameter(parameter)
        for text in stated_texts(arrays.stated.get(parameter, ()), element, plan.entry):
            call, _, rest = text.partition("(")
            operands = rest.removesuffix(")").replace("{}", name).split(", ")
            w.let(name, _rust_type(parameter), Call(call, *operands, unsafe=True))
        w.bind(parameter, form, name)
    for parameter, (tensor, dimension) in arrays.extents.items():
        others = [user for user in plan.users.get(parameter, []) if user.short != "make_tensor_view"]
        if others or plan.uses[parameter] > 1:
            name = w.fresh(f"{tensor}_extent_{dimension}")
            w.let(name, "i32", f"{tensor}.shape()[{dimension}]")
            w.bind(parameter, SCALAR, name)


def _parameter(parameter: SSAValue) -> tuple[str, str]:
    type_ = parameter.type
    assert isinstance(type_, Tile)
    return (RAW, "ptr") if isinstance(type_.element, Ptr) else (SCALAR, element_name(parameter))


def _rust_type(parameter: SSAValue) -> str:
    type_ = parameter.type
    assert isinstance(type_, Tile)
    element = type_.element
    return f"*mut {ELEMENTS[element.pointee.name]}" if isinstance(element, Ptr) else ELEMENTS[element.name]


def _write(w: Writer, op: TileOp) -> None:
    first = op.results[0] if op.results else None
    if first is not None and (w.plan.of(first) is not first or w.plan.constant(first) is not None):
        return
    handler = HANDLERS.get(op.short)
    if handler is None:
        raise refuse(op, "this op is not covered")
    for value in (*op.inputs, *op.results):
        element = _element_of(value.type)
        if element is not None and element.name not in ELEMENTS:
            raise refuse_type(op, element)
    handler(w, op)


def _element_of(type_: Attribute) -> Scalar | None:
    """The type of the numbers in a tile, behind its pointers, or in a view; None where there are none."""
    match type_:
        case Tile():
            return type_.element.pointee if isinstance(type_.element, Ptr) else type_.element
        case TensorView():
            return type_.element
        case PartitionView() | StridedView() | GatherScatterView():
            return type_.tensor_view.element
        case _:
            return None


def _hints(entry: TileOp) -> str:
    hints: dict[str, dict[str, Any]] = entry.get("hints") or {}
    parts: list[str] = []
    for arch, given in hints.items():
        for name in given:
            if name not in ENTRY_HINTS:
                raise refuse(entry, f"the hint {name} cannot be written in cuTile Rust")
        listed = " ".join(f"{name} = {value}," for name, value in given.items())
        parts.append(f"{arch} = ({listed}),")
    return f"optimization_hints = ({' '.join(parts)})" if parts else ""
