"""Which parameter of an entry in kernel.rs stands for which of the reference's, and so gets its value."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.dump.like import Argument, parse_likes
from tileir_diff.dump.rust_signature import Entry, choose
from tileir_diff.errors import InputError
from tileir_diff.pipeline.workers.names import module_name, python_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dump.rust_signature import Parameter
    from tileir_diff.pipeline.artifacts import Variant

Scalar = int | float | str | None
PART: Final = re.compile(r"\.(?:shape|stride)\d$")


class Slot(NamedTuple):
    """A parameter of the reference: what it is of an array ("", "shape0", "stride1"), or a number's place."""

    kind: str
    value: Scalar
    array: str = ""
    part: str = ""
    number: int = -1

    @property
    def source(self) -> str:
        """As `generated/VARIANT.json` tells it: `x`, `x.shape0`, `number 0`."""
        if not self.array:
            return f"number {self.number}"
        return f"{self.array}.{self.part}" if self.part else self.array


class Planned(NamedTuple):
    """An entry of kernel.rs, the arguments with which a variant launches it, and where each comes from.

    `sources` lacks what analysis.json gives as a number.
    """

    entry: Entry
    arguments: list[Argument]
    sources: dict[str, str]


def slots_of(variant: Variant) -> list[Slot]:
    """The reference's parameters in order.

    cuTile Python has extents and strides behind each pointer. Of other front ends, numbers there are those
    where all of them are, and tile C++ passes what the kernel's source does.
    """
    found: list[Slot] = []
    rest: list[str] = []
    array, count = "", 0
    python = bool(python_ranks(variant.entry))
    for at, value in enumerate(variant.arguments):
        [(kind, what)] = value.items()
        if kind == "ptr":
            array = str(what)
            rank = len(variant.arrays[array].shape) if array in variant.arrays else 0
            rest = [f"{word}{axis}" for word in ("shape", "stride") for axis in range(rank)]
            numbers = [*variant.arrays[array].shape, *variant.arrays[array].strides] if rest else []
            behind = variant.arguments[at + 1 : at + 1 + len(numbers)]
            whole = [value.get("i32", value.get("i64")) for value in behind] == numbers
            if not python and (variant.entry.startswith("_Z") or not whole):
                rest = []
            found.append(Slot(kind, what, array))
        elif rest and what == _number(variant, array, rest[0]):
            found.append(Slot(kind, what, array, rest.pop(0)))
        else:
            rest = []
            found.append(Slot(kind, what, number=count))
            count += 1
    return found


def _number(variant: Variant, array: str, part: str) -> int:
    known = variant.arrays[array]
    numbers = known.shape if part.startswith("shape") else known.strides
    return numbers[int(part[-1])]


def plan(variant: Variant, entries: list[Entry], source: str) -> Planned:
    """The entry of a variant and its arguments. Raises InputError where they do not fit."""
    entry = _entry(variant, entries, source)
    arrays = {
        name: Argument(name, "array", each.dtype, tuple(each.shape), tuple(each.strides), each.align)
        for name, each in variant.arrays.items()
    }
    given = parse_likes(variant.target.like, arrays.values())
    named = {each.name for each in given}
    generics = [
        Argument(each.name, "constant", value=variant.constants[each.name])
        for each in entry.generics
        if each.type and each.name not in named and each.name in variant.constants
    ]
    told = [each for each in entry.parameters if each.name in named]
    rest = entry._replace(parameters=tuple(each for each in entry.parameters if each.name not in named))
    slots = slots_of(variant)
    unknown = next((slot.array for slot in slots if slot.array and slot.array not in arrays), None)
    if unknown is not None:
        raise InputError(f"a parameter gets {unknown}, which is none of the arrays", "analysis.json")
    chosen = _by_name(rest, slots)
    if chosen is None and told:
        missing = ", ".join(each.name for each in rest.parameters)
        raise _unfit(entry, f"`target.like` says nothing of {missing}")
    chosen = _in_order(entry, slots, arrays) if chosen is None else chosen
    arguments = [_argument(parameter, slot, arrays) for parameter, slot in chosen]
    sources = {parameter.name: slot.source for parameter, slot in chosen}
    return Planned(entry, [*given, *generics, *arguments], _said(variant, arrays) | sources)


def _said(variant: Variant, arrays: dict[str, Argument]) -> dict[str, str]:
    """Where the arguments of `target.like` come from, where they name an array or a part of one."""
    found: dict[str, str] = {}
    for text in variant.target.like:
        name, _, value = text.partition("=")
        source = value.strip().removeprefix("@")
        if PART.sub("", source) in arrays:
            found[name.strip()] = source
    return found


def _entry(variant: Variant, entries: list[Entry], source: str) -> Entry:
    """As analysis.json names it; else in the module called as the variant; else the only one."""
    if variant.target.entry:
        return choose(entries, variant.target.entry, source)
    own = [each for each in entries if each.module.rpartition("::")[2] == module_name(variant.name)]
    return own[0] if len(own) == 1 else choose(entries, "", source)


def _by_name(entry: Entry, slots: Sequence[Slot]) -> list[tuple[Parameter, Slot]] | None:
    """By names: those of the arrays, or letters in their order; None where a name is not known.

    A parameter of the reference that nobody reads may be left out.
    """
    order = list(dict.fromkeys(slot.array for slot in slots if slot.array))
    letters = dict(zip(order, string.ascii_lowercase, strict=False))
    for names in ({array: array for array in order}, letters):
        known: dict[str, Slot] = {}
        for slot in slots:
            for name in _names(slot, names.get(slot.array, ""), slots):
                known.setdefault(name, slot)
        if all(each.name in known and _fits(each, known[each.name]) for each in entry.parameters):
            return [(each, known[each.name]) for each in entry.parameters]
    return None


def _names(slot: Slot, array: str, slots: Sequence[Slot]) -> list[str]:
    """How a parameter of the reference may be called."""
    if not slot.array:
        word = "flag" if slot.kind == "i1" else "number" if slot.kind[0] in "iu" else "factor"
        same = [each for each in slots if not each.array and _word(each) == word]
        at = same.index(slot) + 1
        return [word if at == 1 else f"{word}_{at}"]
    if not slot.part:
        return [array]
    word, axis = slot.part[:-1], slot.part[-1]
    spelled = {"shape": ("shape", "extent"), "stride": ("stride",)}[word]
    return [f"{array}_{each}{gap}{axis}" for each in spelled for gap in ("_", "")]


def _word(slot: Slot) -> str:
    return "flag" if slot.kind == "i1" else "number" if slot.kind[0] in "iu" else "factor"


def _fits(parameter: Parameter, slot: Slot) -> bool:
    pointer = bool(slot.array) and not slot.part
    return pointer if parameter.kind != "scalar" else not pointer


def _in_order(
    entry: Entry, slots: Sequence[Slot], arrays: dict[str, Argument]
) -> list[tuple[Parameter, Slot]]:
    """Parameters that follow those of the reference. Raises InputError where they do not."""
    found: list[tuple[Parameter, Slot]] = []
    at = 0
    for parameter in entry.parameters:
        slot = slots[at] if at < len(slots) else None
        if slot is None or not _fits(parameter, slot):
            there = "nothing" if slot is None else slot.source
            raise _unfit(
                entry, f"{parameter.name} is a {parameter.kind}, and the reference has {there} there"
            )
        found.append((parameter, slot))
        at += 1
        if parameter.kind not in ("pointer", "scalar"):  # its extents and strides come with it
            at += 2 * len(arrays[slot.array].shape)
    if at != len(slots):
        raise _unfit(entry, f"it ends after {at} of the reference's {len(slots)} parameters")
    return found


def _argument(parameter: Parameter, slot: Slot, arrays: dict[str, Argument]) -> Argument:
    if parameter.kind != "scalar":
        return arrays[slot.array]._replace(name=parameter.name, same=slot.array)
    real = slot.kind.startswith(("f", "bf")) and isinstance(slot.value, int)
    return Argument(parameter.name, "constant", value=float(slot.value or 0) if real else slot.value)


def _unfit(entry: Entry, what: str) -> InputError:
    advice = (
        "parameters are named after the arrays or follow the reference's, or analysis.json has `target.like`"
    )
    return InputError(f"{what}: {advice}; it takes {entry.signature}", entry.path)
