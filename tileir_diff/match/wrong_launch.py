"""Whether only the launch differs: it is set right, and both sides are compared again."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tileir_diff.errors import InputError
from tileir_diff.graph.values import ops_within
from tileir_diff.match.compare import compare
from tileir_diff.match.entries import symbol
from tileir_diff.match.launch_facts import by_position
from tileir_diff.match.model import Difference, Site
from tileir_diff.match.repeats import AXES
from tileir_diff.match.roles import entry_roles, role_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.match.launch import ArgValue, Grid, Launch
    from tileir_diff.match.model import CompareOptions, Comparison, Matched

SETTLES = "with what the reference has, both sides are the same"
OR_ORDER = "; or it is the kernel that takes its arguments in this order"


def wrong_launch(
    reference: ModuleOp,
    generated: ModuleOp,
    options: CompareOptions,
    differ: Callable[[Comparison], bool],
) -> list[Difference]:
    """What the launch gives the generated side that must be something else for both sides to be the same.

    ``differ`` says whether a comparison found what matters. Empty without a launch of both sides, and where
    no such change makes them the same. Which argument is which is decided without the launch, by role, name
    and use.
    It may be the kernel that reads one argument for another. So nothing is changed where an argument that it
    does not read has the value, and arrays only where the kernels are the same without a launch.
    """
    if options.launch is None:
        return []
    apart = options._replace(launch=None, prover=None)
    unlaunched = compare(reference, generated, apart)
    if len(unlaunched.matched) != 1:
        return []
    matched = unlaunched.matched[0]
    try:
        launch = by_position(options.launch, matched.reference, matched.generated)
    except InputError:  # it is one of other kernels
        return []
    changes = _changes(launch, matched)
    arrays = any(value.is_pointer for value in changes.values())
    if _at_hand(launch, matched, changes) or (arrays and differ(unlaunched)):
        return []

    def right(candidate: Launch) -> bool:
        try:
            return not differ(compare(reference, generated, apart._replace(launch=candidate)))
        except InputError:  # a value of the one does not fit the other
            return False

    note = SETTLES + (OR_ORDER if _exchanged(launch, changes) else "")
    found = [_argument(launch, matched, index, value, note) for index, value in changes.items()]
    mended = _with(launch, changes)
    if found and right(mended):
        return found
    given, (x, y, z) = launch.generated.grid, launch.reference.grid
    wanted = x or given[0], y or given[1], z or given[2]
    if wanted != given:
        mended = mended._replace(generated=mended.generated._replace(grid=wanted))
        if right(mended):
            return [*found, _grid(matched, given, wanted)]
    return []


def _changes(launch: Launch, matched: Matched) -> dict[int, ArgValue]:
    """By position, the values that arguments of the generated side would need: those of their partners."""
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
    if launch.generated.args is None:
        return launch
    args = tuple(changes.get(index, value) for index, value in enumerate(launch.generated.args))
    side = launch.generated._replace(args=args, named=MappingProxyType({}))
    return launch._replace(generated=side)


def _exchanged(launch: Launch, changes: dict[int, ArgValue]) -> bool:
    """Whether the arguments would only have to change places."""
    args = launch.generated.args or ()
    old = [args[index] for index in changes]
    return len(old) > 1 and all(value in old for value in changes.values())


def _argument(launch: Launch, matched: Matched, index: int, value: ArgValue, note: str) -> Difference:
    old = (launch.generated.args or ())[index]
    ours, theirs = _name(matched.generated, index), _name(matched.reference, matched.parameters[index])
    return Difference(
        "launch/argument",
        *_sites(matched),
        f"{theirs} = {_said(value)}",
        f"%{ours} = {_said(old)}",
        note=note,
    )


def _said(value: ArgValue | None) -> str:
    if value is None:
        return "no value"
    return "null" if value.is_pointer and value.value is None else str(value.value)


def _grid(matched: Matched, actual: Grid, expected: Grid) -> Difference:
    here, there = _blocks(actual), _blocks(expected)
    return Difference("grid/size", *_sites(matched), there, here, note=SETTLES)


def _blocks(grid: Grid) -> str:
    """The size of a grid, or of the axes along which it is known."""
    if None in grid:
        known = [(size, axis) for size, axis in zip(grid, AXES, strict=True) if size is not None]
        return " and ".join(f"{size} block{'s' * (size > 1)} along {axis}" for size, axis in known)
    return f"{' x '.join(map(str, grid))} blocks"


def _sites(matched: Matched) -> tuple[Site, Site]:
    reference, generated = (
        Site(entry, str(symbol(entry))) for entry in (matched.reference, matched.generated)
    )
    return reference, generated


def _name(entry: TileOp, index: int) -> str:
    return role_names(entry, entry_roles(entry, ops_within(entry)))[index]
