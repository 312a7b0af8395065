"""Runs the pairs of a comparison, and enters what came out."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from tileir_diff.equivalence.differential.effects import BY_RULE, matters, with_difference, with_equal_runs
from tileir_diff.equivalence.differential.execute import Pair, with_misaligned
from tileir_diff.equivalence.differential.launches import GIVEN, CannotMakeError, from_launch
from tileir_diff.equivalence.differential.made import Doubts, made_plans
from tileir_diff.equivalence.differential.plan import Pointer
from tileir_diff.equivalence.differential.sides import Side
from tileir_diff.equivalence.files import write_array
from tileir_diff.equivalence.machine import TimeUp
from tileir_diff.match.entries import symbol
from tileir_diff.match.launch_facts import applies, by_position
from tileir_diff.match.model import Semantics

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.equivalence.differential.execute import Found, Tested
    from tileir_diff.equivalence.differential.plan import Plan
    from tileir_diff.match.model import CompareOptions, Comparison, Difference, Execution

Modules = tuple["ModuleOp", "ModuleOp"]
Entries = tuple["TileOp", "TileOp"]
REACH = frozenset(BY_RULE["bounds"][1]) | frozenset(BY_RULE["undetermined"][1])
"""Families of findings by which the sides reach different memory."""


def execute(
    modules: Modules, paths: tuple[str, str], comparison: Comparison, options: CompareOptions, how: Execution
) -> None:
    """Runs each pair of entries that structure did not settle; changes the comparison."""
    for ref_name, gen_name, _ in comparison.pairs:
        if ref_name is None or gen_name is None:
            continue
        entries = _entry(modules[0], ref_name), _entry(modules[1], gen_name)
        own = [each for each in comparison.differences if len(comparison.pairs) == 1 or _is_of(each, entries)]
        if is_settled(own, comparison):
            detail = "settled by structure, not run"
            comparison.semantics.append(Semantics(ref_name, gen_name, "settled", detail, 0, how.seed))
            continue
        names = ref_name, gen_name
        conditions = bool(comparison.obligations)
        outcome, changed = run_pair(modules, entries, names, paths, own, options, how, conditions)
        comparison.semantics.append(outcome)
        _exchange(comparison.differences, own, changed)


def is_settled(differences: list[Difference], comparison: Comparison) -> bool:
    """Whether structure leaves nothing to run for: no difference above a hint, no condition, nothing open."""
    return not (
        any(matters(each) for each in differences) or comparison.obligations or comparison.not_checked
    )


def run_pair(
    modules: Modules,
    entries: Entries,
    names: tuple[str, str],
    paths: tuple[str, str],
    differences: list[Difference],
    options: CompareOptions,
    how: Execution,
    conditions: bool = False,
) -> tuple[Semantics, list[Difference]]:
    """What running one pair gave, and its findings with it. `conditions`: as `doubts` takes it."""
    sides = Side(0, modules[0], entries[0]), Side(1, modules[1], entries[1])
    pair = Pair(*sides, seed=how.seed, seconds=how.budget, small=how.small)
    open_ = doubts(differences, conditions)
    pair.reach = open_.bounds
    pair.tolerance = how.tolerance
    try:
        plans = make_plans(pair, options, open_)
        if any(each.rule.startswith("divisibility/") and matters(each) for each in differences):
            plans = with_misaligned(pair, plans)
        tested = pair.test(plans, how.runs)
    except CannotMakeError as error:
        return Semantics(*names, "not-run", f"not run: {error}", 0, how.seed), differences
    except TimeUp:
        return Semantics(*names, "not-run", "not run: the time was up", 0, how.seed), differences
    if tested.found is not None:
        commands = _write(tested.found, sides, names, paths, how.folder) if how.folder else ()
        text = _different(tested.found, commands, how)
        changed = with_difference(differences, tested.found, text, entries)
        return Semantics(*names, "different", text, tested.runs, how.seed, commands), changed
    if not tested.runs:
        reason = tested.why or f"the reference took none of {tested.unusable} inputs"
        return Semantics(*names, "not-run", f"not run: {reason}", 0, how.seed), differences
    text = _equal(tested, how)
    detail = f"{text}; {_tried(tested)}"
    outcome = Semantics(*names, "equal", detail, tested.runs, how.seed)
    return outcome, with_equal_runs(differences, tested, text)


def doubts(differences: list[Difference], conditions: bool) -> Doubts:
    """What a launch may show. `conditions`: there are some that the host must keep."""
    open_ = [each for each in differences if matters(each)]
    promises = [each for each in open_ if each.rule in ("divisibility/stronger", "bounds/stronger")]
    families = {each.rule.partition("/")[0] for each in open_}
    return Doubts(
        frozenset(each.generated.op for each in promises if each.generated),
        not conditions or bool(families & REACH),
    )


def make_plans(pair: Pair, options: CompareOptions, doubts: Doubts) -> list[Plan]:
    """The launches to run. Raises CannotMakeError and TimeUp."""
    launch = options.launch
    entries = pair.sides[0].entry, pair.sides[1].entry
    if launch is not None and applies(launch, *entries):
        launch = by_position(launch, *entries)
        if launch.reference.args is not None and launch.generated.args is not None:
            return [from_launch(pair.sides, launch, pair.limits(), pair.seed)]
        options = options._replace(launch=launch)
    elif launch is not None:
        options = options._replace(launch=None)
    return made_plans(pair, options, doubts)


# ---- words


def _different(found: Found, commands: tuple[str, ...], how: Execution) -> str:
    where = "" if commands else f", seed {how.seed}; --inputs FOLDER writes the arrays"
    plan = found.plan
    sizes = "" if plan.what == GIVEN else f", {plan.what}, grid {' x '.join(map(str, plan.grids[0]))}"
    return f"different: {found.mismatch} ({found.recipe}{sizes}{where})"


def _equal(tested: Tested, how: Execution) -> str:
    runs = "1 run" if tested.runs == 1 else f"{tested.runs} runs"
    return f"equal in {runs} (seed {how.seed}), which proves nothing"


def _tried(tested: Tested) -> str:
    parts = [f"numbers: {', '.join(tested.kinds)}"]
    if tested.unusable:
        parts.append(f"{tested.unusable} inputs were none that the reference takes")
    if tested.why:
        parts.append(tested.why)
    return "; ".join(parts)


# ---- files and commands


def _write(
    found: Found, sides: tuple[Side, Side], names: tuple[str, str], paths: tuple[str, str], folder: str
) -> tuple[str, ...]:
    """Writes the arrays of an input; the commands that run either side on it. Raises InputError."""
    files = [
        write_array(folder, array.name, data)
        for array, data in zip(found.plan.arrays, found.contents, strict=True)
    ]
    commands: list[str] = []
    for side, name, path in zip(sides, names, paths, strict=True):
        words = ["tileir-diff", "run", path]
        if len(side.prepared.module.entries) > 1:
            words += ["--entry", name.removeprefix("@")]
        words += ["--grid", ",".join(str(size) for size in found.plan.grids[side.number])]
        for parameter, slot in zip(side.names, found.plan.slots(side.number), strict=True):
            words += ["--arg", f"{parameter}={_argument(slot, found.plan, files)}"]
        words += ["-o", os.path.join(folder, ("reference", "generated")[side.number])]
        commands.append(shlex.join(words))
    return tuple(commands)


def _argument(slot: object, plan: Plan, files: list[str]) -> str:
    if not isinstance(slot, Pointer):
        return repr(slot)
    if slot.array is None:
        return "null"
    offset = plan.arrays[slot.array].offset
    return files[slot.array] + (f"@{offset}" if offset else "")


# ---- pieces


def _entry(module: ModuleOp, name: str) -> TileOp:
    return next(entry for entry in module.entries if symbol(entry) == name)


def _is_of(difference: Difference, entries: Entries) -> bool:
    names = [str(symbol(entry)) for entry in entries]
    for site, name in ((difference.reference, names[0]), (difference.generated, names[1])):
        if site is not None:
            return site.entry.removeprefix("@") == name.removeprefix("@")
    return False


def _exchange(all_: list[Difference], own: list[Difference], changed: list[Difference]) -> None:
    """Puts the changed findings where the pair's own were; new ones behind them."""
    places = {id(each): at for at, each in enumerate(own)}
    last = max((at for at, each in enumerate(all_) if id(each) in places), default=len(all_) - 1)
    added = changed[len(own) :]
    all_[:] = [
        new
        for at, each in enumerate(all_)
        for new in (
            [changed[places[id(each)]] if id(each) in places else each] + (added if at == last else [])
        )
    ] or list(added)
