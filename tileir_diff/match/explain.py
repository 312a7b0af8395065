"""What is found for one pair of entries whose effects are matched."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tileir_diff.graph import floats
from tileir_diff.graph.values import is_used
from tileir_diff.match import arguments
from tileir_diff.match.blame import Blame, first_of
from tileir_diff.match.bound_values import BoundValue, bound_values, is_launched, taken
from tileir_diff.match.canonical import printed
from tileir_diff.match.dead_stores import unseen
from tileir_diff.match.divisors import divisor_tests
from tileir_diff.match.effects import describe
from tileir_diff.match.hints import compare_hints, never_made
from tileir_diff.match.load_bounds import before_loops, elsewhere, load_bounds, other_lanes, read_again
from tileir_diff.match.lone import never_reached
from tileir_diff.match.model import ArgumentPair, Difference, Equivalence, Matched
from tileir_diff.match.names import contradictions, misplaced
from tileir_diff.match.narrower import narrower
from tileir_diff.match.obligations import HOST_BOUNDS, obligation
from tileir_diff.match.own_memory import own_memory
from tileir_diff.match.own_names import in_own_names, likely_names
from tileir_diff.match.promises import compare_promises
from tileir_diff.match.repeats import shared_loops
from tileir_diff.match.same_cause import one_cause, same_parts, without_identities
from tileir_diff.match.search import front_end
from tileir_diff.match.short_strides import short_strides
from tileir_diff.match.sites import defining_op, site
from tileir_diff.match.square import square_arrays
from tileir_diff.match.tokens import lost_orders
from tileir_diff.match.view_sizes import unchecked_bounds, view_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.canonical import CanonicalEffect
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.proofs import Answers, Prover
    from tileir_diff.match.search import Attempt

LONE_RULES = {
    "load": "memory-order",
    "wait": "control-flow",
    "print": "debug-op",
    "assert": "runtime-check",
    "fence": "token-order",
    "atomic_rmw": "atomic",
    "atomic_cas": "atomic",
}
"""Families of rules for an effect on one side only; memory-family for all others."""
WHOLE = frozenset(
    {
        "arithmetic/reformulated",
        "atomic/extra",
        "atomic/missing",
        "dead-code/dead-store",
        "memory-family/extra",
        "memory-family/missing",
    }
)
"""Differences of several ops at once, or of an access and all that feeds it: no changed op says it better."""
FLOW = frozenset({"break", "continue", "for", "if", "loop", "return"})
HINT_STATUS = {"missing": "MISSING", "extra": "EXTRA"}


@dataclass(slots=True)
class EntryResult:
    """Everything found for one pair of entries; the fields are those of ``Comparison``."""

    differences: list[Difference] = field(default_factory=list[Difference])
    arguments: list[ArgumentPair] = field(default_factory=list[ArgumentPair])
    equivalences: list[Equivalence] = field(default_factory=list[Equivalence])
    obligations: list[str] = field(default_factory=list[str])
    assumptions: list[str] = field(default_factory=list[str])
    not_checked: list[str] = field(default_factory=list[str])
    matched: Matched | None = None
    conditions: list[Term] = field(default_factory=list["Term"])
    """Those of the obligations that are about bounds, as terms."""


def explain(
    attempt: Attempt,
    prover: Prover | None = None,
    given: frozenset[tuple[int, int]] = frozenset(),
) -> EntryResult:
    """Root causes first; then orders, families, hints and promises, which values do not show.

    ``given``: side and position of the arguments whose values the user has stated.
    """
    reference, generated = attempt.reference, attempt.generated
    names, own_names = _names(attempt), in_own_names(attempt)
    own = {"names": own_names, "likely": likely_names(attempt, own_names)}
    answers: Answers = [] if prover is None else prover(attempt, names)
    settled: list[Difference] = []
    taken_for_granted: list[str] = []
    if answers:
        from tileir_diff.match.proofs import remarks, settle

        taken_for_granted = remarks(answers)
        answers = [(pair, answer) for pair, answer in answers if not pair.equal]
        settled = settle(attempt, names, answers)
    blame = Blame(reference, generated, names)
    result = EntryResult(arguments=arguments.argument_pairs(reference, generated, attempt.binding))
    _oblige_host(blame, attempt, result)
    found = _roots(blame, attempt, result)
    found = _one_mask(blame, one_cause(blame, _placed(blame, attempt, found, names)))
    found.extend(read_again(blame, attempt, lambda atom: _oblige(blame, atom, result)))
    found.extend(before_loops(blame, attempt, lambda atom: _oblige(blame, atom, result)))
    found.extend(elsewhere(blame, attempt))
    lost, unknown = other_lanes(blame, attempt, lambda atom: _oblige(blame, atom, result))
    told = {id(each.generated.op) for each in found if each.generated is not None}
    found.extend(each for each in lost if each.generated is None or id(each.generated.op) not in told)
    result.not_checked.extend(unknown)
    if not any(each.rule == "grid/axis" for each in found):  # which blocks share a loop follows from it
        found.extend(shared_loops(blame, attempt))
    found.extend(_orders(blame, attempt))
    found.extend(_families(blame, attempt))
    found.extend(_checked(blame, attempt))
    found.extend(_dead_loads(blame, attempt))
    found.extend(view_sizes(blame, attempt))
    for atom in unchecked_bounds(attempt):
        _oblige(blame, atom, result)
    found.extend(own_memory(blame, attempt))
    found.extend(_hints(blame, attempt))
    specialises = front_end(generated) == "cuTile Rust" and not attempt.one_front_end
    # what cuTile Rust's launcher derives from the launch, no other front end is expected to state
    derived = front_end(reference) == "cuTile Rust" and not attempt.one_front_end
    partner = {} if derived else attempt.binding.partner
    promises, obligations = compare_promises(
        reference, generated, blame.make, specialises, blame.settled, partner, blame.show
    )
    tests, untested = divisor_tests(blame, attempt, found)
    result.differences = without_identities(first_of([*found, *tests, *promises, *settled]))
    result.obligations.extend(untested)
    if answers:
        from tileir_diff.match.proofs import host_conditions, with_evidence

        result.differences = with_evidence(result.differences, answers)
        result.obligations.extend(x for x in host_conditions(answers) if x not in result.obligations)
    result.obligations.extend(contradictions(reference, generated, attempt.binding))
    result.obligations.extend(_unsigned_bounds(blame, attempt))
    result.obligations.extend(
        f"{blame.show(size)} >= 0: below that only one side rounds {blame.show(size)} / {tile} up"
        for size, tile in attempt.sizes.items()
    )
    result.obligations.extend(obligations)
    _add_conditions(blame, bound_values(attempt, names, given), narrower(blame, attempt), attempt, result)
    result.differences.extend(square_arrays(blame, attempt, result.conditions))
    result.differences.extend(short_strides(blame, attempt))
    result.differences = [replace(each, detail={**own, **each.detail}) for each in result.differences]
    result.differences.extend(_misplaced(blame, attempt, result))
    _add_remarks(attempt, result)
    result.matched = Matched(
        reference.entry,
        generated.entry,
        tuple(_ops(pair) for pair in (*attempt.match.loads, *attempt.match.pairs)),
        dict(attempt.binding.partner),
    )
    result.assumptions.extend(taken_for_granted)
    return result


def _roots(blame: Blame, attempt: Attempt, result: EntryResult) -> list[Difference]:
    """Why effects differ."""
    bounds = load_bounds(blame, attempt, lambda atom: _oblige(blame, atom, result))
    unequal = _unequal(blame, attempt)
    return _root_causes(first_of([*unequal, *_lone(blame, attempt, unequal), *bounds]))


def _names(attempt: Attempt) -> dict[Term, str]:
    """Names of parameters by symbol; one that only the generated side has says so, as `--launch` takes it."""
    terms = attempt.reference.terms
    return {
        terms.leaf("arg", kernel.side, index): f"generated.{name}" if kernel.side else name
        for kernel in (attempt.generated, attempt.reference)
        for index, name in enumerate(arguments.parameter_names(kernel))
    }


# ---- effects -----------------------------------------------------------------------------------------


def _oblige_host(blame: Blame, attempt: Attempt, result: EntryResult) -> None:
    """Effects that are equal as long as the host launches what it must."""
    for pair in attempt.match.pairs:
        for atom in pair.obligations:
            if _oblige(blame, atom, result):
                ref_op, gen_op = _ops(pair)
                places = site(attempt.reference, ref_op, "mask"), site(attempt.generated, gen_op, "mask")
                why = f"equal while the launch keeps {blame.show(atom)}"
                result.equivalences.append(Equivalence(HOST_BOUNDS, *places, why))


def _oblige(blame: Blame, atom: Term, result: EntryResult) -> bool:
    """Note what the host must guarantee. Whether that is new."""
    line = obligation(blame.terms, atom, blame.show(atom))
    if line in result.obligations:
        return False
    result.obligations.append(line)
    result.conditions.append(atom)
    return True


def _ops(pair: EffectPair) -> tuple[TileOp, TileOp]:
    return pair.reference.effect.op, pair.generated.effect.op


def _unequal(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Why matched effects differ; never silent about a pair that is not shown to be equal."""
    found: list[Difference] = []
    for pair in attempt.match.pairs:
        if pair.equal:
            continue
        from tileir_diff.match.explain_pair import explain_pair

        words = describe(pair.reference.effect), "not shown to be the same"
        blame.told_again = False
        causes = explain_pair(blame, pair)
        if not causes and not blame.told_again:
            causes = [blame.make("arithmetic/not-proven", *_ops(pair), *words)]
        found.extend(causes)
    return found


def _lone(blame: Blame, attempt: Attempt, told: list[Difference]) -> list[Difference]:
    """Effects without a partner; ``told``: why the others differ."""
    found: list[Difference] = []
    for item in _worth_telling(told, attempt.match.only_reference):
        never = never_reached(blame, attempt, item)
        if never:
            found.extend(never)
            continue
        found.append(_without_partner(blame, attempt.reference, item))
    for item in _worth_telling(told, attempt.match.only_generated):
        found.append(_without_partner(blame, attempt.generated, item))
    return found


def _without_partner(blame: Blame, kernel: Kernel, item: CanonicalEffect) -> Difference:
    """What is told of an effect that only one side has."""
    missing = kernel is blame.reference
    family = LONE_RULES.get(item.effect.kind, "memory-family")
    why = unseen(kernel, item.effect)
    rule = "dead-code/dead-store" if why else f"{family}/{'missing' if missing else 'extra'}"
    ops = (item.effect.op, None) if missing else (None, item.effect.op)
    described = _described(blame, item)
    words = (described, "nothing") if missing else ("nothing", described)
    return blame.make(rule, *ops, *words, note=why, status="MISSING" if missing else "EXTRA")


def _worth_telling(told: list[Difference], lone: list[CanonicalEffect]) -> list[CanonicalEffect]:
    """Effects of one side without a partner.

    Not that a loop may not end where it is ``told`` to run otherwise, or where what it does has no partner
    either; nor what such a loop polls.
    """
    sites = (
        place for each in told if each.rule.startswith("loop/") for place in (each.reference, each.generated)
    )
    other = {id(place.op) for place in sites if place is not None}
    acting = (item for item in lone if item.effect.kind not in ("load", "wait"))
    other.update(id(loop.op) for item in acting for loop in item.effect.loops)
    waits = {id(item.effect.op) for item in lone if item.effect.kind == "wait"} - other
    return [
        item
        for item in lone
        if item.effect.kind not in ("load", "wait")
        or (item.effect.kind == "wait" and id(item.effect.op) in waits)
        or (item.effect.kind == "load" and waits.isdisjoint(id(loop.op) for loop in item.effect.loops))
    ]


def _described(blame: Blame, item: CanonicalEffect) -> str:
    """An effect in short; of an assertion what is asserted, of a loop that may not end where it is left."""
    effect = item.effect
    if effect.kind == "assert":
        return f"{blame.show(effect.values[0])} ({effect.op.get('message')!r})"
    if effect.kind == "print":
        return repr(printed(effect.op))
    left = effect.loops[-1].exit if effect.kind == "wait" else None
    return describe(effect) if left is None else blame.show(left)


def _root_causes(found: list[Difference]) -> list[Difference]:
    """The first finding of a family for one op of the generated side; another block axis is told once."""
    kept: list[Difference] = []
    seen: set[object] = set()
    for difference in found:
        place = difference.generated or difference.reference
        key: object = difference.rule
        if place is not None and difference.rule != "grid/axis":
            key = (difference.rule.split("/")[0], id(place.op))
        if key not in seen:
            seen.add(key)
            kept.append(difference)
    return kept


def _one_mask(blame: Blame, found: list[Difference]) -> list[Difference]:
    """One wrong mask that several accesses use is one finding, at the first of them."""
    kept: list[Difference] = []
    same: dict[int, list[Difference]] = {}
    for difference in found:
        first = next((each for each in kept if _same_mask(blame, each, difference)), None)
        if first is None:
            kept.append(difference)
        else:
            same.setdefault(id(first), []).append(difference)
    return [each.at_lines_too(same.get(id(each), ())) for each in kept]


def _same_mask(blame: Blame, one: Difference, other: Difference) -> bool:
    """Whether two accesses have one mask that differs in the same, in the names of the lanes of each."""
    if one.generated is None or other.generated is None or one.rule != other.rule:
        return False
    masks = [defining_op(each.generated.op.one("mask")) for each in (one, other) if each.generated]
    words = [(each.expected, each.actual) for each in (one, other)]
    alike = words[0] == words[1] or same_parts(blame, one, other)
    return one.rule.startswith("mask/") and masks[0] is masks[1] is not None and alike


def _placed(
    blame: Blame, attempt: Attempt, found: list[Difference], names: dict[Term, str]
) -> list[Difference]:
    """Findings on the changed lines, where the two entries are the same text but for a few ops."""
    from tileir_diff.match.overflow import overflow_promises, relied_on

    relied = relied_on(blame, attempt)
    if not found and not attempt.one_front_end:
        return overflow_promises(blame, None, relied)
    from tileir_diff.match.align import align, settled_promises

    alignment = align(attempt.reference.entry, attempt.generated.entry)
    if not alignment.close:
        return _repaired(blame, attempt, found, names) + overflow_promises(blame, None, relied)
    blame.settled = settled_promises(alignment)
    promised = overflow_promises(blame, alignment, relied)
    changed = [op for item in alignment.local for op in (item.reference, item.generated) if op is not None]
    flow = any(op.short in FLOW for op in changed)
    if found and (flow or not all(difference.rule in WHOLE for difference in found)):
        from tileir_diff.match.locate import place

        placed = place(blame, alignment, found) or found
        if len(placed) > 1:  # a harmless change beside the one that counts
            placed = min(placed, _repaired(blame, attempt, found, names), key=len)
        found = placed
    return found + promised


def _repaired(
    blame: Blame, attempt: Attempt, found: list[Difference], names: dict[Term, str]
) -> list[Difference]:
    """Findings with those that one op explains told at this op."""
    from tileir_diff.match.repair import repaired

    def explained(other: Attempt) -> list[Difference]:
        again = Blame(other.reference, other.generated, names)
        return one_cause(again, _roots(again, other, EntryResult()))

    return repaired(blame, attempt, one_cause(blame, found), explained) if found else []


# ---- what values do not show -------------------------------------------------------------------------


def _orders(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Accesses that tokens no longer keep in order."""
    found: list[Difference] = []
    for earlier, later, handed_on, exchanged in lost_orders(
        attempt.reference, attempt.generated, attempt.match
    ):
        before = earlier.reference.effect
        # an order to the next iteration, where the access stands no earlier in the text
        previous = "previous " if before.order >= later.reference.effect.order else ""
        after = f"after the {previous}{before.kind.replace('_', ' ')} of line {before.op.span.line}"
        if before.kind == "print":
            words = after, "before or after it"
            found.append(blame.make("debug-op/changed", *_ops(later), *words, part="token"))
            continue
        if exchanged:
            other = earlier.generated.effect
            words = after, f"before the {other.kind.replace('_', ' ')} of line {other.op.span.line}"
            found.append(blame.make("token-order/reversed", *_ops(later), *words, part="token"))
            continue
        if handed_on is None:
            ops, words = _ops(later), (after, "not ordered by a token")
        else:
            ops, words = handed_on, (after, "not handed on")
        found.append(blame.make("token-order/missing", *ops, *words, part="token", status="MISSING"))
    return found


def _families(blame: Blame, attempt: Attempt) -> list[Difference]:
    """View against pointer accesses of the same elements: cost only."""
    found: list[Difference] = []
    for pair in (*attempt.match.loads, *attempt.match.pairs):
        ref, gen = pair.reference, pair.generated
        a, b = ref.effect.family, gen.effect.family
        same = pair.equal or (ref.extents, ref.pointer) == (gen.extents, gen.pointer)
        if same and a and b and (a == "pointer") != (b == "pointer"):
            words = f"{a} access", f"{b} access"
            found.append(blame.make("memory-family/changed", *_ops(pair), *words))
    return found


def _checked(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Accesses that check what the reference promises: cost only."""
    found: list[Difference] = []
    for pair in (*attempt.match.loads, *attempt.match.pairs):
        if pair.generated.effect.trusted:
            checks = " and ".join(blame.show(check) for check in pair.generated.effect.trusted)
            words = "promised in bounds", checks
            found.append(blame.make("bounds/inbounds", *_ops(pair), *words, part="inbounds", impact="hint"))
    return found


def _dead_loads(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Loads of the generated side that nothing reads, on lanes where the reference does not load."""
    terms = blame.terms
    loads = attempt.match.reference_loads
    found: list[Difference] = []
    for item in attempt.match.lone_loads[1]:
        guards, base = terms.conjuncts(item.condition), item.effect.base
        conditions = [load.condition for load in loads if load.effect.base == base]
        covered = any(terms.implies(guards, condition) for condition in conditions)
        if is_used(item.effect.op) or (guards and covered):
            continue
        words = "no such load", describe(item.effect)
        found.append(
            blame.make("dead-code/dead-load", None, item.effect.op, *words, impact="hint", status="EXTRA")
        )
    return found


def _hints(blame: Blame, attempt: Attempt) -> list[Difference]:
    """Hints of the entries, of matched accesses, and of accesses that are never made."""
    found: list[Difference] = []
    pairs = [(attempt.reference.entry, attempt.generated.entry)]
    pairs.extend(_ops(pair) for pair in (*attempt.match.loads, *attempt.match.pairs))
    pairs.extend(never_made(attempt.reference.entry, attempt.generated.entry, _reached(attempt)))
    for ref_op, gen_op in pairs:
        for rule, _, expected, actual in compare_hints(ref_op.get("hints") or {}, gen_op.get("hints") or {}):
            status = HINT_STATUS.get(rule.split("/")[1], "DIFFERS")
            found.append(blame.make(rule, ref_op, gen_op, expected, actual, part="hints", status=status))
    return found


def _reached(attempt: Attempt) -> frozenset[TileOp]:
    """The ops of both sides that can have an effect."""
    match = attempt.match
    alone = (*match.only_reference, *match.only_generated, *match.lone_loads[0], *match.lone_loads[1])
    paired = (op for pair in (*match.pairs, *match.loads) for op in _ops(pair))
    return frozenset((*paired, *(item.effect.op for item in alone)))


# ---- what the result rests on ------------------------------------------------------------------------


def _add_remarks(attempt: Attempt, result: EntryResult) -> None:
    """Equivalences that were used, assumptions, and ops that nothing is known of."""
    kernels = attempt.reference, attempt.generated
    used = attempt.reference.terms.used
    for name, why in floats.EQUIVALENCES.items():
        if name in used[0] or name in used[1]:
            ref_site, gen_site = (site(kernel, used[kernel.side].get(name)) for kernel in kernels)
            result.equivalences.append(Equivalence(name, ref_site, gen_site, why))
    bases = {effect.base for effect in attempt.reference.effects if effect.base is not None}
    if len(bases) > 1:
        named = any(is_launched(attempt.reference.terms, base) for base in bases)
        which = "of different names in the launch" if named else "behind different pointer arguments"
        result.assumptions.append(f"arrays {which} do not overlap")
    for side, kernel in zip(("reference", "generated"), kernels, strict=True):
        result.assumptions.extend(f"{side}: {note}" for note in kernel.assumptions)
        result.not_checked.extend(
            f"{side} line {op.span.line}: {op.short} has no model; equal only to itself"
            for op in kernel.not_modelled
        )


def _misplaced(blame: Blame, attempt: Attempt, result: EntryResult) -> Iterator[Difference]:
    """Arrays of which dimensions have changed places; other sizes that stand for others are conditions.

    Where accesses differ in where they are, what an argument stands for is nobody's.
    """
    if _elsewhere(attempt):
        return
    accesses = {
        pair.reference.effect.base: _ops(pair) for pair in (*attempt.match.pairs, *attempt.match.loads)
    }
    told: set[Term] = set()
    for each in misplaced(attempt.reference, attempt.generated, attempt.binding):
        if not each.exchanged:
            result.obligations.append(each.line)
        elif each.array not in told:
            told.add(each.array)
            ops = accesses.get(each.array, (attempt.reference.entry, attempt.generated.entry))
            words = each.taken, f"{each.own} ({each.place} by its place)"
            yield blame.make("entry-signature/argument", *ops, *words)


def _add_conditions(
    blame: Blame, values: list[BoundValue], ranges: Sequence[str], attempt: Attempt, result: EntryResult
) -> None:
    """Which ``values`` arguments must have, and which ``ranges`` indices must keep, for the rest to be equal.

    First those that few launches keep. Where accesses differ in where they are, the values are those that
    make the least differ, which no launch need have.
    """
    if not _elsewhere(attempt):
        first, rest, used, differing = taken(blame, values)
        result.obligations[:] = (*first, *result.obligations, *rest, *ranges)
        result.equivalences.extend(used)
        result.differences.extend(differing)
        return
    if values:
        which = f"{len(values)} argument{'s' if len(values) > 1 else ''} must have"
        result.not_checked.append(f"which values {which}: it is open while accesses differ in where they are")
    if ranges:
        result.not_checked.append(
            "whether the indices that differ fit the integers that they are computed in"
        )


def _elsewhere(attempt: Attempt) -> bool:
    """Whether two accesses differ in where or how often they are, so that no size follows from them."""
    pairs = (pair for pair in (*attempt.match.pairs, *attempt.match.loads) if not pair.equal)
    return any(
        (pair.reference.pointer, pair.reference.trips) != (pair.generated.pointer, pair.generated.trips)
        for pair in pairs
    )


def _unsigned_bounds(blame: Blame, attempt: Attempt) -> list[str]:
    """Bounds that a loop compares unsigned on one side only: the same where they are not negative."""
    terms = attempt.reference.terms
    ours, theirs = (
        dict.fromkeys(
            blame.show(bound)
            for loop in kernel.loops
            if loop.op.get("unsigned_cmp")
            for bound in (loop.lower, loop.upper)
            if bound is not None and not terms.nonneg(bound)
        )
        for kernel in (attempt.reference, attempt.generated)
    )
    one_sided = [bound for bound in (*ours, *theirs) if (bound in ours) != (bound in theirs)]
    return [f"{bound} >= 0: a loop compares with it unsigned, on one side only" for bound in one_sided]
