"""Edits of single ops that may explain what differs, the most plausible first.

The search begins at the operands of unequal effects, each with what it ought to be, and goes backwards. Where
arithmetic cannot be turned around, the ops before are still looked at, without knowing what is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Tile
from tileir_diff.graph.evaluate import HANDLERS, TERMINATORS
from tileir_diff.graph.values import operand, tensor_dim
from tileir_diff.match.align import operand_groups
from tileir_diff.match.changed_ops import KINDS
from tileir_diff.match.edits import BLOCKS, Edit, left_out, own_edits, with_literal, with_operand
from tileir_diff.match.explain_pair import lane_renaming
from tileir_diff.match.search import evaluator
from tileir_diff.match.wanted import quotient, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xdsl.ir import SSAValue

    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.effects import EffectPair
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt

    Aims = Mapping[str, Sequence[Term | None]]
    """By group of operands, what each ought to be; None: unknown."""

MAX_VISITS = 400
MAX_OTHERS = 3000
"""How many values may be looked at as ones that an op may have to read instead."""

SURE = 4
PRIOR = {"results": 3, "operand": 2, "attribute": 1, "kind": 0}
"""How plausible an edit is of which it is not known whether it gives what is wanted."""
FLAGS = ("equal", "not_equal")
"""Comparisons that a front end adds to widened masks: turned around they explain a wrong mask, by chance."""
EFFECTS = ("_tko", "_view")
VALUES = ("value", "tile", "arg", "condition")
POINTERS = ("source", "destination", "pointers")
GIVEN = BLOCKS | {"constant", "assume", "get_index_space_shape", "get_tensor_shape"}
HANDING = frozenset({"for", "loop", "continue", "break", "yield"})
CONVERSIONS = frozenset({"ftof", "itof", "ftoi", "exti", "trunci"})
INTEGERS = KINDS | {"cmpi", "offset", "select"}


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
    return sorted(search.found.values(), key=lambda suspect: -suspect.rank)


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
        for number, work in enumerate(self.work):
            if number >= MAX_VISITS:
                break
            self.visit(*work)

    # ---- from effects ------------------------------------------------------------------------------------

    def effect(self, pair: EffectPair) -> None:
        """Begin at the operands of an access, and of what stands around it."""
        ref, gen = pair.reference.effect, pair.generated.effect
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
        self.operands(gen.op, aims)
        parent: Any = gen.op.parent_op()
        while isinstance(parent, TileOp) and parent is not self.kernel.entry:
            self.operands(parent, {})
            parent = parent.parent_op()

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
        self.operands(op, aims)

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
                self.add(with_operand(user, index, name, other), then, now, 3 * (other in self.unused))
                return

    def others(self, user: TileOp, index: int, name: str, value: SSAValue, now: Term | None) -> None:
        """Values that an operand may have to be, though it is not known what it ought to be."""
        candidates: list[SSAValue] = list(self.unused)
        prior = 1
        if user.short in HANDING and name in ("inits", "operands"):
            candidates += self.by_type.get(value.type, ())
            prior = 1 if user.short == "yield" else -1
        for other in self.distinct(candidates, user, value, now):
            edit = with_operand(user, index, name, other)
            self.add(edit, self.term(other), now, max(prior, other in self.unused))

    def own_edits(self, op: TileOp, value: SSAValue, now: Term | None, then: Term | None) -> None:
        """The edits of an op that need nothing but itself."""
        if op.short == "constant":
            literal = None if then is None else self.literal(op, then)
            if literal is not None:
                self.add(literal, then, now, SURE)
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
                self.add(edit, result, now, prior)
        if then is None and op.short in INTEGERS and now not in self.right:
            self.other_operands(op, value, now)

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
        handler(self.evaluator, edit.twin)
        result = env.get(value)
        return result if isinstance(result, int) else None

    def add(self, edit: Edit, then: Term | None, now: Term | None, prior: int) -> None:
        """Note an edit; what the reference computes is more plausible, and what stands near a finding."""
        key = (edit.op, edit.what, edit.name, edit.operand, then)
        by_chance = edit.what in ("operand", "kind", "results") and self.is_trivial(then)
        if key in self.found or by_chance:
            return
        rank = prior + 2 * (then in self.right and not self.is_trivial(then)) + (now not in self.right)
        rank += 2 * (rank < SURE and edit.op in self.near)
        rank -= 2 * (edit.op.get("predicate") in FLAGS)
        self.found[key] = Suspect(edit, prior >= SURE, rank, then, now)

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
        and op.short not in GIVEN
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
