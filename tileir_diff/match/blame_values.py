"""Why two terms differ, by their kinds: the table of the walk, and what is left when no kind fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph import floats
from tileir_diff.graph.comparisons import compare
from tileir_diff.match.blame import MAX_DEPTH, Finding
from tileir_diff.match.blame_floats import elementwise
from tileir_diff.match.blame_folds import contractions, one_fold, reductions
from tileir_diff.match.blame_integers import integer_modes, integers, rounded_apart, shared_constant
from tileir_diff.match.blame_loops import loops, no_trip
from tileir_diff.match.blame_masks import one_selection, predicates, selections
from tileir_diff.match.blame_memory import memory
from tileir_diff.match.sites import defining_op, text
from tileir_diff.match.written import as_written

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame, Op

PREDICATES = frozenset({"le", "eq", "and", "or", "not", "ult", "fcmp"})

CARRIED = frozenset({"carry", "at", "cp"})
"""A value that a loop hands on, as it is, or lane by lane."""

ATTRIBUTE_RULES = {
    "atomic": "atomic/mode",
    "zext": "integer-mode/signedness",
    "table": "constant/value",
    "reinterpret": "conversion/type",
    "wrap": "conversion/type",
}
"""What two terms of one kind with other attributes are called, where it is not another op."""


def explain(blame: Blame, a: Term, b: Term, ref_user: Op, gen_user: Op, depth: int) -> list[Finding]:
    """Findings for two terms that are not equal."""
    terms = blame.terms
    ka, kb = terms.kind[a], terms.kind[b]
    if "poly" in (ka, kb):
        return integers(blame, a, b, ref_user, gen_user, depth)
    if ka == kb == "loop_result":
        return loops(blame, a, b, ref_user, gen_user, depth)
    ref_op, gen_op = blame.ops(a, b, ref_user, gen_user)
    if ka == kb == "mem":
        return memory(blame, a, b, ref_op, gen_op)
    if ka == kb == "ite":
        return selections(blame, a, b, ref_op, gen_op, depth)
    if {ka, kb} == {"ite", "f"}:
        term, op = (a, ref_op) if ka == "f" else (b, gen_op)
        chosen = _as_selection(blame, term, op)
        if chosen is not None:
            pair = (chosen, b) if term == a else (a, chosen)
            return selections(blame, *pair, ref_op, gen_op, depth)
    if "loop_result" in (ka, kb):
        found = no_trip(blame, a, b)
        if found:
            return found
    if "ite" in (ka, kb):
        found = one_selection(blame, a, b, ref_user, gen_user, depth)
        if found is not None:
            return found
    if ka == kb == "fc":
        values = floats.show(*terms.attr[a]), floats.show(*terms.attr[b])
        misread = shared_constant(blame, a, b, ref_user, gen_user)
        impact = rounded_apart(blame, a, b, gen_user)
        return misread or blame.one("constant/value", ref_op, gen_op, *values, part="value", impact=impact)
    if {ka, kb} in ({"fc", "undefined"}, {"padding", "undefined"}):
        rule, status = ("padding/missing", "MISSING") if kb == "undefined" else ("padding/extra", "EXTRA")
        return blame.one(rule, ref_op, gen_op, *blame.both(a, b), part="padding", status=status)
    if ka == kb == "reduce":
        return reductions(blame, a, b, ref_op, gen_op, depth)
    if ka == kb == "mma":
        return contractions(blame, a, b, ref_op, gen_op, depth)
    if ka == kb and ka in PREDICATES:
        return predicates(blame, a, b, ref_op, gen_op, depth)
    same_arity = len(terms.args[a]) == len(terms.args[b])
    if ka == kb == "f" and same_arity and terms.attr[a][0] == terms.attr[b][0]:
        return elementwise(blame, a, b, ref_op, gen_op, depth)
    if ka == kb != "f" and same_arity:
        return _same_kind(blame, a, b, ref_op, gen_op, depth)
    return other_kinds(blame, a, b, ref_user, gen_user, depth)


def _as_selection(blame: Blame, term: Term, op: Op) -> Term | None:
    """The larger or smaller of a number and a constant as the selection that it was written as."""
    terms = blame.terms
    test = None if op is None or op.short != "select" else defining_op(op.one("condition"))
    if test is None or test.short != "cmpf" or terms.attr[term][0] not in ("maxf", "minf"):
        return None
    limit, *others = sorted(terms.args[term], key=lambda arg: terms.kind[arg] != "fc")
    value = others[0] if len(others) == 1 else terms.float_op(terms.attr[term], tuple(others))
    strict = ("or_equal" in test.get("predicate")) == (test.get("ordering") == "unordered")
    order = (limit, value) if terms.attr[term][0] == "maxf" else (value, limit)
    less = compare(terms, "less_than" if strict else "less_than_or_equal", *order)
    return terms.node("ite", "data", (less, value, limit))


def _same_kind(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """Terms of one kind that nothing more is known about: their attributes, then their operands."""
    terms = blame.terms
    kind = terms.kind[a]
    found: list[Finding] = []
    if terms.attr[a] != terms.attr[b]:
        modes = integer_modes(blame, ref_op, gen_op) if kind == "iop" else []
        if modes:
            return [Finding(mode) for mode in modes]
        words = [kind if op is None else text(op) for op in (ref_op, gen_op)]
        if words[0] == words[1]:  # ops of one kind, which hand on what differs
            words = blame.both(a, b)
        found = blame.one(ATTRIBUTE_RULES.get(kind, "arithmetic/op"), ref_op, gen_op, *words)
    for x, y in zip(terms.args[a], terms.args[b], strict=True):
        found.extend(blame.walk(x, y, ref_op, gen_op, depth + 1))
    return found


def other_kinds(blame: Blame, a: Term, b: Term, ref_user: Op, gen_user: Op, depth: int) -> list[Finding]:
    """Two different kinds of value: a conversion on one side only, a known reformulation, or unexplained."""
    from tileir_diff.match.blame_forms import inputs_behind, same_function, same_function_of_others

    terms = blame.terms
    ref_op, gen_op = blame.ops(a, b, ref_user, gen_user)
    for term, other, lost in ((a, b, True), (b, a, False)):
        if _is_conversion(blame, term) and terms.args[term][0] == other:
            source, target = terms.attr[term][1]
            words = f"rounded to {target}", f"kept in {source}"
            if lost:
                return blame.one("conversion/missing", ref_op, gen_op, *words, status="MISSING")
            return blame.one("conversion/extra", ref_op, gen_op, *words[::-1], status="EXTRA")
    for term, other in ((a, b), (b, a)):
        if _is_conversion(blame, term) and terms.kind[other] in ("mma", "reduce"):
            inner = terms.args[term][0]
            if terms.kind[inner] == terms.kind[other]:
                pair = (inner, other) if term == a else (other, inner)
                return explain(blame, *pair, ref_user, gen_user, MAX_DEPTH)
    if added_after(blame, a, b):
        words = as_written(blame, a, b, ref_op, gen_op)
        why = "a product of matrices is added to the accumulator by an op of its own"
        return blame.one("arithmetic/reformulated", ref_op, gen_op, *words, impact="ulp", note=why)
    folded = one_fold(blame, a, b)
    if folded is not None:
        return folded
    known = same_function(blame, a, b, ref_op, gen_op)
    if known is None:
        known = same_function_of_others(blame, a, b, ref_op, gen_op, depth)
    if known:
        return known
    found = unexplained(blame, a, b, ref_user, gen_user)
    return found + inputs_behind(blame, a, b, ref_op, gen_op, depth)


def added_after(blame: Blame, a: Term, b: Term) -> bool:
    """Whether one value is a product with an accumulator, the other the sum of that and the bare product."""
    terms = blame.terms
    for product, total in ((a, blame.rename(b)), (blame.rename(b), a)):
        if terms.kind[product] != "mma" or terms.kind[total] != "f" or terms.attr[total][0] != "addf":
            continue
        *factors, accumulator = terms.args[product]
        bare = [each for each in terms.args[total] if each != accumulator]
        if len(bare) == 1 and terms.kind[bare[0]] == "mma" and terms.attr[bare[0]] == terms.attr[product]:
            *others, start = terms.args[bare[0]]
            if others == factors and terms.kind[start] == "fc" and terms.attr[start][1] == 0:
                return True
    return False


def other_place(blame: Blame, ref_op: Op, gen_op: Op) -> list[Finding]:
    """Two loads, one of which may read nothing but padding, that differ in where they read; else []."""
    from tileir_diff.match.explain_pair import places

    if ref_op is None or gen_op is None or not ref_op.short == gen_op.short == "load_view_tko":
        return []
    ref = next((effect for effect in blame.reference.effects if effect.op is ref_op), None)
    gen = next((effect for effect in blame.generated.effects if effect.op is gen_op), None)
    if ref is None or gen is None or ref.shape != gen.shape:
        return []
    return [Finding(difference) for difference in places(blame, ref, gen)]


def _is_conversion(blame: Blame, term: Term) -> bool:
    return blame.terms.kind[term] == "f" and blame.terms.attr[term][0] == "ftof"


def unexplained(blame: Blame, a: Term, b: Term, ref_user: Op, gen_user: Op) -> list[Finding]:
    """The two values as they are, where no more can be said."""
    ref_op, gen_op = blame.ops(a, b, ref_user, gen_user)
    elsewhere = other_place(blame, ref_op, gen_op)
    if elsewhere:
        return elsewhere
    if gen_user is not None and blame.misread(b, gen_op):
        gen_op = gen_user  # what is read is not wrong, but that it is read
    if blame.terms.kind[a] in CARRIED and blame.terms.kind[b] not in CARRIED:
        return blame.one("loop/carried", ref_op, gen_op, "carried value", blame.show(b), structural=True)
    from tileir_diff.match.blame_forms import left_out

    lone = left_out(blame, a, blame.rename(b), ref_op, gen_op)
    if lone is not None:
        return lone
    words = as_written(blame, a, b, ref_op, gen_op)
    other = ref_op is not None and gen_op is not None and ref_op.short != gen_op.short
    rule = "arithmetic/op" if other else "arithmetic/not-proven"
    apart = frozenset(blame.terms.args[a]) ^ frozenset(blame.terms.args[b])
    numbers = [operand for operand in apart if blame.terms.kind[operand] == "fc"]
    if not other and len(numbers) == len(apart) == 2 and words[1].startswith("divf("):
        rule = "arithmetic/operands"  # one value, divided by two numbers
    if gen_op is not None:
        blame.parts[rule, id(gen_op)] = frozenset((number,) for number in numbers)
    return blame.one(rule, ref_op, gen_op, *words, structural=True)
