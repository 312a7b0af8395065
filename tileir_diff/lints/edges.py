"""What lies past the edge of an array, and where it goes: on normal forms.

A load that can be cut off reads `ite(inside, mem, padding)`, where `padding` is the node "undefined" if
there is none.
`leaf` below is the bound index of a reduction or matrix product; a condition that contains it cuts off that
dimension.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tileir_diff.dialect.attributes import DivBy
from tileir_diff.lints.facts import LOADS, compares_lanes, incoming, owner, sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Carry, Kernel
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.lints.facts import EntryFacts

Value = float | int | None
"""A float: this constant. An int: a term that is the same for all lanes. None: not known."""


def live_terms(facts: EntryFacts) -> Iterator[Term]:
    """Every reduction, scan and matrix product that an effect or a carried value depends on."""
    kernel = facts.kernel
    if kernel is None:
        return
    terms = kernel.terms
    work: list[Term] = []
    for effect in kernel.effects:
        for term in (effect.pointer, effect.mask, effect.guard, *effect.values):
            if term is not None:
                work.append(term)
    for loop in kernel.loops:
        if loop.exit is not None:
            work.append(loop.exit)
        work.extend(carry.next for carry in loop.carries)
        work.extend(carry.init for carry in loop.carries)
    seen: set[Term] = set()
    while work:
        term = work.pop()
        if term in seen:
            continue
        seen.add(term)
        if terms.kind[term] == "colour":
            continue  # a loop's result: its carried values are visited by themselves
        if terms.kind[term] in ("reduce", "mma"):
            yield term
        work.extend(terms.args[term])


def edge_ops(facts: EntryFacts, term: Term) -> TileOp | None:
    """The op that made a reduction or matrix product."""
    kernel = facts.kernel
    return None if kernel is None else kernel.terms.origins[kernel.side].get(term)


def reduced_over(terms: Terms, term: Term) -> tuple[Term, tuple[Term, ...], str] | None:
    """The bound index of a reduction or matrix product, what it runs over, and the op's name.

    None where lanes past the edge cannot matter: without a dependence on the index, and for scans that run
    forward.
    """
    attr, args = terms.attr[term], terms.args[term]
    if terms.kind[term] == "mma":
        bodies, extent, short = args[:2], attr[2], "matrix product"
    elif terms.kind[term] == "reduce":
        position = 1 if attr[0] == "scan" else 0
        if position and not attr[-1]:
            return None  # lanes past the edge come last: no lane before the edge takes them
        bodies, extent, short = args[attr[4] : len(args) - position], attr[2], str(attr[0])
    else:
        return None
    leaves = {
        symbol
        for body in bodies
        for symbol in terms.symbols[body]
        if terms.kind[symbol] == "bound" and terms.attr[symbol][1] == extent
    }
    if not leaves:
        return None
    # indices bound further inside have a smaller height
    return max(leaves, key=lambda leaf: terms.attr[leaf][0]), bodies, short


def divisors(kernel: Kernel) -> dict[Term, int]:
    """Arguments with a promised divisor, as leaves."""
    known: dict[Term, int] = {}
    for promise in kernel.promises:
        if isinstance(promise.assumption, DivBy) and isinstance(promise.term, int):
            leaf = kernel.terms.single(promise.term)
            if leaf is not None and promise.argument is not None:
                known[leaf] = max(known.get(leaf, 1), promise.assumption.divisor)
    return known


def cuts(kernel: Kernel, condition: Term, leaf: Term) -> bool:
    """Whether a condition can hold for some values of `leaf` only, as far as promises and loops tell."""
    terms = kernel.terms
    known = divisors(kernel)
    for atom in terms.conjuncts(condition):
        if leaf not in terms.symbols[atom]:
            continue
        if terms.kind[atom] != "le":
            return True
        poly = terms.args[atom][0]
        if _whole_tiles(terms, poly, leaf, known) or _holds_in_loop(kernel, poly):
            continue
        return True
    return False


def _whole_tiles(terms: Terms, poly: Term, leaf: Term, known: dict[Term, int]) -> bool:
    """Whether everything but `leaf` moves in multiples of its extent."""
    extent = terms.attr[leaf][1]
    for mono, coefficient in terms.attr[poly]:
        if mono in ((), (leaf,)):
            continue
        factor = abs(coefficient)
        for part in mono:
            factor *= known.get(part, 1)
        if factor % extent:
            return False
    return True


def _holds_in_loop(kernel: Kernel, poly: Term) -> bool:
    """Whether `poly <= 0` follows from the trip counts of the loops whose iterations it contains.

    A loop over whole tiles runs to `size / tile`, rounded down, or to the smaller of that and something else.
    """
    terms = kernel.terms
    for loop in kernel.loops:
        if loop.trip is None or loop.iteration not in terms.symbols[poly]:
            continue
        trip = terms.single(loop.trip)
        ends = terms.args[trip] if trip is not None and terms.kind[trip] == "min" else (loop.trip,)
        for end in ends:
            last = terms.subst(poly, {loop.iteration: terms.sub(end, terms.one)})
            low, _ = terms.range(terms.scale(last, -1))
            if low is not None and low >= 0:
                return True
    return False


def moves(terms: Terms, condition: Term, leaf: Term) -> bool:
    """Whether the tile moves along the cut dimension, by block or iteration: a last partial one is due."""
    return any(
        terms.kind[symbol] in ("block", "iter", "it", "carry", "region") or terms.kind[symbol] == "lane"
        for atom in terms.conjuncts(condition)
        if leaf in terms.symbols[atom]
        for symbol in terms.symbols[atom]
        if symbol != leaf
    )


def is_undefined(terms: Terms, term: Term) -> bool:
    atom = terms.single(term)
    return terms.kind[term if atom is None else atom] == "undefined"


def contains_undetermined(terms: Terms, root: Term) -> bool:
    seen: set[Term] = set()
    work = [root]
    while work:
        term = work.pop()
        if term in seen:
            continue
        seen.add(term)
        if terms.kind[term] == "undefined":
            return True
        if terms.kind[term] != "colour":
            work.extend(terms.args[term])
    return False


def undetermined_load(facts: EntryFacts, root: Term, leaf: Term) -> tuple[TileOp, bool] | None:
    """A load whose lanes past the edge of dimension `leaf` are undetermined and part of `root`, and whether
    its tile moves.

    None if there is none. A `select` whose condition contains `leaf` is taken as the mask that it looks
    like: what is below is not visited.
    """
    kernel = facts.kernel
    assert kernel is not None
    terms = kernel.terms
    loops = loop_values(kernel)
    seen: set[tuple[Term, Term]] = set()
    work = [(root, leaf)]
    while work:
        term, leaf = work.pop()
        if (term, leaf) in seen or leaf not in terms.symbols[term]:
            continue
        seen.add((term, leaf))
        if terms.kind[term] == "loop_result":
            carry, own = _carried_along(terms, loops, term, leaf)
            if carry is not None:
                work += [(carry.init, own), (carry.next, own)]
            continue
        if terms.kind[term] == "ite":
            condition, on_true, on_false = terms.args[term]
            if leaf in terms.symbols[condition]:
                for arm, other in ((on_true, on_false), (on_false, on_true)):
                    if is_undefined(terms, other) and _cuts_either_way(kernel, condition, leaf):
                        load = _origin(kernel, arm)
                        if load is not None:
                            return load, moves(terms, condition, leaf)
                continue
        work.extend((arg, leaf) for arg in terms.args[term])
    return None


def loop_values(kernel: Kernel) -> dict[Term, Carry]:
    """Carried values by the colour that names their results outside the loop."""
    terms = kernel.terms
    found: dict[Term, Carry] = {}
    for result, (loop, index) in kernel.loop_results.items():
        carry = next((each for each in loop.carries if each.index == index), None)
        if carry is not None:
            colour = terms.args[result][0] if terms.kind[result] == "loop_result" else result
            found.setdefault(colour, carry)
    return found


def _carried_along(
    terms: Terms, loops: dict[Term, Carry], result: Term, leaf: Term
) -> tuple[Carry | None, Term]:
    """The carried value behind the result of a loop, and the lane of it that `leaf` is."""
    colour, _, *lanes = terms.args[result]
    carry = loops.get(colour)
    own = terms.carry_lanes.get(carry.leaf, ()) if carry is not None else ()
    for lane, target in zip(own, lanes, strict=False):
        if terms.single(target) == leaf:
            return carry, lane
    return None, leaf


def _cuts_either_way(kernel: Kernel, condition: Term, leaf: Term) -> bool:
    return cuts(kernel, condition, leaf) and cuts(kernel, kernel.terms.negate(condition), leaf)


def _origin(kernel: Kernel, loaded: Term) -> TileOp | None:
    terms = kernel.terms
    atom = terms.single(loaded)
    node = loaded if atom is None else atom
    op = kernel.terms.origins[kernel.side].get(node)
    return op if terms.kind[node] == "mem" else None


def past_the_edge(kernel: Kernel, root: Term, leaf: Term) -> Value:
    """What `root` is where `leaf` lies past the edge of the padded loads in it.

    None if there are no such loads, or the value is not known.
    """
    evaluation = _PastTheEdge(kernel, leaf)
    value = evaluation.value(root)
    return value if evaluation.met_load else None


class _PastTheEdge:
    """Evaluates a term with each condition on `leaf` decided as for a large one. Loaded values are finite."""

    def __init__(self, kernel: Kernel, leaf: Term) -> None:
        self.kernel = kernel
        self.terms = kernel.terms
        self.leaf = leaf
        self.met_load = False
        self.memo: dict[Term, Value] = {}
        self.carry: tuple[Term, Value] | None = None
        """The carried value of the loop whose body this is, and what it is so far."""

    def value(self, root: Term) -> Value:
        """Iterative, arguments first: expressions of long kernels are deep."""
        terms = self.terms
        work = [root]
        while work:
            term = work[-1]
            if term in self.memo:
                work.pop()
                continue
            waiting = [arg for arg in self._needed(term) if arg not in self.memo]
            if waiting:
                work.extend(waiting)
                continue
            self.memo[term] = self._of(term)
            work.pop()
        result = self.memo[root]
        return root if result is None and self.leaf not in terms.symbols[root] else result

    def _needed(self, term: Term) -> tuple[Term, ...]:
        terms = self.terms
        if self.leaf not in terms.symbols[term]:
            return ()
        kind = terms.kind[term]
        if kind == "ite":
            arm = self._arm(term)
            return () if arm is None else (arm,)
        if kind == "mma":
            return (*terms.args[term][:2], terms.args[term][-1])
        return terms.args[term] if kind == "f" else ()

    def _arm(self, ite: Term) -> Term | None:
        """The arm that is taken for a large `leaf`."""
        terms = self.terms
        condition, on_true, on_false = terms.args[ite]
        if self.leaf not in terms.symbols[condition]:
            return None
        signs: set[bool] = set()
        for atom in terms.conjuncts(condition):
            if self.leaf not in terms.symbols[atom]:
                continue
            if terms.kind[atom] != "le":
                return None
            linear = dict(terms.attr[terms.args[atom][0]]).get((self.leaf,), 0)
            if not linear:
                return None
            signs.add(linear > 0)
        if len(signs) != 1:
            return None
        past = on_false if signs.pop() else on_true
        inside = on_true if past == on_false else on_false
        atom_inside = terms.single(inside)
        if terms.kind[inside if atom_inside is None else atom_inside] == "mem":
            if not _cuts_either_way(self.kernel, condition, self.leaf):
                return None
            self.met_load = True
        return past

    def _of(self, term: Term) -> Value:
        terms = self.terms
        kind = terms.kind[term]
        if kind == "fc":
            from tileir_diff.dialect.scalars import decode

            element, bits = terms.attr[term]
            return decode(bits, element)
        if self.leaf not in terms.symbols[term]:
            return None if kind == "undefined" else term
        if kind == "ite":
            arm = self._arm(term)
            return None if arm is None else self.memo[arm]
        if kind == "mma":
            return (
                self.memo[terms.args[term][-1]]
                if 0.0 in [self.memo[arg] for arg in terms.args[term][:2]]
                else None
            )
        if kind == "f":
            return self._float(terms.attr[term][0], [self.memo[arg] for arg in terms.args[term]], term)
        if kind == "loop_result":
            return self._loop(term)
        if kind == "at" and self.carry is not None and terms.args[term][0] == self.carry[0]:
            return self.carry[1]
        return None

    def _loop(self, result: Term) -> Value:
        """A value that a loop accumulates: after one iteration, taken to stand for all."""
        carry, own = _carried_along(self.terms, loop_values(self.kernel), result, self.leaf)
        if carry is None:
            return None
        inner = _PastTheEdge(self.kernel, own)
        start = inner.value(carry.init)
        inner.carry = (carry.leaf, start)
        after = inner.value(carry.next)
        self.met_load = self.met_load or inner.met_load
        return after

    def _float(self, name: str, values: list[Value], term: Term) -> Value:
        if name in ("ftof", "absf", "reshape") and len(values) == 1:
            value = values[0]
            return abs(value) if name == "absf" and isinstance(value, float) else value
        if name == "mulf" and 0.0 in values and not any(_infinite(value) for value in values):
            return 0.0
        if name == "fma" and 0.0 in values[:2] and not any(map(_infinite, values[:2])):
            return values[2]
        if (
            name in ("addf", "subf")
            and any(_infinite(value) for value in values)
            and not all(map(_infinite, values))
        ):
            first, second = values
            if _infinite(first):
                return first
            assert isinstance(second, float)
            return second if name == "addf" else -second
        if any(value is None for value in values):
            return None
        numbers = [value for value in values if isinstance(value, float)]
        if len(numbers) == len(values):
            return _folded(name, numbers)
        if any(map(_infinite, values)):
            return None  # the sign of the other factor decides
        return self._rebuilt(term, values)  # from values that are the same in every lane past the edge

    def _rebuilt(self, term: Term, values: list[Value]) -> Term:
        """The op on what its arguments are past the edge, for people to read."""
        terms = self.terms
        element = terms.attr[term][1]
        if not isinstance(element, str):
            return term
        args: list[Term] = []
        for value in values:
            if isinstance(value, float):
                from tileir_diff.dialect.scalars import encode

                value = terms.node("fc", (element, encode(value, element)))
            assert value is not None  # the caller has looked
            args.append(value)
        return terms.float_op(terms.attr[term], tuple(args))


def non_negative(terms: Terms, root: Term) -> bool:
    """Whether a float term is never below zero, whatever was loaded (NaN aside)."""
    work, seen = [root], set[int]()
    while work:
        term = work.pop()
        if term in seen:
            continue
        seen.add(term)
        kind, args = terms.kind[term], terms.args[term]
        if kind == "fc":
            from tileir_diff.dialect.scalars import decode

            element, bits = terms.attr[term]
            if decode(bits, element) < 0:
                return False
        elif kind == "ite":
            work.extend(args[1:])
        elif kind == "f":
            name = terms.attr[term][0]
            if name in ("absf", "exp", "exp2", "sqrt") or (name == "mulf" and args[0] == args[1]):
                continue
            if name not in ("ftof", "addf", "mulf", "divf", "maxf", "minf"):
                return False
            work.extend(args)
        else:
            return False
    return True


def masked_by_select(facts: EntryFacts, op: TileOp) -> bool:
    """Whether lanes are chosen by a `select` on lane numbers somewhere between the loads and a reduction.

    The normal form drops a `select` whose mask it can prove; the author thought of the tail all the same.
    """
    seen: set[SSAValue] = set()
    work = [value for group in ("operands", "lhs", "rhs") for value in op.group(group)]
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        made_by = owner(value)
        if made_by is None:
            work.extend(incoming(value))
            continue
        if made_by.short in (*LOADS, "reduce", "scan"):
            continue
        if made_by.short == "select" and compares_lanes(made_by.group("condition")[0]):
            return True
        work.extend(sources(made_by, value))
    return False


def _infinite(value: Value) -> bool:
    return isinstance(value, float) and math.isinf(value)


def _folded(name: str, values: list[float]) -> Value:
    """A float op on constants; None where it is not folded."""
    if any(math.isnan(value) for value in values):
        return None
    try:
        return _fold(name, values)
    except (ArithmeticError, ValueError):
        return None


def _fold(name: str, values: list[float]) -> Value:
    match name, values:
        case "addf", [a, b]:
            return a + b
        case "subf", [a, b]:
            return a - b
        case "mulf", [a, b]:
            return a * b
        case "divf", [a, b]:
            return a / b
        case "fma", [a, b, c]:
            return a * b + c
        case "maxf", [a, b]:
            return max(a, b)
        case "minf", [a, b]:
            return min(a, b)
        case "negf", [a]:
            return -a
        case "exp", [a]:
            return math.exp(a)
        case "exp2", [a]:
            return 2.0**a
        case "sqrt", [a]:
            return math.sqrt(a)
        case _:
            return None
