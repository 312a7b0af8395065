"""How two integer ops, or the divisions and shifts inside two indices, read their operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.match.sites import origin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame, Op
    from tileir_diff.match.model import Difference

MAX_ATOMS = 200
CONDITIONS = frozenset({"le", "eq", "and", "or", "not", "ult"})
READERS = frozenset({"div", "tdiv", "iop", "min", "max", "ite", "zext", "wrap"})
"""Kinds of terms that read an integer in a way that can be told by itself."""
DIVISIONS = {"div": "rounds down", "tdiv": "rounds towards zero"}


def integer_modes(blame: Blame, ref_op: Op, gen_op: Op) -> list[Difference]:
    """Two integer ops of one name that differ in signedness or rounding."""
    if ref_op is None or gen_op is None or ref_op.short != gen_op.short:
        return []
    found: list[Difference] = []
    for key, rule in (("signed", "integer-mode/signedness"), ("rounding", "integer-mode/division-rounding")):
        expected, actual = ref_op.get(key), gen_op.get(key)
        if expected != actual and expected is not None:
            name = "integer-mode/shift" if ref_op.short == "shri" else rule
            found.append(blame.make(name, ref_op, gen_op, str(expected), str(actual), part=key))
    return found


def specific(blame: Blame, a: Term, b: Term) -> Difference | None:
    """A difference in how a division, shift or conversion inside two indices reads its operand."""
    terms = blame.terms
    only_a, only_b = _readers(blame, a), _readers(blame, b)
    for x in sorted(only_a - only_b):
        for y in sorted(only_b - only_a):
            if terms.args[x] != terms.args[y]:
                continue
            ref_op, gen_op = origin(blame.reference, x), origin(blame.generated, y)
            kinds = terms.kind[x], terms.kind[y]
            if set(kinds) == set(DIVISIONS):
                # a quotient that an op rounds up is one of a larger dividend, rounded down
                ups = (op is not None and op.get("rounding") == "positive_inf" for op in (ref_op, gen_op))
                words = ("rounds up" if up else DIVISIONS[kind] for up, kind in zip(ups, kinds, strict=True))
                dividend = blame.show(terms.args[x][0])
                note = f"the quotients differ where {dividend} is negative"
                rule = "integer-mode/division-rounding"
                return blame.make(rule, ref_op, gen_op, *words, part="rounding", note=note)
            if kinds == ("iop", "iop"):
                modes = integer_modes(blame, ref_op, gen_op)
                if modes:
                    return modes[0]
    return None


def rounded_otherwise(blame: Blame, a: Term, b: Term) -> Difference | None:
    """The first division of an integer, if all that differs in two integers is how divisions round."""
    terms = blame.terms
    only_a, only_b = (_readers(blame, x) - _readers(blame, y) for x, y in ((a, b), (b, a)))
    pairs = [(terms.args[x], terms.args[y]) for x, y in zip(sorted(only_a), sorted(only_b), strict=False)]
    kinds = {terms.kind[each] for each in only_a | only_b}
    if len(only_a) != len(only_b) or any(x != y for x, y in pairs) or kinds != set(DIVISIONS):
        return None
    rounded, other = (_rounded_down(terms, x, only) for x, only in ((a, only_a), (b, only_b)))
    return specific(blame, a, b) if rounded == other else None


def _rounded_down(terms: Terms, term: Term, divisions: Iterable[Term]) -> Term:
    """The integer where all of these divisions round down."""
    down = {each: terms.floordiv(*terms.args[each]) for each in divisions if terms.kind[each] == "tdiv"}
    symbols = frozenset[int]().union(*(terms.symbols[each] for each in down))
    return terms.subst(term, {symbol: terms.atom(symbol) for symbol in symbols}, dict(down))


def _readers(blame: Blame, term: Term) -> frozenset[Term]:
    """The divisions, shifts and the like in an index or a condition, inner ones included."""
    terms = blame.terms
    found: set[Term] = set()
    seen: set[Term] = set()
    work = [term]
    while work and len(found) < MAX_ATOMS:
        node = work.pop()
        kind = terms.kind[node]
        if node in seen:
            continue
        seen.add(node)
        if kind in READERS:
            found.add(node)
        elif kind != "poly" and kind not in CONDITIONS:
            continue
        work.extend(terms.args[node])
    return frozenset(found)
