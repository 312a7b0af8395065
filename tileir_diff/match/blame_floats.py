"""Why two floating-point values differ: modifiers, order of operands, or only how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph import floats
from tileir_diff.match.blame import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame, Op
    from tileir_diff.match.model import Difference

CONVERSIONS = frozenset({"ftof", "itof", "ftoi", "bitcast"})

MODIFIER_RULES = {
    "flush_to_zero": "float-mode/ftz",
    "propagate_nan": "float-mode/nan",
    "signed": "integer-mode/signedness",
    "overflow": "integer-mode/overflow",
}
MODES = frozenset({"float-mode", "conversion", "integer-mode"})
"""Families of differences in how an op computes, not in what."""
REASSOCIATED = frozenset({"addf", "mulf"})
MAX_OPERANDS = 64
ABSENT = {
    "flush_to_zero": "subnormals kept",
    "propagate_nan": "NaN lost",
    "rounding": "default",
    "signed": "signed",
}
"""What an op does without the modifier."""


def elementwise(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """Two applications of one function: its types, its modifiers, then its operands."""
    from tileir_diff.match.blame_forms import bare, same_function

    terms = blame.terms
    (name, type_a, mods_a), (_, type_b, mods_b) = terms.attr[a], terms.attr[b]
    if name in REASSOCIATED and _operands(terms, a, name) == _operands(terms, b, name):
        known = same_function(blame, a, b, ref_op, gen_op)
        if known is not None:
            return known
    found: list[Finding] = []
    if type_a != type_b:
        rule = "conversion/type" if name in CONVERSIONS else "element-type/changed"
        words = _target(type_a), _target(type_b)
        found = blame.one(rule, ref_op, gen_op, *words, impact="precision", structural=True)
    found.extend(Finding(each) for each in modifiers(blame, name, dict(mods_a), dict(mods_b), ref_op, gen_op))
    args_a, args_b = list(terms.args[a]), [blame.rename(arg) for arg in terms.args[b]]
    if name in floats.COMMUTATIVE or name == "fma":
        args_b[:2] = pairing(blame, args_a[:2], args_b[:2])
    children: list[Finding] = []
    for x, y in zip(args_a, args_b, strict=True):
        children.extend(blame.walk(x, y, ref_op, gen_op, depth + 1))
    if mods_a != mods_b and bare(blame, a) == bare(blame, b):
        return found + [child for child in children if child.difference.rule.split("/")[0] in MODES]
    exchanged = blame.one("arithmetic/operands", ref_op, gen_op, *blame.both(a, b))
    if name in ("subf", "addf", "divf", "fma") and sorted(args_a) == sorted(args_b) and args_a != args_b:
        return exchanged
    if any(child.structural for child in (*children, *found)):
        if _negated_operands(blame, a, b):
            return exchanged
        known = same_function(blame, a, b, ref_op, gen_op)
        if known is not None:
            return known
    return found + children


def _operands(terms: Terms, root: Term, name: str) -> list[tuple[Term, bool]]:
    """What a sum or product is of, in whatever order it is computed; and whether each is taken negated."""
    found: list[tuple[Term, bool]] = []
    work = [(root, False)]
    while work and len(found) < MAX_OPERANDS:
        term, negated = work.pop()
        own = terms.attr[term][0] if terms.kind[term] == "f" else None
        if own == "negf" and name == "addf":
            work.append((terms.args[term][0], not negated))
        elif own == name:
            work.extend((arg, negated) for arg in terms.args[term])
        else:
            found.append((term, negated))
    return sorted(found)


def _target(element: str | tuple[str, str]) -> str:
    """The type that an op computes in; of a conversion (from, to) the second."""
    return element[1] if isinstance(element, tuple) else element


def _negated_operands(blame: Blame, a: Term, b: Term) -> bool:
    """``x - y`` against ``y - x`` in the sum form that subtraction has here."""
    terms = blame.terms

    def bare(term: Term) -> Term:
        if terms.kind[term] == "f" and terms.attr[term][0] == "negf":
            return terms.args[term][0]
        return term

    if terms.attr[a][0] != "addf":
        return False
    return sorted(bare(x) for x in terms.args[a]) == sorted(bare(blame.rename(x)) for x in terms.args[b])


def pairing(blame: Blame, left: list[Term], right: list[Term]) -> list[Term]:
    """The two operands on the right, in the order in which they are most like those on the left."""
    if left[0] == right[1] or left[1] == right[0]:
        return right[::-1]
    if left[0] == right[0] or left[1] == right[1]:
        return right
    if _form(blame, left[0]) == _form(blame, left[1]):  # two loads, mostly: by the arrays that they read
        arrays = [[blame.terms.symbols[term] & blame.pointers() for term in side] for side in (left, right)]
        if arrays[0][0] != arrays[0][1] and arrays[1] in (arrays[0], arrays[0][::-1]):
            return right if arrays[0] == arrays[1] else right[::-1]
    straight = sum(affinity(blame, x, y) for x, y in zip(left, right, strict=True))
    crossed = sum(affinity(blame, x, y) for x, y in zip(left, right[::-1], strict=True))
    return right[::-1] if crossed > straight else right


def _form(blame: Blame, term: Term) -> str:
    """What kind of value this is, by its last op: a load is one with and without a mask, or a cast."""
    terms = blame.terms
    while terms.kind[term] == "f" and terms.attr[term][0] == "ftof":
        term = terms.args[term][0]
    kind = terms.kind[term]
    return terms.attr[term][0] if kind == "f" else "mem" if kind == "ite" else kind


def affinity(blame: Blame, a: Term, b: Term, depth: int = 3) -> int:
    """How alike two terms are, looking ``depth`` operands down."""
    terms = blame.terms
    if a == b:
        return 20
    if terms.kind[a] != terms.kind[b]:
        return 0
    score = 2 + 3 * (terms.attr[a] == terms.attr[b])
    if depth and len(terms.args[a]) == len(terms.args[b]):
        pairs = zip(terms.args[a], terms.args[b], strict=True)
        score += sum(affinity(blame, x, y, depth - 1) for x, y in pairs)
    return score


def modifiers(
    blame: Blame, name: str, ref: Mapping[str, Any], gen: Mapping[str, Any], ref_op: Op, gen_op: Op
) -> list[Difference]:
    """Differences of rounding, flush-to-zero, NaN rule and the like of one op."""
    found: list[Difference] = []
    for key in sorted(ref.keys() | gen.keys(), key=lambda key: (key != "rounding", key)):
        if ref.get(key) == gen.get(key) or key == floats.SIGNED_ZERO[0]:
            continue  # or no mode of an op, but what is read from where it stands
        rule = modifier_rule(key, name, ref.get(key), gen.get(key))
        expected, actual = (mode_words(key, side.get(key)) for side in (ref, gen))
        found.append(blame.make(rule, ref_op, gen_op, expected, actual, part=key))
    return found


def modifier_rule(key: str, name: str, reference: Any, generated: Any) -> str:
    """The rule for another value of one modifier of the op called ``name``."""
    if key == "rounding":
        return _rounding_rule(name, reference, generated)
    return MODIFIER_RULES.get(key, "conversion/rounding")


def _rounding_rule(name: str, reference: str | None, generated: str | None) -> str:
    if name == "ftof":
        return "conversion/rounding"
    if name == "divi":
        return "integer-mode/division-rounding"
    if name in ("exp", "tanh") or {reference, generated} & {"approx", "full"}:
        return "float-mode/approx"
    return "float-mode/rounding"


def mode_words(key: str, value: object) -> str:
    """A modifier in words, also where it is absent."""
    if value is None or value is False:
        return ABSENT.get(key, "default")
    return key if value is True else str(value)
