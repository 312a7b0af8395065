"""One lane of one value of a dump, in Python integers, straight from the ops.

It shares nothing with the terms: a counterexample of z3 counts only if this evaluation agrees with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import GatherScatterView
from tileir_diff.graph.values import element_bits, operand, shape_of, tensor_dim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xdsl.ir import SSAValue

MAX_ITERATIONS = 200
"""A carried value is followed through no more iterations than this."""
JUMPS = ("continue", "break", "return")
Lanes = tuple[int, ...]


class CannotSayError(Exception):
    """The value is no integer that the input alone decides, or it is undefined; the message says why."""


class UndefinedError(CannotSayError):
    """The kernel is undefined for the input."""


class Input(NamedTuple):
    """An input of one side; ``arguments`` may be None, ``iterations`` are by the id of the loop's op."""

    arguments: tuple[int | None, ...]
    block: tuple[int, int, int]
    grid: tuple[int | None, int | None, int | None]
    iterations: Mapping[int, int]


class Touched(NamedTuple):
    """What one lane of an access does."""

    active: bool
    address: int | None


class Concrete:
    """Values of one entry for one input: integers as signed numbers of their type, flags as 0 or 1.

    read  what of the input was asked for: positions of arguments, and axes as ("block", 0) or ("grid", 0)
    """

    def __init__(self, entry: TileOp, given: Input) -> None:
        self.entry = entry
        self.given = given
        self.read: set[int | tuple[str, int]] = set()
        self.params = {id(param): index for index, param in enumerate(entry.regions[0].block.args)}
        self.memo: dict[tuple[int, Lanes], int] = {}

    # ---- accesses ----------------------------------------------------------------------------------------

    def touched(self, op: TileOp, lanes: Lanes) -> Touched:
        """Whether an access takes place on a lane, and where. Raises CannotSayError."""
        if not self.reached(op):
            return Touched(False, None)
        if op.one("view") is not None:
            return self._through_view(op, lanes)
        mask = op.one("mask")
        if mask is not None and not self.value(mask, lanes):
            return Touched(False, None)
        name = next(name for name in ("source", "destination", "pointers") if op.one(name) is not None)
        return Touched(True, self.value(operand(op, name), lanes))

    def _through_view(self, op: TileOp, lanes: Lanes) -> Touched:
        made = self.maker(operand(op, "view"))
        tensor = self.maker(made.operands[0])
        kind: Any = made.results[0].type
        shape, strides = self.sizes(tensor)
        address = self.value(operand(tensor, "base"), ())
        inbounds = op.get("inbounds") or ()
        inside = True
        for dim, (index, lane) in enumerate(zip(op.group("index"), lanes, strict=True)):
            by_element = isinstance(kind, GatherScatterView)
            if by_element and dim == kind.sparse_dim:
                coordinate = self.value(index, (lane,))
            else:
                coordinate = self.value(index, ()) * kind.steps[dim] + lane
            along = tensor_dim(kind, dim)
            if not by_element and not 0 <= coordinate - lane < shape[along]:
                raise UndefinedError(f"the tile of line {op.span.line} begins outside of its view")
            if not (dim < len(inbounds) and inbounds[dim]):
                inside = inside and 0 <= coordinate < shape[along]
            address += coordinate * strides[along]
        return Touched(inside, address if inside else None)

    def check(self, op: TileOp) -> None:
        """Raises UndefinedError where the op is undefined on its first lane, if anybody can say that."""
        try:
            if op.one("view") is not None:
                self.touched(op, (0,) * len(op.group("index")))
            elif op.short in OPS and not op.regions and self.reached(op):
                self.value(op.results[0], (0,) * len(shape_of(op.results[0])))
        except UndefinedError:
            raise
        except CannotSayError:
            return

    def sizes(self, tensor: TileOp) -> tuple[list[int], list[int]]:
        """Shape and strides of a tensor view. Raises CannotSayError."""
        kind: Any = tensor.results[0].type
        found: list[list[int]] = []
        for group, static in (("shape", kind.shape), ("strides", kind.strides)):
            given = iter(tensor.group(group))
            found.append([self.value(next(given), ()) if size is None else size for size in static])
        return found[0], found[1]

    def maker(self, value: SSAValue) -> TileOp:
        """The op that makes a view. Raises CannotSayError."""
        owner = value.owner
        while isinstance(owner, TileOp) and owner.short == "assume":
            owner = owner.operands[0].owner
        if not isinstance(owner, TileOp):
            raise CannotSayError("a view that is a parameter")
        return owner

    def reached(self, op: TileOp) -> bool:
        """Whether an op is carried out. Raises CannotSayError where a way out before it may be taken."""
        inner: Any = op
        while inner is not self.entry:
            above: Any = inner.parent_op()
            if may_leave(inner):
                raise CannotSayError("an early way out")
            if above.short == "if":
                taken = bool(self.value(operand(above, "condition"), ()))
                if taken != (inner.parent is above.regions[0].block):
                    return False
            elif above.short == "for":
                if self.given.iterations.get(id(above), 0) >= self.trips(above):
                    return False
            elif above is not self.entry:
                raise CannotSayError(f"inside {above.short}")
            inner = above
        return True

    def trips(self, op: TileOp) -> int:
        """How often a `for` runs."""
        lower, upper, step = (self.value(operand(op, name), ()) for name in ("lower", "upper", "step"))
        if op.get("unsigned_cmp"):
            bits = element_bits(operand(op, "lower"))
            lower, upper, step = (number % (1 << bits) for number in (lower, upper, step))
        if step <= 0:
            raise CannotSayError("a step that is not positive")
        return max(0, -(-(upper - lower) // step))

    # ---- values ------------------------------------------------------------------------------------------

    def value(self, value: SSAValue, lanes: Lanes) -> int:
        """The value on one lane. Raises CannotSayError."""
        key = id(value), lanes
        found = self.memo.get(key)
        if found is None:
            found = self.memo[key] = self._value(value, lanes)
        return found

    def _value(self, value: SSAValue, lanes: Lanes) -> int:
        owner: Any = value.owner
        if isinstance(owner, TileOp):
            handler = OPS.get(owner.short)
            if handler is None:
                raise CannotSayError(f"{owner.short} of line {owner.span.line} is no integer arithmetic")
            return handler(self, owner, value, lanes)
        if id(value) in self.params:
            self.read.add(self.params[id(value)])
            given = self.given.arguments[self.params[id(value)]]
            if given is None:
                raise CannotSayError("a parameter without a value")
            return given
        loop: Any = owner.parent_op()
        if loop.short != "for":
            raise CannotSayError(f"what a {loop.short} carries")
        position = next(index for index, arg in enumerate(owner.args) if arg is value)
        iteration = self.given.iterations.get(id(loop), 0)
        if position == 0:
            lower, step = (self.value(operand(loop, name), ()) for name in ("lower", "step"))
            return _signed(lower + step * iteration, element_bits(value))
        return self.carried(loop, position - 1, iteration, lanes)

    def carried(self, loop: TileOp, index: int, iteration: int, lanes: Lanes) -> int:
        """A carried value of a `for` at the start of an iteration."""
        if iteration == 0:
            return self.value(loop.group("inits")[index], lanes)
        if iteration > MAX_ITERATIONS:
            raise CannotSayError("too many iterations")
        last: Any = loop.regions[0].block.last_op
        if last is None or last.short != "continue" or may_leave(last):
            raise CannotSayError("an early way out of a loop")
        before = Concrete(
            self.entry,
            self.given._replace(iterations={**self.given.iterations, id(loop): iteration - 1}),
        )
        before.read = self.read
        return before.value(last.operands[index], lanes)


def may_leave(op: Any) -> bool:
    """Whether a way out stands above an op in its block."""
    above = op.prev_op
    while above is not None:
        if above.regions and above.short in ("if", "loop") and _jumps(above):
            return True
        above = above.prev_op
    return False


def _jumps(op: TileOp) -> bool:
    for inner in op.inner():
        if inner.short in JUMPS and op.short == "if":
            return True
        if inner.regions and inner.short == "if" and _jumps(inner):
            return True
    return False


def _signed(number: int, bits: int) -> int:
    """The number modulo 2^bits, as the type has it."""
    number %= 1 << bits
    if bits == 1:
        return number
    return number - (1 << bits) if number >> (bits - 1) else number


def _numbers(c: Concrete, op: TileOp, lanes: Lanes, signed: bool) -> tuple[int, ...]:
    """The operands as signed or unsigned numbers; a set bit is -1 as a signed one."""
    found: list[int] = []
    for value in op.operands:
        number = c.value(value, lanes)
        bits = element_bits(value)
        if bits == 1:
            found.append(-number if signed else number)
        else:
            found.append(number if signed else number % (1 << bits))
    return tuple(found)


def _arithmetic(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    bits = element_bits(value)
    a, *rest = _numbers(c, op, lanes, signed=True)
    b = rest[0] if rest else 0
    plain = {
        "addi": a + b,
        "subi": a - b,
        "muli": a * b,
        "negi": -a,
        "andi": a & b,
        "ori": a | b,
        "xori": a ^ b,
    }
    return _kept(op, plain[op.short], bits)


def _kept(op: TileOp, result: int, bits: int) -> int:
    """The result in the width of its type. Raises UndefinedError where it does not fit, and ought to."""
    if op.get("overflow") in ("nsw", "nw") and bits > 1 and _signed(result, bits) != result:
        raise UndefinedError(f"line {op.span.line} wraps, and promises not to")
    return _signed(result, bits)


def _division(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    signed = op.get("signed") == "signed"
    bits = element_bits(value)
    a, b = _numbers(c, op, lanes, signed)
    if b == 0 or (signed and b == -1 and a == -(1 << (bits - 1))):
        raise UndefinedError(f"the division of line {op.span.line} is undefined")
    towards_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if op.short == "remi":
        return _signed(a - b * towards_zero, bits)
    rounding = op.get("rounding")
    if rounding == "negative_inf":
        return _signed(a // b, bits)
    return _signed(-(-a // b) if rounding == "positive_inf" else towards_zero, bits)


def _extreme(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    numbers = _numbers(c, op, lanes, op.get("signed") == "signed")
    return _signed((min if op.short == "mini" else max)(numbers), element_bits(value))


def _absolute(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    (a,) = _numbers(c, op, lanes, signed=True)
    return _signed(abs(a), element_bits(value))


def _high_half(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    a, b = _numbers(c, op, lanes, signed=False)
    bits = element_bits(value)
    return _signed(a * b >> bits, bits)


def _shift(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    bits = element_bits(value)
    number = c.value(op.operands[0], lanes)
    amount = c.value(op.operands[1], lanes) % (1 << bits)
    if amount >= bits:
        raise UndefinedError(f"line {op.span.line} shifts by {amount}")
    if op.short == "shli":
        return _kept(op, number << amount, bits)
    return _signed((number if op.get("signed") == "signed" else number % (1 << bits)) >> amount, bits)


def _compare(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    a, b = _numbers(c, op, lanes, op.get("signed") == "signed")
    return int(
        {
            "equal": a == b,
            "not_equal": a != b,
            "less_than": a < b,
            "less_than_or_equal": a <= b,
            "greater_than": a > b,
            "greater_than_or_equal": a >= b,
        }[op.get("predicate")]
    )


def _resize(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    (a,) = _numbers(c, op, lanes, op.short == "trunci" or op.get("signed") == "signed")
    return _kept(op, a, element_bits(value))


def _select(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    chosen = "on_true" if c.value(operand(op, "condition"), lanes) else "on_false"
    return c.value(operand(op, chosen), lanes)


def _constant(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    dense = op.get("value")
    if not dense.element.is_int:
        raise CannotSayError("a number that is no integer")
    index = 0
    for lane, extent in zip(lanes, shape_of(value), strict=True):
        index = index * extent + lane
    bits = dense.bits[0] if len(dense.bits) == 1 else dense.bits[index]
    return _signed(bits, dense.element.bits)


def _iota(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    return _signed(lanes[0], element_bits(value))


def _reshape(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    index = 0
    for lane, extent in zip(lanes, shape_of(value), strict=True):
        index = index * extent + lane
    old: list[int] = []
    for extent in reversed(shape_of(op.operands[0])):
        old.append(index % extent)
        index //= extent
    return c.value(op.operands[0], tuple(reversed(old)))


def _broadcast(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    extents = shape_of(op.operands[0])
    return c.value(op.operands[0], tuple(min(lane, e - 1) for lane, e in zip(lanes, extents, strict=True)))


def _permute(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    old = [0] * len(lanes)
    for new, dim in enumerate(op.get("permutation")):
        old[dim] = lanes[new]
    return c.value(op.operands[0], tuple(old))


def _extract(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    source = operand(op, "source")
    old: list[int] = []
    for index, lane, extent, whole in zip(
        op.group("index"), lanes, shape_of(value), shape_of(source), strict=True
    ):
        place = c.value(index, ()) * extent + lane
        if not 0 <= place < whole:
            raise CannotSayError(f"line {op.span.line} extracts outside of its tile")
        old.append(place)
    return c.value(source, tuple(old))


def _through(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    return c.value(op.operands[0], lanes)


def _block(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    axis = next(axis for axis in range(3) if op.results[axis] is value)
    c.read.add(("block" if op.short == "get_tile_block_id" else "grid", axis))
    if op.short == "get_tile_block_id":
        return c.given.block[axis]
    size = c.given.grid[axis]
    if size is None:
        raise CannotSayError("the size of the grid")
    return size


def _offset(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    return c.value(operand(op, "ptr"), lanes) + c.value(operand(op, "offset"), lanes)


def _if(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    region = op.regions[0 if c.value(operand(op, "condition"), ()) else 1]
    last: Any = region.block.last_op
    if last is None or last.short != "yield" or may_leave(last):
        raise CannotSayError("a branch that is left early")
    return c.value(last.operands[_position(op, value)], lanes)


def _for(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    return c.carried(op, _position(op, value), c.trips(op), lanes)


def _view_size(c: Concrete, op: TileOp, value: SSAValue, lanes: Lanes) -> int:
    made = c.maker(op.operands[0])
    dim = _position(op, value)
    if op.short == "get_tensor_shape":
        size = c.sizes(made)[0][dim]
    else:
        kind: Any = made.results[0].type
        size = -(-c.sizes(c.maker(made.operands[0]))[0][tensor_dim(kind, dim)] // kind.steps[dim])
    return _signed(size, element_bits(value))


def _position(op: TileOp, value: SSAValue) -> int:
    return next(index for index, result in enumerate(op.results) if result is value)


OPS: dict[str, Callable[[Concrete, TileOp, SSAValue, Lanes], int]] = {
    **dict.fromkeys(("addi", "subi", "muli", "negi", "andi", "ori", "xori"), _arithmetic),
    **dict.fromkeys(("divi", "remi"), _division),
    **dict.fromkeys(("maxi", "mini"), _extreme),
    **dict.fromkeys(("shli", "shri"), _shift),
    **dict.fromkeys(("exti", "trunci"), _resize),
    **dict.fromkeys(("get_tile_block_id", "get_num_tile_blocks"), _block),
    **dict.fromkeys(("get_index_space_shape", "get_tensor_shape"), _view_size),
    "absi": _absolute,
    "assume": _through,
    "broadcast": _broadcast,
    "cmpi": _compare,
    "constant": _constant,
    "extract": _extract,
    "for": _for,
    "if": _if,
    "iota": _iota,
    "mulhii": _high_half,
    "offset": _offset,
    "permute": _permute,
    "reshape": _reshape,
    "select": _select,
}


def lanes_of(shape: Sequence[int], limit: int) -> list[Lanes]:
    """All lanes of a tile, in order. Raises CannotSayError where there are too many."""
    found: list[Lanes] = [()]
    for extent in shape:
        if len(found) * extent > limit:
            raise CannotSayError("a tile of too many lanes")
        found = [(*lanes, lane) for lanes in found for lane in range(extent)]
    return found
