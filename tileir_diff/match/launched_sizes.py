"""Which arguments the masks compare with that differ at a launch, where their values are all that is seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tileir_diff.graph.terms import Terms
from tileir_diff.match import arguments
from tileir_diff.match.at_launch import launch_binding
from tileir_diff.match.search import UNKNOWN_GRID, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.launch import Launch
    from tileir_diff.match.model import CompareOptions, Difference


def with_sizes(
    ref_entry: TileOp,
    gen_entry: TileOp,
    launch: Launch,
    options: CompareOptions,
    differences: Sequence[Difference],
) -> list[Difference]:
    """The differences; a mask that is wrong by one argument says which, and which the reference has.

    ``launch``: with its values by position. Both kernels are evaluated once more, without the values.
    """
    if not any(each.rule.startswith("mask/") for each in differences):
        return list(differences)
    terms = Terms(options.disabled_equivalences)
    binding = launch_binding(terms, ref_entry, gen_entry, launch)
    if binding is None:
        return list(differences)
    paired = dict(binding.partner)
    for side in (binding.reference, binding.generated):
        side[:] = [None if term is None or not terms.symbols[term] else term for term in side]
    attempt = evaluate(terms, ref_entry, gen_entry, binding, UNKNOWN_GRID, UNKNOWN_GRID)
    kernels = attempt.reference, attempt.generated
    return [
        _with_size(kernels, paired, launch, each) if each.rule.startswith("mask/") else each
        for each in differences
    ]


def _with_size(
    kernels: tuple[Kernel, Kernel], paired: dict[int, int], launch: Launch, difference: Difference
) -> Difference:
    """The difference with ``sizes``: the argument used, that of the reference, and the right one or ""."""
    if difference.reference is None or difference.generated is None:
        return difference
    ops = difference.reference.op, difference.generated.op
    ours, theirs = (_bounds(kernel, op) for kernel, op in zip(kernels, ops, strict=True))
    terms = kernels[0].terms
    for atom, own in theirs.items():
        mine = terms.leaf("arg", 1, own)
        for other, ref in ours.items():
            values = _value(launch.reference.args, ref), _value(launch.generated.args, own)
            if values[0] == values[1] or None in values:
                continue
            if terms.subst(atom, {mine: terms.atom(terms.leaf("arg", 0, ref))}) != other:
                continue
            names = tuple(arguments.parameter_names(kernel) for kernel in kernels)
            right = _right(launch, paired, ref)
            sizes = f"%{names[1][own]}", names[0][ref], "" if right is None else f"%{names[1][right]}"
            said = f"compares with {sizes[0]}, {values[1]}; the reference with {sizes[1]}, {values[0]}"
            note = "; ".join(filter(None, (difference.note, said)))
            return replace(difference, note=note, detail={**difference.detail, "sizes": sizes})
    return difference


def _bounds(kernel: Kernel, op: TileOp) -> dict[Term, int]:
    """The conditions of an access that are about one argument each, with its position."""
    terms = kernel.terms
    effect = next((each for each in kernel.effects if each.op is op), None)
    found: dict[Term, int] = {}
    if effect is None or effect.mask is None:
        return found
    for atom in terms.conjuncts(terms.conjunction((effect.guard, effect.mask))):
        leaves = [terms.attr[symbol] for symbol in terms.symbols[atom] if terms.kind[symbol] == "arg"]
        if len(leaves) == 1 and leaves[0][0] == kernel.side:
            found[atom] = leaves[0][1]
    return found


def _value(args: Sequence[object] | None, index: int) -> object:
    value = None if args is None else args[index]
    return getattr(value, "value", None)


def _right(launch: Launch, paired: dict[int, int], ref: int) -> int | None:
    """The argument of the generated side that is one of the reference: its partner, else one of its value."""
    partner = next((gen for gen, other in paired.items() if other == ref), None)
    if partner is not None:
        return partner
    wanted = _value(launch.reference.args, ref)
    known = [i for i in range(len(launch.generated.args or ())) if _value(launch.generated.args, i) == wanted]
    return known[0] if len(known) == 1 else None
