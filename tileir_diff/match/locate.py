"""Puts findings on the line that was changed, where two dumps are the same but for a few ops."""

from __future__ import annotations

from typing import Any

from tileir_diff.match.align import Alignment, Local, operand_groups
from tileir_diff.match.blame import Blame
from tileir_diff.match.model import Difference
from tileir_diff.match.sites import defining_op, text

MEMORY = frozenset({
    "load_ptr_tko", "store_ptr_tko", "load_view_tko", "store_view_tko", "atomic_rmw_tko", "atomic_cas_tko", "atomic_red_view_tko",
})

SCALE = ("none", "hint", "edge", "ulp", "precision", "bounds", "assume", "logic")
MAX_PLACED = 3
OVERFLOW_OPS = frozenset({"addi", "subi", "muli", "shli", "negi", "trunci"})

ATTRIBUTE_RULES = {
    "rounding": "float-mode/rounding",
    "flush_to_zero": "float-mode/ftz",
    "propagate_nan": "float-mode/nan",
    "signed": "integer-mode/signedness",
    "signed_lhs": "mma/signedness",
    "signed_rhs": "mma/signedness",
    "overflow": "integer-mode/overflow",
    "saturating": "conversion/rounding",
    "fast_acc": "mma/fast-acc",
    "identities": "reduction/identity",
    "reverse": "scan/direction",
    "permutation": "shape-op/changed",
    "memory_ordering": "memory-order/ordering",
    "memory_scope": "memory-order/scope",
    "mode": "atomic/mode",
    "inbounds": "bounds/inbounds",
    "value": "constant/value",
    "unsigned_cmp": "loop/bounds",
    "ordering": "float-mode/nan",
    "static_shape": "addressing/index",
    "static_strides": "stride/changed",
}

OPERAND_RULES = {
    "mask": "mask/changed",
    "padding": "padding/changed",
    "index": "addressing/index",
    "shape": "mask/changed",
    "strides": "stride/changed",
    "base": "addressing/base",
    "lower": "loop/bounds",
    "upper": "loop/bounds",
    "step": "loop/step",
    "inits": "loop/carried",
    "acc": "accumulator/init",
}


def place(
    blame: Blame, alignment: Alignment, differences: list[Difference]
) -> list[Difference] | None:
    """The local differences that change a result, as findings; None when none of them does.

    ``differences``: what the values say.
    """
    _pair_loops(blame, alignment)
    harmful = [item for item in alignment.local if _matters(blame, item)]
    if not harmful:
        return None
    if any(item.what in ("missing", "extra") and _acts(item.reference or item.generated) for item in harmful):
        # what only feeds a lost access, check or loop goes with it
        harmful = [i for i in harmful if i.what not in ("missing", "extra") or _acts(i.reference or i.generated)]
    harmful = _inserted(_renumbered(harmful))
    if len(harmful) > MAX_PLACED:
        return None  # not one edit: the values explain it better
    found: list[Difference] = []
    stated = [difference.impact for difference in differences]
    worst = max((i for i in stated if i is not None), key=SCALE.index) if None not in stated and stated else None
    for item in harmful:
        rule = _rule(item, differences)
        expected, actual = _words(blame, item)
        impact = worst  # the values know better what it does
        part = item.name if item.what in ("attribute", "operand") else None
        lost = item.what == "operand" and item.operand < 0 and not (item.generated and item.generated.group(item.name))
        status = "MISSING" if lost else {"missing": "MISSING", "extra": "EXTRA", "inserted": "EXTRA", "removed": "MISSING"}.get(item.what, "DIFFERS")
        found.append(blame.make(rule, item.reference, item.generated, expected, actual, part=part, impact=impact, status=status))
    return _one_a_line(found)


def _renumbered(harmful: list[Local]) -> list[Local]:
    """Users that read another result of one op, where that op's own results were exchanged: the op is to blame."""
    kept: list[Local] = []
    blamed: set[int] = set()
    for item in harmful:
        if item.what == "operand" and item.operand >= 0 and item.reference is not None and item.generated is not None:
            a = operand_groups(item.reference)[item.operand][1]
            b = operand_groups(item.generated)[item.operand][1]
            ref_def: Any = a.owner
            gen_def: Any = b.owner
            if getattr(ref_def, "short", None) is not None and ref_def.short == getattr(gen_def, "short", None):
                names = [r.name_hint for r in ref_def.results], [r.name_hint for r in gen_def.results]
                if names[0] != names[1] and sorted(map(str, names[0])) == sorted(map(str, names[1])):
                    if id(gen_def) not in blamed:
                        blamed.add(id(gen_def))
                        kept.append(Local(ref_def, gen_def, "results"))
                    continue
        kept.append(item)
    return kept


def _inserted(harmful: list[Local]) -> list[Local]:
    """An op put in, or taken out, before a user is one difference: the op, not the op and its user."""
    extra = {id(item.generated): item for item in harmful if item.what == "extra"}
    missing = {id(item.reference): item for item in harmful if item.what == "missing"}
    used: set[int] = set()
    kept: list[Local] = []
    for item in harmful:
        if item.what != "operand" or item.operand < 0 or item.reference is None or item.generated is None:
            continue
        ref_def: Any = operand_groups(item.reference)[item.operand][1].owner
        gen_def: Any = operand_groups(item.generated)[item.operand][1].owner
        if id(gen_def) in extra:
            _swallow(gen_def, extra, used)
            if item.generated is not None:
                kept.append(Local(item.reference, gen_def, "inserted", item.name, item.operand))
                used.add(id(item))
        elif id(ref_def) in missing:
            _swallow(ref_def, missing, used)
            kept.append(Local(ref_def, item.generated, "removed", item.name, item.operand))
            used.add(id(item))
    rest = [item for item in harmful if id(item) not in used]
    first: dict[int, Local] = {}
    for item in kept:
        first.setdefault(id(item.generated if item.what == "inserted" else item.reference), item)
    return [*first.values(), *rest]


def _swallow(op: Any, table: dict[int, Local], used: set[int]) -> None:
    """Mark an unaligned op and the unaligned ops that only feed it."""
    work = [op]
    while work:
        each = work.pop()
        item = table.get(id(each))
        if item is None or id(item) in used:
            continue
        used.add(id(item))
        work.extend(value.owner for value in each.operands)


def settled_promises(alignment: Alignment) -> frozenset[int]:
    """The ``assume`` ops that align and differ in nothing."""
    touched = {id(op) for item in alignment.local for op in (item.reference, item.generated) if op is not None}
    return frozenset(
        id(op)
        for pair in alignment.pairs
        if pair[0].short == pair[1].short == "assume" and id(pair[0]) not in touched and id(pair[1]) not in touched
        for op in pair
    )


def _pair_loops(blame: Blame, alignment: Alignment) -> None:
    """Aligned loops are each other's: rename the symbols of the generated one."""
    ref_loops = {id(loop.op): loop for loop in blame.reference.loops}
    gen_loops = {id(loop.op): loop for loop in blame.generated.loops}
    for ref_op, gen_op in alignment.pairs:
        ref, gen = ref_loops.get(id(ref_op)), gen_loops.get(id(gen_op))
        if ref is None or gen is None:
            continue
        blame.renamed[gen.iteration] = blame.terms.atom(ref.iteration)
        by_index = {carry.index: carry for carry in ref.carries}
        for carry in gen.carries:
            other = by_index.get(carry.index)
            if other is not None:
                blame.renamed[carry.leaf] = other.leaf


def overflow_promises(blame: Blame, alignment: Alignment) -> list[Difference]:
    """Flags by which the generated op promises not to wrap, where the reference's op does not."""
    found: list[Difference] = []
    for item in alignment.local:
        if item.what != "attribute" or item.name != "overflow" or item.reference is None or item.generated is None:
            continue
        ref_flags, gen_flags = (_flags(op.get("overflow")) for op in (item.reference, item.generated))
        if gen_flags <= ref_flags or _fits(blame, item.generated, gen_flags - ref_flags):
            continue
        found.append(blame.make(
            "integer-mode/overflow", item.reference, item.generated,
            str(item.reference.get("overflow")), str(item.generated.get("overflow")), part="overflow",
        ))
    return found


def unshared_overflow(blame: Blame) -> list[Difference]:
    """The same for dumps that do not align: ops of the generated side that compute what one of the reference does.

    Signed overflow flags of tile C++ are the language's and say nothing about the port.
    """
    stated: dict[Any, tuple[frozenset[str], Any]] = {}
    for value, term in blame.reference.values.items():
        op: Any = value.owner
        if isinstance(term, int) and getattr(op, "short", "") in OVERFLOW_OPS:
            key = (term, value.type.element.bits)  # type: ignore[attr-defined]
            flags = _flags(op.get("overflow"))
            old = stated.get(key)
            stated[key] = (flags | old[0] if old is not None else flags, op)
    found: list[Difference] = []
    seen: set[Any] = set()
    for value, term in blame.generated.values.items():
        op = value.owner
        if not isinstance(term, int) or getattr(op, "short", "") not in OVERFLOW_OPS or op.get("overflow") == "none":
            continue
        flags = _flags(op.get("overflow"))
        if blame.generated.name.startswith("_Z"):
            flags -= {"nsw"}
        key = (blame.rename(term), value.type.element.bits)  # type: ignore[attr-defined]
        partner = stated.get(key)
        if partner is None or flags <= partner[0] or key in seen or _fits(blame, op, flags - partner[0]):
            continue
        seen.add(key)
        found.append(blame.make(
            "integer-mode/overflow", partner[1], op, str(partner[1].get("overflow")), str(op.get("overflow")), part="overflow",
        ))
    return found


def _flags(value: Any) -> frozenset[str]:
    return {"nsw": frozenset({"nsw"}), "nuw": frozenset({"nuw"}), "nw": frozenset({"nsw", "nuw"})}.get(value, frozenset())


def _fits(blame: Blame, op: Any, flags: frozenset[str]) -> bool:
    term = blame.generated.values.get(op.results[0])
    if not isinstance(term, int):
        return False
    low, high = blame.terms.range(term)
    bits = op.results[0].type.element.bits
    if low is None or high is None:
        return False
    signed = low >= -(1 << (bits - 1)) and high < 1 << (bits - 1)
    unsigned = low >= 0 and high < 1 << bits
    return (signed or "nsw" not in flags) and (unsigned or "nuw" not in flags)


def _one_a_line(found: list[Difference]) -> list[Difference]:
    """Several differences of one op are one finding: the first."""
    kept: list[Difference] = []
    seen: set[tuple[int, int]] = set()
    for difference in found:
        key = (
            id(difference.reference.op) if difference.reference else 0,
            id(difference.generated.op) if difference.generated else 0,
        )
        if key not in seen:
            seen.add(key)
            kept.append(difference)
    return kept


def _term(blame: Blame, side: int, value: Any) -> Any:
    kernel = blame.reference if side == 0 else blame.generated
    term = kernel.values.get(value)
    if isinstance(term, int):
        return term if side == 0 else blame.rename(term)
    if hasattr(term, "pointer"):
        fields = (term.pointer, *term.shape, *term.strides)
        return (str(term.type), *(f if side == 0 else blame.rename(f) for f in fields))
    return None


def _matters(blame: Blame, item: Local) -> bool:
    """Whether the local difference changes what its op computes or does."""
    ref, gen = item.reference, item.generated
    if ref is None or gen is None:
        op: Any = ref if ref is not None else gen
        return _acts(op) or any(list(result.uses) for result in op.results)
    if item.what == "operand" and item.operand >= 0:
        a, b = operand_groups(ref)[item.operand][1], operand_groups(gen)[item.operand][1]
        left, right = _term(blame, 0, a), _term(blame, 1, b)
        if left is None or right is None:
            return False  # tokens: compared as an order
        if left == right:
            return False
    results = [(_term(blame, 0, a), _term(blame, 1, b)) for a, b in zip(ref.results, gen.results, strict=False)]
    values = [(a, b) for a, b in results if a is not None or b is not None]
    if not values:
        return not (item.what == "attribute" and item.name == "overflow")
    if ref.short in ("assume",):
        return False
    if ref.short in MEMORY or ref.short in ("for", "loop", "if", "reduce", "scan"):
        return True
    return any(a != b for a, b in values)


def _acts(op: Any) -> bool:
    """Ops whose loss shows by itself, not only in what reads their result."""
    return op.short in MEMORY or op.short in ("print_tko", "assert", "for", "loop", "if", "break", "continue")


def _rule(item: Local, differences: list[Difference]) -> str:
    ref, gen = item.reference, item.generated
    op: Any = ref if ref is not None else gen
    families = {difference.rule.split("/")[0] for difference in differences}
    if ref is None or gen is None:
        detail = "missing" if gen is None else "extra"
        if op.short.startswith("store") or op.short.startswith("load"):
            return f"memory-family/{detail}"
        if op.short.startswith("atomic"):
            return f"atomic/{detail}"
        if op.short == "assert":
            return f"runtime-check/{detail}"
        if op.short == "print_tko":
            return f"debug-op/{detail}"
        if op.short in ("ftof", "itof", "ftoi", "exti", "trunci"):
            return f"conversion/{detail}"
        if op.short in ("for", "loop"):
            return f"loop/{detail}"
        if op.short in ("reduce", "scan"):
            return f"{'scan' if op.short == 'scan' else 'reduction'}/{detail}"
        return f"arithmetic/{detail}"
    if item.what == "results":
        return "grid/axis" if op.short in ("get_tile_block_id", "get_num_tile_blocks") else "arithmetic/operands"
    if item.what in ("inserted", "removed"):
        detail = "extra" if item.what == "inserted" else "missing"
        added: Any = gen if item.what == "inserted" else ref
        user: Any = ref if item.what == "inserted" else gen
        if added.short in ("ftof", "itof", "ftoi"):
            return f"conversion/{detail}"
        if user.short in MEMORY or user.short in ("for", "loop"):
            return _rule(Local(user, user, "operand", item.name), differences)
        if families and families <= {"addressing", "grid", "mask", "stride", "loop"}:
            return differences[0].rule
        return f"arithmetic/{detail}"
    if item.what == "kind":
        parent = ref.parent_op()
        if parent is not None and getattr(parent, "short", "") in ("reduce", "scan"):
            return f"{'scan' if parent.short == 'scan' else 'reduction'}/combiner"  # type: ignore[attr-defined]
        return "arithmetic/op"
    if item.what == "type":
        return _type_rule(ref, gen)
    if item.what == "attribute":
        if item.name == "dim":
            return {"reduce": "reduction/axis", "scan": "scan/axis"}.get(op.short, "shape-op/changed")
        if item.name == "identities" and op.short == "scan":
            return "scan/identity"
        if item.name == "rounding":
            if op.short == "divi":
                return "integer-mode/division-rounding"
            if op.short == "ftof":
                return "conversion/rounding"
            if {ref.get("rounding"), gen.get("rounding")} & {"approx", "full"}:
                return "float-mode/approx"
        if item.name == "predicate":
            if op.short == "cmpf":
                return "control-flow/condition"
            return "mask/changed" if families & {"mask", "padding"} else "control-flow/condition"
        if item.name in ("message", "format"):
            return "debug-op/changed" if op.short == "print_tko" else "runtime-check/changed"
        if item.name in ATTRIBUTE_RULES:
            return ATTRIBUTE_RULES[item.name]
    if item.what == "operand":
        if item.name == "mask" and not op.get("never"):
            if not ref.group("mask") or not gen.group("mask"):
                return "mask/extra" if not ref.group("mask") else "mask/missing"
            return "mask/changed"
        if item.name == "padding":
            if not ref.group("padding") or not gen.group("padding"):
                return "padding/extra" if not ref.group("padding") else "padding/missing"
            return "padding/changed"
        if op.short == "for" or op.short == "loop" or item.name in ("index", "strides", "base", "shape"):
            return OPERAND_RULES.get(item.name, "loop/carried")
        if op.short in ("continue", "break", "yield"):
            parent: Any = op.parent_op()
            if parent is not None and parent.short in ("reduce", "scan"):
                return f"{'scan' if parent.short == 'scan' else 'reduction'}/combiner"
            return "loop/carried" if op.short != "yield" else "control-flow/condition"
        if op.short.startswith("mma"):
            return "accumulator/init" if item.name == "acc" else "mma/operands"
        if op.short == "if":
            return "control-flow/condition"
        if op.short == "assert":
            return "runtime-check/changed"
        if families & {"mask"} and op.short in ("cmpi", "andi", "ori", "xori"):
            return "mask/changed"
        if families and families <= {"addressing", "grid", "mask", "stride"}:
            return differences[0].rule
        return "arithmetic/operands"
    return differences[0].rule if differences else "arithmetic/op"


def _type_rule(ref: Any, gen: Any) -> str:
    a, b = ref.results[0].type, gen.results[0].type
    for name, rule in (
        ("padding", "padding/changed"),
        ("dim_map", "dim-map/changed"),
        ("tile", "tile-shape/changed"),
        ("traversal_strides", "stride/changed"),
        ("sparse_dim", "dim-map/changed"),
        ("strides", "stride/changed"),
        ("shape", "tile-shape/changed"),
        ("element", "element-type/changed"),
    ):
        x, y = getattr(a, name, None), getattr(b, name, None)
        if x != y:
            if name == "padding":
                return "padding/missing" if y is None else "padding/extra" if x is None else rule
            return rule
    return "element-type/changed"


def _words(blame: Blame, item: Local) -> tuple[str, str]:
    ref, gen = item.reference, item.generated
    if item.what == "attribute" and ref is not None and gen is not None:
        return _attribute(ref, item.name), _attribute(gen, item.name)
    if item.what == "type" and ref is not None and gen is not None:
        return str(ref.results[0].type), str(gen.results[0].type)
    if item.what == "results" and ref is not None and gen is not None:
        return ", ".join(f"%{r.name_hint}" for r in ref.results), ", ".join(f"%{r.name_hint}" for r in gen.results)
    if item.what == "operand" and ref is not None and gen is not None:
        if item.operand < 0:
            return ", ".join(_names(ref, item.name)) or "none", ", ".join(_names(gen, item.name)) or "none"
        a, b = operand_groups(ref)[item.operand][1], operand_groups(gen)[item.operand][1]
        return _operand(blame, 0, a), _operand(blame, 1, b)
    return text(ref) if ref is not None else "nothing", text(gen) if gen is not None else "nothing"


def _attribute(op: Any, name: str) -> str:
    value = op.get(name)
    if value is None or value is False or value == ():
        return f"no {name}" if value is not None else "default"
    if value is True:
        return name
    if hasattr(value, "floats"):
        return _elements(value)
    if name == "identities":
        return ", ".join(_elements(each) for each in value)
    return str(value)


def _elements(dense: Any) -> str:
    values = dense.ints() if dense.element.is_int else dense.floats()
    listed = ", ".join(f"{v:.9g}" if isinstance(v, float) else str(v) for v in list(values)[:4])
    return listed + (", ..." if len(dense.bits) > 4 else "")


def _names(op: Any, group: str) -> list[str]:
    return [f"%{value.name_hint}" for value in op.group(group)]


def _operand(blame: Blame, side: int, value: Any) -> str:
    term = _term(blame, side, value)
    name = f"%{value.name_hint}" if value.name_hint else "a value"
    if isinstance(term, int):
        shown = blame.show(term)
        return f"{name}: {shown}" if len(shown) < 60 else name
    op = defining_op(value)
    return f"{name}: {text(op)}" if op is not None else name
