"""The arguments of both entries at one launch, as terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.values import is_pointer
from tileir_diff.match.arguments import Binding
from tileir_diff.match.entries import symbol
from tileir_diff.match.scalars import scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.launch import Launch, SideLaunch


def launch_binding(terms: Terms, ref_entry: TileOp, gen_entry: TileOp, launch: Launch) -> Binding | None:
    """Equal array names are one array; None unless the launch gives the arguments of both sides.

    ``launch``: with its values by position, as ``launch_facts.by_position`` makes it.
    """
    ref = _launch_terms(terms, ref_entry, launch.reference, launch.source)
    gen = _launch_terms(terms, gen_entry, launch.generated, launch.source)
    if ref is None or gen is None:
        return None
    binding = Binding(list(gen), list(ref))
    arrays: dict[Term, list[int]] = {}
    for index, term in enumerate(ref):
        if term is not None and _is_array(terms, term):
            arrays.setdefault(term, []).append(index)
    for index, term in enumerate(gen):
        if term is not None and term in arrays:
            same = arrays[term]  # one array may be passed more than once
            binding.partner[index] = same[min(gen[:index].count(term), len(same) - 1)]
            binding.how[index] = "given"
    for index, partner in sorted(binding.partner.items()):
        _pair_scalars(binding, ref, gen, frozenset(arrays), (index + 1, partner + 1))
    return binding


def _is_array(terms: Terms, term: Term) -> bool:
    """A term that is one symbol; scalars are constants at a launch."""
    return terms.single(term) is not None and bool(terms.symbols[term])


def _pair_scalars(
    binding: Binding,
    ref: Sequence[Term | None],
    gen: Sequence[Term | None],
    arrays: frozenset[Term],
    start: tuple[int, int],
) -> None:
    """Pair the scalars that follow an array, its sizes and strides, as far as both lists go on alike."""
    for index, partner in zip(range(start[0], len(gen)), range(start[1], len(ref)), strict=False):
        a, b = ref[partner], gen[index]
        if a is None or b is None or a in arrays or a != b:
            return
        binding.partner[index] = partner
        binding.how[index] = "role"


def _launch_terms(terms: Terms, entry: TileOp, side: SideLaunch, source: str) -> list[Term | None] | None:
    """Terms for the parameters of one side; None unless the launch names all arrays."""
    if side.args is None:
        return None
    params = entry.regions[0].block.args
    if any(value is None and is_pointer(param) for param, value in zip(params, side.args, strict=True)):
        return None  # which array it is has to be found out
    result: list[Term | None] = []
    for index, (param, value) in enumerate(zip(params, side.args, strict=True)):
        if value is not None and value.is_pointer:
            name = value.value if value.value is not None else f"null{index}"
            result.append(terms.atom(terms.leaf("arg", "array", name)))
        elif value is None or value.value is None or isinstance(value.value, str):
            result.append(None)
        else:
            result.append(scalar(terms, param, value.value, f"argument {index} of @{symbol(entry)}", source))
    return result
