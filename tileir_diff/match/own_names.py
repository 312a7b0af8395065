"""What the reference's arguments are called in the generated kernel: a fix tells it in the port's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.match.arguments import parameter_names, roles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.search import Attempt


def likely_names(attempt: Attempt, known: Mapping[str, str]) -> Mapping[str, tuple[str, str]]:
    """For sizes that the generated kernel does not have, the size of the other arrays, and whose it is.

    Only where all other arrays of this rank have one and the same size along this dimension.
    """
    names = parameter_names(attempt.reference)
    ranks: dict[int, int] = {}
    sizes = {index: role for index, role in roles(attempt.reference).items() if role[1] == "shape"}
    for base, _, _ in sizes.values():
        ranks[base] = ranks.get(base, 0) + 1
    found: dict[str, tuple[str, str]] = {}
    for index, (base, _, dim) in sizes.items():
        if known.get(names[index]) != "":
            continue
        others = [
            (known.get(names[other], names[other]), names[other])
            for other, (array, _, along) in sizes.items()
            if array != base and along == dim and ranks[array] == ranks[base]
        ]
        if others and others[0][0] and len({own for own, _ in others}) == 1:
            found[names[index]] = others[0]
    return found


def in_own_names(attempt: Attempt) -> Mapping[str, str]:
    """By name of an argument of the reference how the generated kernel has it: `%arg3`, or a number.

    "" for one that it does not have. Empty where both sides have the same names.
    """
    terms, binding = attempt.reference.terms, attempt.binding
    names, others = parameter_names(attempt.reference), parameter_names(attempt.generated)
    by_term = {
        term: others[index]
        for index, term in reversed(list(enumerate(binding.generated)))
        if term is not None and terms.value(term) is None
    }
    partners = {ref: others[gen] for gen, ref in sorted(binding.partner.items(), reverse=True)}
    if names == others and all(partners.get(index) == name for index, name in enumerate(names)):
        return {}
    found: dict[str, str] = {}
    for index, (name, term) in enumerate(zip(names, attempt.reference.arguments, strict=True)):
        number = terms.value(term)
        if number is not None:
            found[name] = str(number)
            continue
        own = partners.get(index) or by_term.get(term)
        found[name] = f"%{own}" if own else ""
    return found
