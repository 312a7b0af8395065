"""Which values arguments must have for two kernels to be the same: what the binding of arguments takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.graph import floats
from tileir_diff.graph.show import show
from tileir_diff.match import arguments
from tileir_diff.match.model import Equivalence
from tileir_diff.match.sites import site

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

HOST_VALUES = "host-values"
"""The name of the equivalence, as `--no-equivalence` takes it."""
NUMBER = "a number in the {} kernel"
ONE_VALUE = "one value in the generated kernel"


class BoundValue(NamedTuple):
    """A condition on the value of one argument, or on the size of the grid."""

    side: str
    """"" for the grid, which is that of both."""
    name: str
    value: str
    why: str
    """What makes it a condition that few launches keep: one on a stride, or a number; "" for another size."""

    @property
    def line(self) -> str:
        """`reference arg0.stride0 = 512 (a number in the generated kernel)`."""
        side = f"{self.side} " if self.side else ""
        return f"{side}{self.name} = {self.value}" + (f" ({self.why})" if self.why else "")


def bound_values(
    attempt: Attempt, names: dict[Term, str], given: frozenset[tuple[int, int]]
) -> list[BoundValue]:
    """Sizes that one side fixes and the other takes as a parameter; none that the launch gives.

    ``given``: side and position of the arguments whose values the user has stated.
    """
    terms = attempt.reference.terms
    bound = attempt.binding.reference, attempt.binding.generated
    grid = [
        BoundValue("", f"grid.{'xyz'[axis]}", str(size), NUMBER.format("generated"))
        for axis, size in sorted(attempt.binding.grid.items())
    ]
    if any(is_launched(terms, term) for side in bound for term in side):
        return grid
    found = grid
    for kernel, side in zip((attempt.reference, attempt.generated), bound, strict=True):
        title = ("reference", "generated")[kernel.side]
        number = NUMBER.format(("generated", "reference")[kernel.side])
        for index, (name, term) in enumerate(zip(arguments.parameter_names(kernel), side, strict=True)):
            if term is None or (kernel.side, index) in given:
                continue
            name = f"%{name}" if kernel.side else name
            if terms.value(term) is not None:
                found.append(BoundValue(title, name, str(terms.value(term)), number))
            elif terms.kind[term] == "fc":
                found.append(BoundValue(title, name, floats.show(*terms.attr[term]), number))
            elif _is_other(terms, term, kernel.side, index):
                why = ONE_VALUE if kernel.side == 0 and _strides_apart(attempt, index, term) else ""
                found.append(BoundValue(title, name, show(terms, term, names), why))
    return found


def is_launched(terms: Terms, term: Term | None) -> bool:
    """An array that a launch names."""
    leaf = None if term is None else terms.single(term)
    return leaf is not None and terms.kind[leaf] == "arg" and terms.attr[leaf][0] == "array"


def taken(
    blame: Blame, values: list[BoundValue]
) -> tuple[list[str], list[str], list[Equivalence], list[Difference]]:
    """The conditions that few launches keep, the others, and the first as equivalences.

    Where that equivalence is switched off, they are differences in place of all this.
    """
    rest = [each.line for each in values if not each.why]
    first = [each for each in values if each.why]
    entries = blame.reference.entry, blame.generated.entry
    if not blame.terms.enabled(HOST_VALUES):
        made = [blame.make("entry-signature/argument", *entries, *_words(each)) for each in first]
        return [], rest, [], made
    places = site(blame.reference, entries[0]), site(blame.generated, entries[1])
    used = [Equivalence(HOST_VALUES, *places, f"equal while {each.line}") for each in first]
    return [each.line for each in first], rest, used, []


def _words(each: BoundValue) -> tuple[str, str]:
    return (each.name, each.value) if each.side != "generated" else (each.value, each.name)


def _is_other(terms: Terms, term: Term, side: int, index: int) -> bool:
    """An integer that the pairs of arguments do not show: of a generated one, what is no parameter."""
    if terms.kind[term] != "poly":
        return False
    if side == 0:
        return term != terms.atom(terms.leaf("arg", 0, index))
    leaf = terms.single(term)
    return leaf is None or terms.kind[leaf] != "arg"


def _strides_apart(attempt: Attempt, index: int, term: Term) -> bool:
    """Whether a stride of the reference is taken for another one, or for a size of another array.

    The stride of an array that is packed is a size of its own.
    """
    terms, roles = attempt.reference.terms, arguments.roles(attempt.reference)
    leaf = terms.single(term)
    if leaf is None or terms.kind[leaf] != "arg" or terms.attr[leaf][0] != 0:
        return False
    one, other = roles.get(index), roles.get(terms.attr[leaf][1])
    if one is None or other is None or "stride" not in (one[1], other[1]):
        return False
    return one[1] == other[1] or one[0] != other[0]
