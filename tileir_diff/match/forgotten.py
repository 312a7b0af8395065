"""Where a parameter cannot be 1, though the other side is as if it were: a factor was left out there.

A grid of one block is none where the index of the block counts, and a stride of 1 is none where another index
of the same array has it: its rows would lie one in the other. What is divided by 1 is not split at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import is_used, ops_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term


def block_counts(kernel: Kernel, axis: int) -> bool:
    """Whether anything that is accessed, or how often, depends on the index of the block along an axis."""
    block = kernel.terms.leaf("block", axis)
    return any(
        block in kernel.terms.symbols[term] for effect in kernel.effects for term in _places(effect)
    ) or any(loop.shared == axis for effect in kernel.effects for loop in effect.loops)


def _places(effect: Effect) -> Iterator[Term]:
    """Where and when an effect is."""
    loops = (term for loop in effect.loops for term in (loop.lower, loop.trip))
    yield from (term for term in (effect.pointer, effect.mask, effect.guard, *loops) if term is not None)


def divisors(kernel: Kernel) -> frozenset[Term]:
    """The symbols by which something is divided, alone: rows of as many columns, groups of as many heads."""
    values = (
        kernel.values.get(op.operands[1])
        for op in ops_within(kernel.entry)
        if op.short in ("divi", "remi") and is_used(op)
    )
    leaves = (kernel.terms.single(term) for term in values if isinstance(term, int))
    return frozenset(leaf for leaf in leaves if leaf is not None)


def is_no_unit(kernel: Kernel, stride: Term, taken: Mapping[Term, Term]) -> bool:
    """Whether a symbol is a stride that is not 1: an index of the same access has that stride already.

    ``taken``: what other symbols of the kernel are taken for.
    """
    terms = kernel.terms
    others = {symbol: value for symbol, value in taken.items() if symbol != stride}
    for effect in kernel.effects:
        if effect.pointer is None or stride not in terms.symbols[effect.pointer]:
            continue
        pointer = terms.subst(effect.pointer, others)
        if terms.kind[pointer] != "poly":
            continue
        strided = {leaf for mono, _ in terms.attr[pointer] if stride in mono for leaf in mono}
        single = {mono[0] for mono, factor in terms.attr[pointer] if len(mono) == 1 and factor == 1}
        lanes = {leaf for leaf in single if terms.kind[leaf] == "lane" and terms.attr[leaf][1] > 1}
        if strided != {stride} and lanes - strided:
            return True
    return False
