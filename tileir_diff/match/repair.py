"""The one op of the generated side without which two entries would differ less: where the mistake is.

Front ends write the same index in different ways, so that a wrong op shows only in what is made of it, an
address or a mask. A small change of one op behind what differs is tried: the generated side is evaluated
with it, and compared again. The change after which the least is left to differ is told, as one finding at the
op, in place of all that it explains.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.dialect.ir import TileOp
from tileir_diff.graph.values import sort_of
from tileir_diff.match.align import Local, operand_groups
from tileir_diff.match.blame_memory import array_words, bases
from tileir_diff.match.locate import SCALE, attribute_words
from tileir_diff.match.locate_rules import MEMORY, PLACES, rule_of
from tileir_diff.match.search import evaluated_again
from tileir_diff.match.sites import origin, text
from tileir_diff.match.suspects import HANDING, INTEGERS, suspects
from tileir_diff.rules import finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tileir_diff.match.blame import Blame, Op
    from tileir_diff.match.canonical import CanonicalEffect
    from tileir_diff.match.edits import Edit
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt
    from tileir_diff.match.suspects import Suspect

LONE = 8
MAX_TRIALS = 40
MIN_TRIALS = 4
MAX_WORK = 12000
"""Trials times ops: a trial evaluates all of them."""

VAGUE = PLACES | {
    "arithmetic",
    "constant",
    "control-flow",
    "dim-map",
    "loop",
    "memory-family",
    "padding",
    "shape-op",
    "token-order",
}
"""Families that tell what differs, and not always which op is to blame."""
ADDRESSES = frozenset({"source", "destination", "pointers", "index"})
"""Groups of operands of an access that say where it is."""
ORDERED = ("index", "shape", "strides")
"""Groups of operands of which two may have changed places."""
PURPOSES = {
    "mask": "mask/changed",
    "select condition": "mask/changed",
    "source": "addressing/index",
    "destination": "addressing/index",
    "pointers": "addressing/index",
    "index": "addressing/index",
    "lower": "loop/bounds",
    "upper": "loop/bounds",
    "step": "loop/step",
}
"""Rules for an operand that is wrong, by its group, where the op before it is told."""
USERS = MEMORY | {"for", "select"}
TRIED = "found by trial: with this one op changed{}, what differed is equal"
LESS = "found by trial: with this one op changed{}, less differs"
ARRAY = "addressing/base"
CONSTANT = "constant/value"


class Repair(NamedTuple):
    """An edit that explains something, with what is still found when it is made."""

    suspect: Suspect
    rest: list[Difference]


def repaired(
    blame: Blame,
    attempt: Attempt,
    found: list[Difference],
    explained: Callable[[Attempt], list[Difference]],
) -> list[Difference]:
    """The findings, with those that the edit of one op explains told as one, at this op.

    ``explained``: what is found for an attempt.
    """
    before = _unequal(attempt)
    if not before or all(map(_is_exact, found)):
        return found
    best = _best(blame, attempt, found, explained, before)
    if best is None:
        return found
    told = _told(blame, best, found)
    return [told, *_as_dumped(told, best, found)]


def _best(
    blame: Blame,
    attempt: Attempt,
    found: list[Difference],
    explained: Callable[[Attempt], list[Difference]],
    before: frozenset[tuple[object, ...]],
) -> Repair | None:
    """The edit that leaves the least; None where none makes it less without something new."""
    exact = [difference for difference in found if _is_exact(difference)]
    trials = min(MAX_TRIALS, max(MIN_TRIALS, MAX_WORK // len(attempt.generated.ops)))
    harm = _harm(found)
    least: tuple[int, tuple[int, ...]] = _size(before), ()
    best: Repair | None = None
    for suspect in suspects(blame, attempt, found)[:trials]:
        with suspect.edit.applied(), blame.terms.forgetting():
            other = evaluated_again(attempt)
            after = _unequal(other)
            if not _within(after, before) or _size(after) > least[0]:
                continue
            if not suspect.sure and not _only_values(after):
                continue
            rest = explained(other)
        told = {_key(difference) for difference in rest}
        kept = all(_key(each) in told or _is_at(suspect.edit, each) for each in exact)
        if any(each.rule == ARRAY for each in rest) and sum(each.rule == ARRAY for each in found) > 1:
            continue  # arrays that are exchanged have one reason, which is no op
        if _vague(rest) >= _vague(found) or _brings(suspect.edit, rest, found):
            continue
        left = _size(after), _harm(rest)
        if suspect.sure or after != before:
            better = left[1] < harm or (suspect.sure and after != before)
        else:  # all that speaks for it is that what is left is harmless, as another formula
            better = left[1] < harm and len(rest) <= len(found)
        if kept and better and (best is None or left < least):
            least, best = left, Repair(suspect, rest)
        if not after:
            break
    return best


def _unequal(attempt: Attempt) -> frozenset[tuple[object, ...]]:
    """What differs: the parts of effects, by the op of the reference, and effects without a partner."""
    match = attempt.match
    lone = (*match.only_reference, *match.only_generated, *match.lone_loads[0], *match.lone_loads[1])
    found: set[tuple[object, ...]] = {("lone", id(item.effect.op)) for item in lone}
    for pair in (*match.pairs, *match.loads):
        if not pair.equal:
            ours, theirs = _parts(pair.reference), _parts(pair.generated)
            parts = [name for name, part in ours.items() if theirs.get(name) != part]
            found.update((name, id(pair.reference.effect.op)) for name in parts or ["other"])
    return frozenset(found)


def _within(after: frozenset[tuple[object, ...]], before: frozenset[tuple[object, ...]]) -> bool:
    """Whether nothing differs that did not; an effect that had no partner may differ from it in anything."""
    return all(part in before or ("lone", part[1]) in before for part in after)


def _size(parts: frozenset[tuple[object, ...]]) -> int:
    """How much differs: an effect without a partner more than any part of one."""
    return sum(LONE if part[0] == "lone" else 1 for part in parts)


def _parts(item: CanonicalEffect) -> dict[object, object]:
    """What an effect is compared by; its values by their index."""
    return {
        "trips": item.trips,
        "extents": item.extents,
        "pointer": item.pointer,
        "condition": item.condition,
        **dict(enumerate(item.values)),
    }


def _only_values(parts: frozenset[tuple[object, ...]]) -> bool:
    """Whether where and when memory is accessed is equal."""
    return all(isinstance(name, int) for name, _ in parts)


def _is_exact(difference: Difference) -> bool:
    """Whether the finding is about a mode of an op, which stands where it is wrong."""
    return difference.rule.split("/")[0] not in VAGUE


def _vague(found: Sequence[Difference]) -> int:
    """How many findings are about what differs; those of modes may show only once it is mended."""
    return sum(not _is_exact(each) for each in found)


def _is_at(edit: Edit, difference: Difference) -> bool:
    return difference.generated is not None and difference.generated.op is edit.op


def _key(difference: Difference) -> tuple[object, ...]:
    """What makes it the same finding in two comparisons."""
    place = difference.generated or difference.reference
    return difference.rule, place and id(place.op), difference.expected, difference.actual


def _impact(difference: Difference) -> str:
    return finding(difference).impact


def _harm(found: Sequence[Difference]) -> tuple[int, ...]:
    """How many findings there are of each impact that counts, the worst first."""
    counts = Counter(map(_impact, found))
    return tuple(counts[impact] for impact in SCALE[:1:-1])


def _as_dumped(told: Difference, repair: Repair, found: Sequence[Difference]) -> Iterator[Difference]:
    """What is left, as the dumps have it: while an op is changed, all that is made of it reads otherwise."""
    known = {_key(each) for each in found}
    before = {_spot(each): each for each in reversed(found)}
    for each in repair.rest:
        spot = _spot(each)
        if repair.suspect.edit.what == "kind" and _is_at(repair.suspect.edit, each):
            continue  # what modes another op has
        if _key(each) in known or _is_exact(each):
            yield each
        elif spot != _spot(told):
            yield before.get(spot, each)


def _brings(edit: Edit, rest: Sequence[Difference], found: Sequence[Difference]) -> bool:
    """Whether an edit leads to findings at other ops: values that no dump has then differ."""
    before = set(map(_spot, found))
    return any(not (_is_exact(each) or _is_at(edit, each) or _spot(each) in before) for each in rest)


def _spot(difference: Difference) -> tuple[str, int]:
    """The family and the op."""
    place = difference.generated or difference.reference
    return difference.rule.split("/")[0], 0 if place is None else id(place.op)


# ---- what is told ------------------------------------------------------------------------------------


def _told(blame: Blame, repair: Repair, found: list[Difference]) -> Difference:
    """The finding at the op to be repaired; ``found``: what is found without it."""
    edit, _, _, then, now = repair.suspect
    left = {_key(difference) for difference in repair.rest}
    gone = [difference for difference in found if _key(difference) not in left] or found
    ref_op = None if then is None else origin(blame.reference, then)
    if edit.what == "operand" and then is not None and not blame.terms.symbols[then]:
        ref_op = None  # where a constant comes from does not tell who reads it
    if ref_op is not None and ref_op.regions and not edit.op.regions:
        ref_op = None  # what is computed in a loop is not what the loop is
    shown = edit.what not in ("attribute", "kind") or _is_in_reference(edit, ref_op)
    rule, part = _rule(edit, gone, found), edit.name or None
    ref_op = ref_op or _counterpart(blame, repair.suspect, rule, gone)
    worst = max(map(_impact, gone), key=SCALE.index)
    words = _words(blame, repair.suspect)
    tried = (LESS if any(_harm(repair.rest)) else TRIED).format(_change(edit, words[0]))
    note = "; ".join(dict.fromkeys(filter(None, (tried, *(each.note for each in gone)))))
    if rule == ARRAY and then is not None and now is not None:
        words = array_words(blame, then, now)
    if not shown:  # the reference is the same with the change, but nothing says that it is written so
        rule, words = _of_values(blame, repair.suspect, gone[0])
    told = blame.make(rule, ref_op, edit.op, *words, part=part, impact=worst, note=note)
    if rule.split("/")[0].endswith("-mode"):  # what is made of it has another mode, or none
        gone = [each for each in gone if each.generated and each.generated.op.short == edit.op.short]
    return told.at_lines_too(gone)


def _change(edit: Edit, expected: str) -> str:
    """What is done to the op in a trial, as far as few words say it."""
    if edit.what in ("attribute", "kind"):
        return f" to {expected}"
    ours, theirs = edit.op.operands, edit.twin.operands
    if edit.what != "operand" or set(ours) != set(theirs):
        return ""
    groups = zip(operand_groups(edit.op), ours, theirs, strict=True)
    moved = dict.fromkeys(name for (name, *_), now, then in groups if now is not then)
    return f", its {' and '.join(moved)} exchanged" if len(moved) > 1 else ", its operands exchanged"


def _counterpart(blame: Blame, suspect: Suspect, rule: str, gone: Sequence[Difference]) -> Op:
    """The op of the reference to be shown beside one: of what differed there, best of the same rule.

    None where all that is known is a loop around it; of an array, what accesses it.
    """
    op, then = suspect.edit.op, suspect.then
    ops = [(each.rule == rule, each.reference.op) for each in gone if each.reference is not None]
    plain = [(same, other) for same, other in ops if bool(other.regions) == bool(op.regions)]
    if plain:
        return max(plain, key=lambda each: each[0])[1]
    if rule != ARRAY or then is None:
        return None
    arrays = bases(blame, then)
    pointers = ((each.op, each.pointer) for each in blame.reference.effects)
    reads = (op for op, pointer in pointers if pointer is not None and bases(blame, pointer) == arrays)
    return next(reads, None)


def _of_values(blame: Blame, suspect: Suspect, gone: Difference) -> tuple[str, tuple[str, str]]:
    """What is told where the reference may be written otherwise: what differed, or what the op computes."""
    then, now = suspect.then, suspect.now
    purpose = _purpose(suspect.edit.op)
    if then is None or now is None:
        return gone.rule, (gone.expected, gone.actual)
    if suspect.edit.op.short == "constant" and gone.rule.startswith("loop/"):
        return gone.rule, blame.both(then, now)  # what the loop reads, not the trips that this makes
    if gone.rule.split("/")[0] != "arithmetic" or purpose is None:
        return gone.rule, (gone.expected, gone.actual)
    return purpose, blame.both(then, now)


def _purpose(op: TileOp) -> str | None:
    """The rule for what an integer op computes, by what is done with it in the end; None: it is a value."""
    if not op.results or sort_of(op.results[0]) == "data":
        return None
    work, seen = [op], {op}
    while work:
        each = work.pop(0)
        for use in (use for result in each.results for use in result.uses):
            user = use.operation
            if not isinstance(user, TileOp) or user in seen:
                continue
            if user.short in USERS:
                name = operand_groups(user)[use.index][0]
                rule = PURPOSES.get(name if user.short != "select" else f"select {name}")
                if rule is not None:
                    return rule
            if user.short in INTEGERS:
                seen.add(user)
                work.append(user)
    return None


def _is_in_reference(edit: Edit, ref_op: Op) -> bool:
    """Whether the reference computes the same by an op that reads as the edit does."""
    if ref_op is None or ref_op.short != edit.twin.short:
        return False
    constant = edit.op.short == "constant"  # of another shape, perhaps
    return edit.what == "kind" or constant or ref_op.get(edit.name) == edit.twin.get(edit.name)


def _rule(edit: Edit, gone: list[Difference], found: list[Difference]) -> str:
    """The rule of an edit: of another operand where memory is accessed, the values tell it."""
    if edit.op.short == "constant":
        # a number that nothing but loads of masked lanes reads is their padding
        padding = {each.rule for each in gone} == {"padding/changed"}
        exact = padding or gone[0].rule.startswith("loop/")
    else:
        exact = gone[0].rule == CONSTANT and edit.what == "operand" and edit.op.short not in HANDING
    if exact:
        return gone[0].rule
    accesses = edit.op.short in MEMORY and edit.name in ADDRESSES
    sort = sort_of(edit.op.results[0]) if edit.op.results and not accesses else "int"
    if edit.what in ("operand", "extra") and sort != "data":
        rules = [each.rule for each in gone if each.rule.split("/")[0] in PLACES]
        rules.sort(key=lambda rule: rule.startswith("mask/") == (sort == "int"))
        swapped = set(edit.op.operands) == set(edit.twin.operands) and edit.what == "operand"
        purpose = "addressing/index" if accesses else None if swapped else _purpose(edit.op)
        told = next(iter(rules), purpose)
        if told is not None:
            return told
    twin = None if edit.what == "extra" else edit.twin
    rule = rule_of(Local(twin, edit.op, edit.what, edit.name, edit.operand), found)
    behind = edit.op.short not in MEMORY and not edit.op.short.endswith("_view")
    of_load = rule.startswith(("mask/", "padding/")) and behind
    return "arithmetic/operands" if of_load and sort == "data" and edit.what == "operand" else rule


def _words(blame: Blame, suspect: Suspect) -> tuple[str, str]:
    """How the op ought to read, and how it reads."""
    edit, _, _, then, now = suspect
    if edit.what == "operand" and edit.name in ORDERED and then is None:
        orders = [map(blame.generated_term, op.group(edit.name)) for op in (edit.twin, edit.op)]
        listed = [", ".join("?" if term is None else blame.show(term) for term in order) for order in orders]
        return f"[{listed[0]}]", f"[{listed[1]}]"
    if edit.what == "attribute":
        return attribute_words(edit.twin, edit.name), attribute_words(edit.op, edit.name)
    if edit.what == "results":
        prefix = "block" if edit.op.short == "get_tile_block_id" else "grid"
        moved = zip("xyz", edit.op.results, edit.twin.results, strict=True)
        axes = [f"{prefix}.{axis}" for axis, ours, theirs in moved if ours is not theirs]
        return ", ".join(axes), ", ".join(axes[::-1])
    if edit.what == "operand" and edit.op.short == "for":  # outside of the loop there are no iterations yet
        raw = [blame.generated.values.get(op.operands[edit.operand]) for op in (edit.twin, edit.op)]
        then, now = (term if isinstance(term, int) else None for term in raw)
    if edit.what == "kind" or then is None or now is None:
        return text(edit.twin), text(edit.op)
    if edit.name == "index" and edit.op.one("view") is not None:
        return _among_indices(edit, blame.show(then)), _among_indices(edit, blame.show(now))
    return blame.both(then, now)


def _among_indices(edit: Edit, index: str) -> str:
    """An index where it stands among those of the other dimensions: `[block.x, …]`."""
    read = zip(edit.op.group("index"), edit.twin.group("index"), strict=True)
    return f"[{', '.join('…' if now is then else index for now, then in read)}]"
