"""What a kernel does, as data: its effects on memory in order, the loops around them, its promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.terms import Term, Terms


@dataclass(slots=True)
class Loop:
    """One ``for`` or ``loop``. Terms inside refer to ``iteration`` (0, 1, ..) and to the carry leaves."""

    op: TileOp
    uid: int
    depth: int
    iteration: Term
    lower: Term
    step: Term
    trip: Term | None
    upper: Term | None = None
    stride: Term | None = None
    """The step as written, where the loop was one over the grid and is taken as one over all tiles."""
    carries: list[Carry] = field(default_factory=list)
    exit: Term | None = None
    """For ``loop``: the predicate, over carries and iteration, under which the iteration leaves the loop."""
    closed: dict[Term, Term] = field(default_factory=dict)
    """Carry leaves that have a closed form in ``iteration``."""
    canonical: dict[Term, Term] = field(default_factory=dict)
    """Iteration and carry leaves as terms that do not depend on the side; filled when the loop is finished."""


@dataclass(slots=True)
class Carry:
    index: int
    leaf: Term
    init: Term
    next: Term
    type_text: str
    value: SSAValue


@dataclass(slots=True)
class Effect:
    """One memory access, print, assert, fence. Lane terms are those of the accessed tile, unit dimensions dropped."""

    kind: str
    """load, store, atomic_rmw, atomic_cas, atomic_red, print, assert, fence, launch_control"""
    op: TileOp
    order: int
    loops: tuple[Loop, ...]
    guard: Term
    """Path condition: conjunction of the enclosing ``if`` conditions."""
    pointer: Term | None = None
    base: Term | None = None
    mask: Term | None = None
    """Which lanes take part, as the op itself says (mask operand, or the bounds of the view)."""
    values: tuple[Term, ...] = ()
    """store: the value; rmw: argument; cas: compare, value; print: arguments; assert: condition."""
    padding: Term | None = None
    shape: tuple[int, ...] = ()
    element: str = ""
    family: str = ""
    """pointer, partition, strided, gather"""
    coordinates: tuple[Term, ...] = ()
    extents: tuple[Term, ...] = ()
    strides: tuple[Term, ...] = ()
    result: Term | None = None
    after: frozenset[int] = frozenset()
    """Orders of the effects that a token makes come before this one (direct predecessors)."""

    def map(self, change: Callable[[Term], Term]) -> None:
        """Apply a term rewrite to every field, in place."""

        def maybe(term: Term | None) -> Term | None:
            return None if term is None else change(term)

        self.guard = change(self.guard)
        self.pointer = maybe(self.pointer)
        self.base = maybe(self.base)
        self.mask = maybe(self.mask)
        self.values = tuple(change(v) for v in self.values)
        self.padding = maybe(self.padding)
        self.coordinates = tuple(change(v) for v in self.coordinates)
        self.extents = tuple(change(v) for v in self.extents)
        self.strides = tuple(change(v) for v in self.strides)
        self.result = maybe(self.result)


@dataclass(slots=True)
class Kernel:
    """One evaluated entry."""

    entry: TileOp
    name: str
    side: int
    terms: Terms
    arguments: tuple[Term, ...]
    effects: list[Effect] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    values: dict[SSAValue, Any] = field(default_factory=dict)
    promises: list[Promise] = field(default_factory=list)
    assumptions: dict[str, None] = field(default_factory=dict)
    not_modelled: list[TileOp] = field(default_factory=list)
    loop_results: dict[Term, tuple[Loop, int]] = field(default_factory=dict)
    """By the colour in a ``loop_result`` term: the loop and the result's index."""

    token_carries: dict[int, frozenset[int]] = field(default_factory=dict)
    """Loop-carried tokens, as negative numbers in ``Effect.after``: what they may stand for."""

    def token_order(self) -> Mapping[int, int]:
        """For each effect, a bit set of the effects that tokens order before it, in this or an earlier iteration."""
        order = [effect.order for effect in self.effects]
        before: dict[int, int] = dict.fromkeys((*order, *self.token_carries), 0)
        sources = {effect.order: effect.after for effect in self.effects} | self.token_carries
        changed = True
        while changed:  # once without loop-carried tokens, a few times with
            changed = False
            for item in (*self.token_carries, *order):
                bits = before[item]
                for source in sources[item]:
                    bits |= before[source] | (1 << source if source >= 0 else 0)
                if bits != before[item]:
                    before[item] = bits
                    changed = bool(self.token_carries)
        return before


@dataclass(slots=True)
class Promise:
    """An ``assume``, resolved to the value it is about."""

    op: TileOp
    term: Any
    assumption: Any
    argument: int | None
    """Index of the entry parameter when the value is one."""
    loops: tuple[Loop, ...] = ()
    of_view: bool = False
    """The value is a tensor view; ``term`` is, or holds, its base pointer."""
