"""Why two selections differ: masks and padding of loads, and the conditions behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.match.blame import Finding
from tileir_diff.match.blame_indices import specific
from tileir_diff.match.changed_ops import changed_op
from tileir_diff.match.own_memory import other_table
from tileir_diff.match.same_cause import differing_parts
from tileir_diff.match.sites import condition_rule, origin
from tileir_diff.match.view_sizes import promised_inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame, Op
    from tileir_diff.match.model import Difference


def selections(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """Two selections: of a ``select``, or of a load between memory and padding."""
    written = [blame.rename(arg) for arg in blame.terms.args[b]]
    if list(blame.terms.args[a]) == [written[0], *written[:0:-1]]:
        return blame.one("arithmetic/operands", ref_op, gen_op, *blame.both(a, b))
    cond_a, then_a, else_a = _branches(blame, a)
    cond_b, then_b, else_b = (blame.rename(arg) for arg in _branches(blame, b))
    if _crossed((then_a, else_a), (then_b, else_b)):  # a negated condition changes the arms' order
        cond_b, then_b, else_b = blame.terms.negate(cond_b), else_b, then_b
    loads = _loads_of(blame, a, b, ref_op, gen_op)
    inner = blame.walk(then_a, then_b, ref_op, gen_op, depth + 1)
    found: list[Finding] = []
    cond_a = within_trips(blame, cond_a)
    if cond_a != cond_b:
        if loads is None:
            found = _conditions(blame, cond_a, cond_b, ref_op, gen_op, depth)
        elif inner and loads[0].short == loads[1].short == "load_view_tko":
            return inner  # the bounds of a view follow its index
        else:
            found = [Finding(mask(blame, cond_a, cond_b, *loads))]
    found = found + inner
    if else_a == else_b:
        return found
    if loads is None:
        return found + blame.walk(else_a, else_b, ref_op, gen_op, depth + 1)
    return found + _paddings(blame, else_a, else_b, loads)


def _conditions(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """Two conditions of selections, in the sense in which the reference writes its own."""
    opposites = blame.terms.negate(a), blame.terms.negate(b)
    ref_own = origin(blame.reference, a)
    gen_own = origin(blame.generated, b) or origin(blame.generated, opposites[1])
    if ref_own is None:
        ref_own = origin(blame.reference, opposites[0])
        a, b = opposites if ref_own is not None else (a, b)
    return blame.walk(a, b, ref_own or ref_op, gen_own or gen_op, depth + 1)


def _crossed(ours: tuple[Term, Term], theirs: tuple[Term, Term]) -> bool:
    """Whether the two values that are chosen from are each other's with the order exchanged."""
    alike = sum(x == y for x, y in zip(ours, theirs, strict=True))
    return alike < sum(x == y for x, y in zip(ours, theirs[::-1], strict=True))


def _branches(blame: Blame, selection: Term) -> tuple[Term, Term, Term]:
    """Condition, value where it holds, value elsewhere; what a load reads comes before its padding."""
    terms = blame.terms
    condition, then, otherwise = terms.args[selection]
    if _is_read(blame, otherwise) and not _is_read(blame, then):
        return terms.negate(condition), otherwise, then
    return condition, then, otherwise


def _loads_of(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> tuple[TileOp, TileOp] | None:
    """The two loads, when both selections are a load's mask."""
    ref_load = _load(_reader(blame, 0, _branches(blame, a)[1]))
    gen_load = _load(_reader(blame, 1, _branches(blame, b)[1]))
    if ref_load is None or gen_load is None:
        ref_load, gen_load = _load(ref_op), _load(gen_op)
    return None if ref_load is None or gen_load is None else (ref_load, gen_load)


def _is_read(blame: Blame, term: Term) -> bool:
    """A value read from memory, as it is."""
    atom = blame.terms.single(term)
    return atom is not None and blame.terms.kind[atom] == "mem"


def _reader(blame: Blame, side: int, term: Term) -> Op:
    """The op behind a value that may have been read from memory."""
    if blame.terms.kind[term] not in ("mem", "poly"):
        return None
    return origin((blame.reference, blame.generated)[side], term)


def _load(op: Op) -> Op:
    """The op, if it is a load."""
    return op if op is not None and op.short in ("load_ptr_tko", "load_view_tko") else None


def _paddings(blame: Blame, a: Term, b: Term, loads: tuple[TileOp, TileOp]) -> list[Finding]:
    """What two loads give on the lanes that their mask leaves out."""
    undefined = _is_undefined(blame, a), _is_undefined(blame, b)
    if all(undefined):
        return []
    rule, status = {
        (True, False): ("padding/extra", "EXTRA"),
        (False, True): ("padding/missing", "MISSING"),
        (False, False): ("padding/changed", "DIFFERS"),
    }[undefined]
    return blame.one(rule, *loads, *blame.both(a, b), part="padding", status=status)


def _is_undefined(blame: Blame, term: Term) -> bool:
    atom = blame.terms.single(term)
    return atom is not None and blame.terms.kind[atom] == "undefined"


def one_selection(
    blame: Blame, a: Term, b: Term, ref_user: Op, gen_user: Op, depth: int
) -> list[Finding] | None:
    """A select, or a load's mask, on one side only; None when it is no reason by itself."""
    terms = blame.terms
    lost = terms.kind[a] == "ite"
    selection, other = (a, b) if lost else (b, a)
    _, then, otherwise = _branches(blame, selection)
    inner, outer = (then, otherwise) if lost else (blame.rename(then), blame.rename(otherwise))
    ref_op, gen_op = blame.ops(a, b, ref_user, gen_user)
    if other not in (inner, outer):
        from tileir_diff.match.blame_forms import same_function

        known = same_function(blame, a, b, ref_op, gen_op)
        if known is not None:
            return known
    load = _load(origin(blame.reference if lost else blame.generated, then))
    if load is not None and _is_read(blame, then):
        # where the other side is no load, it is not the mask that differs
        return _one_mask(blame, a, b, load, (ref_op, gen_op), depth) if _is_read(blame, other) else None
    if other not in (inner, outer):
        return None
    own = ref_op if lost else gen_op
    family = "mask" if own is None or own.short == "select" else "control-flow"
    rule, status = (f"{family}/missing", "MISSING") if lost else (f"{family}/extra", "EXTRA")
    return blame.one(rule, ref_op, gen_op, *blame.both(a, b), status=status)


def _one_mask(
    blame: Blame, a: Term, b: Term, load: TileOp, users: tuple[Op, Op], depth: int
) -> list[Finding]:
    """A load that is masked on one side only."""
    lost = blame.terms.kind[a] == "ite"
    condition, then, _ = _branches(blame, a if lost else b)
    deeper = blame.walk(then, b, *users, depth + 1) if lost else blame.walk(a, then, *users, depth + 1)
    ref_op = load if lost else origin(blame.reference, a)
    gen_op = origin(blame.generated, b) if lost else load
    views = all(op is not None and op.short == "load_view_tko" for op in (ref_op, gen_op))
    if deeper and views:
        return deeper  # the bounds of a view follow its index
    if _same_bounds(blame, ref_op, gen_op):
        return deeper  # only where the value is used tells whether the padding can be seen
    condition = within_trips(blame, condition) if lost else condition
    if condition == blame.terms.true:
        return deeper
    words = blame.show(condition), "all lanes"
    if lost and views and _promised(gen_op) and not _promised(ref_op):
        words = words[0], "promised in bounds"
        found = blame.one("bounds/inbounds", ref_op, gen_op, *words, part="inbounds")
    elif lost:
        own = _own_mask(blame, gen_op)
        words = words[0], _all(blame, own)
        if own:  # a mask of its own may differ in what the address does too
            parts = differing_parts(blame, condition, blame.terms.conjunction(own))
            blame.parts["mask/missing", id(gen_op)] = parts
        found = blame.one("mask/missing", ref_op, gen_op, *words, part="mask", status="MISSING")
    else:
        found = blame.one("mask/extra", ref_op, gen_op, *words[::-1], part="mask", status="EXTRA")
    return found + deeper


def _same_bounds(blame: Blame, ref_op: Op, gen_op: Op) -> bool:
    """Whether the two loads themselves are active on the same lanes, however each side orders its axes."""
    from tileir_diff.match.explain_pair import lane_renaming

    ref, gen = (
        next((effect for effect in kernel.effects if effect.op is op), None)
        for kernel, op in ((blame.reference, ref_op), (blame.generated, gen_op))
    )
    if ref is None or gen is None or gen.mask is None:
        return False
    ours, theirs = lane_renaming(blame, ref, gen)
    mask_a = None if ref.mask is None else blame.terms.subst(ref.mask, ours)
    return mask_a == blame.rename(blame.terms.subst(gen.mask, theirs))


def within_trips(blame: Blame, condition: Term) -> Term:
    """A condition of the reference, without what the trips of the generated side's loops keep anyway.

    A loop that ends too early never comes to the bound of a view; that it ends too early is told at the loop.
    """
    terms = blame.terms
    own = {
        iteration: leaf
        for iteration, term in blame.renamed.items()
        if terms.kind[iteration] == "iter" and (leaf := terms.single(term)) in terms.symbols[condition]
    }

    def is_kept(atom: Term) -> bool:
        """Whether an atom holds in each generated loop that is taken as one of the loops it is about."""
        inside = [i for i, leaf in own.items() if leaf in terms.symbols[atom]]
        return bool(inside) and all(terms.subst(atom, {own[i]: terms.atom(i)}) == terms.true for i in inside)

    return terms.conjunction(atom for atom in terms.conjuncts(condition) if not is_kept(atom))


def mask(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, *, promises: bool = True) -> Difference:
    """Two unequal conditions of one memory op: what is lost, added or other.

    ``promises``: whether a promise to stay inside of the view may explain it.
    """
    terms = blame.terms
    read = other_table(blame, a, b) or specific(blame, a, b) or changed_op(blame, ref_op, gen_op)
    if read is not None:
        return read
    for detail in ("changed", "missing", "extra"):
        blame.parts[f"mask/{detail}", id(gen_op)] = differing_parts(blame, a, b)
    ref_atoms, gen_atoms = terms.conjuncts(a), terms.conjuncts(b)
    lost = [atom for atom in ref_atoms if not terms.implies(gen_atoms, atom)]
    added = _in_order_of(blame, lost, [atom for atom in gen_atoms if not terms.implies(ref_atoms, atom)])
    only = "lost" if lost and not added else "added" if added and not lost else ""
    promised = (_promised(ref_op), _promised(gen_op)) if promises else (False, False)
    if only == "lost" and promised == (False, True):
        words = _all(blame, lost), "promised in bounds"
        return blame.make("bounds/inbounds", ref_op, gen_op, *words, part="inbounds")
    if only == "added" and promised == (True, False) and _follow(blame, ref_op, ref_atoms, added):
        words = "promised in bounds", _all(blame, added)
        return blame.make("bounds/inbounds", ref_op, gen_op, *words, part="inbounds", impact="hint")
    others = gen_atoms if lost else ref_atoms
    others = _in_order_of(blame, lost or added, others)
    rivals = [x for x in others if any(_same_lanes(blame, x, y) for y in lost or added)]
    if only == "added":
        words = _all(blame, rivals or ref_atoms), _all(blame, added)
        rule, status = ("mask/changed", "DIFFERS") if rivals else ("mask/extra", "EXTRA")
        return blame.make(rule, ref_op, gen_op, *words, part="mask", impact="logic", status=status)
    actual = added or rivals or gen_atoms or _own_mask(blame, gen_op)
    words = _all(blame, lost or ref_atoms), _all(blame, actual)
    if only == "lost" and not rivals:
        return blame.make("mask/missing", ref_op, gen_op, *words, part="mask", status="MISSING")
    impact = "logic" if added else "bounds"
    return blame.make("mask/changed", ref_op, gen_op, *words, part="mask", impact=impact)


def _follow(blame: Blame, ref_op: Op, ref_atoms: Sequence[Term], added: Sequence[Term]) -> bool:
    """Whether conditions hold wherever the reference's tile lies inside of its view, as it promises."""
    terms = blame.terms
    effect = next((each for each in blame.reference.effects if each.op is ref_op), None)
    if effect is None:
        return False
    kept = promised_inside(terms, effect)
    lanes = {symbol for atom in kept for symbol in terms.symbols[atom] if terms.kind[symbol] == "lane"}
    last = {lane: terms.const(terms.range(lane)[1] or 0) for lane in lanes}
    known = (*ref_atoms, *kept, *(terms.subst(atom, last) for atom in kept))
    return all(terms.implies(known, atom) for atom in added)


def _own_mask(blame: Blame, op: Op) -> Sequence[Term]:
    """The mask of an access as it stands there, for one that holds in any case where the value is used."""
    value = None if op is None else op.one("mask")
    term = None if value is None else blame.generated_term(value)
    return () if term is None else blame.terms.conjuncts(term)


def _promised(op: Op) -> bool:
    return op is not None and any(op.get("inbounds") or ())


def _same_lanes(blame: Blame, a: Term, b: Term) -> bool:
    """Two conditions about the same index: the same symbols apart from parameters."""
    terms = blame.terms
    left, right = (frozenset(s for s in terms.symbols[t] if terms.kind[s] != "arg") for t in (a, b))
    return bool(left) and left == right


def _in_order_of(blame: Blame, others: Sequence[Term], atoms: Sequence[Term]) -> list[Term]:
    """Conditions in the order of those of the other side that are about the same index; the rest last."""

    def place(atom: Term) -> int:
        return next((i for i, other in enumerate(others) if _same_lanes(blame, other, atom)), len(others))

    return sorted(atoms, key=place)


def _all(blame: Blame, atoms: Sequence[Term]) -> str:
    return " and ".join(blame.show(atom) for atom in atoms) if atoms else "all lanes"


def predicates(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """Two conditions outside of masks."""
    terms = blame.terms
    if ref_op is not None and gen_op is not None and ref_op.short == gen_op.short in ("cmpi", "cmpf"):
        # where the facts make two signs the same, another sign is no reason
        unsigned = "ult" in (terms.kind[a], terms.kind[b])
        rules = {"signed": "integer-mode/signedness"} if unsigned else {}
        for key, rule in (*rules.items(), ("ordering", "float-mode/nan")):
            words = str(ref_op.get(key)), str(gen_op.get(key))
            if words[0] != words[1]:
                return blame.one(rule, ref_op, gen_op, *words, part=key)
    if terms.kind[a] == "fcmp" and terms.attr[a] == terms.attr[b]:
        found: list[Finding] = []
        for x, y in zip(terms.args[a], terms.args[b], strict=True):
            found.extend(blame.walk(x, y, ref_op, gen_op, depth + 1))
        return found
    over_lanes = any(terms.kind[s] == "lane" for s in terms.symbols[a])
    lanes = over_lanes and terms.kind[a] in ("le", "ult", "and", "or")
    rule = "mask/changed" if lanes else condition_rule(gen_op)
    return blame.one(rule, ref_op, gen_op, *blame.both(a, b))
