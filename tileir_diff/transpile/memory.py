"""Views, loads, stores and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dialect.types import GatherScatterView, PartitionView, StridedView, TensorView, Tile
from tileir_diff.graph.values import element_name, operand
from tileir_diff.transpile.arguments import stated_texts
from tileir_diff.transpile.helpers import Access
from tileir_diff.transpile.layout import Call, Listed, Macro, Struct
from tileir_diff.transpile.refusal import refuse
from tileir_diff.transpile.spelling import ELEMENTS, PADDING, dims, tile_type
from tileir_diff.transpile.writer import OTHER, SCALAR, TILE

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.transpile.arithmetic import Handler
    from tileir_diff.transpile.writer import Writer

ATOMIC_MODES: Final = {
    "and": "And", "or": "Or", "xor": "Xor", "add": "Add", "addf": "AddF", "max": "Max", "min": "Min",
    "umax": "Umax", "umin": "Umin", "xchg": "Xchg",
}  # fmt: skip
HINTS: Final = ("latency", "allow_tma")


def tensor_view(w: Writer, op: TileOp) -> None:
    """An array: a parameter, or made of a pointer and its numbers."""
    result = op.results[0]
    known = w.arrays.tensors.get(result)
    if known is not None:
        w.bind(result, OTHER, known)
        return
    kind = result.type
    assert isinstance(kind, TensorView)
    if kind.attr is not None:
        raise refuse(op, "a view with a pointer attribute is not covered")
    base = operand(op, "base")
    for each in (*op.group("shape"), *op.group("strides")):
        if element_name(each) != "i32":
            raise refuse(op, "extents and strides of cuTile Rust have 32 bits")
    stem = _array_name(w, base)
    pointer = w.other(base)
    shape, strides = w.fresh(f"{stem}_shape"), w.fresh(f"{stem}_strides")
    for name, kind_, sizes, group in (
        (shape, "Shape", kind.shape, "shape"), (strides, "Array", kind.strides, "strides"),
    ):  # fmt: skip
        dynamic = ", ".join(w.name(each, SCALAR) for each in op.group(group))
        made = Struct(f"{kind_}::<{dims(sizes)}>", f"dims: &[{dynamic}]")
        w.let(name, f"{kind_}<{dims(sizes)}>", made)
    name = w.fresh(f"{stem}_view")
    made = Call("make_tensor_view", pointer, shape, strides, _token(w), unsafe=True)
    w.let(name, w.form_type(result, OTHER), made)
    w.bind(result, OTHER, f"&{name}")


def _array_name(w: Writer, base: SSAValue) -> str:
    """What the array behind a pointer is called."""
    return w.arrays.names.get(w.plan.of(base), "array")


def _token(w: Writer) -> str:
    """A token for views, which order nothing."""
    return w.token()


def tile_view(w: Writer, op: TileOp) -> None:
    result = op.results[0]
    kind = result.type
    source = w.other(op.inputs[0])
    noun = f"{source.removeprefix('&').removesuffix('_view')}_tiles"
    assert isinstance(kind, (PartitionView, StridedView, GatherScatterView))
    tile = w.shape(kind.tile)
    match kind:
        case PartitionView():
            plain = kind.dim_map == tuple(range(len(kind.dim_map)))
            order = "dim_map::Identity" if plain else w.array(kind.dim_map)
            padding = f"padding::{PADDING[kind.padding]}"
            made = Call("make_partition_view", source, tile, padding, order, _token(w), unsafe=True)
            type_ = w.form_type(result, OTHER)
        case StridedView():
            if kind.dim_map != tuple(range(len(kind.dim_map))):
                raise refuse(op, "a strided view with a dimension map is not covered")
            made = Call("make_strided_view", source, tile, f"padding::{PADDING[kind.padding]}", unsafe=True)
            element = ELEMENTS[kind.tensor_view.element.name]
            steps = dims(kind.traversal_strides)
            type_ = f"StridedView<{element}, {dims(kind.tile)}, {steps}, {dims(kind.dim_map)}>"
        case GatherScatterView():
            padding = f"padding::{PADDING[kind.padding]}"
            made = Call("make_gather_scatter_view", source, tile, padding, unsafe=True)
            element = ELEMENTS[kind.tensor_view.element.name]
            type_ = f"GatherScatterView<{element}, {dims(kind.tile)}, {kind.sparse_dim}>"
    name = w.fresh(noun)
    w.let(name, type_, made)
    w.bind(result, OTHER, name)


def index_space(w: Writer, op: TileOp) -> None:
    if any(element_name(each) != "i32" for each in op.results):
        raise refuse(op, "the number of tiles has 32 bits in cuTile Rust")
    if not isinstance(op.inputs[0].type, PartitionView):
        raise refuse(op, "cuTile Rust counts the tiles of partitions only")
    view = w.other(op.inputs[0])
    for dimension, result in enumerate(op.results):
        if w.plan.uses[result]:
            made = Call("num_tiles", f"&{view}", str(dimension))
            w.define(result, SCALAR, made, f"{view}_along_{dimension}")


def tensor_shape(w: Writer, op: TileOp) -> None:
    source = w.other(op.inputs[0])
    if any(element_name(each) != "i32" for each in op.results):
        raise refuse(op, "extents have 32 bits in cuTile Rust")
    name = w.fresh(f"{source.removeprefix('&')}_extents")
    w.let(name, f"[i32; {len(op.results)}]", Call("get_tensor_shape", source))
    for dimension, result in enumerate(op.results):
        w.bind(result, SCALAR, f"{name}[{dimension}]")


def offset(w: Writer, op: TileOp) -> None:
    """Pointers moved: all lanes of one pointer in one call."""
    result = op.results[0]
    pointer, by = operand(op, "ptr"), operand(op, "offset")
    scalar = w.plan.splat(pointer)
    if scalar is not None and w.is_raw(scalar):
        type_ = result.type
        assert isinstance(type_, Tile)
        name = w.helpers.addresses(len(type_.shape), ELEMENTS[element_name(by)])
        base = w.raw(scalar)
        return w.define(result, OTHER, Call(name, base, w.tile(by)), f"{base}_at")
    source = w.other(pointer) if scalar is None else _spread_pointer(w, scalar, pointer)
    return w.define(result, OTHER, Call(f"{source}.offset_tile", w.tile(by)), "at")


def _spread_pointer(w: Writer, scalar: SSAValue, pointer: SSAValue) -> str:
    """One pointer in all lanes."""
    type_ = pointer.type
    assert isinstance(type_, Tile)
    source = w.other(scalar)
    single = w.fresh("single")
    ones = Tile((1,) * len(type_.shape), type_.element)
    w.let(single, tile_type(ones), Call(f"{source}.reshape", w.shape(ones.shape)))
    if ones.shape == type_.shape:
        return single
    name = w.fresh("lanes")
    w.let(name, tile_type(type_), Call(f"{single}.broadcast", w.shape(type_.shape)))
    return name


# ---- accesses


def _access(op: TileOp, rank: int, index: str = "i32") -> Access:
    """How an op accesses memory. Raises InputError for hints that cannot be written."""
    hints: dict[str, dict[str, Any]] = op.get("hints") or {}
    if len(hints) > 1:
        raise refuse(op, "hints for several architectures are not covered")
    given = next(iter(hints.values())) if hints else {}
    for name in given:
        if name not in HINTS:
            raise refuse(op, f"the hint {name} is not covered")
    latency, tma = given.get("latency"), given.get("allow_tma")
    return Access(
        rank, op.get("memory_ordering"), op.get("memory_scope"), op.one("token") is not None,
        None if latency is None else int(latency), tma is None or bool(tma),
        tuple(op.get("inbounds") or ()), index,
    )  # fmt: skip


def _indices(w: Writer, op: TileOp) -> tuple[str, list[str]]:
    index = op.group("index")
    names = {element_name(each) for each in index}
    if len(names) != 1 or not names <= {"i32", "i64"}:
        raise refuse(op, f"indices of type {', '.join(sorted(names)) or 'none'} are not covered")
    return names.pop(), [w.scalar(each) for each in index]


def _tied(w: Writer, op: TileOp) -> list[str]:
    token = op.one("token")
    return [] if token is None else [w.other(token)]


def _view_index(w: Writer, op: TileOp) -> tuple[str, str, list[str] | None]:
    """The view, its index as one text, and its indices where it is a partition."""
    view = operand(op, "view")
    text = w.other(view)
    if isinstance(view.type, PartitionView):
        _, indices = _indices(w, op)
        return text, f"[{', '.join(indices)}]", indices
    if isinstance(view.type, StridedView):
        _, indices = _indices(w, op)
        return text, f"[{', '.join(indices)}]", None
    kept = [w.tile(each) if _rank(each) else w.scalar(each) for each in op.group("index")]
    return text, f"({', '.join(kept)})", None


def _rank(value: SSAValue) -> int:
    return len(value.type.shape) if isinstance(value.type, Tile) else 0


def load_view(w: Writer, op: TileOp) -> None:
    view = operand(op, "view")
    kind = view.type
    assert isinstance(kind, (PartitionView, StridedView, GatherScatterView))
    source, index, indices = _view_index(w, op)
    how = _access(op, len(kind.tile), _index_type(op))
    with_token = bool(w.plan.uses[op.results[1]])
    stem = source.removesuffix("_tiles").rstrip("_0123456789").removesuffix("_tiles")
    if indices is not None:
        name = w.helpers.load(how, with_token)
        made = Call(name, f"&{source}", *indices, *_tied(w, op), unsafe=True)
        return _loaded(w, op, made, f"{stem}_tile", with_token)
    tied = _tied(w, op)
    token = f"Some({tied[0]})" if tied else "None"
    made = Call(
        "load_view_raw", f"&{source}", index, token, *how.modes, *how.hints, w.shape(kind.tile), unsafe=True,
    )  # fmt: skip
    return _loaded(w, op, made, f"{stem}_tile", True)


def _index_type(op: TileOp) -> str:
    index = op.group("index")
    return element_name(index[0]) if index and not _rank(index[0]) else "i32"


def _loaded(w: Writer, op: TileOp, made: Call, noun: str, with_token: bool) -> None:
    """Names what was loaded, and its token where that is used."""
    tile, done = op.results
    type_ = w.form_type(tile, TILE)
    name = w.fresh(noun)
    if not with_token:
        w.let(name, type_, made)
    else:
        token = w.fresh(f"{noun.removesuffix('_tile')}_loaded")
        w.let(f"({name}, {token})", f"({type_}, Token)", made)
        w.bind(done, OTHER, token)
    w.bind(tile, TILE, name)


def store_view(w: Writer, op: TileOp) -> None:
    view = operand(op, "view")
    kind = view.type
    assert isinstance(kind, (PartitionView, StridedView, GatherScatterView))
    target, index, indices = _view_index(w, op)
    how = _access(op, len(kind.tile), _index_type(op))
    tile = w.name(operand(op, "tile"), TILE)
    if indices is not None:
        name = w.helpers.store(how)
        return _stored(w, op, Call(name, f"&{target}", tile, *indices, *_tied(w, op), unsafe=True))
    tied = _tied(w, op)
    made = Call(
        "store_view_raw", f"&{target}", tile, index, f"Some({tied[0]})" if tied else "None", *how.modes,
        *how.hints, unsafe=True,
    )  # fmt: skip
    return _stored(w, op, made)


def _stored(w: Writer, op: TileOp, made: Call, noun: str = "stored") -> None:
    done = op.results[-1]
    if not w.plan.uses[done]:
        return w.do(made)
    return w.define(done, OTHER, made, noun)


def load_pointers(w: Writer, op: TileOp) -> None:
    source, mask = operand(op, "source"), op.one("mask")
    padding = op.one("padding") if mask is not None else None  # without a mask nothing is padded
    pointers = w.other(source)
    operands = [pointers]
    if mask is not None:
        operands.append(w.tile(mask))
    if padding is not None:
        operands.append(_padding(w, op, padding))
    how = _access(op, _rank(op.results[0]))
    with_token = bool(w.plan.uses[op.results[1]])
    element = w.form_type(op.results[0], SCALAR)
    name = w.helpers.gather(how, element, mask is not None, padding is not None, with_token)
    stem = pointers.rstrip("_0123456789").removesuffix("_at")
    size = result.size if isinstance(result := op.results[0].type, Tile) else 1
    flat = [w.shape((size,))] if padding is not None and _rank(op.results[0]) > 1 else []
    made = Call(name, *operands, *_tied(w, op), *flat, unsafe=True)
    return _loaded(w, op, made, f"{stem}_tile", with_token)


def _padding(w: Writer, op: TileOp, padding: SSAValue) -> str:
    if w.plan.constant(padding) is not None:
        return w.scalar_of_constant(padding)
    scalar = w.plan.splat(padding) or (padding if not _rank(padding) else None)
    if scalar is None:
        raise refuse(op, "cuTile Rust pads with one number, and not with a tile")
    return w.scalar(scalar)


def store_pointers(w: Writer, op: TileOp) -> None:
    destination, value, mask = operand(op, "destination"), operand(op, "value"), op.one("mask")
    operands = [w.other(destination), w.name(value, TILE)]
    if mask is not None:
        operands.append(w.tile(mask))
    element = w.form_type(value, SCALAR)
    name = w.helpers.scatter(_access(op, _rank(value)), element, mask is not None)
    return _stored(w, op, Call(name, *operands, *_tied(w, op), unsafe=True))


# ---- atomics


def _modes(op: TileOp) -> tuple[str, str]:
    how = _access(op, 0)
    return how.modes


def _options(w: Writer, op: TileOp) -> tuple[str, str]:
    mask, tied = op.one("mask"), _tied(w, op)
    return f"Some({w.tile(mask)})" if mask is not None else "None", f"Some({tied[0]})" if tied else "None"


def atomic_rmw(w: Writer, op: TileOp) -> None:
    mode = f"atomic::{ATOMIC_MODES[op.get('mode')]}"
    values = w.other(operand(op, "pointers")), w.name(operand(op, "arg"), TILE)
    made = Call("atomic_rmw_tko", *values, mode, *_modes(op), *_options(w, op), unsafe=True)
    _loaded(w, op, made, "before", True)


def atomic_cas(w: Writer, op: TileOp) -> None:
    values = (w.name(operand(op, name), TILE) for name in ("cmp", "value"))
    pointers = w.other(operand(op, "pointers"))
    made = Call("atomic_cas_tko", pointers, *values, *_modes(op), *_options(w, op), unsafe=True)
    _loaded(w, op, made, "before", True)


def atomic_view(w: Writer, op: TileOp) -> None:
    target, index, _ = _view_index(w, op)
    tied = _tied(w, op)
    made = Call(
        "atomic_red_view_raw", f"&{target}", w.name(operand(op, "value"), TILE), index,
        f"atomic::{ATOMIC_MODES[op.get('mode')]}", *_modes(op), f"Some({tied[0]})" if tied else "None",
        unsafe=True,
    )  # fmt: skip
    _stored(w, op, made)


# ---- tokens and facts


def make_token(w: Writer, op: TileOp) -> None:
    w.bind(op.results[0], OTHER, w.token())


def join_tokens(w: Writer, op: TileOp) -> None:
    made = Listed("join_tokens", *(w.other(each) for each in op.inputs))
    w.define(op.results[0], OTHER, made, "joined")


def assume(w: Writer, op: TileOp) -> None:
    """A fact of what is not a parameter."""
    value, result = op.inputs[0], op.results[0]
    type_ = value.type
    assert isinstance(type_, Tile)
    pointer = not hasattr(type_.element, "is_int")
    form = OTHER if pointer else SCALAR if not type_.shape and w.is_scalar(value) else TILE
    [text] = stated_texts([op.get("assumption")], "ptr" if pointer else element_name(value), op)
    name, _, rest = text.partition("(")
    source = w.name(value, form) if form != OTHER else w.other(value)
    operands = rest.removesuffix(")").replace("{}", source).split(", ")
    w.define(result, form, Call(name, *operands, unsafe=True), "assumed")


def dependent(w: Writer, op: TileOp) -> None:
    """A launch that waits for another, or lets another start."""
    tied = _tied(w, op)
    _stored(w, op, Call(op.short, f"Some({tied[0]})" if tied else "None", unsafe=True), "ordered")


def assertion(w: Writer, op: TileOp) -> None:
    condition = operand(op, "condition")
    value = w.tile(condition) if _rank(condition) else w.scalar(condition)
    w.do(Macro("cuda_tile_assert!", value, f'"{_quoted(op, str(op.get("message")))}"'))


def _quoted(op: TileOp, text: str) -> str:
    """A text inside quotes. Raises InputError for one that would need escapes."""
    if any(char in text for char in '\\"') or not text.isprintable():
        raise refuse(op, "a text with quotes or escapes is not covered")
    return text


def print_tko(w: Writer, op: TileOp) -> None:
    values = op.group("args")
    if len(values) != 1:
        raise refuse(op, "cuTile Rust prints one value at a time")
    text = _quoted(op, str(op.get("format")))
    tied = _tied(w, op)
    made = Call("print_tko", f'"{text}"', w.tile(values[0]), f"Some({tied[0]})" if tied else "None")
    _stored(w, op, made, "printed")


HANDLERS: Final[dict[str, Handler]] = {
    "make_tensor_view": tensor_view, "make_partition_view": tile_view, "make_strided_view": tile_view,
    "make_gather_scatter_view": tile_view, "get_index_space_shape": index_space,
    "get_tensor_shape": tensor_shape, "offset": offset, "load_view_tko": load_view,
    "store_view_tko": store_view, "load_ptr_tko": load_pointers, "store_ptr_tko": store_pointers,
    "atomic_rmw_tko": atomic_rmw, "atomic_cas_tko": atomic_cas, "atomic_red_view_tko": atomic_view,
    "make_token": make_token, "join_tokens": join_tokens, "assume": assume, "print_tko": print_tko,
    "gdc_wait_tko": dependent, "gdc_launch_dependents_tko": dependent, "assert": assertion,
}  # fmt: skip
"""How an op is written, by its name."""
USES: Final = ("make_strided_view", "make_gather_scatter_view")
"""Ops whose types are in another module of the front end."""
