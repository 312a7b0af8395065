"""Sizes of one array that have to be equal: a port that uses one of them where the other belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.match import arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


def square_arrays(blame: Blame, attempt: Attempt, conditions: Iterable[Term]) -> Iterator[Difference]:
    """Two sizes of an array of the reference that are one, by the binding of arguments or by ``conditions``.

    Sizes whose values are known are not looked at. One wrong size in several arrays is told once, at the
    first access to one of them; nothing is told where accesses differ in place or number, for then the
    binding is the one under which least differs, and nobody's.
    """
    pairs = (*attempt.match.pairs, *attempt.match.loads)
    if not all(pair.equal or _same_place(pair) for pair in pairs):
        return
    terms = blame.terms
    reached = _at_most(attempt, conditions)
    told: set[Term] = set()
    for base, sizes in _sizes(attempt).items():
        for at, one in enumerate(sizes):
            other = next((x for x in sizes[at + 1 :] if _equal(reached, one, x)), None)
            if other is None or any(_equal(reached, one, each) for each in told):
                continue
            told.add(one)
            pair = next((each for each in pairs if _base(attempt, each) == base), None)
            ops = (attempt.reference.entry, attempt.generated.entry)
            part = None
            if pair is not None:
                ops = pair.reference.effect.op, pair.generated.effect.op
                part = "mask" if pair.generated.effect.mask is not None else None
            names = blame.show(terms.atom(one)), blame.show(terms.atom(other))
            words = f"{names[0]} and {names[1]}", f"{names[0]} = {names[1]}"
            yield blame.make(
                "entry-signature/square", *ops, *words, part=part, note=_stands_for(attempt, one, reached)
            )


def _same_place(pair: EffectPair) -> bool:
    """Whether a pair differs in its values alone."""
    one, other = (
        (side.pointer, side.trips, side.condition, side.extents) for side in (pair.reference, pair.generated)
    )
    return one == other


def _sizes(attempt: Attempt) -> dict[int, list[Term]]:
    """By pointer parameter of the reference the symbols of its sizes, in the order of the dimensions."""
    terms = attempt.reference.terms
    found: dict[int, list[tuple[int, Term]]] = {}
    for index, (base, word, dim) in arguments.roles(attempt.reference).items():
        if word == "shape" and terms.value(attempt.reference.arguments[index]) is None:
            found.setdefault(base, []).append((dim, terms.leaf("arg", 0, index)))
    return {base: [leaf for _, leaf in sorted(dims)] for base, dims in sorted(found.items())}


def _at_most(attempt: Attempt, conditions: Iterable[Term]) -> Mapping[Term, set[Term]]:
    """By symbol those that are as large, or larger, as what is taken to hold says; directly or by others."""
    terms = attempt.reference.terms
    larger: dict[Term, set[Term]] = {}
    for index, term in enumerate(attempt.binding.reference):
        leaf = None if term is None else terms.single(term)
        if leaf is not None and terms.kind[leaf] == "arg":
            own = terms.leaf("arg", 0, index)
            larger.setdefault(own, set()).add(leaf)
            larger.setdefault(leaf, set()).add(own)
    for condition in conditions:
        ordered = _ordered(terms, condition)
        if ordered is not None:
            larger.setdefault(ordered[0], set()).add(ordered[1])
    reached: dict[Term, set[Term]] = {}
    for start in larger:
        seen, work = {start}, [start]
        while work:
            new = larger.get(work.pop(), set()) - seen
            seen |= new
            work.extend(new)
        reached[start] = seen
    return reached


def _ordered(terms: Terms, condition: Term) -> tuple[Term, Term] | None:
    """The two parameters of ``a <= b``; None for another condition."""
    if terms.kind[condition] != "le":
        return None
    items = terms.poly(terms.args[condition][0])
    sides = {factor: mono[0] for mono, factor in items.items() if len(mono) == 1}
    if len(items) != 2 or sides.keys() != {1, -1}:
        return None
    known = all(terms.kind[leaf] == "arg" for leaf in sides.values())
    return (sides[1], sides[-1]) if known else None


def _equal(reached: Mapping[Term, set[Term]], one: Term, other: Term) -> bool:
    return one == other or (other in reached.get(one, ()) and one in reached.get(other, ()))


def _base(attempt: Attempt, pair: EffectPair) -> int | None:
    """The pointer parameter of the reference that a pair of accesses is about."""
    base = pair.reference.effect.base
    bases = {term: index for index, term in enumerate(attempt.reference.arguments)}
    return None if base is None else bases.get(base)


def _stands_for(attempt: Attempt, size: Term, reached: Mapping[Term, set[Term]]) -> str:
    """The parameter of the generated kernel that is used for both; "" where each has one."""
    terms = attempt.reference.terms
    found = [
        param
        for param, term in zip(
            arguments.parameters(attempt.generated), attempt.binding.generated, strict=True
        )
        if term is not None and (leaf := terms.single(term)) is not None and _equal(reached, size, leaf)
    ]
    return f"generated %{found[0].name_hint} stands for both" if len(found) == 1 else ""
