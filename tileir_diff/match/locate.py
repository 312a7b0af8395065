"""Puts findings on the line that was changed, where two dumps are the same but for a few ops."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import TileOp
from tileir_diff.match.align import Alignment, Local, operand_groups
from tileir_diff.match.blame_forms import left_out
from tileir_diff.match.locate_rules import MEMORY, PLACES, rule_of, type_words
from tileir_diff.match.sites import defining_op, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference

SCALE = ("none", "hint", "edge", "ulp", "precision", "bounds", "assume", "logic")
MAX_PLACED = 3
HANDED = frozenset({"inits", "operands"})
"""Groups of what a loop or a branch hands on, tokens among it."""
OF_VALUES = PLACES | {"accumulator", "control-flow", "loop", "stride"}
"""Families whose findings tell values, not ops."""
CHAINED = {"inserted": "EXTRA", "removed": "MISSING"}
"""An op that stands between a value and its user on one side only."""
MUTE = frozenset({"print_tko", "assert"})


def place(blame: Blame, alignment: Alignment, differences: list[Difference]) -> list[Difference] | None:
    """The local differences that change a result, as findings; None when none of them does.

    ``differences``: what the values say.
    """
    _pair_loops(blame, alignment)
    harmful = [item for item in alignment.local if _matters(blame, item)]
    if any(item.what in ("missing", "extra") and _acts(item.reference or item.generated) for item in harmful):
        # what only feeds a lost access, check or loop goes with it
        harmful = [
            i for i in harmful if i.what not in ("missing", "extra") or _acts(i.reference or i.generated)
        ]
    harmful = _inserted(_renumbered(_moved(harmful)))
    if all(map(_is_mute, harmful)) or any(map(_is_loop_form, harmful)) or len(harmful) > MAX_PLACED:
        return None  # no edit that could change a value, or not one edit: the values explain it better
    found: list[Difference] = []
    stated = [difference.impact for difference in differences]
    worst = (
        max((i for i in stated if i is not None), key=SCALE.index) if None not in stated and stated else None
    )
    for item in harmful:
        synchronises = _synchronises(item, differences)
        if synchronises is not None:
            found.append(synchronises)
            continue
        rule = rule_of(item, differences)
        expected, actual = _words(blame, item, rule)
        impact = worst  # the values know better what it does
        if worst == "none" and not _is_told(item, differences):
            impact = None  # that was said of another op
        chained = _chained(blame, item, rule)
        if chained is not None:
            found.append(replace(chained, impact=impact))
            continue
        part = item.name if item.what in ("attribute", "operand") else None
        lost = (
            item.what == "operand"
            and item.operand < 0
            and not (item.generated and item.generated.group(item.name))
        )
        status = (
            "MISSING"
            if lost
            else {"missing": "MISSING", "extra": "EXTRA", **CHAINED}.get(item.what, "DIFFERS")
        )
        found.append(
            blame.make(
                rule,
                item.reference,
                item.generated,
                expected,
                actual,
                part=part,
                impact=impact,
                status=status,
            )
        )
    return _one_a_line(found)


def _is_mute(item: Local) -> bool:
    """An op that nothing computes with: it cannot be why values differ."""
    return all(op is None or op.short in MUTE for op in (item.reference, item.generated))


def _is_loop_form(item: Local) -> bool:
    """A `loop` in place of a `for`: how often it runs is what counts."""
    ops = item.reference, item.generated
    return item.what == "kind" and all(op is not None and op.short in ("for", "loop") for op in ops)


def _is_told(item: Local, differences: list[Difference]) -> bool:
    """Whether one of the findings is about the op itself."""
    sites = (site for each in differences for site in (each.reference, each.generated) if site is not None)
    return any(site.op is item.reference or site.op is item.generated for site in sites)


def _synchronises(item: Local, differences: list[Difference]) -> Difference | None:
    """What is told of a load or a loop that one side lacks, where its effect on order or progress is why."""
    if item.what not in ("missing", "extra"):
        return None
    about = (each for each in differences if _is_told(item, [each]))
    return next((each for each in about if each.rule.split("/")[0] in ("memory-order", "control-flow")), None)


def _renumbered(harmful: list[Local]) -> list[Local]:
    """Where the results of one op were exchanged, the op is to blame, not those that read them."""
    kept: list[Local] = []
    blamed: set[int] = set()
    for item in harmful:
        if (
            item.what == "operand"
            and item.operand >= 0
            and item.reference is not None
            and item.generated is not None
        ):
            a = operand_groups(item.reference)[item.operand][1]
            b = operand_groups(item.generated)[item.operand][1]
            ref_def: Any = a.owner
            gen_def: Any = b.owner
            if getattr(ref_def, "short", None) is not None and ref_def.short == getattr(
                gen_def, "short", None
            ):
                names = [r.name_hint for r in ref_def.results], [r.name_hint for r in gen_def.results]
                if names[0] != names[1] and sorted(map(str, names[0])) == sorted(map(str, names[1])):
                    if id(gen_def) not in blamed:
                        blamed.add(id(gen_def))
                        kept.append(Local(ref_def, gen_def, "results"))
                    continue
        kept.append(item)
    return kept


def _moved(harmful: list[Local]) -> list[Local]:
    """An access that now stands in an ``if``, or no longer does, is one difference: the ``if``."""
    branches: dict[str, set[str]] = {"missing": set(), "extra": set()}
    for item in harmful:
        op = item.generated if item.what == "extra" else item.reference
        if item.what in branches and op is not None and op.short == "if":
            branches[item.what].update(inner.short for inner in op.walk() if isinstance(inner, TileOp))
    kept: list[Local] = []
    for item in harmful:
        op = item.reference if item.what == "missing" else item.generated
        other = {"missing": "extra", "extra": "missing"}.get(item.what)
        if other is None or op is None or op.short == "if" or op.short not in branches[other]:
            kept.append(item)
    return kept


def _inserted(harmful: list[Local]) -> list[Local]:
    """An op put in, or taken out, before a user is one difference: the op, not the op and its user."""
    extra = {id(item.generated): item for item in harmful if item.what == "extra"}
    missing = {id(item.reference): item for item in harmful if item.what == "missing"}
    used: set[int] = set()
    kept: list[Local] = []
    for item in harmful:
        if item.what != "operand" or item.reference is None or item.generated is None:
            continue
        if item.operand < 0:  # what only feeds an operand that one side does not have goes with it
            for op, table in ((item.reference, missing), (item.generated, extra)):
                for value in op.group(item.name):
                    _swallow(value.owner, table, used)
            continue
        ref_def: Any = operand_groups(item.reference)[item.operand][1].owner
        gen_def: Any = operand_groups(item.generated)[item.operand][1].owner
        if id(gen_def) in extra:
            _swallow(gen_def, extra, used)
            kept.append(Local(item.reference, gen_def, "inserted", item.name, item.operand))
            used.add(id(item))
        elif id(ref_def) in missing:
            _swallow(ref_def, missing, used)
            kept.append(Local(ref_def, item.generated, "removed", item.name, item.operand))
            used.add(id(item))
    rest = [item for item in harmful if id(item) not in used]
    first: dict[int, Local] = {}
    for item in kept:
        first.setdefault(id(item.generated if item.what == "inserted" else item.reference), item)
    return [*first.values(), *rest]


def _swallow(op: Any, table: dict[int, Local], used: set[int]) -> None:
    """Mark an unaligned op and the unaligned ops that only feed it."""
    work = [op]
    while work:
        each = work.pop()
        item = table.get(id(each))
        if item is None or id(item) in used:
            continue
        used.add(id(item))
        work.extend(value.owner for value in each.operands)


def _pair_loops(blame: Blame, alignment: Alignment) -> None:
    """Aligned loops are each other's: rename the symbols of the generated one."""
    ref_loops = {id(loop.op): loop for loop in blame.reference.loops}
    gen_loops = {id(loop.op): loop for loop in blame.generated.loops}
    for ref_op, gen_op in alignment.pairs:
        ref, gen = ref_loops.get(id(ref_op)), gen_loops.get(id(gen_op))
        if ref is None or gen is None:
            continue
        blame.renamed[gen.iteration] = blame.terms.atom(ref.iteration)
        by_index = {carry.index: carry for carry in ref.carries}
        for carry in gen.carries:
            other = by_index.get(carry.index)
            if other is not None:
                blame.renamed[carry.leaf] = other.leaf


def _one_a_line(found: list[Difference]) -> list[Difference]:
    """Several differences of one op are one finding, the first; the order of accesses is one of its own."""
    kept: list[Difference] = []
    seen: set[tuple[bool, int, int]] = set()
    for difference in found:
        key = (
            difference.rule.startswith("memory-order/"),
            id(difference.reference.op) if difference.reference else 0,
            id(difference.generated.op) if difference.generated else 0,
        )
        if key not in seen:
            seen.add(key)
            kept.append(difference)
    return kept


def _term(blame: Blame, side: int, value: Any) -> Any:
    kernel = blame.reference if side == 0 else blame.generated
    term = kernel.values.get(value)
    if isinstance(term, int):
        return term if side == 0 else blame.rename(term)
    view: Any = term
    if not hasattr(view, "pointer"):
        return None
    fields = (view.pointer, *view.shape, *view.strides)
    return (str(view.type), *(each if side == 0 else blame.rename(each) for each in fields))


def _matters(blame: Blame, item: Local) -> bool:
    """Whether the local difference changes what its op computes or does."""
    ref, gen = item.reference, item.generated
    if ref is None or gen is None:
        op: Any = ref if ref is not None else gen
        return _acts(op) or any(list(result.uses) for result in op.results)
    if item.name == "inbounds" and not any(_promises_more(ref, gen)):
        return False  # where a lost promise shows, the values say what it does
    if item.what == "operand" and item.operand >= 0:
        a, b = operand_groups(ref)[item.operand][1], operand_groups(gen)[item.operand][1]
        left, right = _term(blame, 0, a), _term(blame, 1, b)
        if left is None or right is None:
            return False  # tokens: compared as an order
        if left == right:
            return False
    if item.what == "operand" and item.operand < 0 and (ref.group(item.name) or gen.group(item.name)):
        terms = ([_term(blame, side, v) for v in op.group(item.name)] for side, op in enumerate((ref, gen)))
        left, right = ([term for term in each if term is not None] for each in terms)
        if left == right and item.name in HANDED:
            return False  # another number of tokens
    results = [
        (_term(blame, 0, a), _term(blame, 1, b)) for a, b in zip(ref.results, gen.results, strict=False)
    ]
    values = [(a, b) for a, b in results if a is not None or b is not None]
    if not values:
        return not (item.what == "attribute" and item.name == "overflow")
    if ref.short in ("assume",):
        return False
    if ref.short in MEMORY or ref.short in ("for", "loop", "if", "reduce", "scan"):
        return True
    return any(a != b for a, b in values)


def _promises_more(ref: TileOp, gen: TileOp) -> Iterator[bool]:
    """By dimension, whether only the generated access promises to stay inside of the view."""
    ours, theirs = ref.get("inbounds") or (), gen.get("inbounds") or ()
    return (promised and not old for old, promised in zip_longest(ours, theirs, fillvalue=False))


def _acts(op: Any) -> bool:
    """Ops whose loss shows by itself, not only in what reads their result."""
    return op.short in MEMORY or op.short in ("print_tko", "assert", "for", "loop", "if", "break", "continue")


def _words(blame: Blame, item: Local, rule: str) -> tuple[str, str]:
    ref, gen = item.reference, item.generated
    if item.what in CHAINED and rule.split("/")[0] in OF_VALUES and ref and gen:
        a, b = _with_and_without(item, ref, gen)
        return _operand(blame, 0, a), _operand(blame, 1, b)
    if item.what == "attribute" and ref is not None and gen is not None:
        return attribute_words(ref, item.name), attribute_words(gen, item.name)
    if item.what == "type" and ref is not None and gen is not None:
        return type_words(ref, gen, rule)
    if item.what == "results" and ref is not None and gen is not None:
        return ", ".join(f"%{r.name_hint}" for r in ref.results), ", ".join(
            f"%{r.name_hint}" for r in gen.results
        )
    if item.what == "operand" and ref is not None and gen is not None:
        if item.operand < 0:
            return _group(blame, 0, ref, item.name), _group(blame, 1, gen, item.name)
        a, b = operand_groups(ref)[item.operand][1], operand_groups(gen)[item.operand][1]
        return _operand(blame, 0, a), _operand(blame, 1, b)
    return text(ref) if ref is not None else "nothing", text(gen) if gen is not None else "nothing"


def _with_and_without(item: Local, ref: TileOp, gen: TileOp) -> tuple[Any, Any]:
    """The value used by either side: that of the op that one side has more, and that used without it."""
    sides = (ref, item.what == "inserted"), (gen, item.what == "removed")
    a, b = (operand_groups(op)[item.operand][1] if uses else op.results[0] for op, uses in sides)
    return a, b


def _chained(blame: Blame, item: Local, rule: str) -> Difference | None:
    """An op with a value put in before its user, or taken out: told by the values; None for all else."""
    ref, gen = item.reference, item.generated
    if ref is None or gen is None or item.what not in CHAINED or not rule.startswith("arithmetic/"):
        return None
    a, b = (_term(blame, side, value) for side, value in enumerate(_with_and_without(item, ref, gen)))
    if not isinstance(a, int) or not isinstance(b, int) or a == b:
        return None
    lone = left_out(blame, a, b, ref, gen)
    if lone is not None:
        return lone[0].difference
    user = ref if item.what == "inserted" else gen
    detail = {"stored": True} if user.short.startswith("store") else {}
    return blame.make(rule, ref, gen, *blame.both(a, b), status=CHAINED[item.what], detail=detail)


def attribute_words(op: Any, name: str) -> str:
    value = op.get(name)
    if value is None or value is False or value == ():
        return f"no {name}" if value is not None else "default"
    if value is True:
        return name
    if hasattr(value, "floats"):
        return _elements(value)
    if name == "identities":
        return ", ".join(_elements(each) for each in value)
    return str(value)


def _elements(dense: Any) -> str:
    values = dense.ints() if dense.element.is_int else dense.floats()
    listed = ", ".join(f"{v:.9g}" if isinstance(v, float) else str(v) for v in list(values)[:4])
    return listed + (", ..." if len(dense.bits) > 4 else "")


def _group(blame: Blame, side: int, op: Any, name: str) -> str:
    """The operands of a group: a mask or padding as what it is, others by their names."""
    values = list(op.group(name))
    term = _term(blame, side, values[0]) if len(values) == 1 else None
    if name in ("mask", "padding") and isinstance(term, int):
        return blame.show(term)
    return ", ".join(f"%{value.name_hint}" for value in values) or "none"


def _operand(blame: Blame, side: int, value: Any) -> str:
    term = _term(blame, side, value)
    name = f"%{value.name_hint}" if value.name_hint else "a value"
    if isinstance(term, int):
        shown = blame.show(term)
        return f"{name}: {shown}" if len(shown) < 60 else name
    op = defining_op(value)
    return f"{name}: {text(op)}" if op is not None else name
