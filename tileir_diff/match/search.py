"""Which parameter stands for which, by trial: the matching under which the fewest effects differ."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, islice, product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.graph.evaluate import Evaluator
from tileir_diff.graph.values import is_integer
from tileir_diff.match import arguments
from tileir_diff.match.arguments import Binding
from tileir_diff.match.effects import EffectMatch, match_effects
from tileir_diff.match.forgotten import divisors, is_no_unit
from tileir_diff.match.names import agreeing
from tileir_diff.match.obligations import HOST_BOUNDS
from tileir_diff.match.roles import argument_index, array_groups
from tileir_diff.match.rounded_sizes import sizes_rounded_up
from tileir_diff.match.scalars import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.launch import SideLaunch
    from tileir_diff.match.model import CompareOptions

MAX_CANDIDATES = 6
MAX_GUESSES = 25
MAX_JOINT = 3
MAX_OPEN_SCALARS = 4
MAX_ROUNDS = 6
MAX_NEAR = 3
ALIKE = (0, 0, 0)
"""The score of a match in which all effects have an equal partner, loads too."""
UNKNOWN_GRID: tuple[int | None, ...] = (None, None, None)


class Attempt(NamedTuple):
    """Both kernels evaluated under one matching of their arguments."""

    reference: Kernel
    generated: Kernel
    binding: Binding
    match: EffectMatch
    sizes: Mapping[Term, int] = {}
    """Parameters that the host must not make negative, each with the tile that it is divided by."""
    unwraps: frozenset[str] = frozenset()
    """Where loaded numbers are taken by the promise that they do not wrap: see ``Terms.unwraps``."""

    @property
    def equal(self) -> bool:
        """Whether all effects have an equal partner."""
        return self.match.score[:2] == (0, 0)

    @property
    def one_front_end(self) -> bool:
        return front_end(self.reference) == front_end(self.generated)


def front_end(kernel: Kernel) -> str:
    """Which compiler wrote the entry, by its symbol; only used to choose between two readings."""
    if kernel.name.startswith("_Z"):
        return "tile C++"
    return "cuTile Rust" if kernel.name.endswith("_entry") else "cuTile Python"


def evaluate(
    terms: Terms,
    ref_entry: TileOp,
    gen_entry: TileOp,
    binding: Binding,
    ref_grid: Sequence[int | None],
    gen_grid: Sequence[int | None],
) -> Attempt:
    """Evaluate both entries under ``binding``, and match their effects."""
    ref_grid, gen_grid = (
        [binding.grid.get(axis, size) if size is None else size for axis, size in enumerate(grid)]
        for grid in (ref_grid, gen_grid)
    )

    def run() -> tuple[Kernel, Kernel]:
        sides = _evaluators(terms, (ref_entry, gen_entry), binding, (ref_grid, gen_grid))
        # what one side promises about a shared parameter holds on the other side too
        for side in sides:
            side.learn_facts()
        kernel = sides[0].run()
        sides[1].trusted = kernel.promised
        return kernel, sides[1].run()

    def attempt() -> Attempt:
        learnt = terms.learnt
        kernels = run()
        if terms.learnt != learnt:
            kernels = run()  # what was learnt on the way holds from the start
        return Attempt(*kernels, binding, _matched(*kernels, binding))

    best, unwraps = attempt()._replace(unwraps=terms.unwraps), terms.unwraps
    promised = sorted(best.reference.unwrapped | best.generated.unwrapped)
    # one side may compute in wider integers what the other one promises not to wrap
    for each in (frozenset[str](), *map(frozenset, combinations(promised, 1)), frozenset(promised)):
        if best.equal or each == unwraps:
            continue
        terms.unwraps = each
        other = attempt()._replace(unwraps=each)
        # beside another difference, as a lost mask, the places tell which reading is meant
        if (other.match.score, other.match.apart) < (best.match.score, best.match.apart):
            best, unwraps = other, each
    terms.unwraps = unwraps
    return best


def _evaluators(
    terms: Terms,
    entries: tuple[TileOp, TileOp],
    binding: Binding,
    grids: tuple[Sequence[int | None], Sequence[int | None]],
) -> tuple[Evaluator, Evaluator]:
    """What evaluates reference and generated; nothing is evaluated yet."""
    reference = Evaluator(entries[0], terms, 0, binding.reference, grids[0])
    generated = Evaluator(entries[1], terms, 1, binding.generated, grids[1])
    # one symbol stands for the block's index on both sides
    larger = enumerate(map(_larger, *grids))
    reference.blocks = generated.blocks = tuple(
        binding.blocks.get(axis) if size is None else size for axis, size in larger
    )
    reference.grids_differ = generated.grids_differ = list(grids[0]) != list(grids[1])
    return reference, generated


def _matched(reference: Kernel, generated: Kernel, binding: Binding) -> EffectMatch:
    """The effects of both sides, under what the host may have to guarantee."""
    known = None not in reference.grid and None not in generated.grid
    strict = not reference.terms.enabled(HOST_BOUNDS)
    if strict or known or front_end(reference) == front_end(generated):
        return match_effects(reference, generated)
    taken = frozenset(binding.partner.values())
    sizes = arguments.size_leaves(reference) | arguments.size_leaves(generated)
    lone = arguments.size_leaves(reference, lambda index: index not in taken)
    return match_effects(reference, generated, sizes, lone)


def evaluator(attempt: Attempt) -> Evaluator:
    """What evaluates the generated side of an attempt; nothing is evaluated yet."""
    kernels = attempt.reference, attempt.generated
    entries, grids = (kernels[0].entry, kernels[1].entry), (kernels[0].grid, kernels[1].grid)
    generated = _evaluators(kernels[0].terms, entries, attempt.binding, grids)[1]
    generated.trusted = kernels[0].promised
    return generated


def evaluated_again(attempt: Attempt) -> Attempt:
    """The attempt with its generated side as it is now."""
    generated = evaluator(attempt).run()
    match = _matched(attempt.reference, generated, attempt.binding)
    return attempt._replace(generated=generated, match=match)


def _larger(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else max(left, right)


def search(terms: Terms, ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions) -> Attempt:
    """Try matchings of the arguments; keep the one that leaves the fewest effects unequal.

    Raises InputError where ``options.args`` names an argument that the entries do not have.
    """
    attempt = _searched(terms, ref_entry, gen_entry, options)
    sizes = {} if attempt.equal or attempt.one_front_end else sizes_rounded_up(attempt)
    if not sizes:
        return attempt
    for size in sizes:
        terms.learn_range(size, (0, None))
    return _searched(terms, ref_entry, gen_entry, options)._replace(sizes=sizes)


def _searched(terms: Terms, ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions) -> Attempt:
    """``search``, with what is known of the parameters."""
    launch = options.launch
    ref_launch, gen_launch = (None, None) if launch is None else (launch.reference, launch.generated)
    ref_grid = UNKNOWN_GRID if ref_launch is None else ref_launch.grid
    gen_grid = UNKNOWN_GRID if gen_launch is None else gen_launch.grid
    known: list[Term | None] = [None] * len(ref_entry.regions[0].block.args)
    _bind_named(terms, ref_entry, known, ref_launch)
    reference = Evaluator(ref_entry, terms, 0, known, ref_grid)
    generated = Evaluator(gen_entry, terms, 1, None, gen_grid)
    kernels = reference.kernel, generated.kernel

    def trial(binding: Binding) -> Attempt:
        pairs = zip(binding.reference, known, strict=True)
        binding.reference = [own if bound is None else bound for bound, own in pairs]
        _bind_named(terms, gen_entry, binding.generated, gen_launch)
        return evaluate(terms, ref_entry, gen_entry, binding, ref_grid, gen_grid)

    stated = {} if options.args is None else arguments.given(*kernels, options.args)
    straight = arguments.positional(*kernels)
    if straight is None:
        reference.learn_facts()
        generated.learn_facts()
        candidates = arguments.pointer_bindings(reference.run(), generated.run())
        # of matchings that are equally good, the first is kept: the one that follows the names
        candidates.sort(key=lambda binding: -agreeing(*kernels, binding))
    else:
        candidates = [straight]
    if stated:
        candidates.sort(key=lambda binding: sum(binding.partner.get(x) != y for x, y in stated.items()))
        candidates = [arguments.with_given(each, *kernels, stated) for each in candidates]
    best = _refined(trial(candidates[0]), trial)  # there is at least one: the one without pointers
    for candidate in candidates[1:MAX_CANDIDATES]:
        if best.equal:
            break
        attempt = _refined(trial(candidate), trial)
        if attempt.match.score < best.match.score:
            best = attempt
    return best


def _bind_named(terms: Terms, entry: TileOp, binding: list[Term | None], launch: SideLaunch | None) -> None:
    """Scalars given by name: ``--launch n=333``."""
    if launch is None:
        return
    for name, value in launch.named.items():
        index = argument_index(entry, name)
        if index is not None:
            param = entry.regions[0].block.args[index]
            term = scalar(terms, param, value, f"the argument {name}", "--launch")
            binding[index] = binding[index] if term is None else term


def _refined(attempt: Attempt, trial: Callable[[Binding], Attempt]) -> Attempt:
    """The attempt with what its own terms say about further arguments, step by step."""
    for _ in range(MAX_ROUNDS):
        if attempt.match.score == ALIKE:
            break
        binding = refine(attempt) or _contiguous(attempt)
        if binding is None:
            break
        better = trial(binding)
        if better.match.score > attempt.match.score:
            break
        attempt = better
    if not attempt.equal:
        blocks = _busy_blocks(attempt)
        if blocks:
            attempt = trial(replace(_copy(attempt.binding), blocks=blocks))
        attempt = attempt if attempt.equal else _guessed(attempt, trial)
        return attempt if attempt.equal else _nearly(attempt, trial)
    packed = _contiguous(attempt) if attempt.match.score[2] else None
    if packed is not None:
        better = trial(packed)
        if better.match.score <= attempt.match.score:
            return better
    return attempt


def _nearly(attempt: Attempt, trial: Callable[[Binding], Attempt]) -> Attempt:
    """The attempt with parameters that are others but for a constant: what differs is the constant then."""
    for _ in range(MAX_NEAR):
        binding = refine(attempt, near=True)
        if binding is None:
            break
        attempt = trial(binding)
    return attempt


def _busy_blocks(attempt: Attempt) -> dict[int, int]:
    """By axis, how many blocks do anything on either side, as the conditions of all effects say.

    Other blocks may be launched, and take paths that matter to nobody.
    """
    if attempt.one_front_end:
        return {}
    match = attempt.match
    pairs = [side for pair in match.pairs for side in (pair.reference, pair.generated)]
    roots = [*pairs, *match.only_reference, *match.only_generated]
    found: dict[int, int] = {}
    for axis in range(3):
        bounds = [_last_block(attempt.reference.terms, root.condition, axis) for root in roots]
        known = [bound for bound in bounds if bound is not None]
        if known and len(known) == len(bounds):
            found[axis] = max(0, *known) + 1
    return found


def _last_block(terms: Terms, condition: Term, axis: int) -> int | None:
    """The largest block index for which the condition can hold, as one of its parts says."""
    block = terms.leaf("block", axis)
    bounds: list[int] = []
    for atom in terms.conjuncts(condition):
        if terms.kind[atom] != "le":
            continue
        items = terms.poly(terms.args[atom][0])
        factor = items.get((block,), 0)
        rest = terms.sub(terms.args[atom][0], terms.scale(terms.atom(block), factor))
        low = terms.range(rest)[0]
        if factor > 0 and low is not None and block not in terms.symbols[rest]:
            bounds.append(-low // factor)
    return min(bounds, default=None)


def _contiguous(attempt: Attempt) -> Binding | None:
    """Sizes that the generated side lacks, of arrays whose strides it fixes: as if the array were packed."""
    terms, binding = attempt.reference.terms, attempt.binding
    partners = frozenset(binding.partner.values())
    reference = list(binding.reference)
    for base, rank in array_groups(attempt.reference.entry).items():
        strides = [attempt.reference.arguments[base + 1 + rank + dim] for dim in range(rank)]
        values = [terms.value(stride) for stride in strides]
        values[-1] = values[-1] if values[-1] is not None else 1
        for dim in range(1, rank):
            index = base + 1 + dim
            outer, inner = values[dim - 1], values[dim]
            if index in partners or binding.reference[index] is not None or outer is None or not inner:
                continue
            if outer % inner == 0:
                reference[index] = terms.const(outer // inner)
    return None if reference == binding.reference else _with_reference(binding, reference)


def _guessed(attempt: Attempt, trial: Callable[[Binding], Attempt]) -> Attempt:
    """Scalars of the reference that no generated parameter matches: known sizes or strides, or none."""
    for guess in _joint_guesses(attempt):
        better = trial(guess)
        if better.equal and not _does_less(attempt, better):
            return better
    tries = MAX_GUESSES
    for index, candidates in _single_guesses(attempt):
        best = attempt
        for term in candidates[:tries]:
            reference = list(attempt.binding.reference)
            reference[index] = term
            guess = trial(_with_reference(attempt.binding, reference))
            if guess.match.score < best.match.score and not _does_less(attempt, guess):
                best = guess
        attempt = best
        tries -= len(candidates)
        if attempt.equal or tries <= 0:
            break
    return attempt


def _does_less(attempt: Attempt, guess: Attempt) -> bool:
    """Whether a guess leaves the reference without a loop, without all lanes of an access, or divided by 1.

    No launch is meant that way: a port without the loop would equal the reference by an empty array.
    """
    split = divisors(attempt.reference)
    pairs = zip(attempt.reference.arguments, guess.binding.reference, strict=True)
    if any(
        attempt.reference.terms.single(own) in split and term == attempt.reference.terms.one
        for own, term in pairs
    ):
        return True
    before, after = ((len(each.reference.skipped), _masked_off(each)) for each in (attempt, guess))
    return after[0] > before[0] or after[1] > before[1]


def _masked_off(attempt: Attempt) -> int:
    """How many accesses of the reference have no lane."""
    terms = attempt.reference.terms
    off = (effect for effect in attempt.reference.effects if effect.mask == terms.false)
    return sum(effect.guard != terms.false for effect in off)


def _joint_guesses(attempt: Attempt) -> Iterator[Binding]:
    """All open scalars at once, where they are few: each one of the sizes and strides of the reference."""
    terms, binding = attempt.reference.terms, attempt.binding
    scalars = _open_scalars(attempt)
    known = sorted({term for term in binding.reference if term is not None and terms.value(term) is not None})
    if not scalars or len(scalars) > MAX_JOINT:
        return
    for choice in islice(product(known, repeat=len(scalars)), MAX_GUESSES):
        reference = list(binding.reference)
        for index, term in zip(scalars, choice, strict=True):
            reference[index] = term
        yield _with_reference(binding, reference)


def _single_guesses(attempt: Attempt) -> list[tuple[int, list[Term]]]:
    """Open scalars, those of no array first, each with what it may be: a constant used alike, or 0."""
    terms = attempt.reference.terms
    words = {index: word for index, (_, word, _) in arguments.roles(attempt.reference).items()}
    bound = [(index, term) for index, term in enumerate(attempt.binding.reference) if term is not None]
    constants = [(words.get(index), term) for index, term in bound if terms.value(term) is not None]
    sizes = _view_sizes(attempt)
    found: list[tuple[int, list[Term]]] = []
    for index in sorted(_open_scalars(attempt), key=lambda index: (index in words, index)):
        word = words.get(index)
        alike = {term for other, term in constants if word is None or other == word}
        if word != "stride":
            alike |= sizes
        found.append((index, sorted(alike if word else alike | {terms.zero})))
    return found


def _view_sizes(attempt: Attempt) -> frozenset[Term]:
    """The constant sizes of the views of the generated side, and how many elements each has."""
    terms = attempt.generated.terms
    found: set[Term] = set()
    for effect in attempt.generated.effects:
        sizes = [terms.value(extent) for extent in effect.extents]
        known = [size for size in sizes if size is not None]
        if known and len(known) == len(sizes):
            found.update(terms.const(size) for size in (*known, prod(known)))
    return frozenset(found)


def _open_scalars(attempt: Attempt) -> list[int]:
    """The integers of the reference that stand for nothing yet and are in what differs; [] where too many."""
    binding, used = attempt.binding, _unsettled(attempt)
    partners = frozenset(binding.partner.values())
    found = [
        index
        for index, param in enumerate(arguments.parameters(attempt.reference))
        if binding.reference[index] is None
        and index not in partners
        and attempt.reference.arguments[index] in used
        and is_integer(param)
    ]
    return found if len(found) <= MAX_OPEN_SCALARS else []


def _unsettled(attempt: Attempt) -> frozenset[Term]:
    """The arguments of the reference that are in what differs."""
    terms = attempt.reference.terms
    symbols: set[Term] = set()
    for pair in (*attempt.match.pairs, *attempt.match.loads):
        if not pair.equal:
            ref = pair.reference
            pointer = () if ref.pointer is None else (ref.pointer,)
            for term in (*ref.trips, *pointer, ref.condition, *ref.values):
                symbols |= terms.symbols[term]
    return frozenset(term for term in attempt.reference.arguments if terms.symbols[term] & symbols)


def _with_reference(binding: Binding, reference: list[Term | None]) -> Binding:
    """A copy with other terms for the reference's parameters, no longer one to one in order."""
    return replace(_copy(binding), reference=reference, straight=False)


def _copy(binding: Binding) -> Binding:
    return Binding(
        list(binding.generated),
        list(binding.reference),
        dict(binding.how),
        dict(binding.partner),
        dict(binding.grid),
        dict(binding.blocks),
        binding.straight,
    )


def refine(attempt: Attempt, *, constants_only: bool = False, near: bool = False) -> Binding | None:
    """The binding with what unification of the matched effects adds; None when that is nothing.

    ``constants_only``: only look whether one side has a constant where the other has a parameter.
    ``near``: take what is so but for a constant.
    """
    if attempt.binding.straight and attempt.one_front_end and not constants_only:
        return None  # the same front end and the same parameters: what differs is a difference
    unifier = arguments.Unifier(attempt.binding, attempt.reference, attempt.generated)
    for pair in (*attempt.match.loads, *attempt.match.pairs):
        if pair.whole:
            unifier.effects(pair)
    for pair in attempt.match.together:
        unifier.unify(pair.reference.condition, pair.generated.condition)
    if near:
        unifier.gen, unifier.ref = unifier.near_gen | unifier.gen, unifier.near_ref | unifier.ref
    binding = _copy(attempt.binding)
    changed = False
    for axis, size in sorted(unifier.grid.items()):
        changed = changed or axis not in binding.grid
        binding.grid.setdefault(axis, size)
    taken = {leaf: unifier.ref[index] for leaf, index in unifier.ref_leaves.items() if index in unifier.ref}
    for leaf, term in taken.items():
        if attempt.reference.terms.value(term) == 1 and is_no_unit(attempt.reference, leaf, taken):
            del unifier.ref[unifier.ref_leaves[leaf]]
    for index, term in sorted(unifier.ref.items()):
        if binding.reference[index] is None:
            binding.reference[index] = term
            changed = True
    return binding if _bind_generated(attempt, unifier, binding) or changed else None


def _bind_generated(attempt: Attempt, unifier: arguments.Unifier, binding: Binding) -> bool:
    """Enter what the unifier found for the generated parameters. Whether that is anything new."""
    terms = attempt.reference.terms
    index_of = {term: index for index, term in enumerate(attempt.reference.arguments)}
    bound = {leaf: unifier.ref[index] for leaf, index in unifier.ref_leaves.items() if index in unifier.ref}
    changed = False
    for index, term in sorted(unifier.gen.items()):
        old = binding.generated[index]
        if old is not None and index not in unifier.gen_leaves.values():
            continue
        new = terms.subst(term, bound)
        constant = terms.value(new) is not None or terms.kind[new] == "fc"
        if new == old or (old is not None and not constant):
            continue
        if term in index_of:
            binding.partner.setdefault(index, index_of[term])
        binding.generated[index] = new
        binding.how[index] = "use"
        changed = True
    return changed
