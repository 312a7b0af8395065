"""Whether only the launch differs: it is set right, and both sides are compared again."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.api import Options
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.match.launch import ArgValue, Launch
    from tileir_diff.match.model import Matched


def wrong_values(reference: str, generated: str, options: Options) -> list[str]:
    """What the launch hands to the generated side that must be another value for both sides to be the same.

    Empty without a launch of both sides, and where no such change makes them the same. Which argument is
    which is decided without the launch, by role, name and use.
    It may be the kernel that reads one argument for another. So nothing is changed where an argument that it
    does not read has the value, and arrays only where the kernels are the same without a launch.
    """
    from tileir_diff.api import load
    from tileir_diff.match.compare import compare
    from tileir_diff.match.launch_facts import by_position

    given = options.compare.launch
    if given is None:
        return []
    modules = load(reference, "reference")[0], load(generated, "generated")[0]
    apart = options._replace(
        compare=options.compare._replace(launch=None, prover=None), execution=None, lower=()
    )
    found = compare(*modules, apart.compare).matched
    if len(found) != 1:
        return []
    try:
        launch = by_position(given, found[0].reference, found[0].generated)
    except InputError:  # it is one of other kernels
        return []
    changes = _changes(launch, found[0])
    arrays = any(value.is_pointer for value in changes.values())
    if _at_hand(launch, found[0], changes) or (arrays and _differ(reference, generated, apart)):
        return []
    told = [_told(launch, found[0], index, value) for index, value in changes.items()]
    right = _with(launch, changes)
    if told and not _differ(reference, generated, _at(apart, right)):
        return told
    grids = launch.generated.grid, launch.reference.grid
    if grids[0] != grids[1] and None not in grids[1]:
        right = right._replace(generated=right.generated._replace(grid=grids[1]))
        if not _differ(reference, generated, _at(apart, right)):
            here, there = (" x ".join(map(str, grid)) for grid in grids)
            return [*told, f"a grid of {here} where the reference has {there}"]
    return []


def _changes(launch: Launch, matched: Matched) -> dict[int, ArgValue]:
    """By position, the values of the generated side's arguments that are not those of their partners."""
    here, there = launch.generated.args, launch.reference.args
    if here is None or there is None:
        return {}
    changes: dict[int, ArgValue] = {}
    for index, partner in sorted(matched.parameters.items()):
        ours, theirs = here[index], there[partner]
        if ours is None or theirs is None or ours.is_pointer != theirs.is_pointer:
            continue
        if ours.value != theirs.value:
            changes[index] = ours._replace(value=theirs.value)
    return changes


def _at_hand(launch: Launch, matched: Matched, changes: dict[int, ArgValue]) -> bool:
    """Whether an argument without a partner has a value that others would have to have."""
    left = [
        value.value
        for index, value in enumerate(launch.generated.args or ())
        if index not in matched.parameters and value is not None
    ]
    return any(value.value in left for value in changes.values())


def _with(launch: Launch, changes: dict[int, ArgValue]) -> Launch:
    values = enumerate(launch.generated.args or ())
    args = tuple(changes.get(index, value) for index, value in values)
    side = launch.generated._replace(args=args, named=MappingProxyType({}))
    return launch._replace(generated=side)


def _at(options: Options, launch: Launch) -> Options:
    return options._replace(compare=options.compare._replace(launch=launch))


def _differ(reference: str, generated: str, options: Options) -> bool:
    """Whether something but promises about divisibility differs."""
    from tileir_diff.api import run

    try:
        result = run(reference, generated, options)
    except InputError:  # a value of the one that does not fit the other
        return True
    # what a kernel promises of its arguments comes from the launch that it was specialised for
    return any(
        each.severity == "critical" and not each.rule.startswith("divisibility/") for each in result.findings
    )


def _told(launch: Launch, matched: Matched, index: int, value: ArgValue) -> str:
    old = (launch.generated.args or ())[index]
    ours, theirs = _name(matched.generated, index), _name(matched.reference, matched.parameters[index])
    return f"{ours} = {old.value if old else None} where the reference has {theirs} = {value.value}"


def _name(entry: TileOp, index: int) -> str:
    return f"%{entry.regions[0].block.args[index].name_hint or f'arg{index}'}"
