"""Ops with every element type, mode and word that they could be given, valid or not: the dialect's tables.

Each comes as a text and what it shows, and as a small kernel whose values are made by ops before.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tileir_diff.dialect.ops import OPS
from tileir_diff.dialect.spec import FLUSH_TO_ZERO, OVERFLOW_WORDS, PROPAGATE_NAN, ROUNDING_MODES
from tileir_diff.dialect.types import PADDING_VALUES, SCALARS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.spec import OpSpec

ELEMENTS = tuple(SCALARS)
ROUNDINGS = ("", *(f" rounding<{mode}>" for mode in ROUNDING_MODES))
OVERFLOWS = ("", *(f" overflow<{word}>" for word in OVERFLOW_WORDS))
SIGNS = (" signed", " unsigned")
ORDERINGS = ("weak", "relaxed", "acquire", "release", "acq_rel")
SCOPES = ("tl_blk", "device", "sys")
MODES = ("and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg")


def combinations() -> Iterator[tuple[str, str]]:
    """What each kernel shows, and its text."""
    for spec in OPS.values():
        if spec.types in ("lhs=rhs=result", "source=result", "lhs=rhs=acc=result"):
            yield from _elementwise(spec)
    for make in (_conversions, _products, _scaled, _atomics, _memory, _others, _folds, _packs, _comparisons):
        yield from make()


def value(name: str, element: str, shape: str = "4x") -> str:
    """Ops that make a value of any element type: of i4, which has no literals, by a conversion."""
    type_ = f"tile<{shape}{element}>"
    if element == "i4":
        wide = f"tile<{shape}i8>"
        return f"%{name}w = constant <i8: 1> : {wide}\n%{name} = trunci %{name}w : {wide} -> {type_}\n"
    return f"%{name} = constant <{element}: {one(element)}> : {type_}\n"


def one(element: str) -> str:
    """The literal of one."""
    return "true" if element == "i1" else "1" if element[0] == "i" else "1.0"


def kernel(body: str) -> str:
    return f"entry @k(%p: tile<ptr<f32>>) {{\n{body}\nreturn\n}}\n"


def _elementwise(spec: OpSpec) -> Iterator[tuple[str, str]]:
    names = {attribute.name for attribute in spec.attributes}
    modes = [
        ROUNDINGS if "rounding" in names else ("",),
        OVERFLOWS if "overflow" in names else ("",),
        SIGNS if "signed" in names else ("",),
        ("", " flush_to_zero") if FLUSH_TO_ZERO in spec.attributes else ("",),
        ("", " propagate_nan") if PROPAGATE_NAN in spec.attributes else ("",),
    ]
    operands = ", ".join(["%a"] * len(spec.operands))
    for element, (rounding, overflow, sign, flush, nan) in product(ELEMENTS, product(*modes)):
        words = f"{overflow}{sign}{rounding}{flush}{nan}"
        line = f"%r = {spec.name} {operands}{words} : tile<4x{element}>"
        yield f"{spec.name}{words} {element}", kernel(value("a", element) + line)


def _conversions() -> Iterator[tuple[str, str]]:
    words = {
        "bitcast": ("",), "exti": SIGNS, "trunci": OVERFLOWS, "ftof": ROUNDINGS,
        "ftoi": [sign + more for sign in SIGNS for more in (*ROUNDINGS, " saturating")],
        "itof": [sign + rounding for sign in SIGNS for rounding in ROUNDINGS],
    }  # fmt: skip
    for name, modes in words.items():
        for mode, source, target in product(modes, ELEMENTS, ELEMENTS):
            line = f"%r = {name} %a{mode} : tile<4x{source}> -> tile<4x{target}>"
            yield f"{name}{mode} {source} -> {target}", kernel(value("a", source) + line)


def _products() -> Iterator[tuple[str, str]]:
    for lhs, rhs, acc in product(ELEMENTS, ELEMENTS, ELEMENTS):
        if lhs != rhs and acc not in ("f32", "i32"):
            continue
        made = value("a", lhs, "4x8x") + value("b", rhs, "8x2x") + value("c", acc, "4x2x")
        types = f"tile<4x8x{lhs}>, tile<8x2x{rhs}>, tile<4x2x{acc}>"
        for name, words in (("mmaf", ""), ("mmaf", " fast_acc"), ("mmai", " signed unsigned")):
            line = f"%r = {name} %a, %b, %c{words} : {types}"
            yield f"{name}{words} {lhs} {rhs} {acc}", kernel(made + line)


def _scaled() -> Iterator[tuple[str, str]]:
    small = [element for element in ELEMENTS if SCALARS[element].is_float and SCALARS[element].bits <= 8]
    for element, scale, block, acc in product(small, small, (1, 2, 4, 8, 16, 32, 64), ("f32", "f16")):
        scales = 64 // block
        shapes = ("4x64x", "64x2x", "4x2x", f"4x{scales}x", f"{scales}x2x")
        parts = list(zip("abcde", (element, element, acc, scale, scale), shapes, strict=True))
        made = "".join(value(*part) for part in parts)
        types = ", ".join(f"tile<{shape}{each}>" for _, each, shape in parts)
        line = f"%r = mmaf_scaled %a, %b, %c, %d, %e : {types}"
        yield f"mmaf_scaled {element} {scale} {block} {acc}", kernel(made + line)


def _pointer(element: str) -> str:
    return f"%q = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<{element}>>\n"


def _atomics() -> Iterator[tuple[str, str]]:
    for element in ELEMENTS:
        made = _pointer(element) + value("a", element, "")
        types = f"tile<ptr<{element}>>, tile<{element}> -> tile<{element}>, token"
        for ordering, scope in product(ORDERINGS, SCOPES):
            how = f"{ordering} {scope}"
            line = f"%r, %t = atomic_cas_tko {how} %q, %a, %a : {types}"
            yield f"atomic_cas_tko {how} {element}", kernel(made + line)
            for mode in MODES if how == "relaxed device" or element == "i32" else ():
                line = f"%r, %t = atomic_rmw_tko {how} %q, {mode}, %a : {types}"
                yield f"atomic_rmw_tko {how} {mode} {element}", kernel(made + line)
        part, made = _partition(element)
        made += value("a", element) + "%i = constant <i32: 0> : tile<i32>\n"
        for ordering, scope, mode in product(("relaxed", "acq_rel"), ("device", "sys"), MODES):
            how = f"{ordering} {scope} %w[%i], {mode}, %a"
            line = f"%t = atomic_red_view_tko {how} : tile<4x{element}>, {part}, tile<i32> -> token"
            yield f"atomic_red_view_tko {ordering} {scope} {mode} {element}", kernel(made + line)


def _partition(element: str, padding: str = "") -> tuple[str, str]:
    """The type of a view of tiles, and the ops that make it."""
    view = f"tensor_view<8x{element}, strides=[1]>"
    part = f"partition_view<tile=(4){padding and f', padding_value = {padding}'}, {view}>"
    made = f"{_pointer(element)}%v = make_tensor_view %q, shape = [8], strides = [1] : {view}\n"
    return part, f"{made}%w = make_partition_view %v : {part}\n"


def _memory() -> Iterator[tuple[str, str]]:
    for element in ELEMENTS:
        made, pointer = _pointer(element) + value("a", element, ""), f"tile<ptr<{element}>>"
        for how in (*product(ORDERINGS, SCOPES), ("weak",), ("relaxed",)):
            words = " ".join(how)
            load = f"%r, %t = load_ptr_tko {words} %q : {pointer} -> tile<{element}>, token"
            store = f"%t = store_ptr_tko {words} %q, %a : {pointer}, tile<{element}> -> token"
            yield f"load_ptr_tko {words} {element}", kernel(made + load)
            yield f"store_ptr_tko {words} {element}", kernel(made + store)
        offset = f"%r = offset %q, %a : {pointer}, tile<{element}> -> {pointer}"
        yield f"offset {element}", kernel(made + offset)
        for padding in ("", *PADDING_VALUES):
            yield f"partition_view {padding} {element}", kernel(_partition(element, padding)[1])
        for size, alignment in product((0, 1, 3), (0, 1, 2, 3, 4, 8, 1024)):
            line = f"%r = alloca num_elem = {size}, alignment = {alignment} : {pointer}"
            yield f"alloca {size} {alignment} {element}", kernel(line)


def _others() -> Iterator[tuple[str, str]]:
    for element in ELEMENTS:
        made, type_ = value("a", element), f"tile<4x{element}>"
        select = f"%r = select %c, %a, %a : tile<4xi1>, {type_}"
        yield f"select {element}", kernel(made + value("c", "i1") + select)
        yield f"print_tko {element}", kernel(f'{made}%r = print_tko "%d", %a : {type_} -> token')
        for size in (4, 128, 256, 65536):
            yield f"iota {size} {element}", kernel(f"%r = iota : tile<{size}x{element}>")
        for shape in ("", "1x1x"):
            yield f"constant {shape} {element}", kernel(value("a", element, shape))
        yield f"global {element}", f"global @g <{element}: {one(element)}> : tile<2x{element}>\n{kernel('')}"


def _folds() -> Iterator[tuple[str, str]]:
    for element, other in product(ELEMENTS, ELEMENTS):
        if "i4" in (element, other):
            continue
        literal = f"{one(other)} : {other}"
        for name, extra, result in (("reduce", "", ""), ("scan", " reverse=false", "4x")):
            types = f"tile<4x{element}> -> tile<{result}{element}>"
            head = f"%r = {name} %a dim=0{extra} identities=[{literal}] : {types}"
            body = f"(%x: tile<{element}>, %y: tile<{element}>) {{\nyield %x : tile<{element}>\n}}"
            yield f"{name} {element} identity {other}", kernel(f"{value('a', element)}{head}\n{body}")


def _packs() -> Iterator[tuple[str, str]]:
    for element, size in product(ELEMENTS, (1, 2, 4, 8, 16, 32, 64)):
        few, many = f"tile<8x{element}>", f"tile<{size}xi8>"
        pack = f"{value('a', element, '8x')}%r = pack %a : {few} -> {many}"
        unpack = f"{value('a', 'i8', f'{size}x')}%r = unpack %a : {many} -> {few}"
        yield f"pack {few} -> {many}", kernel(pack)
        yield f"unpack {many} -> {few}", kernel(unpack)
    for wide in ("i16", "i32", "f32"):
        line = f"%r = pack %a : tile<8xi8> -> tile<2x{wide}>"
        yield f"pack to {wide}", kernel(value("a", "i8", "8x") + line)


def _comparisons() -> Iterator[tuple[str, str]]:
    for element in ELEMENTS:
        for sign in SIGNS:
            line = f"%r = cmpi less_than %a, %a,{sign} : tile<4x{element}> -> tile<4xi1>"
            yield f"cmpi{sign} {element}", kernel(value("a", element) + line)
        line = f"%r = cmpf less_than ordered %a, %a : tile<4x{element}> -> tile<4xi1>"
        yield f"cmpf {element}", kernel(value("a", element) + line)
        for exponent in ELEMENTS:
            line = f"%r = fpowi %a, %b : tile<4x{element}>, tile<4x{exponent}>"
            yield f"fpowi {element} {exponent}", kernel(value("a", element) + value("b", exponent) + line)
