"""Why two reductions, scans or matrix products differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import TileOp
from tileir_diff.dialect.types import Tile
from tileir_diff.graph import floats
from tileir_diff.graph.neutral import harmless
from tileir_diff.match.blame import Finding
from tileir_diff.match.blame_floats import modifiers, pairing
from tileir_diff.match.reformulate import reformulation
from tileir_diff.match.sites import origin, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame, Op, Remarks

FOLDS = frozenset({"reduce", "scan"})
CASTS = frozenset({"arithmetic/extra-rounding", "conversion/extra", "conversion/missing"})
"""Rules for a conversion that only one side has."""


def reductions(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """Two reductions or scans: combiner, axis, extent, types, identity, direction, then what is folded."""
    terms = blame.terms
    name_a, _, extent_a, identities_a, count, *direction_a = terms.attr[a]
    name_b, _, extent_b, identities_b, count_b, *direction_b = terms.attr[b]
    if name_a != name_b:
        return blame.one("reduction/combiner", ref_op, gen_op, name_a, name_b, structural=True)
    scan = name_a == "scan"
    family = "scan" if scan else "reduction"
    if ref_op is not None and gen_op is not None and _other_axis(blame, ref_op, gen_op, depth):
        return axis(blame, ref_op, gen_op)
    found: list[Finding] = []
    if extent_a != extent_b:
        rule = "scan/axis" if scan else "reduction/extent"
        found.extend(blame.one(rule, ref_op, gen_op, str(extent_a), str(extent_b)))
    types_a, types_b = (", ".join(item[0] for item in each) for each in (identities_a, identities_b))
    if types_a != types_b:
        found.extend(blame.one("element-type/changed", ref_op, gen_op, types_a, types_b, impact="precision"))
    elif identities_a != identities_b:
        words = _identities(identities_a), _identities(identities_b)
        remarks = _where_all_are_nan(terms, a, b)
        found.extend(blame.one(f"{family}/identity", ref_op, gen_op, *words, part="identities", **remarks))
    if scan and direction_a != direction_b:
        words = f"reverse={direction_a[0]}", f"reverse={direction_b[0]}"
        found.extend(blame.one("scan/direction", ref_op, gen_op, *words, part="reverse"))
    args_a, args_b = terms.args[a], tuple(blame.rename(arg) for arg in terms.args[b])
    if count != count_b or args_a[:count] != args_b[:count]:
        return found + _combiner(blame, args_a[:count], args_b[:count_b], ref_op, gen_op, family)
    for x, y in zip(args_a[count:], args_b[count:], strict=False):
        found.extend(blame.walk(x, y, ref_op, gen_op, depth + 1))
    return found


def _other_axis(blame: Blame, ref_op: TileOp, gen_op: TileOp, depth: int) -> bool:
    """Both fold the same value, along different dimensions."""
    if ref_op.short != gen_op.short or ref_op.get("dim") == gen_op.get("dim"):
        return False
    x, y = ref_op.operands[0], gen_op.operands[0]
    a, b = blame.reference.values.get(x), blame.generated.values.get(y)
    if x.type != y.type or a is None or b is None:
        return False
    return not blame.walk(a, b, ref_op, gen_op, depth + 1)


def axis(blame: Blame, ref_op: TileOp, gen_op: TileOp) -> list[Finding]:
    """The same value folded along different dimensions."""
    family = "scan" if ref_op.short == "scan" else "reduction"
    words = [f"dim={op.get('dim')}" for op in (ref_op, gen_op)]
    if words[0] == words[1]:  # of tiles that differ in their dimensions of extent one
        shapes = ("x".join(map(str, _shape(op))) for op in (ref_op, gen_op))
        words = [f"{word} of {shape}" for word, shape in zip(words, shapes, strict=True)]
    return blame.one(f"{family}/axis", ref_op, gen_op, *words, part="dim")


def one_fold(blame: Blame, a: Term, b: Term) -> list[Finding] | None:
    """A reduction or scan on one side only, or along an axis of extent one on the other; else None."""
    kinds = [blame.terms.kind[term] for term in (a, b)]
    if kinds.count("reduce") != 1:
        return None
    lost = kinds[0] == "reduce"
    side, other = (blame.reference, blame.generated) if lost else (blame.generated, blame.reference)
    op: Op = origin(side, a if lost else b)
    if op is None or op.short not in FOLDS:
        return None
    folded = _operand(blame, side, op)
    for rival in other.entry.walk():
        if not isinstance(rival, TileOp) or rival.short != op.short or _axis(rival) == _axis(op):
            continue
        if folded is not None and _operand(blame, other, rival) == folded:
            return axis(blame, op, rival) if lost else axis(blame, rival, op)
    if folded is None or folded[1] != (blame.rename(b) if lost else a):
        return None
    family, words = "scan" if op.short == "scan" else "reduction", (text(op), "nothing")
    if lost:
        return blame.one(f"{family}/missing", op, origin(other, b), *words, status="MISSING", structural=True)
    return blame.one(f"{family}/extra", origin(other, a), op, *words[::-1], status="EXTRA", structural=True)


def _axis(op: TileOp) -> int | None:
    """The dimension that is folded, counted without those of extent one; None where it is one of them."""
    shape, dim = _shape(op), int(op.get("dim"))
    return None if shape[dim] == 1 else sum(extent > 1 for extent in shape[:dim])


def _shape(op: TileOp) -> tuple[int, ...]:
    kind = op.operands[0].type
    return kind.shape if isinstance(kind, Tile) else ()


def _operand(blame: Blame, kernel: Kernel, op: TileOp) -> tuple[tuple[int, ...], Term] | None:
    """What is folded: its extents and its term, without the dimensions of extent one."""
    terms = blame.terms
    term = kernel.values.get(op.operands[0])
    if not isinstance(term, int):
        return None
    term = blame.rename(term) if kernel is blame.generated else term
    dims = [(dim, extent) for dim, extent in enumerate(_shape(op)) if extent > 1]
    lanes = {
        terms.leaf("lane", dim, e): terms.lane(new, e) for new, (dim, e) in enumerate(dims) if dim != new
    }
    return tuple(extent for _, extent in dims), terms.subst(term, lanes) if lanes else term


def _combiner(
    blame: Blame, a: tuple[Term, ...], b: tuple[Term, ...], ref_op: Op, gen_op: Op, family: str
) -> list[Finding]:
    """Two bodies of a reduction or scan."""
    terms = blame.terms
    if len(a) == len(b) == 1 and terms.kind[a[0]] == terms.kind[b[0]] == "f":
        (name_a, _, mods_a), (name_b, _, mods_b) = terms.attr[a[0]], terms.attr[b[0]]
        if name_a == name_b and terms.args[a[0]] == terms.args[b[0]]:
            inner = origin(blame.reference, a[0]) or ref_op, origin(blame.generated, b[0]) or gen_op
            return [Finding(each) for each in modifiers(blame, name_a, dict(mods_a), dict(mods_b), *inner)]
        rounded = _rounded_combiner(blame, a[0], b[0], ref_op, gen_op)
        if rounded is not None:
            return rounded
    words = [", ".join(blame.show(term) for term in side) for side in (a, b)]
    inner = _combining_op(ref_op) or ref_op, _combining_op(gen_op) or gen_op
    known = reformulation(terms, a[0], b[0]) if len(a) == len(b) == 1 else None
    if known is not None and known.impact == "edge":
        return blame.one("arithmetic/reformulated", *inner, *words, impact=known.impact, note=known.why)
    return blame.one(f"{family}/combiner", *inner, *words)


def _rounded_combiner(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op) -> list[Finding] | None:
    """Two bodies that only convert otherwise; None where they combine otherwise."""
    narrow: list[tuple[str, ...]] = []
    bare: list[Term] = []
    for term in (a, b):
        types: list[str] = []
        while blame.terms.kind[term] == "f" and blame.terms.attr[term][0] == "ftof":
            types.append(blame.terms.attr[term][1][0])
            term = blame.terms.args[term][0]
        narrow.append(tuple(types))
        bare.append(term)
    if bare[0] != bare[1]:
        return None
    lost = len(narrow[0]) > len(narrow[1])
    words = (f"rounded to {types[0]}" if types else "not rounded" for types in narrow)
    rule, status = ("conversion/missing", "MISSING") if lost else ("conversion/extra", "EXTRA")
    inner = _combining_op(ref_op) or ref_op, _combining_op(gen_op) or gen_op
    return blame.one(rule, *inner, *words, status=status)


def _combining_op(op: Op) -> Op:
    """The op that computes what a reduction's or scan's body yields; the terminator where none does."""
    if op is None or op.short not in FOLDS:
        return None
    last: Any = op.regions[0].block.last_op
    if last is None:
        return None
    owner = last.operands[0].owner if last.operands else None
    return owner if isinstance(owner, TileOp) and owner.parent_block() is last.parent_block() else last


def _where_all_are_nan(terms: Terms, a: Term, b: Term) -> Remarks:
    """Remarks on two starts: if neither is above any number that is folded, they show where there is none."""
    for term in (a, b):
        count, (combine, body, *_) = terms.attr[term][4], terms.args[term]
        if count > 1 or not harmless(terms, combine, body, terms.attr[term][3][0]):
            return {}
    return {"impact": "edge"}


def _identities(items: Iterable[tuple[str, int]]) -> str:
    return ", ".join(floats.show(*item) for item in items)


def contractions(blame: Blame, a: Term, b: Term, ref_op: Op, gen_op: Op, depth: int) -> list[Finding]:
    """Two matrix products: how they accumulate, their types, their operands."""
    terms = blame.terms
    name_a, acc_a, extent_a, types_a, fast_a = terms.attr[a]
    name_b, acc_b, extent_b, types_b, fast_b = terms.attr[b]
    found: list[Finding] = []
    if fast_a != fast_b:
        words = _accumulation(fast_a), _accumulation(fast_b)
        found.extend(blame.one("mma/fast-acc", ref_op, gen_op, *words, part="fast_acc"))
    if acc_a != acc_b:
        found.extend(blame.one("accumulator/type", ref_op, gen_op, acc_a, acc_b, part="acc"))
    if extent_a != extent_b:
        found.extend(blame.one("tile-shape/changed", ref_op, gen_op, f"K = {extent_a}", f"K = {extent_b}"))
    if name_a != name_b or len(types_a) != len(types_b):
        return found + blame.one("mma/operand-type", ref_op, gen_op, name_a, name_b, impact="logic")
    args_a, args_b = list(terms.args[a]), [blame.rename(arg) for arg in terms.args[b]]
    paired = pairing(blame, args_a[:2], args_b[:2])
    if paired != args_b[:2]:
        args_b[:2] = paired
        args_b[2:-1] = args_b[2:-1][::-1]  # each with its scale
        types_b = types_b[::-1]
    other_types = _operand_types(blame, types_a, types_b, ref_op, gen_op)
    found.extend(other_types)
    if not found and sorted(args_a[:2]) != sorted(args_b[:2]) and _swapped_operands(blame, ref_op, gen_op):
        return blame.one("mma/operands", ref_op, gen_op, "lhs * rhs", "rhs * lhs", impact="logic")
    *factors, last = zip(args_a, args_b, strict=False)
    for x, y in factors:
        behind = blame.walk(x, y, ref_op, gen_op, depth + 1)
        if other_types and _is_cast(blame, x) != _is_cast(blame, y):
            # the cast that one side lacks is why the types differ
            behind = [each for each in behind if each.difference.rule not in CASTS]
        found.extend(behind)
    children = blame.walk(*last, ref_op, gen_op, depth + 1)
    starts = blame.ops(*last, ref_op, gen_op)
    here = any(child.structural and _is_at(child, starts) for child in children)
    if here and not all(blame.terms.kind[term] == "f" for term in last):
        words = (blame.show(term) for term in last)
        return found + blame.one("accumulator/init", ref_op, gen_op, *words, part="acc", impact="logic")
    return found + children


def _is_cast(blame: Blame, term: Term) -> bool:
    return blame.terms.kind[term] == "f" and blame.terms.attr[term][0] == "ftof"


def _is_at(finding: Finding, ops: tuple[Op, Op]) -> bool:
    """Whether a finding is about what one of the two ops computes, not about what stands further behind."""
    sites = finding.difference.reference, finding.difference.generated
    return any(site is not None and site.op is op for site, op in zip(sites, ops, strict=True))


def _accumulation(fast: bool) -> str:
    return "fast_acc" if fast else "exact accumulation"


def _operand_types(
    blame: Blame, a: Sequence[tuple[Any, ...]], b: Sequence[tuple[Any, ...]], ref_op: Op, gen_op: Op
) -> list[Finding]:
    """The first factor whose element type, signedness or type of scales differs."""
    for (type_a, sign_a, *scale_a), (type_b, sign_b, *scale_b) in zip(a, b, strict=True):
        if type_a != type_b:
            return blame.one("mma/operand-type", ref_op, gen_op, type_a, type_b)
        if scale_a != scale_b:
            words = f"scales of {scale_a[0]}", f"scales of {scale_b[0]}"
            return blame.one("mma/operand-type", ref_op, gen_op, *words)
        if sign_a != sign_b:
            return blame.one("mma/signedness", ref_op, gen_op, str(sign_a), str(sign_b))
    return []


def _swapped_operands(blame: Blame, ref_op: Op, gen_op: Op) -> bool:
    """``a * b`` against ``b * a`` of the same two tiles."""
    if ref_op is None or gen_op is None or not ref_op.short.startswith("mma"):
        return False
    ref_in = [blame.reference.values.get(value) for value in ref_op.operands[:2]]
    gen_in = [blame.generated.values.get(value) for value in gen_op.operands[:2]]
    crossed = [None if term is None else blame.rename(term) for term in gen_in[::-1]]
    return ref_in[0] != ref_in[1] and ref_in == crossed
