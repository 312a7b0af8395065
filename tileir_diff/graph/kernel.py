"""What a kernel does, as data: its effects on memory in order, the loops around them, its promises.

Plain classes: a dataclass costs more at import than a small dump costs to evaluate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph.values import ops_within, read_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.orders import Merge
    from tileir_diff.graph.terms import Term, Terms


class Carry:
    """A value that a loop carries: ``leaf`` stands for it inside, ``next`` is for the next iteration."""

    __slots__ = ("index", "init", "leaf", "next", "type_text", "value")

    def __init__(self, index: int, leaf: Term, init: Term, type_text: str, value: SSAValue) -> None:
        self.index = index
        self.leaf = leaf
        self.init = init
        self.next = init
        self.type_text = type_text
        self.value = value


class Loop:
    """One ``for`` or ``loop``. Terms inside refer to ``iteration`` (0, 1, ..) and to the carry leaves.

    shared      the axis of the grid whose blocks share the iterations, where the loop is one over all tiles
    stride      the step as written, where the loop was one over the grid and is taken as one over all tiles
    exit        for ``loop``: the predicate, over carries and iteration, under which an iteration leaves it
    closed      carry leaves that have a closed form in ``iteration``
    canonical   iteration and carry leaves as terms that do not depend on the side, and under -1 the exit of a
                loop without a trip count; filled when the loop is finished
    """

    __slots__ = (
        "canonical",
        "carries",
        "closed",
        "depth",
        "exit",
        "iteration",
        "lower",
        "op",
        "shared",
        "step",
        "stride",
        "trip",
        "uid",
        "upper",
    )

    def __init__(
        self, op: TileOp, uid: int, depth: int, iteration: Term, lower: Term, step: Term, trip: Term | None
    ) -> None:
        self.op = op
        self.uid = uid
        self.depth = depth
        self.iteration = iteration
        self.lower = lower
        self.step = step
        self.trip = trip
        self.upper: Term | None = None
        self.shared: int | None = None
        self.stride: Term | None = None
        self.carries: list[Carry] = []
        self.exit: Term | None = None
        self.closed: dict[Term, Term] = {}
        self.canonical: dict[Term, Term] = {}

    def map(self, change: Callable[[Term], Term]) -> None:
        """Apply a term rewrite to a loop inside another one, in place."""
        for carry in self.carries:
            carry.init = change(carry.init)
            carry.next = change(carry.next)
        self.exit = None if self.exit is None else change(self.exit)
        self.trip = None if self.trip is None else change(self.trip)
        self.lower, self.step = change(self.lower), change(self.step)
        self.closed = {leaf: change(form) for leaf, form in self.closed.items()}
        self.canonical = {leaf: change(form) for leaf, form in self.canonical.items()}


class Effect:
    """One memory access, print, assert, fence or wait. Lane terms are those of the accessed tile.

    kind     load, store, atomic_rmw, atomic_cas, print, assert, fence, wait: that the innermost of ``loops``
             ends, a ``loop`` of which nothing shows it
    guard    path condition: conjunction of the enclosing ``if`` conditions
    mask     which lanes take part, as the op itself says (mask operand, or the bounds of the view)
    values   store: the value; rmw: argument; cas: compare, value; print: arguments; assert: condition
    family   pointer, partition, strided, gather
    base     the array, where it is one; else what the pointer starts from
    arrays   the arrays that may be meant, as ``graph.arrays`` has them
    trusted  checks of bounds that are not in the mask, because the other side promises them
    after    orders of the effects that a token makes come before this one (direct predecessors)
    """

    __slots__ = (
        "after",
        "arrays",
        "base",
        "coordinates",
        "element",
        "extents",
        "family",
        "guard",
        "kind",
        "loops",
        "mask",
        "op",
        "order",
        "padding",
        "pointer",
        "result",
        "shape",
        "strides",
        "trusted",
        "values",
    )

    def __init__(
        self,
        kind: str,
        op: TileOp,
        order: int,
        loops: tuple[Loop, ...],
        guard: Term,
        *,
        pointer: Term | None = None,
        base: Term | None = None,
        arrays: frozenset[Term] = frozenset(),
        mask: Term | None = None,
        values: tuple[Term, ...] = (),
        padding: Term | None = None,
        shape: tuple[int, ...] = (),
        element: str = "",
        family: str = "",
        coordinates: tuple[Term, ...] = (),
        extents: tuple[Term, ...] = (),
        strides: tuple[Term, ...] = (),
        trusted: tuple[Term, ...] = (),
        result: Term | None = None,
        after: frozenset[int] = frozenset(),
    ) -> None:
        self.kind = kind
        self.op = op
        self.order = order
        self.loops = loops
        self.guard = guard
        self.pointer = pointer
        self.base = base
        self.arrays = arrays
        self.mask = mask
        self.values = values
        self.padding = padding
        self.shape = shape
        self.element = element
        self.family = family
        self.coordinates = coordinates
        self.extents = extents
        self.strides = strides
        self.trusted = trusted
        self.result = result
        self.after = after

    def condition(self, terms: Terms) -> Term:
        """Where it takes place: the path condition and the mask."""
        return terms.conjunction((self.guard, terms.true if self.mask is None else self.mask))

    @property
    def is_root(self) -> bool:
        """Whether it counts by itself. A weak load does not: its value is compared where it is used."""
        return self.kind != "load" or self.op.get("memory_ordering") != "weak"

    def map(self, change: Callable[[Term], Term]) -> None:
        """Apply a term rewrite to every field, in place."""

        def maybe(term: Term | None) -> Term | None:
            return None if term is None else change(term)

        self.guard = change(self.guard)
        self.pointer = maybe(self.pointer)
        self.base = maybe(self.base)
        self.mask = maybe(self.mask)
        self.values = tuple([change(v) for v in self.values])
        self.padding = maybe(self.padding)
        self.coordinates = tuple([change(v) for v in self.coordinates])
        self.extents = tuple([change(v) for v in self.extents])
        self.strides = tuple([change(v) for v in self.strides])
        self.trusted = tuple([change(v) for v in self.trusted])
        self.result = maybe(self.result)


class Promise:
    """An ``assume``, resolved to the value it is about.

    argument   index of the entry parameter when the value is one
    of_view    the value is a tensor view; ``term`` is, or holds, its base pointer
    guard      the condition under which it is reached, within the body of the innermost loop and around it
    """

    __slots__ = ("argument", "assumption", "guard", "loops", "of_view", "op", "term")

    def __init__(
        self,
        op: TileOp,
        term: Any,
        assumption: Any,
        argument: int | None,
        loops: tuple[Loop, ...],
        guard: Term,
    ) -> None:
        self.op = op
        self.term = term
        self.assumption = assumption
        self.argument = argument
        self.loops = loops
        self.guard = guard
        self.of_view = False


class Kernel:
    """One evaluated entry.

    grid            number of blocks by axis; None: unknown
    values          what each value of the dump is: a term, a ``View``, a token (orders of effects), or None
    assumptions     what was taken for granted, as sentences in the order of their first use
    not_modelled    ops that equal only themselves
    loop_results    by the colour in a ``loop_result`` term: the loop and the result's index
    merges          tokens that may be one of several, as negative numbers in ``Effect.after``
    divisions       of exact integers: each division with its divisor and the condition under which it is done
    skipped         loops that are reached and never go on to an iteration, or a second pass
    tested          what holds only as divisors are taken as positive, each with the op that tests it
    unwrapped       "offset", "value": as what a number that is made of what it loads is promised not to wrap
    ops             all ops of the entry, itself included, in order
    promised        checks of bounds that accesses promise to hold, as ``graph.views`` names them
    read            what `is_used` has found, once it was asked
    roles           what parameters are to arrays, once ``match.arguments.roles`` has looked
    """

    __slots__ = (
        "arguments",
        "assumptions",
        "divisions",
        "effects",
        "entry",
        "grid",
        "loop_results",
        "loops",
        "merges",
        "name",
        "not_modelled",
        "ops",
        "promised",
        "promises",
        "read",
        "roles",
        "side",
        "skipped",
        "terms",
        "tested",
        "unwrapped",
        "values",
    )

    def __init__(self, entry: TileOp, side: int, terms: Terms, arguments: tuple[Term, ...]) -> None:
        self.entry = entry
        self.name = entry.symbol
        self.side = side
        self.terms = terms
        self.arguments = arguments
        self.grid: tuple[int | None, ...] = (None, None, None)
        self.effects: list[Effect] = []
        self.loops: list[Loop] = []
        self.values: dict[SSAValue, Any] = {}
        self.promises: list[Promise] = []
        self.promised: set[object] = set()
        self.assumptions: dict[str, None] = {}
        self.not_modelled: list[TileOp] = []
        self.divisions: list[tuple[TileOp, Term, Term]] = []
        self.ops: tuple[TileOp, ...] = tuple(ops_within(entry))
        self.read: frozenset[SSAValue] | None = None
        self.roles: dict[int, tuple[int, str, int]] | None = None
        self.loop_results: dict[Term, tuple[Loop, int]] = terms.loop_results[side]
        self.merges: dict[int, Merge] = {}
        self.skipped: list[TileOp] = []
        self.tested: dict[Term, TileOp] = {}
        self.unwrapped: set[str] = set()

    def is_used(self, op: TileOp) -> bool:
        """`values.is_used`, for many ops of a dump that does not change: all are looked at once."""
        if self.read is None:
            self.read = read_values(self.ops)
        return op.results[0] in self.read

    def assume(self, sentence: str) -> None:
        """Name something that is taken for granted."""
        self.assumptions.setdefault(sentence)

    def merge_tokens(self, merge: Merge) -> frozenset[int]:
        """The token that the merge hands on."""
        number = -1 - len(self.merges)
        self.merges[number] = merge
        return frozenset((number,))
