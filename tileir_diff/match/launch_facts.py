"""What a launch says of one pair of entries: which launch applies, and its values by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.types import Scalar
from tileir_diff.errors import InputError
from tileir_diff.graph.values import is_pointer, ops_within
from tileir_diff.match.entries import symbol
from tileir_diff.match.launch import AXES, FLOAT_KINDS, INTEGER_KINDS, ArgValue
from tileir_diff.match.roles import argument_index, entry_roles, role_names
from tileir_diff.match.scalars import check_fits
from tileir_diff.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.match.launch import Launch, SideLaunch


LISTED = 16
"""The most names that a message lists."""


def check_launch(reference: ModuleOp, generated: ModuleOp, launch: Launch) -> None:
    """Raises InputError for a launch of an entry that is not there, and for a fact that names no argument."""
    modules = ("reference", reference, launch.reference), ("generated", generated, launch.generated)
    for name, module, side in modules:
        known = [str(symbol(entry)) for entry in module.entries]
        if side.entry is not None and side.entry.removeprefix("@") not in known:
            there = ", ".join(f"@{each}" for each in known)
            other = generated if name == "reference" else reference
            exchanged = side.entry.removeprefix("@") in [str(symbol(entry)) for entry in other.entries]
            hint = "are the two files exchanged?" if exchanged else f"there are {there}"
            message = f"'{name}' is a launch of @{side.entry}, which the {name} side does not have; {hint}"
            raise InputError(message, launch.source)
    named = {name: None for _, _, side in modules for name in (*side.earlier, *side.named)}
    for name in named:
        if not any(
            argument_index(entry, name) is not None
            for _, module, side in modules
            if name in side.named or name in side.earlier
            for entry in module.entries
        ):
            facts = known_facts((*reference.entries, *generated.entries))
            more = ", …" if len(facts) > LISTED else ""
            hint = did_you_mean(name, facts) or f"; there are {', '.join(facts[:LISTED])}{more}"
            raise InputError(f"{name}=...: neither entry has an argument '{name}'{hint}", "--launch")


def known_facts(entries: Iterable[TileOp]) -> list[str]:
    """The names that a launch fact may have: sizes of the grid, and the arguments that are numbers."""
    facts = {f"grid.{axis}": None for axis in AXES}
    for entry in entries:
        names = role_names(entry, entry_roles(entry, ops_within(entry)))
        for parameter, name in zip(entry.regions[0].block.args, names, strict=True):
            if not is_pointer(parameter):
                facts[name] = None
    return list(facts)


def applies(launch: Launch, ref_entry: TileOp, gen_entry: TileOp) -> bool:
    """Whether it is a launch of these two: a launch that names no entry is one of all."""
    sides = (launch.reference, ref_entry), (launch.generated, gen_entry)
    return all(side.entry is None or side.entry.removeprefix("@") == symbol(entry) for side, entry in sides)


def by_position(launch: Launch, ref_entry: TileOp, gen_entry: TileOp) -> Launch:
    """The launch with each value that it gives, in `args` or by name, at its argument; later facts win.

    Raises InputError where the number of arguments or a value does not fit.
    """
    both = {"reference": ref_entry, "generated": gen_entry}
    return launch._replace(
        reference=_side(launch.reference, "reference", both, launch.source),
        generated=_side(launch.generated, "generated", both, launch.source),
    )


def _side(side: SideLaunch, name: str, entries: Mapping[str, TileOp], source: str) -> SideLaunch:
    entry = entries[name]
    params = entry.regions[0].block.args
    values: list[ArgValue | None] = list(side.args) if side.args is not None else [None] * len(params)
    if len(values) != len(params):
        message = f"the launch gives {len(values)} arguments for @{symbol(entry)}, which has {len(params)}"
        hint = "" if side.entry else f"; '{name}.entry' of a launch file says which kernel it is of"
        raise InputError(message + hint, source)
    for index, (param, value) in enumerate(zip(params, values, strict=True)):
        if value is not None:
            _check_kind(param, value, f"argument {index} of @{symbol(entry)}", source)
    early, late = (_named(facts, name, entries) for facts in (side.earlier, side.named))
    for index, value in early.items():
        values[index] = value if values[index] is None else values[index]
    for index, value in late.items():
        values[index] = value
    scalars = {
        str(index): value.value
        for index, value in enumerate(values)
        if value is not None and isinstance(value.value, (int, float))
    }
    return side._replace(args=None if side.args is None else tuple(values), named=scalars, earlier={})


def _named(facts: Mapping[str, int | float], side: str, entries: Mapping[str, TileOp]) -> dict[int, ArgValue]:
    """The values that are given by name, by position. Raises InputError for one that does not fit."""
    entry = entries[side]
    found: dict[int, ArgValue] = {}
    for name, value in facts.items():
        index = argument_index(entry, name)
        if index is None:
            continue  # the other side has it, or another entry
        param = entry.regions[0].block.args[index]
        where = f"the argument {name} of the {side} @{symbol(entry)}"
        if is_pointer(param):
            message = f"{where} is a {param.type}; a number does not fit it"
            raise InputError(message + _other_side(name, side, entries), "--launch")
        check_fits(param, value, where, "--launch")
        found[index] = ArgValue("number", value)
    return found


def _other_side(name: str, side: str, entries: Mapping[str, TileOp]) -> str:
    """How to say that the number is one for the other side, if it fits there; else nothing."""
    other = "generated" if side == "reference" else "reference"
    index = argument_index(entries[other], name)
    if index is None or is_pointer(entries[other].regions[0].block.args[index]):
        return ""
    return f"; write {other}.{name}=... if the {other} side's is meant"


def _check_kind(param: SSAValue, value: ArgValue, where: str, source: str) -> None:
    """An array goes with a pointer, an integer with an integer, a float with a float."""
    if value.is_pointer:
        if not is_pointer(param):
            raise InputError(f"{where} is a {param.type}; an array does not fit it", source)
        return
    number = value.value
    assert isinstance(number, (int, float))  # only an array has a name
    check_fits(param, number, where, source)
    element = getattr(param.type, "element", None)
    kinds = INTEGER_KINDS if isinstance(element, Scalar) and element.is_int else FLOAT_KINDS
    if value.kind not in kinds:
        raise InputError(f"{where} is a {param.type}; {value.kind} does not fit it", source)
