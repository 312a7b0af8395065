"""Which version of bytecode a module needs, and for which reason."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.dialect.spec import REQUIRED
from tileir_diff.dialect.types import (
    FunctionType,
    GatherScatterView,
    Ptr,
    Scalar,
    StridedView,
    TensorView,
    Tile,
)
from tileir_diff.ingest.formats import producer_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.dialect.spec import AttributeSpec

MAJOR: Final = 13
VERSIONS: Final = ("13.1", "13.2", "13.3", "13.4")
OLDEST: Final = 1
PRINT_TOKEN: Final = 2  # `print_tko` has tokens since 13.2
PRODUCER_SINCE: Final = 3  # it only tells who made the module: older versions go without
SCALARS: Final = {"f8E8M0FNU": 2, "f4E2M1FN": 3, "i4": 3, "fnv8E5M3FNU": 4}
WORDS: Final = {"nearest_away": 4}  # words of an attribute that are newer than the attribute


class Need(NamedTuple):
    """An op needs version 13.`since`, because of `what`."""

    op: TileOp
    since: int
    what: str


def minor(version: str) -> int:
    """3 of "13.3"."""
    return int(version.partition(".")[2])


def producer_of(module: ModuleOp) -> str:
    """The compiler that a module names, in its attribute or in the comment that the disassembler prints."""
    named = module.get("producer")
    if named is None and module.dump is not None:
        return producer_line(module.dump.text.text)
    return named or ""


def written_results(op: TileOp, version: int) -> Sequence[SSAValue]:
    """The results that a version has."""
    return () if op.short == "print_tko" and version < PRINT_TOKEN else op.results


def greatest_need(module: ModuleOp) -> Need:
    """The first of the ops that need the newest version."""
    greatest = Need(module, OLDEST, "")
    for need in needs(module):
        if need.since > greatest.since:
            greatest = need
    return greatest


def needs(module: ModuleOp) -> Iterator[Need]:
    """What needs more than the oldest version, in the order of the text."""
    for op in module.walk():
        for since, what in _needs(op):  # pyright: ignore[reportArgumentType]
            if since > OLDEST:
                yield Need(op, since, what)  # pyright: ignore[reportArgumentType]


def _needs(op: TileOp) -> Iterator[tuple[int, str]]:
    if op.short == "module":
        return
    yield minor(op.spec.since), f"'{op.short}'"
    for attribute in op.spec.attributes:
        data: Any = op.get(attribute.name)
        if data is None or (attribute.default is not REQUIRED and data == attribute.default):
            continue
        since = minor(attribute.since)
        if attribute.kind == "enum":
            since = max(since, WORDS.get(data, OLDEST))
        if since > OLDEST:
            yield since, f"'{_shown(attribute, data)}' on '{op.short}'"
        if attribute.name == "rounding" and op.short == "ftof" and _is_wider_rounding(op, data):
            yield 4, f"'{_shown(attribute, data)}' on a conversion to {op.results[0].type}"
        if attribute.kind == "literals":
            for literal in data:
                yield _type_need(literal.element)
    if op.short == "print_tko" and (op.group("token") or op.results[0].uses.get_length()):
        yield PRINT_TOKEN, "the token of 'print_tko'"
    types = [value.type for value in (*op.operands, *op.results)]
    types += [argument.type for region in op.regions for argument in region.block.args]
    for type_ in (*types, op.get("type"), op.get("function_type")):
        if type_ is not None:
            yield _type_need(type_)


def _is_wider_rounding(op: TileOp, mode: str) -> bool:
    """Whether only 13.4 rounds so: before, all modes but one were for f8E8M0FNU alone."""
    element = getattr(op.results[0].type, "element", None)
    return mode != "nearest_even" and element != Scalar("f8E8M0FNU")


def _shown(attribute: AttributeSpec, data: Any) -> str:
    from tileir_diff.dialect.printer import print_attribute

    return print_attribute(attribute, data)


@cache
def _type_need(type_: Any) -> tuple[int, str]:
    """The version that has a type, and the part of it that is newest."""
    match type_:
        case Scalar(name):
            return SCALARS.get(name, OLDEST), f"the type {name}"
        case Ptr(_, str()) | TensorView(_, _, _, str()):
            return 4, "a pointer attribute"
        case Ptr(pointee):
            return _type_need(pointee)
        case Tile(_, element) | TensorView(_, _, element):
            return _type_need(element)
        case FunctionType(inputs, outputs):
            return max((_type_need(part) for part in (*inputs, *outputs)), default=(OLDEST, ""))
        case GatherScatterView() | StridedView():
            inner = _type_need(type_.tensor_view)
            return inner if inner[0] > 3 else (3, f"the type {type(type_).name.removeprefix('cuda_tile.')}")
        case _ if hasattr(type_, "tensor_view"):
            return _type_need(type_.tensor_view)
        case _:
            return OLDEST, ""
