"""Symbolic execution of one entry: from ops to terms and effects.

Every op is visited once, in program order. Loops are evaluated once with symbols for the carried values,
then given a form that does not depend on names, on the order of carried values or on dead ones
(``graph.colours``). What one op means is a function in the module of its subject; this one has the state that
they share.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import ops_of
from tileir_diff.dialect.types import Ptr, Scalar, TensorView, Tile, Token
from tileir_diff.graph import (
    bits,
    branches,
    constants,
    contractions,
    floating,
    integers,
    loops,
    memory,
    misc,
    shapes,
    views,
)
from tileir_diff.graph.arrays import Arrays
from tileir_diff.graph.carries import substitute_carries
from tileir_diff.graph.facts import learn_ranges
from tileir_diff.graph.kernel import Effect, Kernel
from tileir_diff.graph.values import View, is_pointer, operand, sort_of, union_of_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.carries import Exit
    from tileir_diff.graph.kernel import Loop
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.graph.writes import History

__all__ = ["Evaluator", "substitute_carries"]

TERMINATORS = frozenset({"yield", "continue", "break", "return"})


class Evaluator:
    """Evaluates one entry into a ``Kernel``.

    loops      the loops around the op now being evaluated, outermost first
    guard      the condition under which the body of the innermost loop is entered
    live       the condition, within that body, under which the op is reached
    exits      per open loop, the ways out of its body so far
    pointers   the parameters that are pointers, as atoms
    arrays     which arrays a pointer may be of
    written    the arrays that the entry may write, by their pointers
    written_in  by loop the ops that write, each with the arrays that it may write
    stored     by array what was written to it so far
    polls      how many loads of each array were not weak so far
    unpadded   by what they read, the loads so far that leave lanes undetermined
    blocks     by axis what bounds the block's index: at least ``grid``, the number of blocks; None: unknown
    trusted    checks of bounds that the other side promises to hold where it makes the same access
    grids_differ  whether the two sides are launched on grids of different sizes
    """

    def __init__(
        self,
        entry: TileOp,
        terms: Terms,
        side: int,
        arguments: Sequence[Term | None] | None = None,
        grid: Sequence[int | None] | None = None,
    ) -> None:
        self.terms = terms
        self.side = side
        self.entry = entry
        self.params: tuple[SSAValue, ...] = tuple(entry.regions[0].block.args)
        given = arguments if arguments is not None else [None] * len(self.params)
        resolved = tuple(
            self._symbol(param, index) if term is None else term
            for index, (param, term) in enumerate(zip(self.params, given, strict=True))
        )
        self.kernel = Kernel(entry, side, terms, resolved)
        self.env = self.kernel.values
        for index, (param, term) in enumerate(zip(self.params, resolved, strict=True)):
            self.env[param] = (
                term if isinstance(param.type, Tile) else self._view_parameter(param.type, index)
            )
        self.grid: tuple[int | None, ...] = tuple(grid) if grid is not None else (None, None, None)
        self.kernel.grid = self.blocks = self.grid
        self.grids_differ = False
        self.trusted: AbstractSet[object] = frozenset()
        self.loops: tuple[Loop, ...] = ()
        self.guard = terms.true
        self.live = terms.true
        self.exits: list[list[Exit]] = []
        self.stored: dict[Term, History] = {}
        self.polls: dict[Term | None, int] = {}
        self.unpadded: dict[Term, list[TileOp]] = {}
        self.arrays = Arrays(self)
        self.written: frozenset[Term] = frozenset()
        self.written_in: dict[int, list[tuple[TileOp, frozenset[Term]]]] = {}
        self.pointers: frozenset[Term] = frozenset(
            leaf
            for param, term in zip(self.params, resolved, strict=True)
            if is_pointer(param) and (leaf := terms.single(term)) is not None
        )
        self.informed = False
        self.symbols = 0
        self.allocations: dict[object, int] = defaultdict(int)

    def _symbol(self, param: SSAValue, index: int) -> Term:
        leaf = self.terms.leaf("arg", self.side, index)
        plain = isinstance(param.type, Tile) and sort_of(param) != "int"
        return leaf if plain else self.terms.atom(leaf)

    def _view_parameter(self, kind: Any, index: int) -> Any:
        """A parameter that is no tile: no front end writes one, but the dialect has them."""
        terms = self.terms
        if isinstance(kind, Token):
            return frozenset[int]()
        if isinstance(kind, (Scalar, Ptr)):
            return terms.leaf("arg", self.side, index)
        tensor: TensorView = kind if isinstance(kind, TensorView) else kind.tensor_view

        def symbol(part: str, dim: int) -> Term:
            leaf = terms.leaf("arg", self.side, f"{index}.{part}{dim}")
            terms.set_range(leaf, (0, None))
            return terms.atom(leaf)

        shape = tuple(symbol("shape", d) if s is None else terms.const(s) for d, s in enumerate(tensor.shape))
        strides = tuple(
            symbol("stride", d) if s is None else terms.const(s) for d, s in enumerate(tensor.strides)
        )
        base = terms.atom(terms.leaf("arg", self.side, index))
        return View(kind, base, shape, strides)

    def learn_facts(self) -> None:
        """Ranges of parameters, which hold wherever they are used; once is enough."""
        if self.informed:
            return
        self.informed = True
        params = dict(zip(self.params, self.kernel.arguments, strict=True))
        learn_ranges(self.terms, self.kernel.ops, params)

    def run(self) -> Kernel:
        """Evaluate the whole entry."""
        self.learn_facts()
        self.written = self.arrays.written(self.kernel.ops)
        self.block(self.entry.regions[0].block)
        return self.kernel

    def block(self, block: Block) -> tuple[str, tuple[Any, ...]]:
        """Evaluate a block; returns its terminator as (kind, values).

        The kind is "end" where it has none, "dead" where its end is never reached.
        """
        ops: list[Any] = ops_of(block)
        for op in ops:
            if op.short in TERMINATORS:
                return op.short, tuple([self.env.get(value) for value in op.inputs])
            HANDLERS.get(op.short, misc.opaque)(self, op)
            if self.live == self.terms.false:
                return "dead", ()
        return "end", ()

    def operand(self, op: TileOp, name: str) -> Term:
        """The term of an operand that is always there."""
        return self.env[operand(op, name)]

    def optional(self, op: TileOp, name: str) -> Term | None:
        value = op.one(name)
        return None if value is None else self.env[value]

    def view(self, op: TileOp, name: str) -> View:
        return self.env[operand(op, name)]

    def token(self, value: SSAValue | None) -> frozenset[int]:
        """The effects that a token stands for."""
        return union_of_tokens(()) if value is None else union_of_tokens((self.env[value],))

    def set(self, op: TileOp, value: Any, index: int = 0) -> None:
        """The value of a result: a term, a view or a token; None where no path gives it one."""
        self.env[op.results[index]] = value
        if not isinstance(value, int):
            return
        term: Term = value
        origin = self.terms.origins[self.side]
        origin.setdefault(term, op)
        atom = self.terms.single(term)
        if atom is not None and self.terms.args[atom]:
            origin.setdefault(atom, op)

    def set_node(self, op: TileOp, node: Term, index: int = 0) -> None:
        """A node as the value of a result."""
        self.set(op, self.as_sort(node, op.results[index]), index)

    def as_sort(self, node: Term, value: SSAValue) -> Term:
        """The node, as a polynomial where the value is an integer or a pointer."""
        return self.terms.atom(node) if sort_of(value) == "int" else node

    def effect(self, kind: str, op: TileOp, **fields: Any) -> Effect:
        """Record an effect where the evaluation now stands; ``fields`` as in ``Effect``."""
        effect = Effect(
            kind,
            op,
            len(self.kernel.effects),
            self.loops,
            self.terms.conjunction((self.guard, self.live)),
            after=self.token(op.one("token")),
            **fields,
        )
        self.kernel.effects.append(effect)
        return effect

    def set_token(self, op: TileOp, effect: Effect, index: int = 0) -> None:
        """The token of a result stands for this effect."""
        self.env[op.results[index]] = frozenset((effect.order,))

    def next_symbol(self) -> int:
        """A number for the symbols of one loop."""
        self.symbols += 1
        return self.symbols


if TYPE_CHECKING:
    Handler = Callable[[Evaluator, TileOp], None]

HANDLERS: dict[str, Handler] = {
    **bits.HANDLERS,
    **branches.HANDLERS,
    **constants.HANDLERS,
    **contractions.HANDLERS,
    **floating.HANDLERS,
    **integers.HANDLERS,
    **loops.HANDLERS,
    **memory.HANDLERS,
    **misc.HANDLERS,
    **shapes.HANDLERS,
    **views.HANDLERS,
}
"""What each op means; an op that is not here is opaque."""
