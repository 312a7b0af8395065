"""Two values that are one function of the same inputs, written otherwise; and what may hide behind that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.floats import SIGNED_ZERO
from tileir_diff.graph.formats import FORMATS
from tileir_diff.match.blame_floats import affinity, mode_words, modifier_rule
from tileir_diff.match.reformulate import inputs_of, is_input, reformulation
from tileir_diff.match.sites import origin
from tileir_diff.match.written import as_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame, Finding, Op
    from tileir_diff.match.reformulate import Reformulation

SUMS = frozenset({"addf", "mulf", "fma"})
"""Ops that are written for each other."""
DEEP = frozenset({"mem", "mma", "reduce", "loop_result"})
"""Kinds of inputs that have much behind them."""
OPERATIONS = {
    "addf": "addition of",
    "divf": "division by",
    "maxf": "maximum with",
    "minf": "minimum with",
    "mulf": "multiplication by",
}
"""Ops that may be left out by mistake, and how they read with their second operand."""
MAX_OPS = 64
MAX_INPUTS = 4
"""More inputs than this on one side only are not each other's."""


def same_function(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> list[Finding] | None:
    """The finding for two spellings of one function, and the modes that only one has; None: no such thing."""
    known = reformulation(blame.terms, a, b)
    return None if known is None else _named(blame, known, a, b, ref_op, gen_op)


def same_function_of_others(
    blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int
) -> list[Finding] | None:
    """Two spellings of one function of inputs that differ in turn; None where it is no one function."""
    inputs = _paired_inputs(blame, a, b)
    known = reformulation(blame.terms, a, b, {y: x for x, y in inputs}) if inputs else None
    if known is None:
        return None
    found = _named(blame, known, a, b, ref_op, gen_op)
    if found is None:
        return None
    for x, y in inputs:
        found.extend(blame.walk(x, y, ref_op, gen_op, depth + 1))
    return found


def inputs_behind(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """What differs in the inputs of two functions that are not the same.

    Only where all but a few inputs are equal, and each of the others has one that it may be.
    """
    found: list[Finding] = []
    for x, y in _paired_inputs(blame, a, b):
        if blame.terms.kind[x] in DEEP:
            found.extend(blame.walk(x, y, ref_op, gen_op, depth + 1))
    return found


def _named(
    blame: Blame, known: Reformulation, a: Term, b: Term, ref_op: Op, gen_op: Op
) -> list[Finding] | None:
    """The finding for the two spellings, and the modes that only one has; None where the ops are the same."""
    hidden = [*_modes(blame, a, b, ref_op, gen_op), *_roundings(blame, a, b, ref_op)]
    if bare(blame, a) == bare(blame, b):
        return hidden or None  # the same ops: what differs is the mode of one, told where it stands
    rule = "arithmetic/extra-rounding" if known.impact == "precision" else "arithmetic/reformulated"
    words = as_written(blame, a, b, ref_op, gen_op)
    theirs, own = _types(blame, a), _types(blame, b)
    detail: dict[str, object] = {}
    if rule == "arithmetic/extra-rounding" and theirs != own and theirs and own:
        lost = [each for each in theirs if each not in own]
        if set(own) < set(theirs) and all(_digits(each) < max(map(_digits, own)) for each in lost):
            rule = "conversion/missing"
            words = f"rounded to {' and '.join(lost)} on the way", f"computed in {' and '.join(own)} alone"
        else:
            detail = {"their_types": " and ".join(theirs), "own_types": " and ".join(own)}
    found = blame.one(rule, ref_op, gen_op, *words, impact=known.impact, note=known.why, detail=detail)
    return [*found, *hidden]


def _types(blame: Blame, root: Term) -> list[str]:
    """The types in which a value is computed."""
    ops = (blame.terms.attr[node] for node in _ops_of(blame, root))
    return sorted({element for _, element, _ in ops if isinstance(element, str)})


def _digits(element: str) -> int:
    """Those that a number of a type keeps; of types that are computed in through others, none."""
    return FORMATS[element][1] if element in FORMATS else 0


def left_out(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> list[Finding] | None:
    """The finding for an op with a second operand that alone makes the difference; else None."""
    for missing, terms in ((True, (a, b)), (False, (b, a))):
        lone = _lone_op(blame, *terms)
        if lone is None:
            continue
        node, words = lone
        kernel = blame.reference if missing else blame.generated
        op = origin(kernel, node)
        if missing:
            return blame.one("arithmetic/missing", op or ref_op, gen_op, words, "", status="MISSING")
        return blame.one("arithmetic/extra", ref_op, op or gen_op, "", words, status="EXTRA")
    return None


def _lone_op(blame: Blame, more: Term, less: Term) -> tuple[Term, str] | None:
    """The op of the one value without which it is the other, and what it does: `multiplication by arg13`."""
    terms = blame.terms
    wanted = bare(blame, less)
    for at, node in enumerate(_ops_of(blame, more)):
        if at == MAX_OPS:
            return None
        named = OPERATIONS.get(terms.attr[node][0])
        if named is None or len(terms.args[node]) != 2:
            continue
        operands = terms.args[node][:1] if terms.attr[node][0] == "divf" else terms.args[node]
        for kept in operands:
            if bare(blame, more, {node: kept}) != wanted:
                continue
            other = next((arg for arg in terms.args[node] if arg != kept), kept)
            return node, _said(blame, terms.attr[node][0], other)
    return None


def _said(blame: Blame, name: str, operand: Term) -> str:
    terms = blame.terms
    if name == "addf" and terms.kind[operand] == "f" and terms.attr[operand][0] == "negf":
        return f"subtraction of {blame.show(terms.args[operand][0])}"
    return f"{OPERATIONS[name]} {blame.show(operand)}"


def _paired_inputs(blame: Blame, a: Term, b: Term) -> list[tuple[Term, Term]]:
    """The inputs that only one side has, each with the one on the other side that it is most like."""
    left, right = inputs_of(blame.terms, a), inputs_of(blame.terms, b)
    only_a = [term for term in left if term not in right]
    only_b = [term for term in right if term not in left]
    if len(only_a) != len(only_b) or len(only_a) > MAX_INPUTS:
        return []
    pairs: list[tuple[Term, Term]] = []
    for x in only_a:
        y = max(only_b, key=lambda other: affinity(blame, x, other))
        if blame.terms.kind[x] != blame.terms.kind[y]:
            return []
        only_b.remove(y)
        pairs.append((x, y))
    return pairs


def _ops_of(blame: Blame, root: Term) -> Iterator[Term]:
    """The elementwise ops between a value and its inputs, each once."""
    terms = blame.terms
    seen: set[Term] = set()
    work = [root]
    while work:
        node = work.pop()
        if node in seen or is_input(terms, node):
            continue
        seen.add(node)
        if terms.kind[node] == "f":
            yield node
        work.extend(terms.args[node])


def _modes(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> list[Finding]:
    """Rounding modes and the like that no such op of the other side has."""
    terms = blame.terms
    sides: list[dict[tuple[str, str, object], Term]] = []
    for root in (a, b):
        first: dict[tuple[str, str, object], Term] = {}
        for node in _ops_of(blame, root):
            name = terms.attr[node][0]
            for key, value in terms.attr[node][2]:
                if (key, value) == SIGNED_ZERO:
                    continue
                first.setdefault(("sum" if name in SUMS else name, key, value), node)
        sides.append(first)
    found: list[Finding] = []
    for kernel, own, other in ((blame.reference, *sides), (blame.generated, *sides[::-1])):
        for (name, key, value), node in own.items():
            if (name, key, value) in other:
                continue
            op = origin(kernel, node)
            lost = kernel is blame.reference
            ops = (op or ref_op, gen_op) if lost else (ref_op, op or gen_op)
            modes = (value, None) if lost else (None, value)
            rule = modifier_rule(key, terms.attr[node][0], *modes)
            words = mode_words(key, modes[0]), mode_words(key, modes[1])
            found.extend(blame.one(rule, *ops, *words, part=key))
    return found


def _roundings(blame: Blame, a: Term, b: Term, ref_op: Op) -> list[Finding]:
    """Values that the generated side rounds to a type and widens again, where the reference never does."""
    rounded = dict(_narrowed(blame, b))
    for kind, _ in _narrowed(blame, a):
        rounded.pop(kind, None)
    found: list[Finding] = []
    for (wide, narrow), node in rounded.items():
        words = f"kept in {wide}", f"rounded to {narrow}"
        gen_op = origin(blame.generated, node)
        found.extend(blame.one("conversion/extra", ref_op, gen_op, *words, status="EXTRA"))
    return found


def _narrowed(blame: Blame, root: Term) -> Iterator[tuple[tuple[str, str], Term]]:
    """Conversions there and back: the types, and the term that comes back."""
    terms = blame.terms
    for node in _ops_of(blame, root):
        inner = terms.args[node][0]
        if terms.attr[node][0] != "ftof" or terms.kind[inner] != "f" or terms.attr[inner][0] != "ftof":
            continue
        source, target = terms.attr[inner][1]
        if terms.attr[node][1] == (target, source):
            yield (source, target), node


def bare(blame: Blame, root: Term, known: Mapping[Term, Term] | None = None) -> Term:
    """The value without modes, and without conversions there and back; ``known``: what stands for a node."""
    terms = blame.terms
    if known and root in known:
        return bare(blame, known[root])
    done: dict[Term, Term] = {node: bare(blame, other) for node, other in (known or {}).items()}
    work = [root]
    while work:
        node = work[-1]
        waiting = [] if is_input(terms, node) else [arg for arg in terms.args[node] if arg not in done]
        if node in done or waiting:
            work.extend(waiting)
            if not waiting:
                work.pop()
            continue
        args = tuple([done.get(arg, arg) for arg in terms.args[node]])
        done[node] = node
        if terms.kind[node] == "f" and not is_input(terms, node):
            name, element, mods = terms.attr[node]
            mods = tuple([mode for mode in mods if mode == SIGNED_ZERO])  # no mode of the op
            back = name == "ftof" and terms.kind[args[0]] == "f" and terms.attr[args[0]][0] == "ftof"
            if back and terms.attr[args[0]][1] == element[::-1]:
                done[node] = terms.args[args[0]][0]
            else:
                done[node] = terms.float_op((name, element, mods), args)
        elif not is_input(terms, node) and terms.args[node]:
            done[node] = terms.rebuild(node, args)
    return done[root]
