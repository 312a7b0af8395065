"""Whether two floating-point expressions are the same function of the same inputs, computed otherwise.

Both trees are evaluated at a fixed set of points, in double precision, with every load, reduction,
contraction and carried value as a free input. Agreement names a reformulation and its worst effect; it never
makes a finding go away.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileir_diff.graph import floats
from tileir_diff.graph.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tileir_diff.graph.terms import Term, Terms

    Finish = Callable[[Terms, Term, float], float]
    """What an op makes of its exact result."""
    At = Callable[[dict[Term, float], Finish], dict[Term, float]]

POINTS = 24
"""Ordinary points. Different formulas agree on all of them only if they are close everywhere.

Points at which both are infinite, as where a mask excludes a lane, count for nothing, and others are taken.
"""
LARGE = (90.0, -90.0, 120.0, -120.0, 1e10, -1e10)
SPECIAL: Mapping[str, tuple[float, ...]] = {
    "NaN": (math.nan,),
    "infinities": (math.inf, -math.inf),
    "signed zeros": (0.0, -0.0),
    "very large numbers": (1e30, -1e30, 3e38),
    "very small numbers": (1e-30, -1e-30, 1e-38, 1e-42),
}
ROUNDED_POINTS = 48
"""Ordinary points at which two formulas that round otherwise do not agree bit for bit."""
NODE_LIMIT = 3000
F32_MAX = 3.4028235e38

_EXACT = frozenset({"negf", "absf", "maxf", "minf"})
_PREDICATES = frozenset({"le", "eq", "and", "or", "ult", "bool_op"})
COARSEST_CONSTANT = 5e-3
"""How far a constant can be off because it was rounded to bf16, relative."""
AMPLIFIED = 8
"""How many times more the result may be off: what cancels, as in 1 + tanh(x), makes an error larger."""
_TOLERANCE = {
    "f8E4M3FN": 0.1,
    "f8E5M2": 0.2,
    "bf16": 3e-2,
    "f16": 5e-3,
    "tf32": 2e-3,
    "f32": 2e-5,
    "f64": 1e-10,
}


@dataclass(frozen=True, slots=True)
class Reformulation:
    """``impact`` on the scale of contract 3, and the reason in words."""

    impact: str
    why: str


def reformulation(
    terms: Terms, reference: Term, generated: Term, same: Mapping[Term, Term] | None = None
) -> Reformulation | None:
    """None when the two differ at an ordinary point, read other inputs, or cannot be evaluated.

    ``same``: inputs of the generated side that are taken to have the value of one of the reference's.
    """
    same = same or {}
    nodes = _post_order(terms, (reference, generated))
    if nodes is None:
        return None
    inputs = [node for node in nodes if is_input(terms, node) and node not in same]
    inputs.sort(key=lambda node: _place(terms, node))

    def at(given: dict[Term, float], finish: Finish) -> dict[Term, float]:
        given.update({y: given[x] for y, x in same.items()})
        return _evaluate(terms, nodes, given, finish)

    read = [{same.get(node, node) for node in inputs_of(terms, root)} for root in (reference, generated)]
    if not inputs or read[0] != read[1]:
        return None  # where both agree, it is because what only one of them reads does not matter there
    coarse = [_coarseness(terms, root) for root in (reference, generated)]
    tolerance = _tolerance(_constants(terms, reference), _constants(terms, generated))
    exact = True
    compared = 0
    for point in range(2 * POINTS):
        if compared == POINTS:
            break
        values = at({n: _input(terms, n, index, point) for index, n in enumerate(inputs)}, _kept)
        a, b = values.get(reference), values.get(generated)
        if a is None or b is None:
            return None
        if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
            if a == b or (math.isnan(a) and math.isnan(b)):
                continue
            return None
        compared += 1
        if abs(a - b) > tolerance * max(abs(a), abs(b), 1e-3):
            return None
        exact = exact and abs(a - b) <= 1e-14 * max(abs(a), abs(b))
    if compared < POINTS // 2:
        return None
    for size in LARGE:
        for index in range(len(inputs)):
            values = at(
                {n: size if i == index else _input(terms, n, i, 3) for i, n in enumerate(inputs)},
                _overflowing,
            )
            a, b = values[reference], values[generated]
            if math.isnan(a) != math.isnan(b) or (math.isinf(a) != math.isinf(b)):
                return Reformulation("logic", f"one side overflows where an input is {size:g}")
    if coarse[0] != coarse[1] or _roundings(terms, reference) != _roundings(terms, generated):
        return Reformulation(
            "precision", "equal at all tested points but for rounding, with other intermediate types"
        )
    roots = reference, generated
    same_ops = _rounding_ops(terms, reference) == _rounding_ops(terms, generated)
    if exact and same_ops and _rounds_alike(terms, inputs, roots, at):
        *others, last = _differs_for(terms, inputs, roots, at) or ["none of the special numbers tried"]
        words = f"{', '.join(others)} and {last}" if others else last
        return Reformulation(
            "edge", f"equal at all tested points, rounded by the same ops: differs for {words}"
        )
    return Reformulation("ulp", "equal at all tested points but for rounding, computed otherwise")


def _rounds_alike(terms: Terms, inputs: Sequence[Term], roots: tuple[Term, Term], at: At) -> bool:
    """Whether both give the same number at ordinary points, where each op rounds to its type."""
    narrow = _narrowest(terms, roots)
    for point in range(ROUNDED_POINTS):
        given = {n: _rounded_to(narrow, _input(terms, n, index, point)) for index, n in enumerate(inputs)}
        values = at(given, _rounded)
        if values[roots[0]] != values[roots[1]]:
            return False
    return True


def _differs_for(terms: Terms, inputs: Sequence[Term], roots: tuple[Term, Term], at: At) -> list[str]:
    """The kinds of numbers for which the two are not the same: one input is such a number, or all are."""
    narrow = _narrowest(terms, roots)

    def alike(index: int, size: float, other: float | None) -> bool:
        given = {
            n: size if i == index else _input(terms, n, i, 3) if other is None else other
            for i, n in enumerate(inputs)
        }
        values = at({n: _rounded_to(narrow, value) for n, value in given.items()}, _rounded)
        return _alike(*(values[root] for root in roots))

    return [
        kind
        for kind, sizes in SPECIAL.items()
        if not all(
            alike(index, size, other)
            for size in sizes
            for other in (None, *sizes)
            for index in range(len(inputs))
        )
    ]


def _narrowest(terms: Terms, roots: tuple[Term, Term]) -> str:
    """The type of the fewest digits in which either tree computes: a number of it is one of all others."""
    found = {"f32"}
    for node in _post_order(terms, roots) or []:
        if terms.kind[node] == "f" and not is_input(terms, node):
            element: str | tuple[str, str] = terms.attr[node][1]
            found.update((element,) if isinstance(element, str) else element)
    return min((FORMATS[name][1], name) for name in found if name in FORMATS)[1]


def _alike(a: float, b: float) -> bool:
    """Whether two results are the same, but for the bits of a NaN."""
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def _post_order(terms: Terms, roots: tuple[Term, ...]) -> list[Term] | None:
    order: list[Term] = []
    seen: set[Term] = set()
    stack = list(roots)
    while stack:
        if len(seen) > NODE_LIMIT:
            return None
        node = stack[-1]
        if node in seen:
            stack.pop()
            continue
        waiting = [] if is_input(terms, node) else [arg for arg in _operands(terms, node) if arg not in seen]
        if waiting:
            stack.extend(waiting)
            continue
        seen.add(node)
        order.append(node)
        stack.pop()
    return order


def _operands(terms: Terms, node: Term) -> tuple[Term, ...]:
    return terms.args[node]


def inputs_of(terms: Terms, root: Term) -> list[Term]:
    """The free inputs of an expression, in order; [] where it is too large."""
    nodes = _post_order(terms, (root,))
    return [] if nodes is None else [node for node in nodes if is_input(terms, node)]


def _place(terms: Terms, node: Term) -> tuple[int, int, int]:
    """Where an input is computed: in this order they get their values, in whatever order terms were made."""
    for side, origins in enumerate(terms.origins):
        op = origins.get(node)
        if op is not None:
            return side, op.span.line, op.span.column
    return len(terms.origins), 0, 0


def is_input(terms: Terms, node: Term) -> bool:
    """Whether a value is taken as it is, whatever it is made of."""
    kind = terms.kind[node]
    if kind == "f":
        return terms.attr[node][0] not in _FUNCTIONS
    if kind == "ite":
        return terms.attr[node] != "data"
    return kind not in ("fc", "fcmp", "true", "false", "not")


def _input(terms: Terms, node: Term, index: int, point: int) -> float:
    """A free input: a predicate takes both values over the points, independently of the others."""
    if terms.kind[node] in _PREDICATES:
        return float(_mixed(index, point) >> 31)
    value = _ordinary(index, point)
    # sums are larger than what they are made of, so that what is divided by a length still counts
    return value * 7 if terms.kind[node] in ("reduce", "mma", "loop_result") else value


def _ordinary(index: int, point: int) -> float:
    """A deterministic value in (-2.6, 2.6), never close to zero; one in three is negative."""
    fraction = math.modf((index + 1) * 0.754877666 + (point + 1) * 0.569840291)[0]
    value = 0.15 + 2.4 * fraction
    return -value if _mixed(index, point) % 3 == 0 else value


def _mixed(index: int, point: int) -> int:
    """32 bits that look random: no input goes up and down with another."""
    bits = (index * 0x9E3779B1 + point * 0x85EBCA77 + 0x165667B1) & 0xFFFFFFFF
    for factor in (0x2C1B3C6D, 0x297A2D39):
        bits = ((bits ^ bits >> 15) * factor) & 0xFFFFFFFF
    return bits ^ bits >> 15


def _constants(terms: Terms, root: Term) -> frozenset[float]:
    """The finite constants of a tree."""
    found: set[float] = set()
    stack = [root]
    seen: set[Term] = set()
    while stack:
        node = stack.pop()
        if node in seen or (is_input(terms, node) and terms.kind[node] != "fc"):
            continue
        seen.add(node)
        value = floats.constant_of(terms, node)
        if value is not None and math.isfinite(value):
            found.add(value)
        stack.extend(terms.args[node])
    return frozenset(found)


def _tolerance(reference: frozenset[float], generated: frozenset[float]) -> float:
    """All is in double precision: only constants that one side rounded further may differ."""
    worst = 2e-6
    for value in sorted(reference - generated):
        for other in sorted(generated - reference):
            distance = abs(value - other) / max(abs(value), abs(other))
            if distance < COARSEST_CONSTANT:
                worst = max(worst, AMPLIFIED * distance)
    return worst


def _coarseness(terms: Terms, root: Term) -> float:
    """The unit of the coarsest type in which an op of the tree computes."""
    worst = _TOLERANCE["f32"]
    stack = [root]
    seen: set[Term] = set()
    while stack:
        node = stack.pop()
        if node in seen or is_input(terms, node):
            continue
        seen.add(node)
        if terms.kind[node] == "f":
            element: str | tuple[str, str] = terms.attr[node][1]
            name = element[1] if isinstance(element, tuple) else element
            worst = max(worst, _TOLERANCE.get(name, worst))
        stack.extend(terms.args[node])
    return worst


def _roundings(terms: Terms, root: Term) -> dict[str, int]:
    """How many ops round to each type coarser than f32."""
    counts: dict[str, int] = {}
    stack = [root]
    seen: set[Term] = set()
    while stack:
        node = stack.pop()
        if node in seen or is_input(terms, node):
            continue
        seen.add(node)
        if terms.kind[node] == "fc" and _TOLERANCE.get(terms.attr[node][0], 0) > _TOLERANCE["f32"]:
            name = f"constant {terms.attr[node][0]}"
            counts[name] = counts.get(name, 0) + 1
        if terms.kind[node] == "f" and terms.attr[node][0] not in _EXACT:
            element: str | tuple[str, str] = terms.attr[node][1]
            source, target = element if isinstance(element, tuple) else (None, element)
            widening = source is not None and _TOLERANCE.get(source, 0) >= _TOLERANCE.get(target, 0)
            if _TOLERANCE.get(target, 0) > _TOLERANCE["f32"] and not widening:
                counts[target] = counts.get(target, 0) + 1
        stack.extend(terms.args[node])
    return counts


def _rounding_ops(terms: Terms, root: Term) -> dict[object, int]:
    """How often each op that may round occurs.

    A product with a power of two does not, but at the ends of the range, nor does a sum with zero, or with
    what is chosen from zero and infinities, as a mask that is added.
    """
    found: dict[object, int] = {}
    for node in _post_order(terms, (root,)) or []:
        if terms.kind[node] != "f" or terms.attr[node][0] in _EXACT or is_input(terms, node):
            continue
        exact = {"mulf": _is_power, "addf": _is_added_mask}.get(terms.attr[node][0])
        if exact is None or not any(exact(terms, arg) for arg in terms.args[node]):
            found[terms.attr[node]] = found.get(terms.attr[node], 0) + 1
    return found


def _is_added_mask(terms: Terms, term: Term) -> bool:
    """Whether a term is zero or an infinity, as a condition says, or zero."""
    if floats.constant_of(terms, term) == 0:
        return True
    if terms.kind[term] != "ite":
        return False
    values = [floats.constant_of(terms, arm) for arm in terms.args[term][1:]]
    return all(value is not None and (value == 0 or math.isinf(value)) for value in values)


def _is_power(terms: Terms, term: Term) -> bool:
    """Whether a term is a constant power of two, of either sign."""
    value = floats.constant_of(terms, term)
    return value is not None and math.isfinite(value) and abs(math.frexp(value)[0]) == 0.5


def _kept(terms: Terms, node: Term, value: float) -> float:
    """Double precision, in place of the op's type."""
    return value


def _overflowing(terms: Terms, node: Term, value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) > F32_MAX else value


def _rounded(terms: Terms, node: Term, value: float) -> float:
    element: str | tuple[str, str] = terms.attr[node][1]
    return _rounded_to(element[1] if isinstance(element, tuple) else element, value)


def _rounded_to(element: str, value: float) -> float:
    bits = floats.encode(element, value)
    rounded = None if bits is None else floats.decode(element, bits)
    return value if rounded is None else rounded


def _evaluate(
    terms: Terms, nodes: list[Term], given: Mapping[Term, float], finish: Finish
) -> dict[Term, float]:
    values: dict[Term, float] = {}
    for node in nodes:
        kind = terms.kind[node]
        if node in given:
            values[node] = given[node]
        elif kind == "fc":
            value = floats.constant_of(terms, node)
            values[node] = math.nan if value is None else value
        elif kind == "true":
            values[node] = 1.0
        elif kind == "false":
            values[node] = 0.0
        elif kind == "not":
            values[node] = 0.0 if values[terms.args[node][0]] > 0 else 1.0
        elif kind == "fcmp":
            a, b = (values[arg] for arg in terms.args[node])
            values[node] = float(
                {"less_than": a < b, "less_than_or_equal": a <= b, "equal": a == b}.get(
                    terms.attr[node][0], a != b
                )
            )
        elif kind == "ite":
            cond, a, b = (values[arg] for arg in terms.args[node])
            values[node] = a if cond > 0 else b
        else:
            arguments = [values[arg] for arg in terms.args[node]]
            try:
                value = _FUNCTIONS[terms.attr[node][0]](*arguments)
            except OverflowError:
                value = math.inf
            except (ValueError, ZeroDivisionError):
                value = math.nan
            values[node] = finish(terms, node, value)
    return values


def _divide(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
    return a / b


def _maximum(*values: float) -> float:
    """A zero with a plus is the larger one."""
    return max([value for value in values if not math.isnan(value)], key=_in_order, default=math.nan)


def _minimum(*values: float) -> float:
    return min([value for value in values if not math.isnan(value)], key=_in_order, default=math.nan)


def _in_order(value: float) -> tuple[float, float]:
    return value, math.copysign(1.0, value)


def _whole(rounded: Callable[[float], int]) -> Callable[[float], float]:
    """``math.floor`` or ``math.ceil``, where what is not finite stays."""
    return lambda a: float(rounded(a)) if math.isfinite(a) else a


def _multiply_add(a: float, b: float, c: float) -> float:
    return a * b + c


def _same(a: float) -> float:
    return a


def _rsqrt(a: float) -> float:
    return 1.0 / math.sqrt(a)


def _exp2(a: float) -> float:
    return math.pow(2.0, a)


_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "addf": operator.add,
    "mulf": operator.mul,
    "divf": _divide,
    "fma": _multiply_add,
    "negf": operator.neg,
    "absf": abs,
    "sqrt": math.sqrt,
    "rsqrt": _rsqrt,
    "exp": math.exp,
    "exp2": _exp2,
    "log": math.log,
    "log2": math.log2,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "maxf": _maximum,
    "minf": _minimum,
    "ftof": _same,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
}
