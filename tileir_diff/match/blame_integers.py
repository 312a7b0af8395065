"""Why two integer values differ: one factor of a sum, or how an op reads its operand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.formats import FORMATS
from tileir_diff.match.align import operand_groups
from tileir_diff.match.blame import Finding
from tileir_diff.match.blame_indices import integer_modes
from tileir_diff.match.blame_masks import selections
from tileir_diff.match.sites import defining_op, origin

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Mono, Term
    from tileir_diff.match.blame import Blame, Op

SYMBOLS = frozenset({"arg", "block", "lane", "grid", "bound", "iter", "carry"})
"""Kinds of atoms with nothing inside."""
SMOOTH = frozenset({"addf", "divf", "fma", "mulf", "subf"})
"""Ops whose result changes no more than their operands do, in units of the last place."""


def integers(blame: Blame, a: Term, b: Term, ref_user: Op, gen_user: Op, depth: int) -> list[Finding]:
    """If exactly one summand on each side has no match, and both have the same role, look inside it."""
    terms = blame.terms
    ref_op, gen_op = blame.ops(a, b, ref_user, gen_user)
    misread = shared_constant(blame, a, b, ref_user, gen_user)
    if misread is not None:
        return misread
    only_a, only_b = _unmatched(blame, a, b), _unmatched(blame, b, a)
    if len(only_a) == len(only_b) == 1:
        (mono_a, coef_a), (mono_b, coef_b) = only_a[0], only_b[0]
        if mono_a == mono_b == ():
            return blame.one("constant/value", ref_op, gen_op, str(coef_a), str(coef_b))
        rest_a = [x for x in mono_a if x not in mono_b]
        rest_b = [x for x in mono_b if x not in mono_a]
        if coef_a == coef_b and len(rest_a) == len(rest_b) == 1:
            (x,), (y,) = rest_a, rest_b
            if terms.kind[x] == terms.kind[y]:
                inside = _factors(blame, x, y, ref_op, gen_op, depth)
                if inside is not None:
                    return inside
    modes = integer_modes(blame, ref_op, gen_op)
    if modes:
        return [Finding(difference) for difference in modes]
    same = ref_op is not None and gen_op is not None and ref_op.short == gen_op.short
    rule = "arithmetic/operands" if same else "arithmetic/not-proven"
    return blame.one(rule, ref_op, gen_op, *blame.both(a, b), structural=True)


def shared_constant(blame: Blame, a: Term, b: Term, ref_user: Op, gen_user: Op) -> list[Finding] | None:
    """Another constant, told at the op that reads it, where others read it too; None: not so."""
    if gen_user is None or (blame.terms.kind[b] != "fc" and blame.terms.value(b) is None):
        return None
    for part, operand in operand_groups(gen_user):
        op = defining_op(operand)
        if op is None or op.short != "constant" or blame.generated.values.get(operand) != b:
            continue
        if len(list(op.results[0].uses)) > 1:
            words = blame.both(a, b)
            impact = rounded_apart(blame, a, b, gen_user)
            return blame.one("constant/value", ref_user, gen_user, *words, part=part, impact=impact)
    return None


def rounded_apart(blame: Blame, a: Term, b: Term, user: Op) -> str | None:
    """That two factors, or summands, are one number but for its last bit is rounding; None: not so."""
    terms = blame.terms
    if user is None or user.short not in SMOOTH or not terms.kind[a] == terms.kind[b] == "fc":
        return None
    (first, bits), (second, other) = terms.attr[a], terms.attr[b]
    if first != second or first not in FORMATS or abs(bits - other) != 1:
        return None
    exponent, mantissa, _ = FORMATS[first]
    most = (1 << exponent) - 1
    normal = all(0 < each >> mantissa & most < most for each in (bits, other))
    return "ulp" if normal else None


def _unmatched(blame: Blame, term: Term, other: Term) -> list[tuple[Mono, int]]:
    """The summands of ``term`` that ``other`` does not have with the same coefficient."""
    theirs = blame.terms.poly(other)
    return [(mono, factor) for mono, factor in blame.terms.poly(term).items() if theirs.get(mono) != factor]


def _factors(blame: Blame, x: Term, y: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding] | None:
    """Two atoms of one kind; None where there is nothing to look into."""
    kind = blame.terms.kind[x]
    if kind == "ite":
        ops = origin(blame.reference, x) or ref_op, origin(blame.generated, y) or gen_op
        return selections(blame, x, y, *ops, depth)
    if kind == "block":
        return blame.one("grid/axis", ref_op, gen_op, *blame.both(x, y))
    return None if kind in SYMBOLS else blame.walk(x, y, ref_op, gen_op, depth + 1)
