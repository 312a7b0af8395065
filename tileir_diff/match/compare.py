"""Compares two modules: entries, arguments, effects, values, promises, hints, order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from tileir_diff.graph import floats
from tileir_diff.graph.evaluate import Evaluator
from tileir_diff.graph.kernel import Kernel
from tileir_diff.graph.show import show
from tileir_diff.graph.terms import Term, Terms
from tileir_diff.match import arguments
from tileir_diff.match.align import align
from tileir_diff.match.arguments import Binding
from tileir_diff.match.blame import Blame, first_of
from tileir_diff.match.effects import EffectMatch, EffectPair, block_only, match_effects
from tileir_diff.match.hints import compare_hints
from tileir_diff.match.locate import overflow_promises, place, settled_promises, unshared_overflow
from tileir_diff.match.model import (
    ArgumentPair,
    CompareOptions,
    Comparison,
    Difference,
    Equivalence,
    Site,
)
from tileir_diff.match.promises import compare_promises
from tileir_diff.match.sites import site
from tileir_diff.match.tokens import lost_orders
from tileir_diff.match.witness import differ

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.match.launch import Launch, SideLaunch

MAX_CANDIDATES = 6
MAX_GUESSES = 25
MAX_ROUNDS = 6
UNKNOWN_GRID: tuple[int | None, ...] = (None, None, None)


@dataclass(slots=True)
class Attempt:
    """Both kernels evaluated under one matching of their arguments."""

    reference: Kernel
    generated: Kernel
    binding: Binding
    match: EffectMatch


@dataclass(slots=True)
class EntryResult:
    """Everything found for one pair of entries."""

    differences: list[Difference] = field(default_factory=list)
    arguments: list[ArgumentPair] = field(default_factory=list)
    equivalences: list[Equivalence] = field(default_factory=list)
    obligations: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)


def compare(reference: ModuleOp, generated: ModuleOp, options: CompareOptions) -> Comparison:
    """Compare every entry of the reference with its partner. Raises InputError for an unknown ``options.entry``."""
    pairs = match_entries(reference, generated, options)
    result = Comparison([], [], [], [], [], [], [])
    for ref_entry, gen_entry in pairs:
        if ref_entry is None or gen_entry is None:
            result.differences.append(_lone_entry(ref_entry, gen_entry))
            result.pairs.append((_symbol(ref_entry), _symbol(gen_entry), 0.0))
            continue
        entry = compare_entries(ref_entry, gen_entry, options)
        result.pairs.append((_symbol(ref_entry), _symbol(gen_entry), _similarity(ref_entry, gen_entry)))
        result.arguments.extend(entry.arguments)
        result.differences.extend(entry.differences)
        result.equivalences.extend(entry.equivalences)
        for target, lines in (
            (result.obligations, entry.obligations),
            (result.assumptions, entry.assumptions),
            (result.not_checked, entry.not_checked),
        ):
            target.extend(line for line in lines if line not in target)
    for side, module in (("reference", reference), ("generated", generated)):
        result.assumptions.extend(f"{side}: {note}" for note in module.approximations)
    return result


# ---- entries -------------------------------------------------------------------------------------------------


def match_entries(
    reference: ModuleOp, generated: ModuleOp, options: CompareOptions
) -> list[tuple[TileOp | None, TileOp | None]]:
    """Partners by symbol, then by likeness, each with what is left over on either side."""
    from tileir_diff.errors import InputError

    ref, gen = list(reference.entries), list(generated.entries)
    if options.entry is not None:
        chosen_ref = [e for e in ref if _symbol(e) == options.entry]
        chosen_gen = [e for e in gen if _symbol(e) == options.entry]
        if not chosen_ref and not chosen_gen:
            known = ", ".join(f"@{_symbol(e)}" for e in (*ref, *gen))
            raise InputError(f"no entry @{options.entry} on either side; there are {known}")
        ref = chosen_ref or ref
        gen = chosen_gen or gen
        if not chosen_gen:
            gen = [max(gen, key=lambda e: _similarity(ref[0], e))] if gen else []
        if not chosen_ref:
            ref = [max(ref, key=lambda e: _similarity(e, gen[0]))] if ref else []
    if len(ref) == 1 and len(gen) == 1:
        return [(ref[0], gen[0])]
    pairs: dict[int, Any] = {}
    free = list(gen)
    for index, entry in enumerate(ref):
        same = next((e for e in free if _symbol(e) == _symbol(entry)), None)
        if same is not None:
            pairs[index] = same
            free.remove(same)
    scored = sorted(
        ((_similarity(entry, other), -index, -position) for index, entry in enumerate(ref) if index not in pairs for position, other in enumerate(free)),
        reverse=True,
    )
    taken: set[int] = set()
    for score, minus_index, minus_position in scored:
        index, position = -minus_index, -minus_position
        if index in pairs or position in taken or score < 0.2:
            continue
        pairs[index] = free[position]
        taken.add(position)
    result: list[tuple[Any, Any]] = [(entry, pairs.get(index)) for index, entry in enumerate(ref)]
    result.extend((None, other) for position, other in enumerate(free) if position not in taken)
    return result


def _symbol(entry: TileOp | None) -> str | None:
    return None if entry is None else str(entry.get("sym_name"))


_QUIET = frozenset({"constant", "assume", "reshape", "broadcast", "exti", "make_token", "return", "continue", "yield"})


def _similarity(ref: TileOp, gen: TileOp) -> float:
    """Share of common ops by name, leaving out those that front ends emit at will; 0 to 1."""
    counts: list[dict[str, int]] = []
    for entry in (ref, gen):
        count: dict[str, int] = {}
        for op in entry.walk():
            short = getattr(op, "short", "")
            if short not in _QUIET:
                count[short] = count.get(short, 0) + 1
        counts.append(count)
    a, b = counts
    common = sum(min(a[key], b.get(key, 0)) for key in a)
    total = max(sum(a.values()), sum(b.values()))
    return round(common / total, 4) if total else 1.0


def _lone_entry(ref: TileOp | None, gen: TileOp | None) -> Difference:
    if ref is not None:
        return Difference("entry-signature/entry-missing", Site(ref, str(_symbol(ref))), None, f"@{_symbol(ref)}", "no such entry", "MISSING")
    assert gen is not None
    return Difference("entry-signature/entry-extra", None, Site(gen, str(_symbol(gen))), "no such entry", f"@{_symbol(gen)}", "EXTRA")


# ---- one pair of entries ---------------------------------------------------------------------------------------


def compare_entries(ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions) -> EntryResult:
    """Evaluate, match and explain one pair of entries."""
    launch = options.launch
    terms = Terms(options.disabled_equivalences)
    ref_grid = launch.reference.grid if launch is not None else UNKNOWN_GRID
    gen_grid = launch.generated.grid if launch is not None else UNKNOWN_GRID
    ref_launch = _launch_terms(ref_entry, launch.reference if launch else None, terms, 0)
    gen_launch = _launch_terms(gen_entry, launch.generated if launch else None, terms, 1)
    if ref_launch is not None and gen_launch is not None:
        attempt = _evaluate(terms, ref_entry, gen_entry, _launch_binding(terms, ref_launch, gen_launch), ref_grid, gen_grid)
    else:
        attempt = _search(terms, ref_entry, gen_entry, options, ref_grid, gen_grid)
    result = _explain(attempt)
    if ref_launch is not None and gen_launch is not None:
        _beyond_launch(ref_entry, gen_entry, options, result)
    elif launch is not None:
        _check_names(ref_entry, gen_entry, launch)
        result.assumptions.append(f"the launch facts given hold: {launch.source}")
    return result


def _beyond_launch(ref_entry: TileOp, gen_entry: TileOp, options: CompareOptions, result: EntryResult) -> None:
    """Whether the result holds for every launch, where both sides take the same runtime parameters.

    A difference that this launch hides (sizes that fill the tiles, two sizes that happen to be equal) is a finding
    if there are other sizes for which an address, a mask or a trip count really differs.
    """
    types = [[arg.type for arg in entry.regions[0].block.args] for entry in (ref_entry, gen_entry)]
    if types[0] == types[1]:
        terms = Terms(options.disabled_equivalences)
        free = CompareOptions(entry=options.entry, disabled_equivalences=options.disabled_equivalences)
        attempt = _search(terms, ref_entry, gen_entry, free, UNKNOWN_GRID, UNKNOWN_GRID)
        if attempt.match.score == (0, 0, 0):
            return
        constants = _refine(attempt, constants_only=True)
        if constants is not None:
            fixed = _evaluate(terms, ref_entry, gen_entry, constants, UNKNOWN_GRID, UNKNOWN_GRID)
            if fixed.match.score <= attempt.match.score:
                attempt = fixed  # a size that one side fixes, and that the launch makes equal
        pairs = (*attempt.match.pairs, *attempt.match.loads)
        if any(_witnessed(attempt.reference, pair) for pair in pairs):
            told = {id(d.generated.op) for d in result.differences if d.generated is not None}
            for difference in _explain(attempt).differences:
                if difference.rule.split("/")[0] in PLACES and difference.generated is not None:
                    if id(difference.generated.op) not in told:
                        note = "no effect at the launch given; another one shows it"
                        result.differences.append(replace(difference, note=note))
    result.assumptions.append("the result holds for the launch given")


PLACES = frozenset({
    "mask", "padding", "bounds", "addressing", "stride", "grid", "dim-map", "shape-op", "loop", "constant", "control-flow",
    "integer-mode", "arithmetic", "tile-shape",
})
"""Families of differences in where and how often memory is accessed."""


def _witnessed(kernel: Kernel, pair: EffectPair) -> bool:
    """Whether values exist for which the two accesses differ in address, lanes or number."""
    terms = kernel.terms
    ref, gen = pair.reference, pair.generated
    if pair.equal and ref.effect.padding == gen.effect.padding:
        return False
    if ref.effect.padding != gen.effect.padding and ref.condition == gen.condition:
        return differ(terms, ref.condition, terms.true) is not None
    if len(ref.trips) == len(gen.trips):
        if any(differ(terms, a, b) for a, b in zip(ref.trips, gen.trips, strict=True)):
            return True
    if ref.pointer is not None and gen.pointer is not None and differ(terms, ref.pointer, gen.pointer):
        return True
    lanes = [
        terms.conjunction(x for x in terms.conjuncts(side.condition) if not block_only(kernel, x)) for side in (ref, gen)
    ]
    return differ(terms, lanes[0], lanes[1]) is not None


def _launch_terms(entry: TileOp, side: SideLaunch | None, terms: Terms, number: int) -> list[Term | None] | None:
    """Terms for the parameters of one side of a launch; None when the launch gives no arguments."""
    if side is None or side.args is None:
        return None
    params = list(entry.regions[0].block.args)
    if len(side.args) != len(params):
        from tileir_diff.errors import InputError

        raise InputError(
            f"the launch gives {len(side.args)} arguments for @{_symbol(entry)}, which has {len(params)}"
        )
    result: list[Term | None] = []
    for index, (param, value) in enumerate(zip(params, side.args, strict=True)):
        if value is None or value.value is None and not value.is_pointer:
            result.append(None)
            continue
        if value.is_pointer:
            name = value.value if value.value is not None else f"null{index}"
            result.append(terms.atom(terms.leaf("arg", "array", name)))
            continue
        element = param.type.element  # type: ignore[attr-defined]
        assert not isinstance(value.value, str) and value.value is not None
        if element.is_int and element.bits == 1:
            result.append(terms.bool_const(bool(value.value)))
        elif element.is_int:
            result.append(terms.const(int(value.value)))
        else:
            bits = floats.encode(element.name, float(value.value))
            result.append(None if bits is None else floats.constant(terms, element.name, bits))
    _ = number
    return result


def _launch_binding(terms: Terms, ref: list[Term | None], gen: list[Term | None]) -> Binding:
    binding = Binding(list(gen), list(ref))
    pointers = {term: index for index, term in enumerate(ref) if term is not None and terms.single(term) is not None and terms.symbols[term]}
    last: dict[int, tuple[int, int]] = {}
    for index, term in enumerate(gen):
        if term in pointers:
            binding.partner[index] = pointers[term]
            binding.how[index] = "given"
            last[index] = (index, pointers[term])
    # scalars behind a pointer, as far as both lists go on alike
    for start, (_, ref_start) in sorted(last.items()):
        offset = 1
        while start + offset < len(gen) and ref_start + offset < len(ref):
            a, b = ref[ref_start + offset], gen[start + offset]
            if a is None or b is None or a in pointers or b in pointers or a != b:
                break
            binding.partner[start + offset] = ref_start + offset
            binding.how[start + offset] = "role"
            offset += 1
    return binding


def _evaluate(
    terms: Terms,
    ref_entry: TileOp,
    gen_entry: TileOp,
    binding: Binding,
    ref_grid: Sequence[int | None],
    gen_grid: Sequence[int | None],
) -> Attempt:
    ref_grid = [binding.grid.get(axis, size) for axis, size in enumerate(ref_grid)]
    reference = Evaluator(ref_entry, terms, 0, binding.reference, ref_grid)
    generated = Evaluator(gen_entry, terms, 1, binding.generated, gen_grid)
    reference.learn_facts()
    generated.learn_facts()
    ref_kernel, gen_kernel = reference.run(), generated.run()
    sizes = None
    known = None not in ref_grid and None not in gen_grid
    if _front_end(ref_kernel) != _front_end(gen_kernel) and not known:
        sizes = arguments.size_leaves(ref_kernel) | arguments.size_leaves(gen_kernel)
    taken = set(binding.partner.values())
    lone = arguments.size_leaves(ref_kernel, lambda index: index not in taken) if sizes is not None else frozenset[Term]()
    return Attempt(ref_kernel, gen_kernel, binding, match_effects(ref_kernel, gen_kernel, sizes, lone))


def _search(
    terms: Terms,
    ref_entry: TileOp,
    gen_entry: TileOp,
    options: CompareOptions,
    ref_grid: Sequence[int | None],
    gen_grid: Sequence[int | None],
) -> Attempt:
    """Try matchings of the arguments; keep the one that leaves the fewest effects unequal."""
    own = Binding([None] * len(gen_entry.regions[0].block.args), [None] * len(ref_entry.regions[0].block.args))
    _named(terms, ref_entry, own.reference, options.launch.reference if options.launch else None)
    reference = Evaluator(ref_entry, terms, 0, own.reference, ref_grid)
    generated = Evaluator(gen_entry, terms, 1, None, gen_grid)
    reference.learn_facts()
    generated.learn_facts()
    ref_kernel, gen_kernel = reference.run(), generated.run()
    def evaluate(binding: Binding) -> Attempt:
        binding.reference = [b if b is not None else o for b, o in zip(binding.reference, own.reference, strict=True)]
        _named(terms, gen_entry, binding.generated, options.launch.generated if options.launch else None)
        return _evaluate(terms, ref_entry, gen_entry, binding, ref_grid, gen_grid)

    if options.args is not None:
        return evaluate(arguments.given(ref_kernel, gen_kernel, options.args))
    straight = arguments.positional(ref_kernel, gen_kernel)
    candidates = [straight] if straight is not None else arguments.pointer_bindings(ref_kernel, gen_kernel)
    best: Attempt | None = None
    for candidate in candidates[:MAX_CANDIDATES]:
        attempt = _refined(evaluate(candidate), evaluate)
        if best is None or attempt.match.score < best.match.score:
            best = attempt
        if best.match.score[:2] == (0, 0):
            break
    assert best is not None  # every entry has at least one candidate: the one without pointers
    return best


def _refined(attempt: Attempt, evaluate: Callable[[Binding], Attempt]) -> Attempt:
    """The attempt with what its own terms say about further arguments, step by step."""
    for _ in range(MAX_ROUNDS):
        if attempt.match.score[:2] == (0, 0):
            break
        binding = _refine(attempt) or _contiguous(attempt)
        if binding is None:
            break
        better = evaluate(binding)
        if better.match.score > attempt.match.score:
            break
        attempt = better
    if attempt.match.score[:2] != (0, 0):
        for guess in _guesses(attempt):
            guessed = evaluate(guess)
            if guessed.match.score[:2] == (0, 0):
                return guessed
    elif attempt.match.score[2]:
        packed = _contiguous(attempt)
        if packed is not None:
            better = evaluate(packed)
            if better.match.score <= attempt.match.score:
                return better
    return attempt


def _contiguous(attempt: Attempt) -> Binding | None:
    """Sizes that the generated side does not have, of arrays whose strides it fixes: as if the array were packed."""
    terms = attempt.reference.terms
    binding = attempt.binding
    partners = set(binding.partner.values())
    bound: dict[int, Term] = {}
    for base, rank in arguments.array_groups(attempt.reference).items():
        strides = [attempt.reference.arguments[base + 1 + rank + dim] for dim in range(rank)]
        values = [terms.value(stride) for stride in strides]
        values[-1] = values[-1] if values[-1] is not None else 1
        for dim in range(1, rank):
            index = base + 1 + dim
            outer, inner = values[dim - 1], values[dim]
            if index in partners or binding.reference[index] is not None or outer is None or not inner:
                continue
            if outer % inner == 0:
                bound[index] = terms.const(outer // inner)
    if not bound:
        return None
    reference = [bound.get(index, term) for index, term in enumerate(binding.reference)]
    return Binding(list(binding.generated), reference, dict(binding.how), dict(binding.partner), dict(binding.grid))


def _guesses(attempt: Attempt) -> list[Binding]:
    """Scalars of the reference that no parameter of the generated side matches: one of the sizes already known."""
    terms = attempt.reference.terms
    binding = attempt.binding
    partners = set(binding.partner.values())
    used = arguments.used_parameters(attempt.reference)
    open_scalars = [
        index
        for index, param in enumerate(arguments.parameters(attempt.reference))
        if binding.reference[index] is None
        and index not in partners
        and index in used
        and not arguments.is_pointer(param)
        and param.type.element.is_int
    ]
    known = sorted({term for term in binding.reference if term is not None and terms.value(term) is not None})
    if not open_scalars or len(open_scalars) > 3 or not known:
        return []
    guesses: list[Binding] = []
    for choice in product(known, repeat=len(open_scalars)):
        if len(guesses) >= MAX_GUESSES:
            break
        reference = list(binding.reference)
        for index, term in zip(open_scalars, choice, strict=True):
            reference[index] = term
        guesses.append(Binding(list(binding.generated), reference, dict(binding.how), dict(binding.partner), dict(binding.grid)))
    return guesses


def _check_names(ref_entry: TileOp, gen_entry: TileOp, launch: Launch) -> None:
    """Every named fact must name an argument of a side. Raises InputError otherwise."""
    from tileir_diff.errors import InputError
    from tileir_diff.match.launch import argument_index

    for name in dict.fromkeys((*launch.reference.named, *launch.generated.named)):
        sides = [(ref_entry, launch.reference), (gen_entry, launch.generated)]
        if not any(name in side.named and argument_index(entry, name) is not None for entry, side in sides):
            raise InputError(f"--launch {name}=...: neither entry has an argument '{name}'")


def _named(terms: Terms, entry: TileOp, binding: list[Term | None], side: SideLaunch | None) -> None:
    """Scalars given by name: ``--launch n=333``."""
    if side is None or not side.named:
        return
    from tileir_diff.match.launch import argument_index

    for name, value in side.named.items():
        index = argument_index(entry, name)
        if index is None:
            continue
        element = entry.regions[0].block.args[index].type.element  # type: ignore[attr-defined]
        if element.is_int:
            binding[index] = terms.const(int(value)) if element.bits > 1 else terms.bool_const(bool(value))
        else:
            bits = floats.encode(element.name, float(value))
            if bits is not None:
                binding[index] = floats.constant(terms, element.name, bits)


def _refine(attempt: Attempt, constants_only: bool = False) -> Binding | None:
    """The binding with what unification of the matched effects adds; None when that is nothing."""
    terms = attempt.reference.terms
    same = _front_end(attempt.reference) == _front_end(attempt.generated) and attempt.binding.straight
    if same and not constants_only:
        return None  # the same front end and the same parameters: what differs is a difference
    unifier = arguments.Unifier(attempt.binding, attempt.reference, attempt.generated)
    for pair in (*attempt.match.loads, *attempt.match.pairs):
        unifier.effects(pair.reference.effect, pair.generated.effect)
    if not unifier.gen and not unifier.ref and not unifier.grid:
        return None
    binding = Binding(
        list(attempt.binding.generated),
        list(attempt.binding.reference),
        dict(attempt.binding.how),
        dict(attempt.binding.partner),
        dict(attempt.binding.grid),
        attempt.binding.straight,
    )
    index_of = {term: index for index, term in enumerate(attempt.reference.arguments)}
    changed = False
    for axis, size in sorted(unifier.grid.items()):
        if axis not in binding.grid:
            binding.grid[axis] = size
            changed = True
    for index, term in sorted(unifier.ref.items()):
        if binding.reference[index] is None:
            binding.reference[index] = term
            changed = True
    substitution = {leaf: unifier.ref[index] for leaf, index in unifier.ref_leaves.items() if index in unifier.ref}
    for index, term in sorted(unifier.gen.items()):
        old = binding.generated[index]
        if old is not None and index not in unifier.gen_leaves.values():
            continue
        new = terms.subst(term, substitution)
        if new == old or (old is not None and terms.value(new) is None):
            continue
        if term in index_of and index not in binding.partner:
            binding.partner[index] = index_of[term]
        binding.generated[index] = new
        binding.how[index] = "use"
        changed = True
    return binding if changed else None


# ---- explaining ------------------------------------------------------------------------------------------------


def _explain(attempt: Attempt) -> EntryResult:
    reference, generated = attempt.reference, attempt.generated
    terms = reference.terms
    names = _names(attempt)
    blame = Blame(reference, generated, names)
    result = EntryResult(arguments=arguments.argument_pairs(reference, generated, attempt.binding))
    found: list[Difference] = []
    for pair in attempt.match.pairs:
        for atom in pair.obligations:
            line = f"{blame.show(atom)} for all blocks and lanes launched"
            if line not in result.obligations:
                result.obligations.append(line)
                result.equivalences.append(Equivalence("host-bounds", site(reference, pair.reference.effect.op, "mask"), site(generated, pair.generated.effect.op, "mask"), f"equal while the launch keeps {blame.show(atom)}"))
        if not pair.equal:
            explained = _explain_pair(blame, pair, result)
            if not explained:
                ops = pair.reference.effect.op, pair.generated.effect.op
                explained = [blame.make("arithmetic/not-proven", *ops, _describe(pair.reference.effect), "not shown to be the same")]
            found.extend(explained)
    for item in attempt.match.only_reference:
        found.append(blame.make(_lone_rule(item.effect.kind, "missing"), item.effect.op, None, _describe(item.effect), "nothing", status="MISSING"))
    for item in attempt.match.only_generated:
        found.append(blame.make(_lone_rule(item.effect.kind, "extra"), None, item.effect.op, "nothing", _describe(item.effect), status="EXTRA"))
    found.extend(_load_bounds(blame, attempt, result))
    found = _placed(blame, attempt, _root_causes(first_of(found)))
    found.extend(_orders(blame, attempt))
    found.extend(_families(blame, attempt))
    found.extend(_hints(blame, attempt))
    promises, obligations = compare_promises(
        reference, generated, blame.make, _launcher_specialises(generated), blame.settled
    )
    found.extend(promises)
    result.differences = first_of(found)
    result.obligations.extend(_bound_constants(attempt, names))
    result.obligations.extend(obligations)
    used = terms.used
    for name, why in floats.EQUIVALENCES.items():
        if name in used[0] or name in used[1]:
            sides = [site(kernel, used[kernel.side].get(name)) for kernel in (reference, generated)]
            result.equivalences.append(Equivalence(name, sides[0], sides[1], why))
    if len({e.base for e in reference.effects if e.base is not None}) > 1:
        result.assumptions.append("arrays behind different pointer arguments do not overlap")
    for side, kernel in (("reference", reference), ("generated", generated)):
        result.assumptions.extend(f"{side}: {note}" for note in kernel.assumptions)
        result.not_checked.extend(
            f"{side} line {op.span.line}: {op.short} has no model; equal only to itself" for op in kernel.not_modelled
        )
    return result


def _load_bounds(blame: Blame, attempt: Attempt, result: EntryResult) -> list[Difference]:
    """Loads of the same elements that the generated side makes on lanes where the reference makes none."""
    terms = blame.terms
    found: list[Difference] = []
    lenient = _front_end(attempt.reference) != _front_end(attempt.generated)
    accepted = {atom for pair in attempt.match.pairs for atom in pair.obligations}
    for pair in attempt.match.loads:
        ref, gen = pair.reference, pair.generated
        if pair.equal or ref.pointer != gen.pointer or ref.trips != gen.trips:
            continue
        gen_atoms = terms.conjuncts(gen.condition)
        lost = [atom for atom in terms.conjuncts(ref.condition) if not terms.implies(gen_atoms, atom)]
        if lenient:
            for atom in lost:
                if block_only(attempt.reference, atom):
                    line = f"{blame.show(atom)} for all blocks and lanes launched"
                    if line not in result.obligations:
                        result.obligations.append(line)
            lost = [atom for atom in lost if not block_only(attempt.reference, atom) and atom not in accepted]
        if not lost:
            continue
        difference = blame.mask(ref.condition, gen.condition, ref.effect.op, gen.effect.op)
        found.append(replace(difference, note="reads outside the array, whether or not the value is used"))
    return found


def _root_causes(found: list[Difference]) -> list[Difference]:
    """One finding for one op of the generated side, the first; another block axis is told once."""
    kept: list[Difference] = []
    seen: set[object] = set()
    for difference in found:
        site_ = difference.generated or difference.reference
        key: object = (difference.rule.split("/")[0], id(site_.op)) if site_ is not None else difference.rule
        if difference.rule == "grid/axis":
            key = difference.rule
        if key in seen:
            continue
        seen.add(key)
        kept.append(difference)
    return kept


def _placed(blame: Blame, attempt: Attempt, found: list[Difference]) -> list[Difference]:
    """Findings on the changed lines, where the two entries are the same text but for a few ops."""
    reference, generated = attempt.reference, attempt.generated
    if not found and _front_end(reference) != _front_end(generated):
        return unshared_overflow(blame)
    alignment = align(reference.entry, generated.entry)
    if not alignment.close:
        return found + unshared_overflow(blame)
    blame.settled = settled_promises(alignment)
    promised = overflow_promises(blame, alignment)
    if found:
        found = place(blame, alignment, found) or found
    return found + promised


def _names(attempt: Attempt) -> dict[Term, str]:
    terms = attempt.reference.terms
    return {
        terms.leaf("arg", kernel.side, index): name
        for kernel in (attempt.generated, attempt.reference)
        for index, name in enumerate(arguments.parameter_names(kernel))
    }


def _describe(effect: Any) -> str:
    shape = "x".join(str(e) for e in effect.shape)
    return f"{effect.kind.replace('_', ' ')} of {shape + 'x' if shape else ''}{effect.element}".strip()


def _lone_rule(kind: str, detail: str) -> str:
    return {
        "print": f"debug-op/{detail}",
        "assert": f"runtime-check/{detail}",
        "fence": f"token-order/{detail}",
        "atomic_rmw": f"atomic/{detail}",
        "atomic_cas": f"atomic/{detail}",
    }.get(kind, f"memory-family/{detail}")


def _explain_pair(blame: Blame, pair: EffectPair, result: EntryResult) -> list[Difference]:
    """The differences of one matched effect: loops, address, mask, value, ordering."""
    terms = blame.terms
    ref, gen = pair.reference, pair.generated
    ref_op, gen_op = ref.effect.op, gen.effect.op
    found: list[Difference] = []
    if ref.effect.kind != gen.effect.kind:
        found.append(blame.make("atomic/missing" if ref.effect.kind != "store" else "atomic/extra", ref_op, gen_op, _describe(ref.effect), _describe(gen.effect)))
        return found
    if ref.effect.kind == "print":
        if ref_op.get("format") != gen_op.get("format"):
            found.append(blame.make("debug-op/changed", ref_op, gen_op, str(ref_op.get("format")), str(gen_op.get("format"))))
    if ref.effect.kind == "assert" and ref.values == gen.values and ref_op.get("message") != gen_op.get("message"):
        return [blame.make("runtime-check/changed", ref_op, gen_op, str(ref_op.get("message")), str(gen_op.get("message")), impact="none")]
    if ref.effect.kind == "assert" and ref.values != gen.values:
        return [blame.make("runtime-check/changed", ref_op, gen_op, blame.show(ref.values[0]), blame.show(gen.values[0]))]
    if ref.effect.element != gen.effect.element:
        found.append(blame.make("element-type/changed", ref_op, gen_op, ref.effect.element, gen.effect.element))
    if ref.extents != gen.extents:
        found.append(blame.make("tile-shape/changed", ref_op, gen_op, _shape(ref.effect.shape), _shape(gen.effect.shape), impact="logic"))
        return found
    if ref_op.get("mode") != gen_op.get("mode"):
        found.append(blame.make("atomic/mode", ref_op, gen_op, str(ref_op.get("mode")), str(gen_op.get("mode")), part="mode"))
    found.extend(blame.orderings(ref_op, gen_op))
    ref_loops, gen_loops = ref.effect.loops, gen.effect.loops
    if len(ref_loops) != len(gen_loops):
        outer_ref = ref_loops[0].op if ref_loops else ref_op
        outer_gen = gen_loops[0].op if gen_loops else gen_op
        rule = "loop/missing" if len(ref_loops) > len(gen_loops) else "loop/extra"
        found.append(blame.make(rule, outer_ref, outer_gen, f"in {len(ref_loops)} loops", f"in {len(gen_loops)} loops"))
        return found
    for x, y in zip(ref_loops, gen_loops, strict=True):
        found.extend(f.difference for f in blame.pair_loops(x, y, None, 0))
    if found and any(d.rule.startswith("loop/") for d in found):
        return found
    lanes = _lane_renaming(blame, pair)

    def ours(term: Term) -> Term:
        return terms.subst(term, lanes[0]) if lanes[0] else term

    def theirs(term: Term) -> Term:
        term = terms.subst(term, lanes[1]) if lanes[1] else term
        return blame.rename(term)

    ref_condition = ours(_condition(blame, ref.effect))
    gen_condition = theirs(_condition(blame, gen.effect))
    guards = terms.conjuncts(terms.conjunction((ref_condition, gen_condition)))
    if ref_condition != gen_condition:
        found.append(_condition_difference(blame, ref_condition, gen_condition, pair, result))
    if ref.effect.pointer is not None and gen.effect.pointer is not None:
        a = terms.under(ours(ref.effect.pointer), guards)
        b = terms.under(theirs(gen.effect.pointer), guards)
        if a != b:
            found.append(_address_difference(blame, a, b, pair))
    for x, y in zip(ref.effect.values, gen.effect.values, strict=False):
        a, b = terms.under(ours(x), guards), terms.under(theirs(y), guards)
        if a != b:
            found.extend(blame.values(a, b, ref_op, gen_op))
    return found


def _shape(shape: Sequence[int]) -> str:
    return "x".join(str(extent) for extent in shape) or "scalar"


def _condition(blame: Blame, effect: Any) -> Term:
    terms = blame.terms
    return terms.conjunction((effect.guard, effect.mask if effect.mask is not None else terms.true))


def _lane_renaming(blame: Blame, pair: EffectPair) -> tuple[dict[Term, Term], dict[Term, Term]]:
    """Substitutions that bring the raw lanes of both effects to the lanes of the canonical reference."""
    from itertools import permutations

    terms = blame.terms
    ref, gen = pair.reference.effect, pair.generated.effect

    def plain(shape: Sequence[int]) -> list[tuple[Term, int]]:
        return [(terms.leaf("lane", dim, extent), extent) for dim, extent in enumerate(shape) if extent > 1]

    ref_lanes, gen_lanes = plain(ref.shape), plain(gen.shape)
    first = {leaf: terms.lane(new, extent) for new, (leaf, extent) in enumerate(ref_lanes) if terms.attr[leaf][0] != new}
    options: list[dict[Term, Term]] = []
    if len(ref_lanes) == len(gen_lanes) and len(ref_lanes) <= 4:
        for order in permutations(range(len(gen_lanes))):
            if all(gen_lanes[old][1] == ref_lanes[new][1] for new, old in enumerate(order)):
                options.append({gen_lanes[old][0]: terms.lane(new, ref_lanes[new][1]) for new, old in enumerate(order)})
    if ref.pointer is not None and gen.pointer is not None:
        wanted = terms.subst(ref.pointer, first) if first else ref.pointer
        for option in options:
            if terms.subst(blame.rename(gen.pointer), option) == wanted:
                return first, option
    return first, options[0] if options else {}


def _condition_difference(blame: Blame, a: Term, b: Term, pair: EffectPair, result: EntryResult) -> Difference:
    """Masks and path conditions that differ; a guard on block indices alone is the launch's business."""
    terms = blame.terms
    ref_op, gen_op = pair.reference.effect.op, pair.generated.effect.op
    _ = terms, result
    return blame.mask(a, b, ref_op, gen_op)


def _front_end(kernel: Kernel) -> str:
    """Which compiler wrote the entry, by the shape of its symbol; only used to choose between two readings."""
    if kernel.name.startswith("_Z"):
        return "tile C++"
    return "cuTile Rust" if kernel.name.endswith("_entry") else "cuTile Python"


def _launcher_specialises(kernel: Kernel) -> bool:
    return _front_end(kernel) == "cuTile Rust"


def _address_difference(blame: Blame, a: Term, b: Term, pair: EffectPair) -> Difference:
    ref, gen = pair.reference.effect, pair.generated.effect
    if ref.family != "pointer" and gen.family != "pointer":
        if ref.coordinates and len(ref.coordinates) == len(gen.coordinates):
            same = [x == blame.rename(y) for x, y in zip(ref.coordinates, gen.coordinates, strict=True)]
            if all(same) and ref.strides != tuple(blame.rename(t) for t in gen.strides):
                expected = ", ".join(blame.show(t) for t in ref.strides)
                actual = ", ".join(blame.show(t) for t in gen.strides)
                return blame.make("stride/changed", ref.op, gen.op, expected, actual)
    return blame.address(a, b, ref.op, gen.op)


def _orders(blame: Blame, attempt: Attempt) -> list[Difference]:
    found: list[Difference] = []
    for earlier, later in lost_orders(attempt.reference, attempt.generated, attempt.match):
        before = earlier.reference.effect
        found.append(blame.make(
            "token-order/missing", later.reference.effect.op, later.generated.effect.op,
            f"after the {before.kind.replace('_', ' ')} of line {before.op.span.line}", "not ordered by a token",
            part="token", status="MISSING",
        ))
    return found


def _families(blame: Blame, attempt: Attempt) -> list[Difference]:
    """View against pointer accesses of the same elements: cost only."""
    found: list[Difference] = []
    for pair in (*attempt.match.loads, *attempt.match.pairs):
        a, b = pair.reference.effect, pair.generated.effect
        if a.family and b.family and (a.family == "pointer") != (b.family == "pointer"):
            found.append(blame.make("memory-family/changed", a.op, b.op, f"{a.family} access", f"{b.family} access"))
    return found


def _hints(blame: Blame, attempt: Attempt) -> list[Difference]:
    found: list[Difference] = []
    pairs: list[tuple[Any, Any]] = [(attempt.reference.entry, attempt.generated.entry)]
    pairs.extend((p.reference.effect.op, p.generated.effect.op) for p in (*attempt.match.loads, *attempt.match.pairs))
    for ref_op, gen_op in pairs:
        for rule, _, expected, actual in compare_hints(ref_op.get("hints") or {}, gen_op.get("hints") or {}):
            status = {"missing": "MISSING", "extra": "EXTRA"}.get(rule.split("/")[1], "DIFFERS")
            found.append(blame.make(rule, ref_op, gen_op, expected, actual, part="hints", status=status))
    return found


def _bound_constants(attempt: Attempt, names: dict[Term, str]) -> list[str]:
    """Sizes that one side fixes and the other takes as a parameter."""
    terms = attempt.reference.terms
    lines: list[str] = []
    for side, kernel, bound in (
        ("reference", attempt.reference, attempt.binding.reference),
        ("generated", attempt.generated, attempt.binding.generated),
    ):
        if any(term is not None and terms.symbols[term] and terms.kind[terms.single(term) or 0] == "arg" and terms.attr[terms.single(term) or 0][0] == "array" for term in bound):
            return []  # a launch is given: every scalar is known
        for index, name in enumerate(arguments.parameter_names(kernel)):
            term = bound[index]
            if term is None:
                continue
            value = terms.value(term)
            if value is not None:
                lines.append(f"{side} {name} = {value}")
            elif side == "reference" and term != terms.atom(terms.leaf("arg", 0, index)) and terms.kind[term] == "poly":
                lines.append(f"{side} {name} = {show(terms, term, names)}")
            elif terms.kind[term] == "fc":
                lines.append(f"{side} {name} = {floats.show(*terms.attr[term])}")
    lines.extend(f"reference grid.{'xyz'[axis]} = {size}" for axis, size in sorted(attempt.binding.grid.items()))
    return lines
