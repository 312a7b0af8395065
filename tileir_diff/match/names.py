"""What the names of parameters say about which is which, where front ends keep them, and their places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tileir_diff.match.arguments import parameter_names, roles
from tileir_diff.match.roles import places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.arguments import Binding

Key: TypeAlias = tuple[str, ...]
"""A name as words: `A.shape0`, `a_dim_0` and `aSize0` have the same ones."""

WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
SYNONYMS = {"dim": "shape", "size": "shape", "len": "shape", "extent": "shape", "ld": "stride"}
QUIET = frozenset({"ptr", "pointer", "base", "data"})
"""Words that only say that a parameter is a pointer."""
INVENTED = frozenset({"", "arg", "p", "param", "v"})
"""With a number behind them, names that printers make up."""


def key(name: str) -> Key | None:
    """The words of a name; None where it is none of the source's."""
    words: list[str] = [word.lower() for word in WORDS.findall(name)]
    first = "" if words and words[0].isdecimal() else "".join(words[:1])
    if not words or (first in INVENTED and words[-1].isdecimal()):
        return None
    kept = tuple([SYNONYMS.get(word, word) for word in words if word not in QUIET])
    return kept or None


def keys(kernel: Kernel) -> list[frozenset[Key]]:
    """For each parameter what it is called.

    In the reference by itself and by its role for an array; in the generated kernel, whose use of it may be
    what is wrong, by its role only where it has no name.
    """
    params = kernel.entry.regions[0].block.args
    found: list[frozenset[Key]] = []
    for param, role in zip(params, parameter_names(kernel, guessed=True), strict=True):
        own, used_as = key(param.name_hint or ""), key(role)
        both = (own,) if kernel.side == 1 and own is not None else (own, used_as)
        found.append(frozenset(each for each in both if each is not None))
    return found


def agreeing(reference: Kernel, generated: Kernel, binding: Binding) -> int:
    """How many parameters are matched with one of their name."""
    ours, theirs = keys(reference), keys(generated)
    return sum(bool(theirs[gen] & ours[ref]) for gen, ref in binding.partner.items())


def contradictions(reference: Kernel, generated: Kernel, binding: Binding) -> Iterator[str]:
    """Matched parameters of which one has the name of a third; not those that the user matched."""
    ours, theirs = keys(reference), keys(generated)
    names, others = parameter_names(reference), parameter_names(generated)
    for gen, ref in sorted(binding.partner.items()):
        if binding.how.get(gen) == "given":
            continue
        term = generated.arguments[gen]
        shared = [i for i, own in enumerate(reference.arguments) if i == ref or own == term]
        if any(theirs[gen] & ours[i] for i in shared):
            continue
        pair = f"{names[ref]} = {_own(generated, gen, others)}"
        named = next((i for i, own in enumerate(ours) if i not in shared and own & theirs[gen]), None)
        rival = next((j for j, own in enumerate(theirs) if j != gen and own & ours[ref]), None)
        if named is not None:
            yield f"{pair}, by {binding.how[gen]}; by its name it is {names[named]}"
        elif rival is not None:
            yield f"{pair}, by {binding.how[gen]}; by its name it is {_own(generated, rival, others)}"


class Misplaced(NamedTuple):
    """A size or stride of the generated side that stands for another one than its place says."""

    taken: str
    """What it stands for, in the reference's names."""
    own: str
    how: str
    place: str
    """What it is by its place, in the reference's names."""
    array: Term
    """The reference's pointer to the array that it is of by its place."""
    exchanged: bool
    """Whether both are sizes, or strides, of one array, of two dimensions."""

    @property
    def line(self) -> str:
        return f"{self.taken} = {self.own}, by {self.how}; by its place it is {self.place}"


def misplaced(reference: Kernel, generated: Kernel, binding: Binding) -> Iterator[Misplaced]:
    """Sizes and strides of the generated side that stand for others than their places say.

    Not those that the user matched, that the reference has at the same place, and those of arrays that have
    no counterpart.
    """
    sizes = {role: index for index, role in roles(reference).items()}
    role_of = {index: role for role, index in sizes.items()}
    names, params = parameter_names(reference), generated.entry.regions[0].block.args
    at = places(reference.entry, reference.ops)
    for gen, (base, word, dim) in sorted(places(generated.entry, generated.ops).items()):
        ref = binding.partner.get(gen)
        place = binding.partner.get(base, -1), word, dim
        expected = sizes.get(place)
        if ref is None or expected is None or binding.how.get(gen) == "given" or at.get(ref) == place:
            continue
        if expected != ref and reference.arguments[expected] != generated.arguments[gen]:
            own = f"%{params[gen].name_hint or f'arg{gen}'}"
            exchanged = role_of.get(ref, ())[:2] == place[:2]
            array = reference.arguments[place[0]]
            yield Misplaced(names[ref], own, binding.how[gen], names[expected], array, exchanged)


def _own(kernel: Kernel, index: int, names: list[str]) -> str:
    """The name in the dump, where the source has one; with a `%`, as no name of the reference has it."""
    hint = kernel.entry.regions[0].block.args[index].name_hint
    return f"%{hint if hint and key(hint) else names[index]}"
