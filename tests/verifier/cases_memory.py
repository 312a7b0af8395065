"""Memory constraints: pointers, views, atomics, tokens, assumptions."""

from __future__ import annotations

from .snippets import Case, func

_P, _V, _M = "tile<4xptr<f32>>", "tile<4xf32>", "tile<4xi1>"
_ORDERED = ("relaxed", "acquire", "release", "acq_rel")


def _load(order: str = "weak", result: str = _V, operands: str = "", types: str = "") -> str:
    arguments = f"%p: {_P}, %m: {_M}, %m1: tile<i1>, %v: {_V}, %h: tile<4xf16>"
    return func(arguments, f"%r, %t = load_ptr_tko {order} %p{operands} : {_P}{types} -> {result}, token")


def _store(order: str = "weak", value: str = _V, operands: str = "", types: str = "") -> str:
    arguments = f"%p: {_P}, %m: {_M}, %m1: tile<i1>, %v: {value}"
    return func(arguments, f"%t = store_ptr_tko {order} %p, %v{operands} : {_P}, {value}{types} -> token")


def _alloca(alignment: int, element: str = "f32") -> str:
    return func("", f"%p = alloca num_elem = 4, alignment = {alignment} : tile<ptr<{element}>>")


POINTERS = [
    *(
        Case("load_ptr_tko/ordering", _load(f"{bad} sys"), _load("acquire sys"))
        for bad in ("release", "acq_rel")
    ),
    *(
        Case("store_ptr_tko/ordering", _store(f"{bad} sys"), _store("release sys"))
        for bad in ("acquire", "acq_rel")
    ),
    Case("memory-order/missing-scope", _load("relaxed"), _load("relaxed tl_blk")),
    Case("memory-order/weak-scope", _load("weak device"), _load("weak")),
    Case("memory-order/weak-scope", _store("weak sys"), _store("weak")),
    Case("load_ptr_tko/pointee", _load(result="tile<4xf16>"), _load()),
    Case("load_ptr_tko/pointee", _load(result="tile<2xf32>"), _load()),
    Case(
        "load_ptr_tko/mask-shape",
        _load(operands=", %m1", types=", tile<i1>"),
        _load(operands=", %m", types=f", {_M}"),
    ),
    Case(
        "load_ptr_tko/padding-type",
        _load(operands=", %m, %h", types=f", {_M}, tile<4xf16>"),
        _load(operands=", %m, %v", types=f", {_M}, {_V}"),
    ),
    Case(
        "load_ptr_tko/padding-type",
        _load(operands=", %h", types=", tile<4xf16>"),
        _load(operands=", %v", types=f", {_V}"),
    ),
    Case("store_ptr_tko/pointee", _store(value="tile<4xi32>"), _store()),
    Case(
        "store_ptr_tko/mask-shape",
        _store(operands=", %m1", types=", tile<i1>"),
        _store(operands=", %m", types=f", {_M}"),
    ),
    Case("alloca/alignment", _alloca(12), _alloca(16)),
    Case("alloca/alignment", _alloca(0), _alloca(4)),
    Case("alloca/natural-alignment", _alloca(4, "f64"), _alloca(8, "f64")),
]

_TV = "tensor_view<16x8xf32, strides=[8,1]>"
_PART = f"partition_view<tile=(4x4), {_TV}>"
_STRIDED = f"strided_view<tile=(4x4), traversal_strides=[3,1], {_TV}>"
_GATHER = f"gather_scatter_view<tile=(4x4), {_TV}, sparse_dim=0>"
_PADDED = f"partition_view<tile=(4x4), padding_value = zero, {_TV}>"
_TILE = "tile<4x4xf32>"


def _tensor_view(arguments: str, shape: str, strides: str, types: str) -> str:
    return func(arguments, f"%v = make_tensor_view %p, shape = [{shape}], strides = [{strides}] : {types}")


def _view_load(
    view: str, indices: list[str], order: str = "weak", result: str = _TILE, tail: str = ""
) -> str:
    return func(f"%v: {view}, {_arguments(indices)}", _view_load_line(view, indices, order, result, tail))


def _arguments(indices: list[str]) -> str:
    return ", ".join(f"%i{number}: {type_}" for number, type_ in enumerate(indices)) or "%unused: tile<i1>"


def _names(indices: list[str]) -> str:
    return ", ".join(f"%i{number}" for number in range(len(indices)))


def _types(indices: list[str]) -> str:
    """The index types as printed: once if all are equal."""
    shown = indices[:1] if len(set(indices)) == 1 else indices
    return "".join(f", {type_}" for type_ in shown)


def _view_load_line(view: str, indices: list[str], order: str, result: str, tail: str) -> str:
    head = f"%r, %t = load_view_tko {order} %v[{_names(indices)}]{tail}"
    return f"{head} : {view}{_types(indices)} -> {result}, token"


def _view_store(view: str, indices: list[str], order: str = "weak", value: str = _TILE) -> str:
    line = (
        f"%t = store_view_tko {order} %x, %v[{_names(indices)}] : {value}, {view}{_types(indices)} -> token"
    )
    return func(f"%v: {view}, %x: {value}, {_arguments(indices)}", line)


def _reduction(
    view: str, indices: list[str], order: str = "relaxed device", mode: str = "addf", value: str = _TILE
) -> str:
    head = f"%t = atomic_red_view_tko {order} %v[{_names(indices)}], {mode}, %x"
    line = f"{head} : {value}, {view}{_types(indices)} -> token"
    return func(f"%v: {view}, %x: {value}, {_arguments(indices)}", line)


_I, _L = "tile<i32>", "tile<i64>"
_DYNAMIC = "%p: tile<ptr<f32>>, %n: tile<i32>, %l: tile<i64>"

VIEWS = [
    Case(
        "make_tensor_view/pointee",
        _tensor_view("%p: tile<ptr<f16>>", "16, 8", "8, 1", _TV),
        _tensor_view("%p: tile<ptr<f32>>", "16, 8", "8, 1", _TV),
    ),
    Case(
        "make_tensor_view/pointer-attribute",
        _tensor_view("%p: tile<ptr<f32, <none>>>", "16, 8", "8, 1", _TV),
        _tensor_view(
            "%p: tile<ptr<f32, <none>>>", "16, 8", "8, 1", _TV.replace(">", ", #cuda_tile.ptr_attr<none>>")
        ),
    ),
    Case(
        "make_tensor_view/pointer-attribute",
        _tensor_view("%p: tile<ptr<f32>>", "16, 8", "8, 1", _TV.replace(">", ", #cuda_tile.ptr_attr<none>>")),
        _tensor_view("%p: tile<ptr<f32>>", "16, 8", "8, 1", _TV),
    ),
    Case(
        "make_tensor_view/dynamic-count",
        func(
            _DYNAMIC,
            '%v = "cuda_tile.make_tensor_view"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> :'
            " (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<?xf32, strides=[1]>",
        ),
        _tensor_view(_DYNAMIC, "%n", "1", f"{_I} -> tensor_view<?xf32, strides=[1]>"),
    ),
    Case(
        "make_tensor_view/index-type",
        func(
            _DYNAMIC,
            '%v = "cuda_tile.make_tensor_view"(%p, %n, %l) <{operandSegmentSizes = array<i32: 1, 1, 1>}> :'
            " (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>)"
            " -> !cuda_tile.tensor_view<?xf32, strides=[?]>",
        ),
        _tensor_view(_DYNAMIC, "%n", "%n", f"{_I} -> tensor_view<?xf32, strides=[?]>"),
    ),
    Case(
        "view/tensor-view",
        func("%v: tensor_view<16x8xf32, strides=[16,1]>", f"%r = make_partition_view %v : {_PART}"),
        func(f"%v: {_TV}", f"%r = make_partition_view %v : {_PART}"),
    ),
    *(
        Case(
            "load_view_tko/ordering",
            _view_load(_PART, [_I, _I], f"{bad} sys"),
            _view_load(_PART, [_I, _I], "acquire sys"),
        )
        for bad in ("release",)
    ),
    *(
        Case(
            "store_view_tko/ordering",
            _view_store(_PART, [_I, _I], f"{bad} sys"),
            _view_store(_PART, [_I, _I], "release sys"),
        )
        for bad in ("acquire",)
    ),
    Case("view-access/index-count", _view_load(_PART, [_I]), _view_load(_PART, [_I, _I])),
    Case("view-access/index-count", _view_store(_PART, [_I, _I, _I]), _view_store(_PART, [_I, _I])),
    Case(
        "view-access/scalar-index",
        _view_load(_PART, [_I, "tile<1xi32>"]),
        _view_load(_PART, ["tile<i8>", "tile<i8>"]),
    ),
    Case(
        "view-access/scalar-index",
        _view_load(_GATHER, ["tile<4xi32>", "tile<4xi32>"]),
        _view_load(_GATHER, ["tile<4xi32>", _I]),
    ),
    Case("view-access/index-type", _view_load(_STRIDED, [_I, _L]), _view_load(_STRIDED, [_L, _L])),
    Case("view-access/sparse-index", _view_load(_GATHER, [_I, _I]), _view_load(_GATHER, ["tile<4xi64>", _I])),
    Case(
        "view-access/sparse-index",
        _view_load(_GATHER, ["tile<2xi32>", _I]),
        _view_load(_GATHER, ["tile<4xi32>", _L]),
    ),
    Case(
        "view-access/sparse-index",
        _view_store(_GATHER, ["tile<4x1xi32>", _I]),
        _view_store(_GATHER, ["tile<4xi32>", _I]),
    ),
    Case(
        "view-access/tile-type",
        _view_load(_PART, [_I, _I], result="tile<4x2xf32>"),
        _view_load(_PART, [_I, _I]),
    ),
    Case(
        "view-access/tile-type",
        _view_store(_PART, [_I, _I], value="tile<4x4xf16>"),
        _view_store(_PART, [_I, _I]),
    ),
    Case(
        "view-access/inbounds",
        _view_load(_PART, [_I, _I], tail=" inbounds = [true]"),
        _view_load(_PART, [_I, _I], tail=" inbounds = [true, false]"),
    ),
]


def _swap(element: str = "i32", order: str = "relaxed device", pointee: str = "", mask: str = "") -> str:
    pointers, values = f"tile<4xptr<{pointee or element}>>", f"tile<4x{element}>"
    operands, types = (", %m", f", {mask}") if mask else ("", "")
    arguments = f"%p: {pointers}, %v: {values}, %m: {mask or _M}"
    head = f"%r, %t = atomic_cas_tko {order} %p, %v, %v{operands}"
    return func(arguments, f"{head} : {pointers}, {values}{types} -> {values}, token")


def _modify(
    element: str,
    mode: str,
    order: str = "relaxed device",
    pointee: str = "",
    value: str = "",
    result: str = "",
) -> str:
    pointers, values = f"tile<4xptr<{pointee or element}>>", value or f"tile<4x{element}>"
    line = (
        f"%r, %t = atomic_rmw_tko {order} %p, {mode}, %v : {pointers}, {values} -> {result or values}, token"
    )
    return func(f"%p: {pointers}, %v: {values}", line)


_INT_PART = _PART.replace("xf32,", "xi32,")
_INT_TILE = "tile<4x4xi32>"

ATOMICS = [
    Case("atomic_cas_tko/ordering", _swap(order="weak device"), _swap(order="acq_rel sys")),
    Case(
        "atomic_rmw_tko/ordering", _modify("i32", "add", "weak sys"), _modify("i32", "add", "acquire tl_blk")
    ),
    Case(
        "atomic_red_view_tko/ordering",
        _reduction(_PART, [_I, _I], "release device"),
        _reduction(_PART, [_I, _I]),
    ),
    Case(
        "atomic_red_view_tko/scope",
        _reduction(_PART, [_I, _I], "relaxed sys"),
        _reduction(_PART, [_I, _L], "relaxed tl_blk"),
    ),
    *(Case("atomic/element-type", _swap(bad), _swap("f64")) for bad in ("i16", "f16", "i8")),
    *(
        Case("atomic/element-type", _modify(bad, mode), _modify(good, mode))
        for bad, good, mode in (
            ("i32", "bf16", "addf"),
            ("f32", "i32", "add"),
            ("i16", "i64", "umax"),
            ("f32", "i32", "and"),
            ("f16", "f32", "xchg"),
            ("i8", "i64", "xchg"),
            ("tf32", "f16", "addf"),
        )
    ),
    Case(
        "atomic/element-type",
        _reduction(_PART, [_I, _I], mode="add"),
        _reduction(_INT_PART, [_I, _I], mode="add", value=_INT_TILE),
    ),
    Case("atomic/pointee", _modify("i32", "add", pointee="i64"), _modify("i32", "add")),
    Case("atomic/same-shape", _swap(mask="tile<i1>"), _swap(mask=_M)),
    Case("atomic/same-shape", _modify("i32", "add", value="tile<i32>"), _modify("i32", "add")),
    Case("atomic/same-type", _modify("i32", "add", result="tile<4xi64>"), _modify("i32", "add")),
    Case(
        "atomic_red_view_tko/xchg",
        _reduction(_PART, [_I, _I], mode="xchg"),
        _reduction(_PART, [_I, _I], mode="addf"),
    ),
    Case("atomic_red_view_tko/padding", _reduction(_PADDED, [_I, _I]), _reduction(_STRIDED, [_I, _I])),
    Case("atomic_red_view_tko/gather", _reduction(_GATHER, ["tile<4xi32>", _I]), _reduction(_PART, [_I, _I])),
    Case(
        "view-access/tile-type",
        _reduction(_PART, [_I, _I], value="tile<4x2xf32>"),
        _reduction(_PART, [_I, _I]),
    ),
    Case("view-access/index-count", _reduction(_PART, [_I]), _reduction(_PART, [_I, _I])),
]


def _assume(predicate: str, type_: str) -> str:
    return func(f"%a: {type_}", f"%r = assume {predicate}, %a : {type_}")


def _print(text: str, operands: int) -> str:
    names, types = ", %a" * operands, ", ".join([_V] * operands)
    return func(f"%a: {_V}", f'%t = print_tko "{text}"{names}{" : " + types if operands else ""} -> token')


_INTS = "tile<8xi32>"

TOKENS = [
    Case(
        "join_tokens/count",
        func("%t: token", "%r = join_tokens %t : token"),
        func("%t: token", "%r = join_tokens %t, %t : token"),
    ),
    Case(
        "op/operand-type",
        func("%t: tile<i32>", "%r = join_tokens %t, %t : token"),
        func("%t: token", "%r = join_tokens %t, %t : token"),
    ),
    Case(
        "assume/same-type",
        func(
            f"%a: {_INTS}",
            '%r = "cuda_tile.assume"(%a) <{predicate = #cuda_tile.div_by<4>}>'
            " : (!cuda_tile.tile<8xi32>) -> !cuda_tile.tile<8xi64>",
        ),
        _assume("div_by<4>", _INTS),
    ),
    Case("div_by/target", _assume("div_by<4>", "tile<8xf32>"), _assume("div_by<4>", "tile<8xptr<f32>>")),
    Case("div_by/target", _assume("div_by<16>", "token"), _assume("div_by<16>", _TV)),
    *(
        Case(
            "div_by/divisor", _assume(f"div_by<{bad}>", "tile<i64>"), _assume(f"div_by<{good}>", "tile<i64>")
        )
        for bad, good in ((0, 1), (3, 4), (1 << 63, 1 << 62))
    ),
    *(
        Case(
            "div_by/every",
            _assume(f"div_by<4, every {every} along {along}>", type_),
            _assume("div_by<4, every 8 along 0>", _INTS),
        )
        for every, along, type_ in ((16, 0, _INTS), (4, 1, _INTS), (1, 0, "tile<i32>"), (1, 0, _TV))
    ),
    Case("bounded/target", _assume("bounded<0, ?>", "tile<ptr<f32>>"), _assume("bounded<0, ?>", "tile<i32>")),
    Case("bounded/target", _assume("bounded<0, 1>", _TV), _assume("bounded<?, ?>", "tile<i32>")),
    Case("bounded/range", _assume("bounded<0, 128>", "tile<i8>"), _assume("bounded<-128, 127>", "tile<i8>")),
    Case("bounded/range", _assume("bounded<0, 1>", "tile<i1>"), _assume("bounded<-1, 0>", "tile<i1>")),
    Case("bounded/order", _assume("bounded<5, 3>", "tile<i32>"), _assume("bounded<3, 3>", "tile<i32>")),
    Case(
        "same_elements/target",
        _assume("same_elements<[2]>", "tile<8xf32>"),
        _assume("same_elements<[2]>", _INTS),
    ),
    Case(
        "same_elements/target",
        _assume("same_elements<[1, 1]>", _TV),
        _assume("same_elements<[4]>", "tile<8xptr<f32>>"),
    ),
    Case(
        "same_elements/sizes", _assume("same_elements<[2, 2]>", _INTS), _assume("same_elements<[8]>", _INTS)
    ),
    Case("same_elements/sizes", _assume("same_elements<[16]>", _INTS), _assume("same_elements<[0]>", _INTS)),
    Case("print_tko/format", _print("50 %", 0), _print("50 %%", 0)),
    Case("print_tko/format", _print("%q", 1), _print("%5.3f", 1)),
    Case("print_tko/operand-count", _print("%d %d", 1), _print("%d %d", 2)),
    Case("print_tko/operand-count", _print("hello", 1), _print("hello", 0)),
]

CASES = [*POINTERS, *VIEWS, *ATOMICS, *TOKENS]
