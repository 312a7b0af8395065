"""Which parameter of the generated entry stands for which of the reference, and constants against parameters.

Every front end has its own argument list: pointers with all sizes and strides, or the parameters of the
source, or constants in place of sizes. Pointers are matched by what is done with them; then the addresses,
masks, sizes, trip counts and values of matched effects are unified, which binds the scalars.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import permutations
from math import lcm
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.attributes import DivBy
from tileir_diff.graph import floats
from tileir_diff.graph.values import is_pointer, pointee_bits
from tileir_diff.match.forgotten import block_counts, divisors
from tileir_diff.match.model import ArgumentPair
from tileir_diff.match.roles import argument_index, entry_roles, role_names
from tileir_diff.match.view_sizes import promised_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Mono, Term, Terms
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.launch import ArgumentMap

MAX_TRIES = 24
COMMUTATIVE = frozenset({"addf", "mulf", "maxf", "minf", "fma"})
"""Ops whose first two operands may be exchanged."""
NEUTRAL = {"addf": 0.0, "mulf": 1.0}
"""By op, the constant that leaves the other operand as it is."""
DIVISIONS = frozenset({"div", "tdiv"})
"""Quotients that differ, if at all, in how they are rounded."""


@dataclass(slots=True)
class Binding:
    """Terms for the parameters of both entries; None leaves a parameter its own symbol."""

    generated: list[Term | None]
    reference: list[Term | None]
    how: dict[int, str] = field(default_factory=dict[int, str])
    """By generated parameter: given, role, name, use."""
    partner: dict[int, int] = field(default_factory=dict[int, int])
    """Generated parameter -> reference parameter."""
    grid: dict[int, int] = field(default_factory=dict[int, int])
    """Grid sizes of the reference that the generated side has as constants, by axis."""
    blocks: dict[int, int] = field(default_factory=dict[int, int])
    """By axis, how many blocks can do anything, on either side, where the size of the grid is not known."""
    straight: bool = False
    """One to one in order, because both parameter lists have the same types."""


def parameters(kernel: Kernel) -> list[Any]:
    return list(kernel.entry.regions[0].block.args)


def positional(reference: Kernel, generated: Kernel) -> Binding | None:
    """One to one in order, when both lists have the same types."""
    ref, gen = parameters(reference), parameters(generated)
    if [p.type for p in ref] != [p.type for p in gen]:
        return None
    return Binding(
        list(reference.arguments),
        [None] * len(ref),
        dict.fromkeys(range(len(gen)), "role"),
        {i: i for i in range(len(gen))},
        straight=True,
    )


def given(reference: Kernel, generated: Kernel, args: ArgumentMap) -> dict[int, int | None]:
    """What the user says: by generated parameter the reference parameter, or None where it has none.

    Raises InputError for a name that an entry lacks, and for one that is given twice.
    """
    from tileir_diff.errors import InputError

    stated: dict[int, int | None] = {}
    taken: dict[int, str] = {}
    for gen_name, ref_name in args.pairs:
        gen_index = argument_index(generated.entry, gen_name)
        if gen_index is None:
            raise InputError(f"the generated entry @{generated.name} has no argument '{gen_name}'", args.path)
        if ref_name is None:
            stated[gen_index] = None
            continue
        ref_index = argument_index(reference.entry, ref_name)
        if ref_index is None:
            raise InputError(f"the reference entry @{reference.name} has no argument '{ref_name}'", args.path)
        gen_type, ref_type = (
            str(parameters(side)[index].type)
            for side, index in ((generated, gen_index), (reference, ref_index))
        )
        if is_pointer(parameters(generated)[gen_index]) != is_pointer(parameters(reference)[ref_index]):
            message = (
                f"'{gen_name}' is a {gen_type}, and cannot stand for the reference argument '{ref_name}', "
                f"a {ref_type}"
            )
            raise InputError(message, args.path)
        if ref_index in taken:
            message = (
                f"'{taken[ref_index]}' and '{gen_name}' both stand for the reference argument '{ref_name}'"
            )
            raise InputError(message, args.path)
        taken[ref_index] = gen_name
        stated[gen_index] = ref_index
    return stated


def with_given(
    binding: Binding, reference: Kernel, generated: Kernel, stated: Mapping[int, int | None]
) -> Binding:
    """A matching changed to what the user says; what loses its partner takes the free one of its type."""
    if all(binding.partner.get(gen) == ref for gen, ref in stated.items()):
        return replace(binding, how={**binding.how, **dict.fromkeys(stated, "given")})
    changed = replace(
        binding, generated=list(binding.generated), how=dict(binding.how), partner=dict(binding.partner),
        straight=False,
    )  # fmt: skip
    wanted = {ref for ref in stated.values() if ref is not None}
    lost = [gen for gen, ref in binding.partner.items() if ref in wanted and gen not in stated]
    for gen in (*stated, *lost):
        changed.partner.pop(gen, None)
        changed.how.pop(gen, None)
        changed.generated[gen] = None
    for gen, ref in stated.items():
        changed.how[gen] = "given"
        if ref is not None:
            _join(changed, reference, gen, ref)
    taken = set(changed.partner.values())
    free = [ref for gen, ref in binding.partner.items() if gen in stated and ref not in taken]
    for gen in lost:
        kind = parameters(generated)[gen].type
        ref = next((ref for ref in free if parameters(reference)[ref].type == kind), None)
        if ref is not None:
            free.remove(ref)
            changed.how[gen] = "role"
            _join(changed, reference, gen, ref)
    return changed


def _join(binding: Binding, reference: Kernel, gen: int, ref: int) -> None:
    binding.generated[gen] = reference.arguments[ref]
    binding.partner[gen] = ref


def pointer_bindings(reference: Kernel, generated: Kernel) -> list[Binding]:
    """Candidate matchings of the pointer parameters, best first."""
    ref_uses, gen_uses = _uses(reference), _uses(generated)
    ref_params, gen_params = parameters(reference), parameters(generated)
    ref_pointers = [i for i, p in enumerate(ref_params) if is_pointer(p)]
    gen_pointers = [i for i, p in enumerate(gen_params) if is_pointer(p)]
    groups: list[tuple[list[int], list[int]]] = []
    rest: list[int] = []
    by_use: dict[tuple[Any, ...], tuple[list[int], list[int]]] = {}
    for i in ref_pointers:
        by_use.setdefault((ref_params[i].type, ref_uses[i]), ([], []))[0].append(i)
    for j in gen_pointers:
        by_use.setdefault((gen_params[j].type, gen_uses[j]), ([], []))[1].append(j)
    left_ref: list[int] = []
    for (_, uses), (refs, gens) in by_use.items():
        if len(refs) == len(gens) and uses:
            groups.append((refs, gens))
        else:
            left_ref.extend(refs)
            rest.extend(gens)
    # what is left: by the coarse use (read, written) and the element type, then by order; last by its size
    for likeness in (_kinds, _used, _size):
        coarse = likeness is _kinds
        again: dict[tuple[Any, ...], tuple[list[int], list[int]]] = {}
        for i in left_ref:
            again.setdefault(likeness(ref_params[i], ref_uses[i]), ([], []))[0].append(i)
        for j in rest:
            again.setdefault(likeness(gen_params[j], gen_uses[j]), ([], []))[1].append(j)
        left_ref, rest = [], []
        for refs, gens in again.values():
            count = min(len(refs), len(gens))
            if len(refs) != len(gens) and coarse:
                used_ref = [i for i in refs if ref_uses[i]]
                used_gen = [j for j in gens if gen_uses[j]]
                if len(used_ref) == len(used_gen):
                    refs, gens, count = used_ref, used_gen, len(used_ref)
            groups.append((refs[:count], gens[:count]))
            left_ref.extend(refs[count:])
            rest.extend(gens[count:])
    bindings: list[Binding] = []
    for choice in _choices(groups):
        binding = Binding([None] * len(gen_params), [None] * len(ref_params))
        for ref_index, gen_index in choice:
            binding.generated[gen_index] = reference.arguments[ref_index]
            binding.partner[gen_index] = ref_index
            binding.how[gen_index] = "role"
        bindings.append(binding)
    return bindings


def _choices(groups: Sequence[tuple[list[int], list[int]]]) -> list[list[tuple[int, int]]]:
    """All ways to pair within the groups, the one in order first; at most ``MAX_TRIES``."""
    result: list[list[tuple[int, int]]] = [[]]
    for refs, gens in groups:
        longer: list[list[tuple[int, int]]] = []
        orders = list(permutations(gens)) if len(gens) <= 3 else [tuple(gens)]
        for order in orders:
            for prefix in result:
                longer.append([*prefix, *zip(refs, order, strict=False)])
        result = longer[:MAX_TRIES]
    return result


def _kinds(param: Any, uses: tuple[Any, ...]) -> tuple[Any, ...]:
    return param.type, tuple(sorted({use[0] for use in uses}))


def _used(param: Any, uses: tuple[Any, ...]) -> tuple[Any, ...]:
    return param.type, bool(uses)


def _size(param: Any, uses: tuple[Any, ...]) -> tuple[Any, ...]:
    """Elements of one size may be read as each other."""
    return pointee_bits(param), bool(uses)


def _uses(kernel: Kernel) -> dict[int, tuple[Any, ...]]:
    """What is done with each pointer parameter: kinds, element types, tile extents, depth of the access."""
    uses: dict[int, list[tuple[Any, ...]]] = {i: [] for i in range(len(kernel.arguments))}
    index = {term: i for i, term in enumerate(kernel.arguments)}
    for effect in kernel.effects:
        if effect.base is None or effect.base not in index:
            continue
        extents = tuple(e for e in effect.shape if e > 1)
        uses[index[effect.base]].append((effect.kind, effect.element, extents, len(effect.loops)))
    return {i: tuple(sorted(set(items))) for i, items in uses.items()}


class Unifier:
    """Collects bindings of parameter symbols from terms that ought to be equal."""

    def __init__(self, attempt_binding: Binding, reference: Kernel, generated: Kernel) -> None:
        terms = self.terms = reference.terms
        self.reference = reference
        used_ref, used_gen = used_parameters(reference), used_parameters(generated)
        partners = {ref: gen for gen, ref in attempt_binding.partner.items()}
        self.straight = attempt_binding.straight
        self.gen_leaves: dict[Term, int] = {}
        self.ref_leaves: dict[Term, int] = {}
        for index, term in enumerate(generated.arguments):
            if attempt_binding.how.get(index) == "given":
                continue
            leaf = terms.single(term)
            if leaf is None or terms.kind[leaf] != "arg" or is_pointer(parameters(generated)[index]):
                continue
            partner = attempt_binding.partner.get(index)
            if terms.attr[leaf] == (generated.side, index) or (
                partner is not None and partner not in used_ref
            ):
                self.gen_leaves[leaf] = index
        for index, term in enumerate(reference.arguments):
            leaf = terms.single(term)
            if (
                leaf is None
                or terms.attr[leaf] != (reference.side, index)
                or is_pointer(parameters(reference)[index])
            ):
                continue
            if leaf not in self.gen_leaves and (index not in partners or partners[index] not in used_gen):
                self.ref_leaves[leaf] = index
        self.divisors: dict[Term, int] = {}
        for promise in reference.promises:
            leaf = terms.single(promise.term) if isinstance(promise.term, int) else None
            stated = promise.assumption
            if leaf in self.ref_leaves and isinstance(stated, DivBy) and stated.every in (None, 1):
                self.divisors[leaf] = lcm(stated.divisor, self.divisors.get(leaf, 1))
        self.gen: dict[int, Term] = {}
        self.ref: dict[int, Term] = {}
        self.near_gen: dict[int, Term] = {}
        self.near_ref: dict[int, Term] = {}
        """What parameters would be but for a constant: where a bound is off by one, say."""
        self.grid: dict[int, int] = {}
        self.splits = divisors(reference) | divisors(generated)
        """Parameters by which something is divided, so that they are not 1."""
        self.seen: set[tuple[Term, Term]] = set()

    def effects(self, pair: EffectPair) -> None:
        ref, gen = pair.reference.effect, pair.generated.effect
        for a, b in _same_dimensions(ref, gen):
            self.unify(a, b)
        for loop_a, loop_b in zip(ref.loops, gen.loops, strict=False):
            self.unify(loop_a.stride or loop_a.step, loop_b.stride or loop_b.step)
            if loop_a.trip is not None and loop_b.trip is not None:
                self.unify(loop_a.trip, loop_b.trip)
        for a, b in ((ref.pointer, gen.pointer), (ref.mask, gen.mask), (ref.guard, gen.guard)):
            if a is not None and b is not None:
                self.unify(a, b)
        promised = [promised_inside(self.terms, effect) for effect in (ref, gen)]
        if ref.mask is not None and gen.mask is not None and bool(promised[0]) != bool(promised[1]):
            # what one side promises the other may check
            masks = zip((ref.mask, gen.mask), promised, strict=True)
            self.unify(*(self.terms.conjunction((mask, *more)) for mask, more in masks))
        for a, b in zip(ref.values, gen.values, strict=False):
            self.unify(a, b)
        a, b = pair.reference.pointer, pair.generated.pointer
        if len(ref.loops) == len(gen.loops) > 0 and a is not None and b is not None:
            # iterations are named alike only here
            self.unify(a, b)
            self.unify(pair.reference.condition, pair.generated.condition)

    def unify(self, a: Term, b: Term) -> None:
        """Bind symbols so that ``a`` (reference) and ``b`` (generated) equal, as far as they are alike."""
        work = [(a, b)]
        terms = self.terms
        while work:
            x, y = work.pop()
            if x == y or (x, y) in self.seen:
                continue
            self.seen.add((x, y))
            leaf_y = terms.single(y)
            leaf_x = terms.single(x)
            if leaf_y is not None and leaf_y in self.gen_leaves and self._may_be(leaf_y, x, 1):
                self.gen.setdefault(self.gen_leaves[leaf_y], x)
                continue
            if leaf_x is not None and leaf_x in self.ref_leaves and self._may_be(leaf_x, y, -1):
                self.ref.setdefault(self.ref_leaves[leaf_x], y)
                continue
            if leaf_x in self.ref_leaves and terms.kind[y] == "fc":
                self.ref.setdefault(self.ref_leaves[leaf_x], y)
                continue
            size = terms.value(y)
            if leaf_x is not None and terms.kind[leaf_x] == "grid" and size is not None and size > 0:
                axis = terms.attr[leaf_x][0]
                if size > 1 or not block_counts(self.reference, axis):
                    self.grid.setdefault(axis, size)
                continue
            kx, ky = terms.kind[x], terms.kind[y]
            converted = self._converted(x, y)
            if converted is not None:
                work.append(converted)
                continue
            if kx == "poly" or ky == "poly":
                work.extend(self._polys(x, y))
                continue
            left, right = self._compared(x), self._compared(y)
            if left is not None and right is not None and (kx, ky) != ("le", "le"):
                work.append((left, right))
                continue
            if "and" in (kx, ky) and {kx, ky} <= {"and", "le", "eq", "not", "or", "ult"}:
                work.extend(self._sets(terms.conjuncts(x), terms.conjuncts(y)))
                continue
            work.extend(self._limits(x, y))
            alike = kx == ky or {kx, ky} <= DIVISIONS
            if not alike or (kx == "f" and terms.attr[x][0] != terms.attr[y][0]):
                work.extend(self._through(x, y))
                continue
            args_x, args_y = terms.args[x], terms.args[y]
            if kx == "le" and self._place(args_x[0]) != self._place(args_y[0]):
                continue  # bounds of different things, or one that a known size made coarser
            if kx in ("and", "or", "min", "max"):
                work.extend(self._sets(args_x, args_y))
            elif len(args_x) == len(args_y):
                order = list(args_y)
                if self._crossed(x, y):
                    order[:2] = order[1], order[0]
                work.extend(reversed(list(zip(args_x, order, strict=True))))

    def _converted(self, x: Term, y: Term) -> tuple[Term, Term] | None:
        """An integer that one side converts to a float, and the one behind the constant of the other side."""
        terms = self.terms
        for whole, number in ((x, y), (y, x)):
            value = floats.constant_of(terms, number)
            if terms.kind[whole] == "f" and terms.attr[whole][0] == "itof" and value is not None:
                integer = terms.const(int(value)) if value.is_integer() else None
                if integer is not None and terms.float_op(terms.attr[whole], (integer,)) == number:
                    (source,) = terms.args[whole]
                    return (source, integer) if whole == x else (integer, source)
        return None

    def _compared(self, predicate: Term) -> Term | None:
        """``p`` of ``p <= 0``, which an unsigned comparison is where its operands are not negative."""
        terms = self.terms
        negated = terms.kind[predicate] == "not"
        inner = terms.args[predicate][0] if negated else predicate
        if terms.kind[inner] == "ult":
            less, more = terms.args[inner]
            return terms.sub(more, less) if negated else terms.add(terms.sub(less, more), terms.one)
        return terms.args[predicate][0] if terms.kind[predicate] == "le" else None

    def _limits(self, x: Term, y: Term) -> Iterator[tuple[Term, Term]]:
        """The limits of one coordinate that two different comparisons set, as from above and from below."""
        terms = self.terms
        bare = [terms.args[each][0] if terms.kind[each] == "not" else each for each in (x, y)]
        if not {terms.kind[each] for each in bare} <= {"le", "eq"}:
            return
        left, right = (terms.args[each][0] for each in bare)
        place = self._place(left)
        for limit in (right, terms.scale(right, -1)):
            if place and place == self._place(limit) and (limit != right or terms.kind[x] != terms.kind[y]):
                yield left, limit

    def _place(self, poly: Term) -> dict[Mono, int]:
        """The part of a coordinate that blocks and lanes make."""
        terms = self.terms
        return {
            mono: coef
            for mono, coef in terms.poly(poly).items()
            if mono and all(terms.kind[atom] in ("block", "lane") for atom in mono)
        }

    def _crossed(self, x: Term, y: Term) -> bool:
        """Whether the first two operands of a commutative op look exchanged."""
        terms = self.terms
        if len(terms.args[x]) < 2:
            return False
        first, (straight, crossed) = terms.args[x][0], terms.args[y][:2]
        if terms.kind[x] == "f" and terms.attr[x][0] in COMMUTATIVE:
            return self._shape(first) != self._shape(straight) and self._shape(first) == self._shape(crossed)
        if terms.kind[x] == "mma":
            return self._bases(first) != self._bases(straight) and self._bases(first) == self._bases(crossed)
        return False

    def _may_be(self, leaf: Term, term: Term, sign: int) -> bool:
        """Whether a parameter of the generated side (sign 1), or of the reference, may be this."""
        value = self.terms.value(term)
        if value == 1 and leaf in self.splits:
            return False
        if sign > 0:
            return self._bindable(term)
        return self._other_parameter(leaf, term) if value is None else self._is_kept(leaf, value)

    def _is_kept(self, leaf: Term, value: int) -> bool:
        """Whether a value of a parameter is one of those that the reference is promised."""
        low, high = self.terms.range(leaf)
        inside = (low is None or low <= value) and (high is None or value <= high)
        return inside and value % self.divisors.get(leaf, 1) == 0

    def _bindable(self, term: Term) -> bool:
        """A generated parameter may stand for a reference parameter, a product of them, a constant, or the
        size of the grid."""
        terms = self.terms
        leaf = terms.single(term)
        if terms.kind[term] == "fc" or (leaf is not None and terms.kind[leaf] == "grid"):
            return True
        if not all(terms.kind[s] == "arg" for s in terms.symbols[term]) or terms.kind[term] not in (
            "poly",
            "arg",
        ):
            return False
        # a parameter, a product of parameters or a constant: a size plus one is no size
        items = terms.items(term)
        return terms.value(term) is not None or (len(items) == 1 and items[0][1] > 0)

    def _other_parameter(self, leaf: Term, term: Term) -> bool:
        """One generated size may stand for several sizes of the reference, unless it has one of its own."""
        if self.straight:
            return False
        other = self.terms.single(term)
        return (
            other is not None
            and other != leaf
            and self.terms.kind[other] == "arg"
            and self.terms.attr[other][0] == 0
        )

    def _shape(self, term: Term, depth: int = 2) -> tuple[Any, ...]:
        """What a term looks like; a number that is passed looks like one that is a constant."""
        terms = self.terms
        if terms.kind[term] in ("arg", "fc"):
            return ("number",)
        inner = tuple(self._shape(arg, depth - 1) for arg in terms.args[term]) if depth else ()
        name = terms.attr[term][0] if terms.kind[term] == "f" else None
        return (terms.kind[term], name, self._bases(term) if terms.kind[term] == "mem" else None, inner)

    def _bases(self, term: Term) -> frozenset[Term]:
        """The array symbols a term reads; bound pointers are the same on both sides."""
        terms = self.terms
        return frozenset(
            s for s in terms.symbols[term] if terms.kind[s] == "arg" and s not in self.gen_leaves
        )

    def _through(self, x: Term, y: Term) -> list[tuple[Term, Term]]:
        """A mask on one side only: look at the value behind it."""
        terms = self.terms
        if terms.kind[x] == "ite" and terms.kind[y] != "ite":
            return [(self._behind(x), y)]
        if terms.kind[y] == "ite" and terms.kind[x] != "ite":
            return [(x, self._behind(y))]
        like = [] if terms.kind[y] != "f" else [arg for arg in terms.args[x] if self._same_op(arg, y)]
        if terms.kind[x] == "f" and len(like) == 1:
            return [(like[0], y)]  # what is then done with it is done on one side only
        folded = self._folded(y)
        if folded is None:
            return []
        rest = folded[0]
        while (inner := self._folded(rest)) is not None:
            rest = inner[0]
        if terms.kind[x] == "f" and not self._same_op(x, rest):
            return []  # the reference has another op here: what is behind that is not looked at
        rest, index, number = folded
        self.gen.setdefault(index, number)
        return [(x, rest)]

    def _behind(self, choice: Term) -> Term:
        """The value behind a mask; not the constant that the other lanes have, whichever comes first."""
        _, first, second = self.terms.args[choice]
        return second if self.terms.kind[first] == "fc" else first

    def _same_op(self, x: Term, y: Term) -> bool:
        """Whether two terms are results of the same op on floats."""
        terms = self.terms
        return terms.kind[x] == terms.kind[y] == "f" and terms.attr[x][0] == terms.attr[y][0]

    def _folded(self, y: Term) -> tuple[Term, int, Term] | None:
        """A parameter of the generated side that is a constant of the reference without effect: x + 0, x * 1.

        ``x``, the position of the parameter, and the number; None where there is none, and where the
        reference has no such op: there it is one too many.
        """
        terms = self.terms
        number = NEUTRAL.get(terms.attr[y][0]) if terms.kind[y] == "f" else None
        if number is None or not _writes(self.reference, terms.attr[y][0], number):
            return None
        bits = floats.encode(terms.attr[y][1], number)
        for leaf, rest in (terms.args[y], terms.args[y][::-1]):
            if leaf in self.gen_leaves and bits is not None:
                return rest, self.gen_leaves[leaf], floats.constant(terms, terms.attr[y][1], bits)
        return None

    def _sets(self, xs: Sequence[Term], ys: Sequence[Term]) -> list[tuple[Term, Term]]:
        """Operands whose order means nothing are paired by the symbols they share that are no parameters."""
        terms = self.terms

        def mark(term: Term) -> frozenset[Term]:
            return frozenset(s for s in terms.symbols[term] if terms.kind[s] != "arg")

        left = [x for x in xs if x not in ys]
        right = [y for y in ys if y not in xs]
        pairs: list[tuple[Term, Term]] = []
        for x in left:
            for y in right:
                if mark(x) == mark(y):
                    pairs.append((x, y))
                    right.remove(y)
                    break
        return pairs

    def _polys(self, x: Term, y: Term) -> list[tuple[Term, Term]]:
        """Pair the monomials that have the same factors apart from parameters."""
        terms = self.terms
        px, py = terms.poly(x), terms.poly(y)
        left = {m: c for m, c in px.items() if py.get(m) != c}
        right = {m: c for m, c in py.items() if px.get(m) != c}

        def split(mono: Mono) -> tuple[Mono, Mono]:
            params = tuple(a for a in mono if terms.kind[a] == "arg")
            return tuple(a for a in mono if terms.kind[a] != "arg"), params

        groups: dict[Mono, tuple[list[tuple[Mono, int]], list[tuple[Mono, int]]]] = {}
        for mono, coef in left.items():
            key, params = split(mono)
            groups.setdefault(key, ([], []))[0].append((params, coef))
        for mono, coef in right.items():
            key, params = split(mono)
            groups.setdefault(key, ([], []))[1].append((params, coef))
        work: list[tuple[Term, Term]] = []
        leftover_x: list[Term] = []
        leftover_y: list[Term] = []
        for key, (xs, ys) in groups.items():
            if (xs and ys) or len(xs) > 1 or len(ys) > 1:
                work.append((self._from(xs), self._from(ys)))
            elif xs and len(key) == 1 and len(xs) == 1:
                leftover_x.append(key[0])
            elif ys and len(key) == 1 and len(ys) == 1:
                leftover_y.append(key[0])
        work = [pair for pair in work if not self._solve(*pair)]
        if len(leftover_x) == len(leftover_y) == 1:
            a, b = leftover_x[0], leftover_y[0]
            kinds = {terms.kind[a], terms.kind[b]}
            if (len(kinds) == 1 or kinds <= DIVISIONS) and terms.args[a]:
                work.append((a, b))
        return work

    def _from(self, items: list[tuple[Mono, int]]) -> Term:
        terms = self.terms
        total = terms.zero
        for params, coef in items:
            product = terms.const(coef)
            for param in params:
                product = terms.mul(product, terms.atom(param))
            total = terms.add(total, product)
        return total

    def _solve(self, x: Term, y: Term) -> bool:
        """Bind one parameter that is linear in ``x - y``; True when there was one to bind."""
        terms = self.terms
        for leaves, target, near, source, sign in (
            (self.gen_leaves, self.gen, self.near_gen, y, 1),
            (self.ref_leaves, self.ref, self.near_ref, x, -1),
        ):
            candidates = [
                (mono, coef)
                for mono, coef in terms.poly(source).items()
                if any(atom in leaves for atom in mono)
            ]
            if len(candidates) != 1:
                continue
            mono, coef = candidates[0]
            unknown = [a for a in mono if a in leaves]
            if len(unknown) != 1:
                continue
            leaf = unknown[0]
            factor = list(mono)
            factor.remove(leaf)
            term_part = terms.scale(_product_of(terms, mono), coef)
            rest = terms.add(terms.scale(terms.sub(x, y), sign), term_part)  # what coef * mono must equal
            quotient = _exact_quotient(terms, rest, coef, tuple(factor))
            if quotient is None:
                continue
            if not self._may_be(leaf, quotient, sign):
                size = terms.sub(quotient, terms.const(terms.poly(quotient).get((), 0)))
                if terms.value(size) is None and self._may_be(leaf, size, sign):
                    near.setdefault(leaves[leaf], size)
                continue
            target.setdefault(leaves[leaf], quotient)
            return True
        return False


def _writes(kernel: Kernel, short: str, number: float) -> bool:
    """Whether a kernel has an op of two operands of which one is this number."""
    values = (kernel.values.get(each) for op in kernel.ops if op.short == short for each in op.operands)
    return any(isinstance(term, int) and floats.constant_of(kernel.terms, term) == number for term in values)


def _same_dimensions(ref: Effect, gen: Effect) -> list[tuple[Term, Term]]:
    """Sizes and strides of two views, dimension by dimension, as far as the shapes of the tiles tell which is
    which: in the order of the array, not of the tile."""
    if len(ref.shape) != len(ref.extents) or len(gen.shape) != len(gen.extents):
        return []  # no views
    dims = _dimensions(_array_order(ref), _array_order(gen))
    found = [(ref.extents[x], gen.extents[y]) for x, y in dims]
    if len(ref.strides) == len(ref.shape) and len(gen.strides) == len(gen.shape):
        found += [(ref.strides[x], gen.strides[y]) for x, y in dims]
    return found


def _array_order(effect: Effect) -> list[tuple[int, int]]:
    """Dimension and extent of an access through a view, in the order of the array's dimensions."""
    view = effect.op.one("view")
    dim_map = () if view is None else getattr(view.type, "dim_map", ())
    dims = list(enumerate(effect.shape))
    return sorted(dims, key=lambda dim: dim_map[dim[0]]) if len(dim_map) == len(dims) else dims


def _dimensions(ref: list[tuple[int, int]], gen: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of dimensions: in order, or by their extents where no two are equal; extents of one in order."""
    found: list[tuple[int, int]] = []
    for wide in (True, False):
        left, right = ([dim for dim in each if (dim[1] > 1) == wide] for each in (ref, gen))
        if [extent for _, extent in left] != [extent for _, extent in right]:
            if not wide:
                break
            left, right = (sorted(each, key=lambda dim: dim[1]) for each in (left, right))
            extents = [extent for _, extent in left]
            if extents != [extent for _, extent in right] or len(set(extents)) < len(extents):
                return []
        found += [(x, y) for (x, _), (y, _) in zip(left, right, strict=True)]
    return found


def _product_of(terms: Terms, mono: Mono) -> Term:
    product = terms.one
    for atom in mono:
        product = terms.mul(product, terms.atom(atom))
    return product


def _exact_quotient(terms: Terms, term: Term, coef: int, factor: Mono) -> Term | None:
    """``term / (coef * factor)`` where it divides monomial by monomial."""
    result = terms.zero
    for mono, value in terms.poly(term).items():
        left = list(mono)
        for atom in factor:
            if atom not in left:
                return None
            left.remove(atom)
        if value % coef:
            return None
        result = terms.add(result, terms.scale(_product_of(terms, tuple(left)), value // coef))
    return result


def roles(kernel: Kernel) -> dict[int, tuple[int, str, int]]:
    """For size and stride parameters: (pointer parameter, "shape" or "stride", dimension).

    From the use in a tensor view; else by the convention for arrays: pointer, all sizes, all strides.
    """
    if kernel.roles is None:
        kernel.roles = entry_roles(kernel.entry, kernel.ops)
    return kernel.roles


def size_leaves(kernel: Kernel, keep: Callable[[int], bool] = lambda index: True) -> frozenset[Term]:
    """The symbols of the parameters that are sizes of arrays, as far as ``keep`` takes their index."""
    terms = kernel.terms
    found: set[Term] = set()
    for index, (_, word, _) in roles(kernel).items():
        leaf = terms.single(kernel.arguments[index]) if index < len(kernel.arguments) else None
        if word == "shape" and keep(index) and leaf is not None and terms.kind[leaf] == "arg":
            found.add(leaf)
    return frozenset(found)


def parameter_names(kernel: Kernel, *, guessed: bool = False) -> list[str]:
    """A readable name for each parameter: ``arg0``, ``arg0.shape1`` by its role, else ``arg7``."""
    return role_names(kernel.entry, roles(kernel), guessed=guessed)


def used_parameters(kernel: Kernel) -> frozenset[int]:
    """Indices of the parameters whose symbols reach an effect or a loop bound."""
    terms = kernel.terms
    symbols: set[Term] = set()
    for effect in kernel.effects:
        for term in (
            effect.pointer,
            effect.mask,
            effect.guard,
            effect.padding,
            *effect.values,
            *effect.extents,
        ):
            if term is not None:
                symbols |= terms.symbols[term]
    for loop in kernel.loops:
        for term in (loop.lower, loop.step, loop.trip, loop.exit):
            if term is not None:
                symbols |= terms.symbols[term]
    return frozenset(
        index
        for index, term in enumerate(kernel.arguments)
        if terms.symbols[term] & symbols or not terms.symbols[term]
    )


def argument_pairs(reference: Kernel, generated: Kernel, binding: Binding) -> list[ArgumentPair]:
    """The correspondence as the report prints it: in the reference's order, then the rest."""
    ref_names, gen_names = parameter_names(reference), parameter_names(generated)
    gen_of: dict[int, list[int]] = {}
    for gen_index, ref_index in sorted(binding.partner.items()):
        gen_of.setdefault(ref_index, []).append(gen_index)
    pairs: list[ArgumentPair] = []
    terms = reference.terms
    for index, name in enumerate(ref_names):
        partners = gen_of.get(index, [])
        if partners:
            pairs.append(
                ArgumentPair(
                    (name,), tuple(gen_names[j] for j in partners), binding.how.get(partners[0], "use")
                )
            )
            continue
        bound = binding.reference[index]
        value = None if bound is None else terms.value(bound)
        pairs.append(
            ArgumentPair((name,), (), "unmatched")
            if value is None
            else ArgumentPair((name,), (str(value),), "use")
        )
    for index, name in enumerate(gen_names):
        if index in binding.partner:
            continue
        bound = binding.generated[index]
        value = None if bound is None else terms.value(bound)
        pairs.append(
            ArgumentPair((), (name,), "unmatched")
            if value is None
            else ArgumentPair((str(value),), (name,), "use")
        )
    return pairs
