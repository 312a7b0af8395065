"""Symbolic execution of one entry: from ops to terms and effects.

Every op is visited once, in program order. Loops are evaluated once with symbols for the carried values, then
given a form that does not depend on names, on the order of carried values or on dead ones (see ``_finish_loop``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import (
    GatherScatterView,
    PartitionView,
    Ptr,
    StridedView,
    TensorView,
    Tile,
    Token,
)
from tileir_diff.graph import floats
from tileir_diff.graph.kernel import Carry, Effect, Kernel, Loop, Promise
from tileir_diff.graph.terms import Term, Terms

if TYPE_CHECKING:
    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp

GRID_MAX = (2**31 - 1, 65535, 65535)
INDEX_ATOMS = frozenset({
    "arg", "block", "grid", "lane", "iter", "carry", "at", "div", "tdiv", "min", "max", "ite", "b2i", "loop_result", "mul",
})
INDEX_SYMBOLS = frozenset({"arg", "block", "grid", "lane", "iter", "carry"})
HASH_FACTOR = 1 << 16
"""A constant factor from here on is hash arithmetic, which wraps on purpose; smaller ones are index arithmetic."""


@dataclass(slots=True)
class View:
    """A tensor view or a tile view over one."""

    type: Any
    pointer: Term
    shape: tuple[Term, ...]
    strides: tuple[Term, ...]
    element: str


class Evaluator:
    """Evaluates one entry into a ``Kernel``."""

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
        self.origin = terms.origins[side]
        params = list(entry.regions[0].block.args)
        given = list(arguments) if arguments is not None else [None] * len(params)
        resolved: list[Term] = []
        for index, (param, term) in enumerate(zip(params, given, strict=True)):
            if term is None:
                leaf = terms.leaf("arg", side, index)
                plain = isinstance(param.type, Tile) and not (self._is_int(param) or self._is_ptr(param))
                term = leaf if plain else terms.atom(leaf)
            resolved.append(term)
        self.kernel = Kernel(entry, str(entry.get("sym_name")), side, terms, tuple(resolved), loop_results=terms.loop_results[side])
        self.env: dict[SSAValue, Any] = self.kernel.values
        for index, (param, term) in enumerate(zip(params, resolved, strict=True)):
            self.env[param] = term if isinstance(param.type, Tile) else self._view_parameter(param.type, index)
        self.grid: tuple[int | None, ...] = tuple(grid) if grid is not None else (None, None, None)
        self.loops: tuple[Loop, ...] = ()
        self.guard = terms.true
        self.exits: list[list[tuple[str, Term, tuple[Any, ...]]]] = []
        self.live = terms.true
        self.stored: dict[Term, int] = {}
        self.polls: dict[Term | None, int] = {}
        self.written_in: dict[int, frozenset[Term]] = {}
        self.uid = 0
        self.stored_bases: frozenset[Term] = frozenset()

    # ---- entry point -----------------------------------------------------------------------------------------

    def run(self) -> Kernel:
        self.learn_facts()
        self.stored_bases = self._find_stored_bases()
        self._block(self.entry.regions[0].block)
        return self.kernel

    def _view_parameter(self, kind: Any, index: int) -> Any:
        """A parameter that is a view or a token: only test functions have them."""
        if isinstance(kind, Token):
            return frozenset()
        terms = self.terms
        tensor = kind if isinstance(kind, TensorView) else kind.tensor_view

        def symbol(part: str, dim: int) -> Term:
            leaf = terms.leaf("arg", self.side, f"{index}.{part}{dim}")
            terms.ranges[leaf] = (0, None)
            return terms.atom(leaf)

        shape = tuple(symbol("shape", d) if s is None else terms.const(s) for d, s in enumerate(tensor.shape))
        strides = tuple(symbol("stride", d) if s is None else terms.const(s) for d, s in enumerate(tensor.strides))
        base = terms.atom(terms.leaf("arg", self.side, index))
        return View(kind, base, shape, strides, tensor.element.name)

    def _is_int(self, value: SSAValue) -> bool:
        kind = value.type
        return isinstance(kind, Tile) and not isinstance(kind.element, Ptr) and kind.element.is_int and kind.element.bits > 1

    def _is_ptr(self, value: SSAValue) -> bool:
        return isinstance(value.type, Tile) and isinstance(value.type.element, Ptr)

    def _is_bool(self, value: SSAValue) -> bool:
        kind = value.type
        return isinstance(kind, Tile) and not isinstance(kind.element, Ptr) and kind.element.is_int and kind.element.bits == 1

    def _sort(self, value: SSAValue) -> str:
        if self._is_bool(value):
            return "bool"
        return "int" if self._is_int(value) or self._is_ptr(value) else "data"

    def learn_facts(self) -> None:
        """Ranges of parameters, from ``bounded`` promises and from use as a size or stride of a tensor view."""
        terms = self.terms
        params = {param: term for param, term in zip(self.entry.regions[0].block.args, self.kernel.arguments, strict=True)}

        def root(value: SSAValue) -> SSAValue:
            while True:
                owner = value.owner
                if getattr(owner, "short", None) != "assume":
                    return value
                value = owner.one("value")  # type: ignore[union-attr]

        def narrow(term: Term, low: int | None, high: int | None) -> None:
            leaf = terms.single(term)
            if leaf is None or terms.kind[leaf] != "arg":
                return
            old_low, old_high = terms.ranges.get(leaf, (None, None))
            new_low = low if old_low is None else old_low if low is None else max(low, old_low)
            new_high = high if old_high is None else old_high if high is None else min(high, old_high)
            terms.ranges[leaf] = (new_low, new_high)

        for param, term in params.items():
            if self._is_int(param):
                bits = param.type.element.bits  # type: ignore[attr-defined]
                narrow(term, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        for op in self.entry.walk():
            short = getattr(op, "short", "")
            if short == "assume":
                assumption = op.get("assumption")  # type: ignore[attr-defined]
                value = root(op.one("value"))  # type: ignore[attr-defined]
                if value in params and type(assumption).__name__ == "Bounded":
                    narrow(params[value], assumption.lower, assumption.upper)
            elif short == "make_tensor_view":
                for value in (*op.group("shape"), *op.group("strides")):  # type: ignore[attr-defined]
                    base = root(value)
                    if base in params:
                        narrow(params[base], 0, None)
        terms.forget_ranges()

    def _find_stored_bases(self) -> frozenset[Term]:
        """Base pointers (by parameter) that the kernel writes: loads from them depend on when they happen."""
        written: set[Term] = set()
        for op in self.entry.walk():
            short = getattr(op, "short", "")
            group = _POINTER_GROUP.get(short)
            if group is None or short in ("load_ptr_tko", "load_view_tko"):
                continue
            value = op.one(group)  # type: ignore[attr-defined]
            root = self._pointer_root(value)
            written.add(-1 if root is None else root)
        return frozenset(written)

    def _pointer_root(self, value: SSAValue | None) -> Term | None:
        """The parameter term that a pointer or view value is computed from, by walking up the operands."""
        for _ in range(10_000):
            if value is None:
                return None
            owner = value.owner
            if not hasattr(owner, "short"):
                term = self.env.get(value)
                if isinstance(term, int):
                    return term
                return None
            group = _ROOT_GROUP.get(owner.short)  # type: ignore[union-attr]
            if group is None:
                return None
            value = owner.one(group)  # type: ignore[union-attr]
        return None

    # ---- blocks and control flow -----------------------------------------------------------------------------

    def _block(self, block: Block) -> tuple[str, tuple[Any, ...]]:
        """Evaluate a block; returns its terminator as (kind, values)."""
        for op in block.ops:
            short = op.short  # type: ignore[attr-defined]
            if short in _TERMINATORS:
                return short, tuple(self.env.get(value) for value in op.operands)
            handler = _HANDLERS.get(short)
            if handler is None:
                self._opaque(op)  # type: ignore[arg-type]
            else:
                handler(self, op)
            if self.live == self.terms.false:
                return "dead", ()
        return "end", ()

    def _set(self, op: TileOp, term: Any, index: int = 0) -> None:
        self.env[op.results[index]] = term
        if isinstance(term, int):
            self.origin.setdefault(term, op)
            atom = self.terms.single(term)
            if atom is not None and self.terms.args[atom]:
                self.origin.setdefault(atom, op)

    def _get(self, value: SSAValue | None) -> Any:
        return self.env[value] if value is not None else None

    def _if(self, op: TileOp) -> None:
        terms = self.terms
        cond = self._get(op.one("condition"))
        branches: list[tuple[str, tuple[Any, ...]]] = []
        outer_live = self.live
        after: list[Term] = []
        for index, region in enumerate((op.regions[0], op.regions[1] if len(op.regions) > 1 else None)):
            condition = cond if index == 0 else terms.negate(cond)
            if region is None or not region.blocks or condition == terms.false:
                kind: tuple[str, tuple[Any, ...]] = ("yield", ()) if condition != terms.false else ("dead", ())
                branches.append(kind)
                after.append(terms.conjunction((outer_live, condition)))
                continue
            saved = dict(self.stored)
            self.live = terms.conjunction((outer_live, condition))
            if self.live == terms.false:
                branches.append(("dead", ()))
                after.append(terms.false)
                continue
            kind = self._block(region.block)
            if kind[0] == "end":
                kind = ("yield", ())
            live = self.live
            if kind[0] in ("continue", "break", "return"):
                self.exits[-1].append((kind[0], live, kind[1])) if kind[0] != "return" else None
                live = terms.false
                kind = ("dead", ())
            branches.append(kind)
            after.append(live)
            for base, count in saved.items():
                self.stored[base] = max(self.stored.get(base, 0), count)
        if terms.false not in after and not any(kind == "dead" for kind, _ in branches):
            self.live = outer_live if self._nothing_left(after, outer_live, cond) else terms.disjunction(after)
        elif after[0] == terms.false:
            self.live = after[1]
        else:
            self.live = after[0]
        (then_kind, then_values), (else_kind, else_values) = branches
        for index, result in enumerate(op.results):
            if then_kind == "dead" and else_kind == "dead":
                value: Any = None
            elif then_kind == "dead":
                value = else_values[index]
            elif else_kind == "dead":
                value = then_values[index]
            else:
                value = self._merge(cond, then_values[index], else_values[index], result)
            self._set(op, value, index)

    def _nothing_left(self, after: list[Term], outer: Term, cond: Term) -> bool:
        terms = self.terms
        return after[0] == terms.conjunction((outer, cond)) and after[1] == terms.conjunction((outer, terms.negate(cond)))

    def _merge(self, cond: Term, a: Any, b: Any, value: SSAValue) -> Any:
        if isinstance(a, frozenset) and isinstance(b, frozenset):
            return a | b
        if isinstance(a, int) and isinstance(b, int):
            return self.terms.ite(cond, a, b, self._sort(value))
        return a if a == b else None

    def _for(self, op: TileOp) -> None:
        terms = self.terms
        lower, upper, step = (self._get(op.one(name)) for name in ("lower", "upper", "step"))
        if op.get("unsigned_cmp") and not (terms.nonneg(lower) and terms.nonneg(upper)):
            self.kernel.assumptions.setdefault(f"line {op.span.line}: unsigned loop bounds are taken as non-negative")
        trip = terms.ceildiv(terms.sub(upper, lower), step)
        _, high = terms.range(trip)
        inits = [self._get(value) for value in op.group("inits")]
        if high is not None and high <= 0:
            for index, init in enumerate(inits):
                self._set(op, init, index)
            return
        block = op.regions[0].block
        if terms.value(trip) == 1 and not _exits(op):
            self.env[block.args[0]] = lower
            for arg, init in zip(block.args[1:], inits, strict=True):
                self.env[arg] = init
            _, values = self._block(block)
            for index, value in enumerate(values):
                self._set(op, value, index)
            return
        loop = self._open_loop(op, lower, step, trip)
        loop.upper = upper
        self.env[block.args[0]] = terms.add(lower, terms.mul(step, terms.atom(loop.iteration)))
        self._run_loop(op, loop, block.args[1:], inits, block)

    def _loop(self, op: TileOp) -> None:
        terms = self.terms
        loop = self._open_loop(op, terms.zero, terms.one, None)
        block = op.regions[0].block
        inits = [self._get(value) for value in op.group("inits")]
        self._run_loop(op, loop, block.args, inits, block)

    def _open_loop(self, op: TileOp, lower: Term, step: Term, trip: Term | None) -> Loop:
        self.uid += 1
        iteration = self.terms.leaf("iter", self.side, self.uid)
        self._set_iteration_range(iteration, trip)
        loop = Loop(op, self.uid, len(self.loops), iteration, lower, step, trip)
        self.kernel.loops.append(loop)
        return loop

    def _set_iteration_range(self, iteration: Term, trip: Term | None) -> None:
        high = None if trip is None else self.terms.range(trip)[1]
        self.terms.ranges[iteration] = (0, None if high is None else high - 1)
        self.terms.forget_ranges()

    def _run_loop(self, op: TileOp, loop: Loop, args: Sequence[SSAValue], inits: list[Any], block: Block) -> None:
        terms = self.terms
        first_effect = len(self.kernel.effects)
        first_loop = len(self.kernel.loops)
        tokens: dict[int, frozenset[int]] = {}
        markers: dict[int, int] = {}
        for index, (arg, init) in enumerate(zip(args, inits, strict=True)):
            if not isinstance(init, int):
                self.env[arg] = init
                if isinstance(arg.type, Token):
                    tokens[index] = init if isinstance(init, frozenset) else frozenset()
                    marker = -1 - len(self.kernel.token_carries)
                    self.kernel.token_carries[marker] = tokens[index]
                    markers[index] = marker
                    self.env[arg] = frozenset((marker,))
                continue
            leaf = terms.leaf("carry", self.side, loop.uid, index)
            carry = Carry(index, leaf, init, init, str(arg.type), arg)
            loop.carries.append(carry)
            self.env[arg] = self._carry_term(leaf, arg)
            self._bound_carry(leaf, arg)
        outer_loops, outer_guard, outer_live, outer_stored = self.loops, self.guard, self.live, dict(self.stored)
        self.loops = (*outer_loops, loop)
        self.guard = terms.conjunction((outer_guard, outer_live))
        self.live = terms.true
        self.exits.append([])
        kind, values = self._block(block)
        exits = self.exits.pop()
        final_live = self.live
        if kind in ("continue", "end"):
            exits.append(("continue", final_live, values))
        elif kind == "break":
            exits.append(("break", final_live, values))
        self.loops, self.guard, self.live = outer_loops, outer_guard, outer_live
        for base, count in self.stored.items():
            if count > outer_stored.get(base, 0):
                self.stored[base] = count + 1
        continues = [(guard, vals) for k, guard, vals in exits if k == "continue"]
        breaks = [(guard, vals) for k, guard, vals in exits if k == "break"]
        for index, marker in markers.items():
            for _, vals in continues:
                if index < len(vals) and isinstance(vals[index], frozenset):
                    self.kernel.token_carries[marker] |= vals[index]
        by_index = {carry.index: carry for carry in loop.carries}
        for index, carry in by_index.items():
            carry.next = self._choose(continues, index, carry.value, default=self.env[carry.value])
        if loop.trip is None:
            loop.exit = terms.disjunction([guard for guard, _ in breaks]) if breaks else terms.false
        self._close_forms(loop, first_effect, first_loop)
        self._over_tiles(loop, first_effect, first_loop)
        self._finish_loop(loop)
        results: list[Any] = []
        for index, result in enumerate(op.results):
            if isinstance(result.type, Token):
                merged: frozenset[int] = frozenset()
                for _, vals in continues + breaks:
                    for value in (vals[index : index + 1] if loop.trip is not None else vals):
                        if isinstance(value, frozenset):
                            merged |= value
                results.append(merged | tokens.get(index, frozenset()))
                continue
            if loop.trip is not None and not breaks:
                results.append(self._loop_result(loop, by_index[index].leaf, index, result) if index in by_index else None)
                continue
            value = self._choose(breaks, index, result, default=None)
            results.append(None if value is None else self._exit_value(loop, value, index, result))
        for index, value in enumerate(results):
            self._set(op, value, index)
        for arg in args:
            closed = self.env.get(arg)
            if isinstance(closed, int):
                leaf = terms.single(closed)
                if leaf in loop.closed:
                    self.env[arg] = loop.closed[leaf]

    def _carry_term(self, leaf: Term, arg: SSAValue) -> Term:
        """The carried value at the lanes of its own tile."""
        terms = self.terms
        lanes = _own_lanes(terms, arg)
        terms.carry_lanes[leaf] = tuple(atom for lane in lanes if (atom := terms.single(lane)) is not None)
        node = terms.node("at", None, (leaf, *lanes)) if lanes else leaf
        return terms.atom(node) if self._sort(arg) == "int" else node

    def _bound_carry(self, leaf: Term, arg: SSAValue) -> None:
        if self._is_int(arg):
            bits = arg.type.element.bits  # type: ignore[attr-defined]
            self.terms.ranges[leaf] = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    def _choose(self, exits: list[tuple[Term, tuple[Any, ...]]], index: int, value: SSAValue, default: Any) -> Any:
        if not exits or any(index >= len(vals) or not isinstance(vals[index], int) for _, vals in exits):
            return default
        result = exits[-1][1][index]
        for guard, vals in reversed(exits[:-1]):
            result = self.terms.ite(guard, vals[index], result, self._sort(value))
        return result

    def _close_forms(self, loop: Loop, first_effect: int, first_loop: int) -> None:
        """Carried values that step by an invariant, or not at all, become functions of the iteration.

        A ``loop`` whose exit is a bound on such a value gets a trip count, like a ``for``.
        """
        terms = self.terms
        for _ in range(3):
            inside = {loop.iteration, *(c.leaf for c in loop.carries if c.leaf not in loop.closed)}
            mapping: dict[Term, Term] = {}
            for carry in loop.carries:
                if carry.leaf in loop.closed:
                    continue
                current = self.env[carry.value]
                if carry.next == current:
                    mapping[carry.leaf] = carry.init
                    continue
                own = terms.single(current)
                if own is not None and terms.kind[own] == "at":
                    own = terms.args[own][0]
                if self._sort(carry.value) != "int" or own != carry.leaf:
                    continue
                step = terms.sub(carry.next, current)
                if terms.symbols[step] & inside:
                    continue
                mapping[carry.leaf] = terms.add(carry.init, terms.mul(step, terms.atom(loop.iteration)))
            if not mapping:
                break
            loop.closed.update(mapping)
            self._substitute(loop, mapping, first_effect, first_loop)
        if loop.trip is None and loop.exit is not None:
            trip = self._counted(loop)
            stay = terms.conjuncts(terms.negate(loop.exit))
            above = [e for e in self.kernel.effects[first_effect:] if not terms.implies(terms.conjuncts(e.guard), terms.negate(loop.exit))]
            if trip is not None and not above:
                loop.trip = trip
                self._set_iteration_range(loop.iteration, trip)
                for carry in loop.carries:
                    carry.next = terms.under(carry.next, stay)
                for effect in self.kernel.effects[first_effect:]:
                    effect.map(lambda term: terms.under(term, stay))

    def _over_tiles(self, loop: Loop, first_effect: int, first_loop: int) -> None:
        """A loop from the block's index in steps of the grid size is, over all blocks, a loop over all tiles.

        Only where nothing is carried and the body depends on block and iteration through that index alone.
        """
        terms = self.terms
        axis = next((a for a in range(3) if loop.lower == terms.atom(terms.leaf("block", a))), None)
        if axis is None or loop.upper is None or any(c.leaf not in loop.closed for c in loop.carries):
            return
        size = self.grid[axis]
        grid = terms.const(size) if size is not None else terms.atom(terms.leaf("grid", axis))
        if loop.step != grid:
            return
        block = terms.leaf("block", axis)
        at_first: dict[Term, Term] = {loop.iteration: terms.zero}
        onward = {block: terms.add(terms.atom(block), terms.mul(grid, terms.atom(loop.iteration)))}
        for term in self._terms_inside(first_effect, first_loop):
            if terms.symbols[term] & {block, loop.iteration}:
                if substitute_carries(terms, substitute_carries(terms, term, at_first, {}), onward, {}) != term:
                    return
        self.uid += 1
        tile = terms.leaf("iter", self.side, self.uid)
        self._set_iteration_range(tile, loop.upper)
        self._substitute(loop, at_first, first_effect, first_loop)
        self._substitute(loop, {block: terms.atom(tile)}, first_effect, first_loop)
        loop.iteration, loop.stride = tile, loop.step
        loop.lower, loop.step, loop.trip = terms.zero, terms.one, loop.upper

    def _terms_inside(self, first_effect: int, first_loop: int) -> list[Term]:
        """All terms of the effects and loops of a body."""
        found: list[Term | None] = []
        for effect in self.kernel.effects[first_effect:]:
            found += [effect.guard, effect.pointer, effect.mask, effect.padding, effect.result]
            found += [*effect.values, *effect.coordinates]
        for inner in self.kernel.loops[first_loop:]:
            found += [inner.lower, inner.step, inner.trip, inner.exit]
            for carry in inner.carries:
                found += [carry.init, carry.next]
        return [term for term in found if term is not None]

    def _substitute(self, loop: Loop, mapping: Mapping[Term, Term], first_effect: int, first_loop: int) -> None:
        memo: dict[Term, Term] = {}
        full = dict(mapping)

        def change(term: Term) -> Term:
            return self._subst_carries(term, full, memo)

        for effect in self.kernel.effects[first_effect:]:
            effect.map(change)
        for inner in (loop, *self.kernel.loops[first_loop:]):
            for carry in inner.carries:
                if inner is not loop:
                    carry.init = change(carry.init)
                carry.next = change(carry.next)
            if inner.exit is not None:
                inner.exit = change(inner.exit)
            if inner is not loop:
                inner.trip = None if inner.trip is None else change(inner.trip)
                inner.lower, inner.step = change(inner.lower), change(inner.step)
                inner.closed = {leaf: change(form) for leaf, form in inner.closed.items()}
                inner.canonical = {leaf: change(form) for leaf, form in inner.canonical.items()}
        for closed in list(self.kernel.loop_results):
            new = change(closed)
            if new != closed:
                self.kernel.loop_results.setdefault(new, self.kernel.loop_results[closed])

    def _subst_carries(self, term: Term, mapping: Mapping[Term, Term], memo: dict[Term, Term]) -> Term:
        """Replace carry leaves, and tile-valued carries at their lanes (nodes of kind ``at``)."""
        return substitute_carries(self.terms, term, mapping, memo)

    def _counted(self, loop: Loop) -> Term | None:
        """The trip count when ``exit`` is ``a - s * iteration <= 0`` with a constant step s > 0 and invariant a."""
        terms = self.terms
        exit_ = loop.exit
        if exit_ is None or terms.kind[exit_] != "le":
            return None
        poly = terms.poly(terms.args[exit_][0])
        coef = poly.pop((loop.iteration,), 0)
        if coef >= 0:
            return None
        rest = terms.sum([(terms.sub(terms.args[exit_][0], terms.scale(terms.atom(loop.iteration), coef)), 1)])
        inside = {loop.iteration, *(carry.leaf for carry in loop.carries)}
        if terms.symbols[rest] & inside:
            return None
        return terms.maximum((terms.zero, terms.ceildiv(rest, terms.const(-coef))))

    def _finish_loop(self, loop: Loop) -> None:
        """Name the carried values by what they compute, so that equal loops of two sides get equal terms.

        Colours: round 0 is type and initial value; round t + 1 adds the next value with every carried value
        replaced by its colour of round t. When a round splits no class, equal colours mean equal values, on one
        side and across sides (the colours of a round contain those before it).
        """
        terms = self.terms
        live = [carry for carry in loop.carries if carry.leaf not in loop.closed]
        pieces = [carry.next for carry in live] + ([loop.exit] if loop.exit is not None and loop.trip is None else [])
        height = 1 + max((terms.height[p] for p in pieces), default=0)
        height = max(height, 1 + max((terms.height[c.init] for c in live), default=0))
        it = terms.leaf("it", height)
        terms.ranges[it] = (0, None)
        inits = [self._closed_lanes(c.init, c.value) for c in live]
        nexts = [self._closed_lanes(c.next, c.value) for c in live]
        if len(pieces) > len(live):
            nexts.append(pieces[-1])
        leaves = [c.leaf for c in live]
        colours = [
            terms.node("colour", ("init", c.type_text), (init,)) for c, init in zip(live, inits, strict=True)
        ]
        if len(pieces) > len(live):
            colours.append(terms.node("colour", ("exit",), ()))
        closures = self._closures(live, pieces)
        rounds = [colours]
        limit = len(pieces) + 2
        for _ in range(limit):
            mapping: dict[Term, Term] = {loop.iteration: terms.atom(it)}
            for leaf, colour in zip(leaves, colours, strict=False):
                mapping[leaf] = terms.node("cp", None, (colour,))
            memo = {}
            new = [
                terms.node("colour", ("next",), (old, self._subst_carries(next_, mapping, memo)))
                for old, next_ in zip(colours, nexts, strict=True)
            ]
            rounds.append(new)
            stable = len(set(new)) == len(set(colours))
            colours = new
            if stable and len(rounds) > 2:
                break
        loop.canonical = {loop.iteration: terms.atom(it)}
        for position, carry in enumerate(live):
            loop.canonical[carry.leaf] = terms.node("cp", None, (self._settled(rounds, closures[position], position),))
        if len(pieces) > len(live):
            position = len(live)
            loop.canonical[-1] = self._settled(rounds, closures[position], position)

    def _closed_lanes(self, term: Term, value: SSAValue) -> Term:
        """A carried tile as a function of its own lanes, which later renaming of lanes must not touch."""
        terms = self.terms
        mapping: dict[Term, Term] = {}
        for position, lane in enumerate(_own_lanes(terms, value)):
            leaf = terms.single(lane)
            assert leaf is not None
            closed = terms.leaf("carry_lane", position, terms.attr[leaf][1])
            terms.ranges[closed] = terms.ranges[leaf]
            mapping[leaf] = terms.atom(closed)
        return terms.subst(term, mapping) if mapping else term

    def _closures(self, live: list[Carry], pieces: list[Term]) -> list[frozenset[int]]:
        terms = self.terms
        position = {carry.leaf: index for index, carry in enumerate(live)}
        direct = [frozenset(position[s] for s in terms.symbols[p] if s in position) for p in pieces]
        closures: list[frozenset[int]] = []
        for index in range(len(pieces)):
            seen: set[int] = {index}
            work = [index]
            while work:
                for other in sorted(direct[work.pop()]):
                    if other not in seen:
                        seen.add(other)
                        work.append(other)
            closures.append(frozenset(seen))
        return closures

    def _settled(self, rounds: list[list[Term]], closure: frozenset[int], position: int) -> Term:
        """The colour of the first round that splits no class of the values this one depends on."""
        for before, after in zip(rounds[1:], rounds[2:], strict=False):
            if len({before[i] for i in closure}) == len({after[i] for i in closure}):
                return after[position]
        return rounds[-1][position]

    def _result_node(self, loop: Loop, colour: Term, result: SSAValue) -> Term:
        terms = self.terms
        lanes = _own_lanes(terms, result)
        count = loop.trip if loop.trip is not None else terms.node("until", None, (loop.canonical[-1],))
        node = terms.node("loop_result", None, (colour, count, *lanes))
        return terms.atom(node) if self._sort(result) == "int" else node

    def _loop_result(self, loop: Loop, leaf: Term, index: int, result: SSAValue) -> Term:
        terms = self.terms
        if leaf in loop.closed:
            assert loop.trip is not None
            return terms.subst(loop.closed[leaf], {loop.iteration: terms.maximum((terms.zero, loop.trip))})
        colour = terms.args[loop.canonical[leaf]][0]
        self.kernel.loop_results.setdefault(colour, (loop, index))
        return self._result_node(loop, colour, result)

    def _exit_value(self, loop: Loop, value: Term, index: int, result: SSAValue) -> Term:
        """A value that leaves a ``loop`` by ``break``, seen from outside."""
        terms = self.terms
        value = self._subst_carries(value, loop.closed, {})
        inside = {loop.iteration, *(carry.leaf for carry in loop.carries)}
        if not terms.symbols[value] & inside:
            return value
        for carry in loop.carries:
            if value == self.env.get(carry.value) and loop.trip is not None:
                return self._loop_result(loop, carry.leaf, carry.index, result)
        if loop.trip is not None and not terms.symbols[value] & {carry.leaf for carry in loop.carries}:
            return terms.subst(value, {loop.iteration: terms.maximum((terms.zero, loop.trip))})
        closed = self._closed_lanes(value, result)
        colour = terms.node("colour", ("exit_value",), (self._subst_carries(closed, loop.canonical, {}),))
        self.kernel.loop_results.setdefault(colour, (loop, index))
        return self._result_node(loop, colour, result)

    # ---- shape ops -------------------------------------------------------------------------------------------

    def _lanes(self, shape: Sequence[int]) -> list[Term]:
        return [self.terms.lane(dim, extent) for dim, extent in enumerate(shape)]

    def _relane(self, term: Term, shape: Sequence[int], new: Sequence[Term]) -> Term:
        """The term of a tile of ``shape`` read at the given lane terms."""
        terms = self.terms
        mapping: dict[Term, Term] = {}
        for dim, (extent, target) in enumerate(zip(shape, new, strict=True)):
            if extent == 1:
                continue
            leaf = terms.leaf("lane", dim, extent)
            if terms.single(target) != leaf:
                mapping[leaf] = target
        return terms.subst(term, mapping) if mapping else term

    def _reshape(self, op: TileOp) -> None:
        source = op.one("source")
        assert source is not None
        old, new = source.type.shape, op.results[0].type.shape  # type: ignore[attr-defined]
        self._set(op, self._reshaped(self._get(source), old, new))

    def _reshaped(self, term: Term, old: Sequence[int], new: Sequence[int]) -> Term:
        terms = self.terms
        new_lanes = [(self.terms.lane(dim, extent), extent) for dim, extent in enumerate(new) if extent > 1]
        old_dims = [(dim, extent) for dim, extent in enumerate(old) if extent > 1]
        mapping: dict[Term, Term] = {}
        if [extent for _, extent in old_dims] == [extent for _, extent in new_lanes]:
            for (dim, extent), (lane, _) in zip(old_dims, new_lanes, strict=True):
                leaf = terms.leaf("lane", dim, extent)
                if terms.single(lane) != leaf:
                    mapping[leaf] = lane
        else:
            linear = terms.zero
            for lane, extent in new_lanes:
                linear = terms.add(terms.scale(linear, extent), lane)
            stride = 1
            for dim, extent in reversed(old_dims):
                index = terms.floordiv(linear, terms.const(stride))
                leaf = terms.leaf("lane", dim, extent)
                mapping[leaf] = terms.mod(index, terms.const(extent))
                stride *= extent
        return terms.subst(term, mapping) if mapping else term

    def _broadcast(self, op: TileOp) -> None:
        self._set(op, self._get(op.one("source")))

    def _permute(self, op: TileOp) -> None:
        source = op.one("source")
        assert source is not None
        permutation = op.get("permutation")
        shape = source.type.shape  # type: ignore[attr-defined]
        lanes: list[Term] = [self.terms.zero] * len(shape)
        for new_dim, old_dim in enumerate(permutation):
            lanes[old_dim] = self.terms.lane(new_dim, shape[old_dim])
        self._set(op, self._relane(self._get(source), shape, lanes))

    def _extract(self, op: TileOp) -> None:
        terms = self.terms
        source = op.one("source")
        assert source is not None
        shape, result = source.type.shape, op.results[0].type.shape  # type: ignore[attr-defined]
        lanes: list[Term] = []
        for dim, (index, extent) in enumerate(zip(op.group("index"), result, strict=True)):
            start = terms.scale(self._get(index), extent)
            if shape[dim] == extent:
                start = terms.zero  # any other slice number is out of range
            lanes.append(terms.add(start, terms.lane(dim, extent)))
        self._set(op, self._relane(self._get(source), shape, lanes))

    def _cat(self, op: TileOp) -> None:
        terms = self.terms
        lhs, rhs = op.one("lhs"), op.one("rhs")
        assert lhs is not None and rhs is not None
        dim = op.get("dim")
        shape = op.results[0].type.shape  # type: ignore[attr-defined]
        split = lhs.type.shape[dim]  # type: ignore[attr-defined]
        lane = terms.lane(dim, shape[dim])
        cond = terms.compare("less_than", lane, terms.const(split))
        left = self._relane(self._get(lhs), lhs.type.shape, [lane if d == dim else terms.lane(d, e) for d, e in enumerate(shape)])  # type: ignore[attr-defined]
        shifted = terms.sub(lane, terms.const(split))
        right = self._relane(self._get(rhs), rhs.type.shape, [shifted if d == dim else terms.lane(d, e) for d, e in enumerate(shape)])  # type: ignore[attr-defined]
        self._set(op, terms.ite(cond, left, right, self._sort(op.results[0])))

    def _insert(self, op: TileOp) -> None:
        terms = self.terms
        source, destination = op.one("source"), op.one("destination")
        assert source is not None and destination is not None
        shape, small = destination.type.shape, source.type.shape  # type: ignore[attr-defined]
        conditions: list[Term] = []
        lanes: list[Term] = []
        for dim, (index, extent) in enumerate(zip(op.group("index"), small, strict=True)):
            offset = terms.sub(terms.lane(dim, shape[dim]), terms.scale(self._get(index), extent))
            conditions.append(terms.compare("greater_than_or_equal", offset, terms.zero))
            conditions.append(terms.compare("less_than", offset, terms.const(extent)))
            lanes.append(offset)
        inner = self._relane(self._get(source), small, lanes)
        self._set(op, terms.ite(terms.conjunction(conditions), inner, self._get(destination), self._sort(op.results[0])))

    def _iota(self, op: TileOp) -> None:
        self._set(op, self.terms.lane(0, op.results[0].type.shape[0]))  # type: ignore[attr-defined]

    def _select(self, op: TileOp) -> None:
        cond, a, b = (self._get(op.one(name)) for name in ("condition", "on_true", "on_false"))
        self._set(op, self.terms.ite(cond, a, b, self._sort(op.results[0])))

    def _offset(self, op: TileOp) -> None:
        self._set(op, self.terms.add(self._get(op.one("ptr")), self._get(op.one("offset"))))

    def _constant(self, op: TileOp) -> None:
        terms = self.terms
        dense = op.get("value")
        shape = op.results[0].type.shape  # type: ignore[attr-defined]
        if len(set(dense.bits)) == 1:
            self._set(op, self._scalar(dense.element, dense.bits[0]))
            return
        linear = terms.zero
        for dim, extent in enumerate(shape):
            linear = terms.add(terms.scale(linear, extent), terms.lane(dim, extent))
        values = tuple(dense.bits)
        integers = tuple(dense.ints()) if dense.element.is_int else ()
        steps = {b - a for a, b in zip(integers, integers[1:], strict=False)}
        if dense.element.is_int and dense.element.bits > 1 and len(steps) == 1:
            self._set(op, terms.add(terms.const(integers[0]), terms.scale(linear, steps.pop())))
            return
        node = terms.node("table", (dense.element.name, values), (linear,))
        self._set(op, terms.atom(node) if self._sort(op.results[0]) == "int" else node)

    def _scalar(self, element: Any, bits: int) -> Term:
        terms = self.terms
        if element.is_int:
            if element.bits == 1:
                return terms.bool_const(bool(bits & 1))
            value = bits & ((1 << element.bits) - 1)
            if value >> (element.bits - 1):
                value -= 1 << element.bits
            return terms.const(value)
        return floats.constant(terms, element.name, bits)

    # ---- integers --------------------------------------------------------------------------------------------

    def _arith(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        if self._is_bool(op.results[0]):
            self._set(op, terms.node("bool_op", (op.short,), (a, b)))
            return
        match op.short:
            case "addi":
                term = terms.add(a, b)
            case "subi":
                term = terms.sub(a, b)
            case _:
                term = terms.mul(a, b)
                factor = terms.value(a) if terms.value(a) is not None else terms.value(b)
                if factor is not None and abs(factor) >= HASH_FACTOR and terms.value(term) is None:
                    term = self._wrapped(term, op)
        self._set(op, self._in_width(term, op))

    def _in_width(self, term: Term, op: TileOp) -> Term:
        """A result that wraps where it must: constants, and data whose range is wider than the type.

        Index arithmetic (parameters, block and loop indices, lanes) is taken not to wrap; where that is used, when the
        value is widened, it is said.
        """
        if self.terms.value(term) is not None:
            return self._wrap_constant(term, op)
        return term if self._index_like(term) else self._wrapped(term, op)

    def _bits(self, value: SSAValue) -> int:
        return value.type.element.bits  # type: ignore[attr-defined]

    def _wrapped(self, term: Term, op: TileOp) -> Term:
        terms = self.terms
        bits = self._bits(op.results[0])
        low, high = terms.range(term)
        if low is not None and high is not None and low >= -(1 << (bits - 1)) and high < 1 << (bits - 1):
            return term
        return terms.wrap(bits, term)

    def _wrap_constant(self, term: Term, op: TileOp) -> Term:
        """Constants, and values whose range is known and too wide, wrap like the hardware."""
        terms = self.terms
        value = terms.value(term)
        bits = self._bits(op.results[0])
        if value is not None:
            value &= (1 << bits) - 1
            return terms.const(value - (1 << bits) if value >> (bits - 1) else value)
        return term

    def _negi(self, op: TileOp) -> None:
        self._set(op, self._in_width(self.terms.scale(self._get(op.one("source")), -1), op))

    def _divi(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        rounding = op.get("rounding")
        self._positive_divisor(b)
        signed = self._signed(op, a, b)
        if not signed:
            self._int_op(op, (a, b))
            return
        if rounding == "negative_inf":
            term = terms.floordiv(a, b)
        elif rounding == "positive_inf":
            term = terms.ceildiv(a, b) if terms.nonneg(b) else self._node_int(op, (a, b))
        else:
            term = terms.truncdiv(a, b)
        self._set(op, term)

    def _positive_divisor(self, divisor: Term) -> None:
        """A divisor built from sizes and block indices is a tile count: taken as positive, and said so."""
        terms = self.terms
        if terms.value(divisor) is not None or terms.positive(divisor) or not self._index_like(divisor):
            return
        terms.assume_range(divisor, 1, None)
        self.kernel.assumptions.setdefault("sizes and tile counts that index arithmetic divides by are positive")

    def _signed(self, op: TileOp, *values: Term) -> bool:
        """Whether the op may be read as signed: it is, or all operands are non-negative."""
        return op.get("signed") == "signed" or all(self.terms.nonneg(v) for v in values)

    def _remi(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        self._positive_divisor(b)
        if not self._signed(op, a, b):
            self._int_op(op, (a, b))
            return
        remainder = terms.sub(a, terms.mul(b, terms.truncdiv(a, b)))
        if terms.nonneg(a) and terms.nonneg(b) and not terms.nonneg(remainder) and terms.kind[remainder] == "poly":
            terms.assume_range(remainder, 0, None)
        self._set(op, remainder)

    def _minmax(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        if not self._signed(op, a, b):
            self._int_op(op, tuple(sorted((a, b))))
            return
        self._set(op, terms.minimum((a, b)) if op.short == "mini" else terms.maximum((a, b)))

    def _node_int(self, op: TileOp, args: Sequence[Term], *extra: Any) -> Term:
        bits = self._bits(op.results[0])
        return self.terms.atom(self.terms.node("iop", (bits, op.short, *self._mods(op), *extra), args))

    def _int_op(self, op: TileOp, args: Sequence[Term], *extra: Any) -> None:
        self._set(op, self._node_int(op, args, *extra))

    def _bitwise(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        if self._is_bool(op.results[0]):
            if op.short == "andi":
                term = terms.conjunction((a, b))
            elif op.short == "ori":
                term = terms.disjunction((a, b))
            else:
                term = terms.exclusive_or(a, b)
            self._set(op, term)
            return
        flags = [self._as_flag(v) for v in (a, b)]
        if all(flag is not None for flag in flags):
            p, q = flags
            assert p is not None and q is not None
            if op.short == "andi":
                term = terms.b2i(terms.conjunction((p, q)))
            elif op.short == "ori":
                term = terms.b2i(terms.disjunction((p, q)))
            else:
                term = terms.b2i(terms.exclusive_or(p, q))
            self._set(op, term)
            return
        for x, y in ((a, b), (b, a)):
            value = terms.value(y)
            other = terms.value(x)
            if value is not None and other is not None:
                folded = {"andi": value & other, "ori": value | other, "xori": value ^ other}[op.short]
                self._set(op, terms.const(folded))
                return
            if value is None:
                continue
            if value == 0:
                self._set(op, terms.zero if op.short == "andi" else x)
                return
            if value == -1:
                self._set(op, {"andi": x, "ori": terms.const(-1), "xori": terms.sub(terms.const(-1), x)}[op.short])
                return
            if op.short == "andi" and value > 0 and value & (value + 1) == 0 and terms.nonneg(x):
                self._set(op, terms.mod(x, terms.const(value + 1)))
                return
        self._int_op(op, tuple(sorted((a, b))))

    def _as_flag(self, term: Term) -> Term | None:
        """The predicate behind an integer that is 0 or 1."""
        terms = self.terms
        value = terms.value(term)
        if value in (0, 1):
            return terms.bool_const(value == 1)
        atom = terms.single(term)
        if atom is not None and terms.kind[atom] == "b2i":
            return terms.args[atom][0]
        flipped = terms.single(terms.sub(terms.one, term))
        if flipped is not None and terms.kind[flipped] == "b2i":
            return terms.negate(terms.args[flipped][0])
        return None

    def _shift(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        amount = terms.value(b)
        if amount is not None and 0 <= amount < self._bits(op.results[0]):
            factor = terms.const(1 << amount)
            if op.short == "shli":
                low, high = terms.range(a)
                if low is not None and high is not None and amount <= 16:
                    self._set(op, self._in_width(terms.mul(a, factor), op))
                    return
            elif op.get("signed") == "signed" or terms.nonneg(a):
                self._set(op, terms.floordiv(a, factor))
                return
        self._int_op(op, (a, b))

    def _cmpi(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        predicate = op.get("predicate")
        lhs = op.one("lhs")
        assert lhs is not None
        if self._is_bool(lhs):
            if predicate == "equal":
                self._set(op, terms.negate(terms.exclusive_or(a, b)))
            elif predicate == "not_equal":
                self._set(op, terms.exclusive_or(a, b))
            else:
                sign = -1 if op.get("signed") == "signed" else 1
                self._set(op, terms.compare(predicate, terms.scale(terms.b2i(a), sign), terms.scale(terms.b2i(b), sign)))
            return
        if predicate not in ("equal", "not_equal") and not self._signed(op, a, b):
            if predicate.startswith("greater"):
                a, b, predicate = b, a, predicate.replace("greater", "less")
            if predicate == "less_than_or_equal":
                self._set(op, terms.negate(terms.node("ult", self._bits(lhs), (b, a))))
            else:
                self._set(op, terms.node("ult", self._bits(lhs), (a, b)))
            return
        self._set(op, terms.compare(predicate, a, b))

    def _exti(self, op: TileOp) -> None:
        terms = self.terms
        source = op.one("source")
        assert source is not None
        a = self._get(source)
        signed = op.get("signed") == "signed"
        if self._is_bool(source):
            self._set(op, terms.scale(terms.b2i(a), -1 if signed else 1))
            return
        if not signed and not terms.nonneg(a):
            value = terms.value(a)
            if value is not None:
                self._set(op, terms.const(value & ((1 << self._bits(source)) - 1)))
            else:
                self._set(op, terms.atom(terms.node("zext", (self._bits(source),), (a,))))
            return
        low, high = terms.range(a)
        bits = self._bits(source)
        if low is None or high is None or low < -(1 << (bits - 1)) or high >= 1 << (bits - 1):
            self.kernel.assumptions.setdefault(f"index arithmetic in i{bits} does not wrap before it is widened")
        self._set(op, a)

    def _trunci(self, op: TileOp) -> None:
        terms = self.terms
        a = self._get(op.one("source"))
        if self._is_bool(op.results[0]):
            flag = self._as_flag(a)
            odd = terms.eq0(terms.sub(terms.mod(a, terms.const(2)), terms.one)) if flag is None else flag
            self._set(op, odd)
            return
        bits = self._bits(op.results[0])
        value = terms.value(a)
        if value is not None:
            self._set(op, self._wrap_constant(a, op))
            return
        low, high = terms.range(a)
        if low is not None and high is not None and low >= -(1 << (bits - 1)) and high < 1 << (bits - 1):
            self._set(op, a)
            return
        if op.get("overflow") in ("nsw", "nw") or (bits == 32 and self._index_like(a)):
            self.kernel.assumptions.setdefault("index arithmetic fits i32 where it is narrowed to it")
            self._set(op, a)
            return
        self._set(op, terms.wrap(bits, a))

    def _index_like(self, term: Term) -> bool:
        terms = self.terms
        if any(terms.kind[a] not in INDEX_ATOMS for a in terms.args[term] if terms.kind[term] == "poly"):
            return False
        return all(terms.kind[s] in INDEX_SYMBOLS for s in terms.symbols[term])

    def _unary_int(self, op: TileOp) -> None:
        a = self._get(op.one("source"))
        if self.terms.nonneg(a):
            self._set(op, a)
            return
        self._int_op(op, (a,))

    # ---- floats ----------------------------------------------------------------------------------------------

    def _mods(self, op: TileOp) -> tuple[tuple[str, Any], ...]:
        return tuple(
            (key, value)
            for key in _MODIFIERS
            if (value := op.get(key)) is not None and value is not False and value != _DEFAULTS.get((op.short, key), _DEFAULTS.get(key))
        )

    def _float(self, op: TileOp) -> None:
        element = op.results[0].type.element.name  # type: ignore[attr-defined]
        args = tuple(self._get(value) for value in op.operands)
        self.terms.evaluating = (self.side, op)
        self._set(op, self.terms.float_op((op.short, element, self._mods(op)), args))
        self.terms.evaluating = None

    def _convert(self, op: TileOp) -> None:
        terms = self.terms
        source = op.one("source")
        assert source is not None
        a = self._get(source)
        names = (str(source.type.element), str(op.results[0].type.element))  # type: ignore[attr-defined]
        mods = self._mods(op)
        if op.short == "itof":
            if self._is_bool(source):
                sign = -1 if op.get("signed") == "signed" else 1
                a = terms.scale(terms.b2i(a), sign)
            if terms.nonneg(a):
                mods = tuple(m for m in mods if m[0] != "signed")
            self._set(op, terms.float_op(("itof", names[1], mods), (a,)))
            return
        if op.short == "ftoi" and self._is_bool(op.results[0]):
            self._set(op, terms.node("bool_op", ("ftoi", names[0], mods), (a,)))
            return
        sort = self._sort(op.results[0])
        if op.short == "bitcast" and sort == "int" and self._is_int(source):
            self._set(op, a)  # signless integers of one width
            return
        term = terms.float_op((op.short, names, mods), (a,))
        if op.short == "bitcast" and sort == "bool":
            term = terms.node("bool_op", ("bitcast", names), (a,))
        self._set(op, terms.atom(term) if sort == "int" else term)

    def _cmpf(self, op: TileOp) -> None:
        terms = self.terms
        a, b = self._get(op.one("lhs")), self._get(op.one("rhs"))
        predicate, ordering = op.get("predicate"), op.get("ordering")
        if predicate.startswith("greater"):
            a, b, predicate = b, a, predicate.replace("greater", "less")
        if predicate in ("equal", "not_equal"):
            a, b = sorted((a, b))
        # an unordered comparison is the negation of the opposite ordered one
        if ordering == "unordered":
            opposite = {"equal": "not_equal", "not_equal": "equal"}.get(predicate)
            if opposite is not None:
                self._set(op, terms.negate(terms.node("fcmp", (opposite,), (a, b))))
            else:
                flipped = "less_than_or_equal" if predicate == "less_than" else "less_than"
                self._set(op, terms.negate(terms.node("fcmp", (flipped,), (b, a))))
            return
        self._set(op, terms.node("fcmp", (predicate,), (a, b)))

    # ---- contractions and reductions -------------------------------------------------------------------------

    def _mma(self, op: TileOp) -> None:
        terms = self.terms
        lhs, rhs, acc = op.one("lhs"), op.one("rhs"), op.one("acc")
        assert lhs is not None and rhs is not None and acc is not None
        a_shape, b_shape, c_shape = (v.type.shape for v in (lhs, rhs, acc))  # type: ignore[attr-defined]
        rank = len(c_shape)
        depth = a_shape[-1]
        a, b, c = self._get(lhs), self._get(rhs), self._get(acc)
        scales = [(op.one("lhs_scale"), True), (op.one("rhs_scale"), False)] if op.short == "mmaf_scaled" else []
        scale_terms = [self._get(v) for v, _ in scales]
        height = 1 + max(terms.height[t] for t in (a, b, c, *scale_terms))
        k = terms.atom(terms.bound(height, depth)) if depth > 1 else terms.zero
        row, column = terms.lane(rank - 2, c_shape[-2]), terms.lane(rank - 1, c_shape[-1])
        batch = [terms.lane(d, c_shape[d]) for d in range(rank - 2)]
        left = self._relane(a, a_shape, [*batch, row, k])
        right = self._relane(b, b_shape, [*batch, k, column])
        names = (str(lhs.type.element), str(rhs.type.element), str(acc.type.element))  # type: ignore[attr-defined]
        types: list[tuple[Any, ...]] = [(names[0], op.get("signed_lhs")), (names[1], op.get("signed_rhs"))]
        scaled: list[Term] = []
        for position, (value, is_left) in enumerate(scales):
            assert value is not None
            shape = value.type.shape  # type: ignore[attr-defined]
            blocks = shape[-1] if is_left else shape[-2]
            index = terms.floordiv(k, terms.const(depth // blocks)) if blocks > 1 else terms.zero
            lanes = [*batch, row, index] if is_left else [*batch, index, column]
            scaled.append(self._relane(scale_terms[position], shape, lanes))
            types[position] = (*types[position], str(value.type.element))  # type: ignore[attr-defined]
        flags = ("fast_acc",) if op.short == "mmaf" and op.get("fast_acc") else ()
        node = terms.contraction((op.short, names[2], depth, tuple(types), flags), (left, right, *scaled, c))
        self._set(op, terms.atom(node) if self._sort(op.results[0]) == "int" else node)

    def _reduce(self, op: TileOp) -> None:
        terms = self.terms
        sources = op.group("operands")
        dim = op.get("dim")
        shape = sources[0].type.shape  # type: ignore[attr-defined]
        extent = shape[dim]
        values = [self._get(value) for value in sources]
        scan = op.short == "scan"
        if extent == 1:
            for index, value in enumerate(values):
                lanes = [terms.lane(d if scan or d < dim else d - 1, e) for d, e in enumerate(shape)]
                self._set(op, value if scan else self._relane(value, shape, lanes), index)
            return
        combine = self._combiner(op)
        height = 1 + max(terms.height[t] for t in (*values, *combine))
        index_term = terms.atom(terms.bound(height, extent))
        bodies: list[Term] = []
        for value in values:
            lanes = []
            for d, e in enumerate(shape):
                if d == dim:
                    lanes.append(index_term)
                else:
                    lanes.append(terms.lane(d if scan or d < dim else d - 1, e))
            bodies.append(self._relane(value, shape, lanes))
        identities = tuple((lit.element.name, lit.bits[0]) for lit in op.get("identities"))
        for index in range(len(sources)):
            attr = (op.short, index, extent, identities, len(combine), *((bool(op.get("reverse")),) if scan else ()))
            position = [terms.lane(dim, extent)] if scan else []
            node = terms.node("reduce", attr, (*combine, *bodies, *position))
            self._set(op, terms.atom(node) if self._sort(op.results[index]) == "int" else node, index)

    def _combiner(self, op: TileOp) -> list[Term]:
        """The body of a reduction over ``region`` leaves: 2i is the element, 2i + 1 the accumulator of operand i."""
        terms = self.terms
        block = op.regions[0].block
        for index, arg in enumerate(block.args):
            leaf = terms.leaf("region", index)
            self.env[arg] = terms.atom(leaf) if self._sort(arg) == "int" else leaf
        saved = self.live, self.exits
        _, values = self._block(block)
        self.live, self.exits = saved
        return list(values)

    # ---- views -----------------------------------------------------------------------------------------------

    def _make_tensor_view(self, op: TileOp) -> None:
        terms = self.terms
        kind: TensorView = op.results[0].type  # type: ignore[assignment]
        shape_values, stride_values = iter(op.group("shape")), iter(op.group("strides"))
        shape = tuple(self._get(next(shape_values)) if s is None else terms.const(s) for s in kind.shape)
        strides = tuple(self._get(next(stride_values)) if s is None else terms.const(s) for s in kind.strides)
        pointer = self._get(op.one("base"))
        self.env[op.results[0]] = View(kind, pointer, shape, strides, kind.element.name)

    def _make_view(self, op: TileOp) -> None:
        source: View = self._get(op.one("tensor_view"))
        self.env[op.results[0]] = View(op.results[0].type, source.pointer, source.shape, source.strides, source.element)

    def _index_space(self, op: TileOp) -> None:
        terms = self.terms
        view: View = self._get(op.operands[0])
        kind = view.type
        for index in range(len(op.results)):
            dim = _tensor_dim(kind, index)
            tile = kind.traversal_strides[index] if isinstance(kind, StridedView) else kind.tile[index]
            if isinstance(kind, GatherScatterView) and index == kind.sparse_dim:
                tile = 1
            self._set(op, terms.ceildiv(view.shape[dim], terms.const(tile)), index)

    def _tensor_shape(self, op: TileOp) -> None:
        view: View = self._get(op.operands[0])
        for index in range(len(op.results)):
            self._set(op, view.shape[index], index)

    def _view_access(self, view: View, indices: Sequence[SSAValue], inbounds: Sequence[bool]) -> tuple[Term, Term, tuple[Term, ...], tuple[Term, ...]]:
        """Pointer, mask, coordinates and extents of a tile access, over the tile's lanes."""
        terms = self.terms
        kind = view.type
        pointer = view.pointer
        atoms: list[Term] = []
        coordinates: list[Term] = []
        extents: list[Term] = []
        for index, (value, extent) in enumerate(zip(indices, kind.tile, strict=True)):
            dim = _tensor_dim(kind, index)
            lane = terms.lane(index, extent)
            term = self._get(value)
            sparse = isinstance(kind, GatherScatterView) and index == kind.sparse_dim
            if sparse:
                coordinate = self._relane(term, (extent,), [lane])
            else:
                step = kind.traversal_strides[index] if isinstance(kind, StridedView) else extent
                coordinate = terms.add(terms.scale(term, step), lane)
            coordinates.append(coordinate)
            extents.append(view.shape[dim])
            pointer = terms.add(pointer, terms.mul(coordinate, view.strides[dim]))
            if index < len(inbounds) and inbounds[index]:
                continue
            if extent == 1 and not sparse and not isinstance(kind, StridedView):
                continue  # an index outside the index space is undefined behaviour, so the one element is inside
            atoms.append(terms.compare("less_than", coordinate, view.shape[dim]))
            if sparse and not terms.nonneg(coordinate):
                atoms.append(terms.compare("greater_than_or_equal", coordinate, terms.zero))
        return pointer, terms.conjunction(atoms), tuple(coordinates), tuple(extents)

    # ---- memory ----------------------------------------------------------------------------------------------

    def _base(self, pointer: Term) -> Term | None:
        """The array a pointer term points into: its pointer-valued atom."""
        terms = self.terms
        for mono, coef in terms.poly(pointer).items():
            if coef != 1 or len(mono) != 1:
                continue
            leaf = mono[0]
            if leaf in self._pointer_leaves():
                return terms.atom(leaf)
        for mono, coef in terms.poly(pointer).items():
            if coef == 1 and len(mono) == 1 and terms.kind[mono[0]] in ("mem", "ite", "iop", "f", "symbol", "loop_result", "at", "carry"):
                return terms.atom(mono[0])
        return None

    def _pointer_leaves(self) -> frozenset[Term]:
        cached = getattr(self, "_pointers", None)
        if cached is None:
            leaves: set[Term] = set()
            for param, term in zip(self.entry.regions[0].block.args, self.kernel.arguments, strict=True):
                if self._is_ptr(param):
                    leaf = self.terms.single(term)
                    if leaf is not None:
                        leaves.add(leaf)
            cached = frozenset(leaves)
            self._pointers = cached
        return cached

    def _effect(self, kind: str, op: TileOp, **fields: Any) -> Effect:
        token = op.one("token")
        after: frozenset[int] = self._get(token) if token is not None else frozenset()
        effect = Effect(
            kind,
            op,
            len(self.kernel.effects),
            self.loops,
            self.terms.conjunction((self.guard, self.live)),
            after=after if isinstance(after, frozenset) else frozenset(),
            **fields,
        )
        self.kernel.effects.append(effect)
        return effect

    def _writes(self, loop: Loop, base: Term | None) -> bool:
        """Whether the body of a loop writes the array."""
        known = self.written_in.get(loop.uid)
        if known is None:
            roots: set[Term] = set()
            for op in loop.op.walk():
                group = _POINTER_GROUP.get(getattr(op, "short", ""))
                if group is not None and op.short not in ("load_ptr_tko", "load_view_tko"):  # type: ignore[attr-defined]
                    root = self._pointer_root(op.one(group))  # type: ignore[attr-defined]
                    roots.add(-1 if root is None else root)
            known = self.written_in[loop.uid] = frozenset(roots)
        return bool(known) and (base is None or base in known or -1 in known)

    def _epoch(self, base: Term | None) -> Any:
        """How often the array was written before, as far as program order tells; -1 for an array never written."""
        if base is None:
            return sum(self.stored.values()) if self.stored_bases else -1
        if base not in self.stored_bases and -1 not in self.stored_bases:
            return -1
        return self.stored.get(base, 0)

    def _wrote(self, base: Term | None) -> None:
        key = -1 if base is None else base
        self.stored[key] = self.stored.get(key, 0) + 1

    def _load_term(self, op: TileOp, value: SSAValue, pointer: Term, mask: Term, padding: Term | None) -> Term:
        terms = self.terms
        base = self._base(pointer)
        element = str(value.type.element)  # type: ignore[attr-defined]
        sort = self._sort(value)
        ordering = op.get("memory_ordering")
        epoch = self._epoch(base)
        moments: list[Term] = []
        if ordering != "weak":
            # another block may write between two such loads: each is a value of its own
            self.polls[base] = self.polls.get(base, 0) + 1
            epoch = (epoch, self.polls[base])
            moments = [terms.atom(loop.iteration) for loop in self.loops]
        elif epoch != -1:
            moments = [terms.atom(loop.iteration) for loop in self.loops if self._writes(loop, base)]
        attr: tuple[Any, ...] = (element, epoch, ordering, op.get("memory_scope"))
        memory = terms.node("mem", attr, (pointer, *moments))
        self._bound_memory(memory, value)
        self.origin.setdefault(memory, op)
        loaded = terms.atom(memory) if sort == "int" else memory
        if mask == terms.true:
            return loaded
        otherwise = padding if padding is not None else self._undefined(element, sort)
        return terms.ite(mask, loaded, otherwise, sort)

    def _bound_memory(self, memory: Term, value: SSAValue) -> None:
        if self._is_int(value):
            bits = self._bits(value)
            self.terms.ranges.setdefault(memory, (-(1 << (bits - 1)), (1 << (bits - 1)) - 1))

    def _undefined(self, element: str, sort: str) -> Term:
        node = self.terms.node("undefined", (element,), ())
        return self.terms.atom(node) if sort == "int" else node

    def _padding_value(self, name: str | None, element: Any) -> Term | None:
        if name is None:
            return None
        if element.is_int:
            return self._scalar(element, 0)
        value = {"zero": 0.0, "neg_zero": -0.0, "nan": float("nan"), "pos_inf": float("inf"), "neg_inf": float("-inf")}[name]
        bits = floats.encode(element.name, value)
        if bits is None:
            if name == "zero":
                return floats.constant(self.terms, element.name, 0)
            return self.terms.node("padding", (name, element.name), ())
        return floats.constant(self.terms, element.name, bits)

    def _load_ptr(self, op: TileOp) -> None:
        terms = self.terms
        pointer = self._get(op.one("source"))
        mask_value = op.one("mask")
        mask = terms.true if mask_value is None else self._get(mask_value)
        padding_value = op.one("padding")
        padding = None if padding_value is None else self._get(padding_value)
        result = op.results[0]
        term = self._load_term(op, result, pointer, mask, padding)
        self._set(op, term)
        effect = self._effect(
            "load", op, pointer=pointer, base=self._base(pointer), mask=mask, padding=padding, result=term,
            shape=result.type.shape, element=str(result.type.element), family="pointer",  # type: ignore[attr-defined]
        )
        self.env[op.results[1]] = frozenset((effect.order,))

    def _store_ptr(self, op: TileOp) -> None:
        terms = self.terms
        pointer = self._get(op.one("destination"))
        mask_value = op.one("mask")
        mask = terms.true if mask_value is None else self._get(mask_value)
        value = op.one("value")
        assert value is not None
        base = self._base(pointer)
        effect = self._effect(
            "store", op, pointer=pointer, base=base, mask=mask, values=(self._get(value),),
            shape=value.type.shape, element=str(value.type.element), family="pointer",  # type: ignore[attr-defined]
        )
        self._wrote(base)
        self.env[op.results[0]] = frozenset((effect.order,))

    def _family(self, kind: Any) -> str:
        if isinstance(kind, GatherScatterView):
            return "gather"
        return "strided" if isinstance(kind, StridedView) else "partition"

    def _load_view(self, op: TileOp) -> None:
        view: View = self._get(op.one("view"))
        pointer, mask, coordinates, extents = self._view_access(view, op.group("index"), op.get("inbounds") or ())
        result = op.results[0]
        padding = self._padding_value(view.type.padding, result.type.element)  # type: ignore[attr-defined]
        term = self._load_term(op, result, pointer, mask, padding)
        self._set(op, term)
        effect = self._effect(
            "load", op, pointer=pointer, base=self._base(pointer), mask=mask, padding=padding, result=term,
            shape=result.type.shape, element=str(result.type.element),  # type: ignore[attr-defined]
            family=self._family(view.type), coordinates=coordinates, extents=extents, strides=_view_strides(view),
        )
        self.env[op.results[1]] = frozenset((effect.order,))

    def _store_view(self, op: TileOp) -> None:
        view: View = self._get(op.one("view"))
        pointer, mask, coordinates, extents = self._view_access(view, op.group("index"), op.get("inbounds") or ())
        value = op.one("tile")
        assert value is not None
        base = self._base(pointer)
        effect = self._effect(
            "store", op, pointer=pointer, base=base, mask=mask, values=(self._get(value),),
            shape=value.type.shape, element=str(value.type.element),  # type: ignore[attr-defined]
            family=self._family(view.type), coordinates=coordinates, extents=extents, strides=_view_strides(view),
        )
        self._wrote(base)
        self.env[op.results[0]] = frozenset((effect.order,))

    def _atomic(self, op: TileOp) -> None:
        terms = self.terms
        pointer = self._get(op.one("pointers"))
        mask_value = op.one("mask")
        mask = terms.true if mask_value is None else self._get(mask_value)
        groups = ("arg",) if op.short == "atomic_rmw_tko" else ("cmp", "value")
        operands = [op.one(name) for name in groups]
        values = tuple(self._get(v) for v in operands)
        base = self._base(pointer)
        result = op.results[0]
        attr = (op.short, op.get("mode"), self._epoch(base), str(result.type))
        node = terms.node("atomic", attr, (pointer, mask, *values))
        self._bound_memory(node, result)
        effect = self._effect(
            "atomic_rmw" if op.short == "atomic_rmw_tko" else "atomic_cas", op, pointer=pointer, base=base, mask=mask,
            values=values, shape=result.type.shape, element=str(result.type.element), family="pointer",  # type: ignore[attr-defined]
        )
        self._set(op, terms.atom(node) if self._sort(result) == "int" else node)
        self._wrote(base)
        self.env[op.results[1]] = frozenset((effect.order,))

    def _atomic_red(self, op: TileOp) -> None:
        view: View = self._get(op.one("view"))
        pointer, mask, coordinates, extents = self._view_access(view, op.group("index"), op.get("inbounds") or ())
        value = op.one("value")
        assert value is not None
        base = self._base(pointer)
        effect = self._effect(
            "atomic_rmw", op, pointer=pointer, base=base, mask=mask, values=(self._get(value),),
            shape=value.type.shape, element=str(value.type.element),  # type: ignore[attr-defined]
            family=self._family(view.type), coordinates=coordinates, extents=extents, strides=_view_strides(view),
        )
        self._wrote(base)
        self.env[op.results[0]] = frozenset((effect.order,))

    # ---- the rest --------------------------------------------------------------------------------------------

    def _block_id(self, op: TileOp) -> None:
        terms = self.terms
        for axis in range(3):
            size = self.grid[axis]
            if size == 1:
                self._set(op, terms.zero, axis)
                continue
            leaf = terms.leaf("block", axis)
            terms.ranges[leaf] = (0, (size if size is not None else GRID_MAX[axis]) - 1)
            self._set(op, terms.atom(leaf), axis)

    def _grid_size(self, op: TileOp) -> None:
        terms = self.terms
        for axis in range(3):
            size = self.grid[axis]
            leaf = terms.leaf("grid", axis)
            terms.ranges[leaf] = (1, GRID_MAX[axis])
            self._set(op, terms.const(size) if size is not None else terms.atom(leaf), axis)

    def _assume(self, op: TileOp) -> None:
        value = op.one("value")
        assert value is not None
        term = self._get(value)
        root: Any = value
        while getattr(root.owner, "short", None) == "assume":
            root = root.owner.one("value")
        argument = None
        params = list(self.entry.regions[0].block.args)
        for index, param in enumerate(params):
            if param is root:
                argument = index
        assumption = op.get("assumption")
        self.kernel.promises.append(Promise(op, term, assumption, argument, self.loops))
        if isinstance(term, int) and type(assumption).__name__ == "Bounded":
            leaf = self.terms.single(term)
            if leaf is not None and self.terms.kind[leaf] not in ("poly", "arg", "lane", "block", "grid", "iter"):
                low, high = self.terms.range(leaf)
                new_low = assumption.lower if low is None else low if assumption.lower is None else max(low, assumption.lower)
                new_high = assumption.upper if high is None else high if assumption.upper is None else min(high, assumption.upper)
                if (new_low, new_high) != (low, high):
                    self.terms.ranges[leaf] = (new_low, new_high)
                    self.terms.forget_ranges()
        self.env[op.results[0]] = term

    def _make_token(self, op: TileOp) -> None:
        self.env[op.results[0]] = frozenset()

    def _join(self, op: TileOp) -> None:
        union: frozenset[int] = frozenset()
        for value in op.operands:
            token = self._get(value)
            if isinstance(token, frozenset):
                union |= token
        self.env[op.results[0]] = union

    def _token_effect(self, op: TileOp) -> None:
        effect = self._effect("fence", op)
        if op.operands and not effect.after:
            token = self._get(op.operands[0])
            if isinstance(token, frozenset):
                effect.after = token
        self.env[op.results[0]] = frozenset((effect.order,))

    def _print(self, op: TileOp) -> None:
        values = tuple(v for value in op.group("args") if isinstance(v := self._get(value), int))
        effect = self._effect("print", op, values=values)
        if op.results:
            self.env[op.results[0]] = frozenset((effect.order,))

    def _assert(self, op: TileOp) -> None:
        condition = op.one("condition")
        assert condition is not None
        self._effect("assert", op, values=(self._get(condition),), shape=condition.type.shape)  # type: ignore[attr-defined]

    def _get_global(self, op: TileOp) -> None:
        name = op.get("sym_name") or op.get("name")
        content: Any = name
        parent = self.entry.parent_op()
        if parent is not None:
            for other in parent.regions[0].block.ops:
                if getattr(other, "short", "") == "global" and other.get("sym_name") == name:  # type: ignore[attr-defined]
                    dense = other.get("value")  # type: ignore[attr-defined]
                    if dense is not None:
                        content = (dense.element.name, dense.bits, dense.shape)
        self._set(op, self.terms.atom(self.terms.node("symbol", (content,), ())))

    def _alloca(self, op: TileOp) -> None:
        self.uid += 1
        attr = ("alloca", op.get("num_elem"), op.get("is_global"))
        self._set(op, self.terms.atom(self.terms.node("symbol", (*attr, self._alloca_count()), ())))

    def _alloca_count(self) -> int:
        count = getattr(self, "_allocas", 0)
        self._allocas = count + 1
        return count

    def _pointer_cast(self, op: TileOp) -> None:
        terms = self.terms
        a = self._get(op.one("source"))
        result = op.results[0]
        names = (str(op.operands[0].type.element), str(result.type.element))  # type: ignore[attr-defined]
        node = terms.node("f", (op.short, names, ()), (a,))
        self._set(op, terms.atom(node))

    def _pack(self, op: TileOp) -> None:
        """Reinterpretation of a row of elements: opaque, with the source closed over its index."""
        terms = self.terms
        source = op.operands[0]
        a = self._get(source)
        extent = source.type.shape[0]  # type: ignore[attr-defined]
        height = terms.height[a] + 1
        index = terms.atom(terms.bound(height, extent)) if extent > 1 else terms.zero
        body = self._relane(a, (extent,), [index])
        names = (str(source.type), str(op.results[0].type))
        lane = terms.lane(0, op.results[0].type.shape[0])  # type: ignore[attr-defined]
        node = terms.node("reinterpret", (op.short, names), (body, lane))
        self._set(op, terms.atom(node) if self._sort(op.results[0]) == "int" else node)

    def _opaque(self, op: TileOp) -> None:
        """An op without a model: equal only to itself on equal operands, and listed in the result."""
        self.kernel.not_modelled.append(op)
        args = tuple(v for value in op.operands if isinstance(v := self._get(value), int))
        for index, result in enumerate(op.results):
            if isinstance(result.type, Token):
                self.env[result] = frozenset()
                continue
            node = self.terms.node("opaque", (op.short, index, str(result.type)), args)
            self._set(op, self.terms.atom(node) if self._sort(result) == "int" else node, index)


def substitute_carries(terms: Terms, term: Term, mapping: Mapping[Term, Term], memo: dict[Term, Term]) -> Term:
    """Like ``Terms.subst``, where a carry of tile type, ``at(leaf, lanes)``, is read at its lanes.

    ``mapping`` gives for a carry leaf the term over the carry's own lanes, or a node of kind ``cp``, which stays
    under ``at``.
    """
    keys = frozenset(mapping)
    if not terms.symbols[term] & keys:
        return term
    plain = {leaf: form for leaf, form in mapping.items()}
    stack = [term]
    while stack:
        node = stack[-1]
        if node in memo:
            stack.pop()
            continue
        if not terms.symbols[node] & keys:
            memo[node] = node
            stack.pop()
            continue
        if node in plain:
            memo[node] = plain[node]
            stack.pop()
            continue
        args = terms.args[node]
        waiting = [arg for arg in args if arg not in memo]
        if waiting:
            stack.extend(waiting)
            continue
        new_args = tuple(memo[arg] for arg in args)
        if terms.kind[node] == "at" and new_args[0] != args[0] and terms.kind[new_args[0]] not in ("cp", "carry"):
            own = terms.carry_lanes.get(args[0], ())
            lanes = {
                leaf: new_args[1 + position]
                for position, leaf in enumerate(own)
                if leaf in terms.symbols[new_args[0]] and terms.single(new_args[1 + position]) != leaf
            }
            new = terms.subst(new_args[0], lanes) if lanes else new_args[0]
        else:
            new = terms.rebuild(node, new_args)
        terms.inherit(node, new)
        memo[node] = new
        stack.pop()
    return memo[term]


def _own_lanes(terms: Terms, value: SSAValue) -> list[Term]:
    """The lanes of a value's tile, dimensions of extent one left out."""
    shape = value.type.shape if isinstance(value.type, Tile) else ()
    return [terms.lane(dim, extent) for dim, extent in enumerate(shape) if extent > 1]


def _view_strides(view: View) -> tuple[Term, ...]:
    return tuple(view.strides[_tensor_dim(view.type, index)] for index in range(len(view.type.tile)))


def _tensor_dim(kind: Any, index: int) -> int:
    if isinstance(kind, (PartitionView, StridedView)):
        return kind.dim_map[index]
    return index


def _exits(op: TileOp) -> bool:
    """Whether a loop body contains an early ``continue``."""
    block = op.regions[0].block
    return any(getattr(inner, "short", "") == "continue" and inner.parent is not block for inner in op.walk())


_TERMINATORS = frozenset({"yield", "continue", "break", "return"})
_MODIFIERS = ("rounding", "flush_to_zero", "propagate_nan", "signed", "saturating", "overflow")
_DEFAULTS: dict[Any, Any] = {
    "rounding": "nearest_even",
    ("exp", "rounding"): "full",
    ("tanh", "rounding"): "full",
    ("divi", "rounding"): "zero",
    ("ftoi", "rounding"): "nearest_int_to_zero",
    "overflow": "none",
    ("itof", "signed"): "signed",
    ("ftoi", "signed"): None,
}
_POINTER_GROUP = {
    "load_ptr_tko": "source",
    "store_ptr_tko": "destination",
    "load_view_tko": "view",
    "store_view_tko": "view",
    "atomic_cas_tko": "pointers",
    "atomic_rmw_tko": "pointers",
    "atomic_red_view_tko": "view",
}
_ROOT_GROUP = {
    "assume": "value",
    "reshape": "source",
    "broadcast": "source",
    "permute": "source",
    "extract": "source",
    "offset": "ptr",
    "make_tensor_view": "base",
    "make_partition_view": "tensor_view",
    "make_strided_view": "tensor_view",
    "make_gather_scatter_view": "tensor_view",
}

_FLOAT_OPS = (
    "addf subf mulf divf fma sqrt rsqrt exp exp2 log log2 maxf minf tanh absf negf ceil floor remf cos cosh sin sinh tan "
    "atan2 fpowf fpowi"
).split()

Handler = Callable[[Evaluator, Any], None]
_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_FLOAT_OPS, Evaluator._float),
    **dict.fromkeys(("addi", "subi", "muli"), Evaluator._arith),
    **dict.fromkeys(("andi", "ori", "xori"), Evaluator._bitwise),
    **dict.fromkeys(("shli", "shri"), Evaluator._shift),
    **dict.fromkeys(("maxi", "mini"), Evaluator._minmax),
    **dict.fromkeys(("ftof", "ftoi", "itof", "bitcast"), Evaluator._convert),
    **dict.fromkeys(("mmaf", "mmai", "mmaf_scaled"), Evaluator._mma),
    **dict.fromkeys(("reduce", "scan"), Evaluator._reduce),
    **dict.fromkeys(("make_partition_view", "make_strided_view", "make_gather_scatter_view"), Evaluator._make_view),
    **dict.fromkeys(("atomic_rmw_tko", "atomic_cas_tko"), Evaluator._atomic),
    **dict.fromkeys(("memory_fence_alias_tko", "gdc_launch_dependents_tko", "gdc_wait_tko"), Evaluator._token_effect),
    **dict.fromkeys(("ptr_to_int", "int_to_ptr", "ptr_to_ptr"), Evaluator._pointer_cast),
    **dict.fromkeys(("pack", "unpack"), Evaluator._pack),
    "negi": Evaluator._negi,
    "absi": Evaluator._unary_int,
    "divi": Evaluator._divi,
    "remi": Evaluator._remi,
    "cmpi": Evaluator._cmpi,
    "cmpf": Evaluator._cmpf,
    "exti": Evaluator._exti,
    "trunci": Evaluator._trunci,
    "reshape": Evaluator._reshape,
    "broadcast": Evaluator._broadcast,
    "permute": Evaluator._permute,
    "extract": Evaluator._extract,
    "insert": Evaluator._insert,
    "cat": Evaluator._cat,
    "iota": Evaluator._iota,
    "select": Evaluator._select,
    "offset": Evaluator._offset,
    "constant": Evaluator._constant,
    "make_tensor_view": Evaluator._make_tensor_view,
    "get_index_space_shape": Evaluator._index_space,
    "get_tensor_shape": Evaluator._tensor_shape,
    "load_ptr_tko": Evaluator._load_ptr,
    "store_ptr_tko": Evaluator._store_ptr,
    "load_view_tko": Evaluator._load_view,
    "store_view_tko": Evaluator._store_view,
    "atomic_red_view_tko": Evaluator._atomic_red,
    "get_tile_block_id": Evaluator._block_id,
    "get_num_tile_blocks": Evaluator._grid_size,
    "assume": Evaluator._assume,
    "make_token": Evaluator._make_token,
    "join_tokens": Evaluator._join,
    "print_tko": Evaluator._print,
    "assert": Evaluator._assert,
    "get_global": Evaluator._get_global,
    "alloca": Evaluator._alloca,
    "if": Evaluator._if,
    "for": Evaluator._for,
    "loop": Evaluator._loop,
}
