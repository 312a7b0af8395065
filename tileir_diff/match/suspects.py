"""Edits of single ops that may explain what differs, the most plausible first.

The search begins at the operands of unequal effects, each with what it ought to be, and goes backwards. Where
arithmetic cannot be turned around, the ops before are still looked at, without knowing what is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Tile
from tileir_diff.graph.evaluate import HANDLERS, TERMINATORS
from tileir_diff.graph.values import is_used, operand, tensor_dim
from tileir_diff.match.align import operand_groups
from tileir_diff.match.blame_floats import affinity
from tileir_diff.match.blame_loops import match_carries
from tileir_diff.match.changed_ops import KINDS
from tileir_diff.match.edits import (
    BLOCKS,
    Edit,
    left_out,
    own_edits,
    swapped,
    with_literal,
    with_operand,
)
from tileir_diff.match.explain_pair import lane_renaming
from tileir_diff.match.search import evaluator
from tileir_diff.match.wanted import quotient, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.canonical import CanonicalEffect
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

    Aims = Mapping[str, Sequence[Term | None]]
    """By group of operands, what each ought to be; None: unknown."""

MAX_MISSING = 3
"""How many constants may be tried for one."""
LIKELY = 2
"""How many values are tried for one that is carried."""
MAX_VISITS = 400
MAX_OTHERS = 3000
"""How many values may be looked at as ones that an op may have to read instead."""

SURE = 4
IDLE, FEW = 3, 3
"""What it adds that a value is used then that is computed for nothing, where there are few of them."""
BY_CHANCE = 3
"""What it takes that a constant ought to come out, which many edits give."""
MISNAMED = 4
"""What it adds that block indices have the names of other axes: front ends name them in order."""
BEGINS = 3
"""What it adds that an op reads what the reference has, and makes of it what the reference has not."""
PRIOR = {"results": 3, "operand": 2, "attribute": 1, "kind": 0}
"""How plausible an edit is of which it is not known whether it gives what is wanted."""
FLAGS = ("equal", "not_equal")
"""Comparisons that a front end adds to widened masks: turned around they explain a wrong mask, by chance."""
EFFECTS = ("_tko", "_view")
VALUES = ("value", "tile", "arg", "condition")
POINTERS = ("source", "destination", "pointers")
GIVEN = BLOCKS | {"constant", "assume", "get_index_space_shape", "get_tensor_shape"}
BOUNDS = ("lower", "upper", "step")
PLAIN = frozenset({"for", "loop", "continue", "make_tensor_view", "load_view_tko", "store_view_tko"})
"""Ops whose operands are known from their counterparts in the reference."""
HANDING = frozenset({"for", "loop", "continue", "break", "yield"})
CONVERSIONS = frozenset({"ftof", "itof", "ftoi", "exti", "trunci"})
INTEGERS = KINDS | {"cmpi", "offset", "select"}
"""Ops that compute an index or a condition."""


class Suspect(NamedTuple):
    """An edit, whether it gives what is wanted there, and what its op computes, or reads, then and now."""

    edit: Edit
    sure: bool
    rank: int
    then: Term | None
    now: Term | None


def suspects(blame: Blame, attempt: Attempt, found: Sequence[Difference]) -> list[Suspect]:
    """Edits of the ops behind the unequal effects. ``found``: what they are said to differ in."""
    search = _Search(blame, attempt, found)
    search.run()
    return sorted(search.found.values(), key=lambda suspect: (-suspect.rank, not suspect.sure))


class _Search:
    """Goes from what differs to the ops behind it. Terms are those of the generated side, renamed."""

    def __init__(self, blame: Blame, attempt: Attempt, found: Sequence[Difference]) -> None:
        self.blame = blame
        self.terms = blame.terms
        self.attempt = attempt
        self.kernel = attempt.generated
        self.evaluator = evaluator(attempt)
        self.renamed: dict[Term, Term] = {}
        self.right = frozenset(t for t in attempt.reference.values.values() if isinstance(t, int))
        self.near = _near(found)
        self.order = {op: index for index, op in enumerate(self.kernel.ops)}
        self.by_term: dict[Term, list[SSAValue]] = {}
        self.by_type: dict[object, list[SSAValue]] = {}
        for value in self.kernel.values:
            term = self.term(value)
            if term is not None:
                self.by_term.setdefault(term, []).append(value)
                self.by_type.setdefault(value.type, []).append(value)
        self.unused = _unused(self.kernel)
        self.around: dict[TileOp, frozenset[Any]] = {}
        self.found: dict[object, Suspect] = {}
        self.seen: set[object] = set()
        self.work: list[tuple[TileOp, int, str, Term | None]] = []
        """Operands still to be looked at: the op, index and group, what it ought to be."""
        self.others_left = MAX_OTHERS

    def term(self, value: SSAValue) -> Any:
        """What a value is; None where that is no term."""
        term = self.kernel.values.get(value)
        if not isinstance(term, int):
            return None
        if term not in self.renamed:
            self.renamed[term] = self.blame.rename(term)
        return self.renamed[term]

    def run(self) -> None:
        match = self.attempt.match
        for pair in (*match.pairs, *match.loads):
            if not pair.equal:
                self.effect(pair)
        for item in match.only_generated:
            self.operands(item.effect.op, {})
        for item in (*match.only_reference, *match.lone_loads[0]):
            self.never(item)
        self.loops()
        for number, work in enumerate(self.work):
            if number >= MAX_VISITS:
                break
            self.visit(*work)

    # ---- from effects ------------------------------------------------------------------------------------

    def effect(self, pair: EffectPair) -> None:
        """Begin at two accesses that are each other's."""
        self.access(pair.reference.effect, pair.generated.effect)

    def access(self, ref: Effect, gen: Effect) -> None:
        """Begin at the operands of an access, and of what stands around it."""
        terms = self.terms
        ours, theirs = lane_renaming(self.blame, ref, gen)
        back = {
            leaf: terms.atom(old) for old, new in theirs.items() if (leaf := terms.single(new)) is not None
        }

        def aim(term: Term | None) -> Term | None:
            return None if term is None else terms.subst(terms.subst(term, ours), back)

        pointer = aim(ref.pointer)
        aims: dict[str, Sequence[Term | None]] = dict.fromkeys(VALUES, tuple(map(aim, ref.values)))
        aims |= {"mask": (aim(ref.mask),), "padding": (aim(ref.padding),)}
        if gen.family == "pointer":
            aims |= dict.fromkeys(POINTERS, (pointer,))
        elif pointer is not None and gen.pointer is not None:
            aims["index"] = self.indices(gen, terms.sub(pointer, self.blame.rename(gen.pointer)))
            self.view(gen, ref)
            self.exchanged(gen.op, "index")
        self.operands(gen.op, aims)
        above, around = self.parents(ref.op), self.parents(gen.op)
        same = len(above) == len(around)
        for position, parent in enumerate(around):
            self.operands(parent, self.bounds(above[position], parent) if same else {})

    def never(self, item: CanonicalEffect) -> None:
        """Begin at the accesses that may be the counterpart of one, but that never take place."""
        ref, match = item.effect, self.attempt.match
        met = {id(pair.generated.effect.op) for pair in (*match.pairs, *match.loads)}
        met |= {id(other.effect.op) for other in (*match.only_generated, *match.lone_loads[1])}
        for gen in self.kernel.effects:
            if id(gen.op) not in met and (gen.kind, gen.base, gen.element) == (
                ref.kind,
                ref.base,
                ref.element,
            ):
                self.access(ref, gen)

    def parents(self, op: TileOp) -> list[TileOp]:
        """The ops that an op stands in, the innermost first, without the entry."""
        found: list[TileOp] = []
        parent: Any = op.parent_op()
        while isinstance(parent, TileOp) and parent.short != "entry":
            found.append(parent)
            parent = parent.parent_op()
        return found

    def bounds(self, ref_op: TileOp, gen_op: TileOp) -> Aims:
        """What the bounds of a loop ought to be, as the reference writes them."""
        if not ref_op.short == gen_op.short == "for":
            return {}
        known = {name: self.attempt.reference.values.get(operand(ref_op, name)) for name in BOUNDS}
        # where a block's index is taken as that of a loop over all tiles, it is so in the bound too
        return {name: (self.blame.rename(bound),) for name, bound in known.items() if isinstance(bound, int)}

    def loops(self) -> None:
        """The bounds of loops that are each other's, what they carry first, and what they hand on."""
        kernels = self.attempt.reference, self.kernel
        written = [[op for op in kernel.ops if op.short == "for"] for kernel in kernels]
        if len(written[0]) == len(written[1]):  # one that never runs is no loop, and has no partner
            for ref_op, gen_op in zip(*written, strict=True):
                self.operands(gen_op, {**self.bounds(ref_op, gen_op), "inits": self.inits(ref_op, gen_op)})
        ours, theirs = ({loop.uid: loop for loop in kernel.loops} for kernel in kernels)
        for ref_uid, gen_uid in sorted(self.blame.paired):
            ref, gen = ours.get(ref_uid), theirs.get(gen_uid)
            if ref is None or gen is None:
                continue
            carries = {y.index: x for x, y in match_carries(self.blame, ref, gen)}
            known = [carries.get(index) for index in range(len(gen.op.group("inits")))]
            inits = [None if carry is None else carry.init for carry in known]
            self.operands(gen.op, {**self.bounds(ref.op, gen.op), "inits": inits})
            last: Any = gen.op.regions[0].block.last_op
            if isinstance(last, TileOp) and last.short == "continue":
                self.operands(last, {"operands": [None if carry is None else carry.next for carry in known]})
                self.exchanged(last, "operands")
                rest = [carry for carry in ref.carries if carry not in carries.values()]
                for index in range(len(last.operands)):
                    if known[index] is None:
                        self.handed_on(last, index, [x.next for x in rest])

    def inits(self, ref_op: TileOp, gen_op: TileOp) -> list[Term | None]:
        """What a loop ought to carry first where only that is not what the reference carries first."""
        values = self.attempt.reference.values
        left = [(value.type, values.get(value)) for value in ref_op.group("inits")]
        found: list[Term | None] = []
        for value in gen_op.group("inits"):
            own = value.type, self.term(value)
            found.append(own[1] if own in left else None)
            if own in left:
                left.remove(own)
        for index, value in enumerate(gen_op.group("inits")):
            rest = [term for kind, term in left if kind == value.type and isinstance(term, int)]
            if found[index] is None and len(rest) == 1:
                found[index] = rest[0]
        return found

    def handed_on(self, last: TileOp, index: int, wanted: Sequence[Term]) -> None:
        """The values that are most like one of those that the reference carries, and no partner has."""
        old = last.operands[index]
        if not wanted:
            return
        others = self.distinct(self.by_type.get(old.type, ()), last, old, self.term(old))

        def likeness(other: SSAValue) -> int:
            term, terms = self.term(other), self.terms
            heads = [(terms.kind[each], terms.attr[each]) for each in (*wanted, term)]
            return 100 * (heads[-1] in heads[:-1]) + max(affinity(self.blame, each, term) for each in wanted)

        for other in sorted(others, key=likeness, reverse=True)[:LIKELY]:
            self.add(with_operand(last, index, "operands", other), self.term(other), self.term(old), 3)

    def indices(self, gen: Effect, off: Term) -> list[Term | None]:
        """What each index of a view ought to be, were it alone why the address is off by so much."""
        view: Any = gen.op.one("view")
        tile: tuple[int, ...] = getattr(view.type, "tile", ())
        found: list[Term | None] = []
        for value, stride, extent in zip(gen.op.group("index"), gen.strides, tile, strict=False):
            step = self.terms.scale(self.blame.rename(stride), extent)
            index, share = self.term(value), quotient(self.terms, off, step)
            found.append(None if share is None or index is None else self.terms.add(index, share))
        return found

    def view(self, gen: Effect, ref: Effect) -> None:
        """The tensor behind a view: its array, sizes and strides, dimension by dimension of the tile."""
        op = gen.op
        while (view := op.one("view") or op.one("tensor_view")) is not None:
            if not isinstance(view.owner, TileOp):
                return
            op = view.owner
        aims: dict[str, Sequence[Term | None]] = {"base": (ref.base,)}
        kind: Any = operand(gen.op, "view").type
        tensor: Any = op.results[0].type
        if len(ref.extents) == len(gen.extents) and ref.family != "pointer":
            dims = {tensor_dim(kind, dim): dim for dim in range(len(gen.extents))}
            for name, static, terms in (
                ("shape", tensor.shape, ref.extents),
                ("strides", tensor.strides, ref.strides),
            ):
                aims[name] = [
                    terms[dims[dim]] if dim in dims else None
                    for dim, size in enumerate(static)
                    if size is None
                ]
        self.exchanged(op, "shape", "strides")
        self.operands(op, aims)

    def exchanged(self, op: TileOp, *groups: str) -> None:
        """Two operands of an op in each other's place."""
        for edit in (edit for group in groups for edit in swapped(op, group)):
            self.add(edit, None, None, 1, plain=True)

    def operands(self, op: TileOp, aims: Aims) -> None:
        """Look at all operands of an op."""
        count: dict[str, int] = {}
        for index, (name, _) in enumerate(operand_groups(op)):
            within = count.get(name, 0)
            count[name] = within + 1
            known = aims.get(name, ())
            self.work.append((op, index, name, known[within] if within < len(known) else None))

    # ---- one operand -------------------------------------------------------------------------------------

    def visit(self, user: TileOp, index: int, name: str, then: Term | None) -> None:
        """An operand that ought to be ``then``: another value, or the op behind it does another thing."""
        value = user.operands[index]
        now = self.term(value)
        if (user, index, then) in self.seen or (then is not None and now in (None, then)):
            return
        self.seen.add((user, index, then))
        if then is not None:
            self.instead(user, index, name, value, now, then)
        self.others(user, index, name, value, now)
        if (value, then) in self.seen:
            return
        self.seen.add((value, then))
        op: Any = value.owner
        if not isinstance(op, TileOp):
            op = op.parent_op()
            if op is self.kernel.entry:
                return
        if op.regions:
            self.operands(op, {})
            for inner in op.walk():
                if isinstance(inner, TileOp) and inner.short in TERMINATORS:
                    self.operands(inner, {})
            return
        self.own_edits(op, value, now, then)
        aims: dict[int, Term | None] = {}
        if then is not None and now is not None and not op.short.endswith(EFFECTS):
            with self.terms.forgetting():
                aims = dict(wanted(self.evaluator, op, now, then, self.term))
        for each, (group, _) in enumerate(operand_groups(op)):
            self.work.append((op, each, group, aims.get(each)))

    def instead(
        self, user: TileOp, index: int, name: str, value: SSAValue, now: Term | None, then: Term
    ) -> None:
        """Another value is what the operand ought to be; or the op before it is one too many."""
        owner: Any = value.owner
        for source in _behind(owner):
            if source.type == value.type and self.term(source) == then:
                self.add(left_out(owner, source), then, now, SURE)
                return
        for other in self.by_term.get(then, ()):
            if other.type == value.type and self.in_scope(other, user):
                edit = with_operand(user, index, name, other)
                plain = user.short in PLAIN
                own = getattr(owner, "short", "") == "constant" and len(list(value.uses)) == 1
                self.add(edit, then, now, 1 + 2 * ((plain and not own) or other in self.unused), plain)
                return

    def others(self, user: TileOp, index: int, name: str, value: SSAValue, now: Term | None) -> None:
        """Values that an operand may have to be, though it is not known what it ought to be."""
        candidates: list[SSAValue] = list(self.unused)
        prior = 1
        if user.short in HANDING and name in ("inits", "operands"):
            candidates += self.by_type.get(value.type, ())
            prior = 1 if user.short == "yield" else -1
        for other in self.distinct(candidates, user, value, now):
            edit, unused = with_operand(user, index, name, other), other in self.unused
            self.add(edit, self.term(other), now, max(prior, 3 * unused), plain=unused)

    def own_edits(self, op: TileOp, value: SSAValue, now: Term | None, then: Term | None) -> None:
        """The edits of an op that need nothing but itself."""
        if op.short == "constant":
            tried = [(then, SURE)] if then is not None else self.missing(op, now)
            for number, prior in tried:
                literal = self.literal(op, number)
                if literal is not None:
                    self.add(literal, number, now, prior, plain=True)
            return
        if op.short.endswith(EFFECTS):
            return
        source = _before_round_trip(op)
        if source is not None:
            self.add(left_out(op, source), self.term(source), now, SURE)
        for edit in own_edits(op):
            result = self.probe(edit, value)
            if result is not None and result != now and (then is None or result == then):
                prior = PRIOR[edit.what] if then is None else SURE
                if edit.what == "results":
                    prior += MISNAMED if _misnamed(edit) else -MISNAMED
                self.add(edit, result, now, prior)
        if then is None and op.short in INTEGERS and now not in self.right:
            self.other_operands(op, value, now)

    def missing(self, op: TileOp, now: Term | None) -> list[tuple[Term, int]]:
        """The constants that the reference uses and the generated side does not, where they are few.

        Each with how plausible it is: more so for the only one, or where the reference lacks ``now``.
        """
        element = op.get("value").element
        ours, theirs = (
            {
                term: None
                for each in kernel.ops
                if each.short == "constant" and each.get("value").element == element and is_used(each)
                if isinstance(term := kernel.values.get(each.results[0]), int)
            }
            for kernel in (self.attempt.reference, self.kernel)
        )
        found = [term for term in ours if term not in theirs]
        prior = SURE if len(found) == 1 or now not in ours else 2
        return [(term, prior) for term in found] if len(found) <= MAX_MISSING else []

    def other_operands(self, op: TileOp, value: SSAValue, now: Term | None) -> None:
        """What an op may read, where it then computes what the reference computes somewhere."""
        for index, (name, old) in enumerate(operand_groups(op)):
            for other in self.distinct(self.by_type.get(old.type, ()), op, old, self.term(old)):
                edit = with_operand(op, index, name, other)
                result = self.probe(edit, value)
                if result in self.right and not self.is_trivial(result):
                    self.add(edit, result, now, 1)

    def distinct(
        self, values: Sequence[SSAValue], user: TileOp, old: SSAValue, now: Term | None
    ) -> Iterator[SSAValue]:
        """Values in scope of the type of ``old``, each term once, without ``now``."""
        seen = {now}
        for other in values:
            self.others_left -= 1
            if self.others_left < 0:
                return
            term = self.term(other)
            if other.type == old.type and term not in seen and self.in_scope(other, user):
                seen.add(term)
                yield other

    def literal(self, op: TileOp, then: Term) -> Edit | None:
        """The constant that ought to stand there; None where it is no splat of one."""
        dense = op.get("value")
        number = self.terms.value(then)
        if not dense.is_splat:
            return None
        if number is not None and dense.element.is_int:
            return with_literal(op, number & ((1 << dense.element.bits) - 1))
        if self.terms.kind[then] == "fc":
            return with_literal(op, self.terms.attr[then][1])
        return None

    def probe(self, edit: Edit, value: SSAValue) -> Term | None:
        """What an edited op computes, on the operands that it has."""
        handler = HANDLERS.get(edit.twin.short)
        env = self.evaluator.env
        env.clear()
        for value_read in edit.twin.operands:
            env[value_read] = self.term(value_read)
        if handler is None or None in env.values():
            return None
        with self.terms.forgetting():  # it may divide by what is no divisor
            handler(self.evaluator, edit.twin)
        result = env.get(value)
        return result if isinstance(result, int) else None

    def add(self, edit: Edit, then: Term | None, now: Term | None, prior: int, plain: bool = False) -> None:
        """Note an edit; what the reference computes is more plausible, and what stands near a finding.

        ``plain``: that a constant ought to stand there is not inferred, but read in the reference.
        """
        key = (edit.op, edit.what, edit.name, edit.operand, then)
        by_chance = edit.what in ("operand", "kind", "results") and self.is_trivial(then) and not plain
        begins = self.begins_here(edit.op)
        if key in self.found or (by_chance and prior < SURE and not begins):
            return
        rank = prior + 2 * (then in self.right and not self.is_trivial(then)) + (now not in self.right)
        rank += BEGINS * begins + IDLE * (len(self.unused) <= FEW and self.reads_unused(edit))
        rank += 2 * (rank < SURE and edit.op in self.near)
        rank -= 2 * (edit.op.get("predicate") in FLAGS) + BY_CHANCE * by_chance
        self.found[key] = Suspect(edit, prior >= SURE, rank, then, now)

    def reads_unused(self, edit: Edit) -> bool:
        """Whether the edit gives a use to what is computed for nothing."""
        return edit.what == "operand" and edit.twin.operands[edit.operand] in self.unused

    def begins_here(self, op: TileOp) -> bool:
        """Whether the reference has all that the op reads, and not what it computes."""
        computed = [self.term(result) for result in op.results]
        wrong = not any(term in self.right for term in computed if term is not None)
        if not op.operands or not op.results or op.regions or not wrong:
            return False
        return all(self.term(value) in self.right for value in op.operands if self.term(value) is not None)

    def is_trivial(self, term: Term | None) -> bool:
        """A constant: that both sides have it says nothing."""
        return term is None or not self.terms.symbols[term]

    def in_scope(self, value: SSAValue, op: TileOp) -> bool:
        """Whether the op may read the value."""
        around = self.around.get(op)
        if around is None:
            around = self.around[op] = _around(op)
        owner: Any = value.owner
        if not isinstance(owner, TileOp):
            return owner in around
        return owner.parent_block() in around and owner not in around and self.order[owner] < self.order[op]


def _around(op: Any) -> frozenset[Any]:
    """The blocks and ops that an op stands in, and itself."""
    found: set[Any] = set()
    while op is not None:
        found |= {op, op.parent_block()}
        op = op.parent_op()
    return frozenset(found)


def _misnamed(edit: Edit) -> bool:
    """Whether block indices that change places have the names of those places."""
    names = [str(result.name_hint)[-1:] for result in edit.twin.results]
    return names == list("xyz")


def _near(found: Sequence[Difference]) -> frozenset[TileOp]:
    """The ops that are blamed, with those that they read and that read them, twice over."""
    near: set[TileOp] = {each.generated.op for each in found if each.generated is not None}
    for _ in range(2):
        for op in list(near):
            owners: list[Any] = [value.owner for value in op.operands]
            owners += [use.operation for result in op.results for use in result.uses]
            near.update(owner for owner in owners if isinstance(owner, TileOp))
    return frozenset(near)


def _unused(kernel: Kernel) -> dict[SSAValue, None]:
    """Tiles that are computed for nothing: what was meant to read them may read something else."""
    return {
        op.results[0]: None
        for op in kernel.ops
        if op.results
        and not op.regions
        and (op.short not in GIVEN or (op.short == "constant" and not op.get("value").element.is_int))
        and not list(op.results[0].uses)
        and isinstance(op.results[0].type, Tile)
    }


def _behind(op: Any) -> list[SSAValue]:
    """What an op of one result reads, and what the ops of one operand before it read."""
    if not isinstance(op, TileOp) or op.regions or len(op.results) != 1:
        return []
    owners: list[Any] = [source.owner for source in op.operands]
    singles = [owner for owner in owners if isinstance(owner, TileOp) and len(owner.operands) == 1]
    return [*op.operands, *(source for owner in singles for source in owner.operands)]


def _before_round_trip(op: TileOp) -> SSAValue | None:
    """What a conversion to another type and back has converted."""
    first: Any = op.operands[0].owner if op.short in CONVERSIONS else None
    if not isinstance(first, TileOp) or first.short not in CONVERSIONS:
        return None
    source = first.operands[0]
    return source if source.type == op.results[0].type else None
