"""What several lints need to know about one entry: liveness, constants, base pointers, values in normal form.

The normal form comes from `tileir_diff.graph`. Where that cannot evaluate an entry, `kernel` is None,
`failure` says why, and the lints that need it are silent: `lint_module` reports them as skipped, never as
passed.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.spec import TOKEN_ORDERED, UNKNOWN
from tileir_diff.dialect.types import Ptr, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term, Terms

LOADS = ("load_ptr_tko", "load_view_tko")
STORES = ("store_ptr_tko", "store_view_tko")
ATOMICS = ("atomic_cas_tko", "atomic_rmw_tko", "atomic_red_view_tko")

ADDRESS_GROUP = {
    "load_ptr_tko": "source",
    "store_ptr_tko": "destination",
    "load_view_tko": "view",
    "store_view_tko": "view",
    "atomic_cas_tko": "pointers",
    "atomic_rmw_tko": "pointers",
    "atomic_red_view_tko": "view",
}
"""The operand that says where a memory op reads or writes."""

SPREAD = {"reshape": "source", "broadcast": "source", "permute": "source", "assume": "value"}
"""Ops that move elements and do not change them."""

BASE_OF = {
    **SPREAD,
    "extract": "source",
    "offset": "ptr",
    "make_tensor_view": "base",
    "make_partition_view": "tensor_view",
    "make_strided_view": "tensor_view",
    "make_gather_scatter_view": "tensor_view",
}
"""From a pointer or view one step towards the pointer that it starts from."""

WALK_LIMIT = 100_000


def owner(value: SSAValue | None) -> TileOp | None:
    """The op that makes a value; None for a block argument."""
    op = None if value is None else value.owner
    return op if hasattr(op, "short") else None  # pyright: ignore[reportReturnType]


def tile(value: SSAValue | None) -> Tile | None:
    """The type of a value where it is a tile."""
    return value.type if value is not None and isinstance(value.type, Tile) else None


def spread_from(value: SSAValue | None) -> SSAValue | None:
    """The value behind reshape, broadcast, permute and assume."""
    for _ in range(WALK_LIMIT):
        op = owner(value)
        group = SPREAD.get(op.short) if op is not None else None
        if op is None or group is None:
            break
        value = op.one(group)
    return value


def base_pointer(value: SSAValue | None) -> SSAValue | None:
    """The pointer that an address or view starts from: an entry parameter, or the result of another op."""
    for _ in range(WALK_LIMIT):
        op = owner(value)
        group = BASE_OF.get(op.short) if op is not None else None
        if op is None or group is None:
            break
        value = op.one(group)
    return value


def hints_of(op: TileOp) -> dict[str, dict[str, Any]]:
    """Optimization hints by architecture, then key; empty if there are none."""
    return op.get("hints") or {}


def splat(value: SSAValue | None) -> float | int | None:
    """The number that all elements of a value are, read through shape ops, extensions and float casts."""
    for _ in range(WALK_LIMIT):
        value = spread_from(value)
        op = owner(value)
        if op is None:
            return None
        if op.short in ("exti", "ftof"):
            value = op.one("source")
            continue
        dense = op.get("value") if op.short == "constant" else None
        if dense is None or len(set(dense.bits)) != 1:
            return None
        return dense.ints()[0] if dense.element.is_int else dense.floats()[0]
    return None


class EntryFacts:
    """One entry and what is known about it; everything is computed when it is first asked for."""

    def __init__(self, entry: TileOp, kernel: Kernel | None = None) -> None:
        self.entry = entry
        self.name = entry.symbol
        self.failure = ""
        if kernel is not None:
            self.kernel = kernel

    @cached_property
    def ops(self) -> tuple[TileOp, ...]:
        """All ops below the entry, in the order of the text."""
        return tuple(_walk(self.entry))

    @cached_property
    def kernel(self) -> Kernel | None:
        """The entry in normal form; None where it cannot be evaluated."""
        from tileir_diff.graph.evaluate import Evaluator
        from tileir_diff.graph.terms import Terms

        try:
            return Evaluator(self.entry, Terms(), side=0).run()
        except Exception as error:  # the lints that need it are then listed as skipped, with this reason
            self.failure = f"{type(error).__name__}: {error}"
            return None

    @property
    def terms(self) -> Terms | None:
        return None if self.kernel is None else self.kernel.terms

    def term(self, value: SSAValue | None) -> Term | None:
        """A value in normal form, where it is an integer, a predicate or data (not a view or token)."""
        if self.kernel is None or value is None:
            return None
        term: Any = self.kernel.values.get(value)
        return term if isinstance(term, int) else None

    @cached_property
    def effects(self) -> dict[TileOp, Effect]:
        """The memory ops that are reached, with their normal forms."""
        return {} if self.kernel is None else {effect.op: effect for effect in self.kernel.effects}

    def of(self, *shorts: str) -> Iterator[TileOp]:
        """The ops with these names, in order."""
        return (op for op in self.ops if op.short in shorts)

    # ---- liveness

    @cached_property
    def live(self) -> frozenset[TileOp]:
        """Ops that act (store, atomic, print, assert), and ops with a result that something acting depends
        on.

        Loads are pure here: one whose tile nobody uses is not live, whoever waits for its token.
        """
        ops: set[TileOp] = set()
        seen: set[SSAValue] = set()
        work: list[SSAValue] = []

        def enter(op: TileOp) -> None:
            """`op` is live: so is what decides whether it runs."""
            while op not in ops and op is not self.entry:
                ops.add(op)
                if op.short in ("for", "if"):
                    work.extend(_control(op))
                parent = op.parent_op()
                if parent is None or not hasattr(parent, "short"):
                    return
                op = parent  # pyright: ignore[reportAssignmentType]

        for op in self.ops:
            if _acts(op):
                enter(op)
                work.extend(op.operands)
            elif op.short in ("break", "continue", "return") and owner_is_if(op):
                enter(op.parent_op())  # pyright: ignore[reportArgumentType]
        while work:
            value = work.pop()
            if value in seen or str(value.type) == "token":
                continue
            seen.add(value)
            made_by = owner(value)
            if made_by is None:
                work.extend(incoming(value))
                continue
            enter(made_by)
            work.extend(sources(made_by, value))
        return frozenset(ops)

    # ---- names for people

    @cached_property
    def names(self) -> dict[Term, str]:
        """Parameters as the dump names them, for `graph.show`."""
        if self.kernel is None:
            return {}
        result: dict[Term, str] = {}
        for param, term in zip(self.entry.regions[0].block.args, self.kernel.arguments, strict=True):
            leaf = self.kernel.terms.single(term)
            result[term if leaf is None else leaf] = f"%{param.name_hint or '?'}"
        return result

    def say(self, term: Term | None) -> str:
        """A term as a person writes it, parameters by their names in the dump."""
        if self.kernel is None or term is None:
            return "?"
        from tileir_diff.graph.show import show

        return show(self.kernel.terms, term, self.names)


def is_pointer(value: SSAValue) -> bool:
    kind = value.type
    return isinstance(kind, Tile) and isinstance(kind.element, Ptr)


def _walk(op: TileOp) -> Iterator[TileOp]:
    for inner in op.inner():
        yield inner
        yield from _walk(inner)


def _acts(op: TileOp) -> bool:
    """Whether an op does something by itself. An assume does not: it only tells what is known."""
    if op.short in (*LOADS, "assume", "alloca", "memory_fence_alias_tko"):
        return False
    return op.spec.effect in (TOKEN_ORDERED, UNKNOWN)


def owner_is_if(op: TileOp) -> bool:
    return getattr(op.parent_op(), "short", "") == "if"


def _control(op: TileOp) -> tuple[SSAValue, ...]:
    """The operands that decide how often the regions of an op run."""
    if op.short == "if":
        return op.group("condition")
    return (*op.group("lower"), *op.group("upper"), *op.group("step"))


def sources(op: TileOp, result: SSAValue) -> Iterator[SSAValue]:
    """The values that one result of an op is made from."""
    if not op.regions:
        yield from op.operands
        return
    index = next(i for i, value in enumerate(op.results) if value is result)
    if op.short in ("reduce", "scan"):
        yield from op.operands
        for inner in op.inner():
            if inner.short == "yield":
                yield from inner.operands
        return
    yield from _control(op)
    if op.short == "for":
        yield op.group("inits")[index]
    for inner in _walk(op):
        ends = {"if": ("yield",), "for": ("continue",), "loop": ("break",)}.get(op.short, ())
        if inner.short in ends and _leaves(inner, op) and index < len(inner.operands):
            yield inner.operands[index]


def _leaves(terminator: TileOp, target: TileOp) -> bool:
    """Whether a terminator hands its operands to `target`."""
    parent = terminator.parent_op()
    while parent is not None and parent is not target:
        if terminator.short == "yield" or getattr(parent, "short", "") != "if":
            return False
        parent = parent.parent_op()
    return parent is target


def incoming(argument: SSAValue) -> Iterator[SSAValue]:
    """What flows into a block argument of a loop: its initial value and what `continue` hands back."""
    block: Any = argument.owner
    loop = block.parent_op()
    if loop is None or getattr(loop, "short", "") not in ("for", "loop"):
        return
    yield from _control(loop)
    index: int = argument.index - (1 if loop.short == "for" else 0)  # type: ignore[attr-defined]
    if index < 0:
        return
    yield loop.group("inits")[index]
    for inner in _walk(loop):
        if inner.short == "continue" and _leaves(inner, loop) and index < len(inner.operands):
            yield inner.operands[index]


def continues(loop: TileOp) -> list[TileOp]:
    """The `continue` ops of one loop, those of inner loops left out."""
    return [op for op in _walk(loop) if op.short == "continue" and _leaves(op, loop)]


def compares_lanes(mask: SSAValue) -> bool:
    """Whether a predicate compares lane numbers with something: the shape of a bounds mask."""
    return reaches(mask, ("iota",), stop=LOADS)


def reaches(start: SSAValue, shorts: tuple[str, ...], stop: tuple[str, ...] = ()) -> bool:
    """Whether a value is computed from the result of such an op.

    Neither block arguments are followed, nor the operands of ops in `stop`.
    """
    seen: set[SSAValue] = set()
    work = [start]
    while work:
        value = work.pop()
        op = owner(value)
        if value in seen or op is None:
            continue
        seen.add(value)
        if op.short in shorts:
            return True
        if op.short not in stop:
            work.extend(op.operands)
    return False
