"""Which rule a local difference between two aligned entries falls under."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph.values import is_pointer, sort_of
from tileir_diff.match.sites import condition_rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.match.align import Local
    from tileir_diff.match.model import Difference

MEMORY = frozenset(
    {
        "load_ptr_tko",
        "store_ptr_tko",
        "load_view_tko",
        "store_view_tko",
        "atomic_rmw_tko",
        "atomic_cas_tko",
        "atomic_red_view_tko",
    }
)
LOGIC = frozenset({"andi", "ori", "xori"})
SHAPE_OPS = frozenset({"reshape", "broadcast", "permute", "extract", "cat"})
FOLD_FAMILIES = {"reduce": "reduction", "scan": "scan"}
CONVERSIONS = frozenset({"ftof", "itof", "ftoi"})
LONE_RULES = {
    "assert": "runtime-check",
    "print_tko": "debug-op",
    "exti": "conversion",
    "trunci": "conversion",
    "for": "loop",
    "loop": "loop",
    "if": "control-flow",
}
"""Families for an op on one side only, where its name tells."""
PLACES = frozenset({"addressing", "grid", "mask", "stride"})
"""Families that say where memory is accessed: the values tell which, the op does not."""

ADDRESSES = frozenset({"source", "destination", "pointers"})
"""Operands that are the address of an access."""

ATTRIBUTE_RULES = {
    "rounding": "float-mode/rounding",
    "flush_to_zero": "float-mode/ftz",
    "propagate_nan": "float-mode/nan",
    "signed": "integer-mode/signedness",
    "signed_lhs": "mma/signedness",
    "signed_rhs": "mma/signedness",
    "overflow": "integer-mode/overflow",
    "saturating": "conversion/saturation",
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


def rule_of(item: Local, differences: Sequence[Difference]) -> str:
    """The rule of a local difference; ``differences``: what the values say."""
    ref, gen = item.reference, item.generated
    if ref is None or gen is None:
        op: Any = gen if ref is None else ref
        return _lone_rule(op, "missing" if gen is None else "extra")
    if item.what == "results":
        ids = ref.short in ("get_tile_block_id", "get_num_tile_blocks")
        return "grid/axis" if ids else "arithmetic/operands"
    if item.what in ("inserted", "removed"):
        return _chain_rule(item, ref, gen, differences)
    families = {difference.rule.split("/")[0] for difference in differences}
    if item.what == "kind":
        return _kind_rule(ref, gen, families)
    if item.what == "type":
        return _type_rule(ref, gen)
    if item.what == "operand":
        return _operand_rule(item.name, ref, gen, differences)
    found = _attribute_rule(item.name, ref, gen, families)
    return found or (differences[0].rule if differences else "arithmetic/op")


def _lone_rule(op: TileOp, detail: str) -> str:
    """An op on one side only."""
    if op.short.startswith(("load", "store")):
        return f"memory-family/{detail}"
    if op.short.startswith("atomic"):
        return f"atomic/{detail}"
    family = LONE_RULES.get(op.short)
    return f"{family}/{detail}" if family is not None else _pure_rule(op, detail) or f"arithmetic/{detail}"


def _pure_rule(op: TileOp, detail: str) -> str | None:
    """A conversion, fold or shape op on one side only; None for all else."""
    if op.short in CONVERSIONS:
        return f"conversion/{detail}"
    if op.short in FOLD_FAMILIES:
        return f"{FOLD_FAMILIES[op.short]}/{detail}"
    return "shape-op/changed" if op.short in SHAPE_OPS else None


def _chain_rule(item: Local, ref: TileOp, gen: TileOp, differences: Sequence[Difference]) -> str:
    """An op put in before its user, or taken out."""
    detail = "extra" if item.what == "inserted" else "missing"
    added, user = (gen, ref) if item.what == "inserted" else (ref, gen)
    pure = _pure_rule(added, detail)
    if pure is not None:
        return pure
    if user.short in MEMORY or user.short in ("for", "loop"):
        return _operand_rule(item.name, user, user, differences)
    families = {difference.rule.split("/")[0] for difference in differences}
    if families and families <= PLACES | {"loop"}:
        return differences[0].rule
    return f"arithmetic/{detail}"


def _kind_rule(ref: TileOp, gen: TileOp, families: set[str]) -> str:
    """One op in place of another."""
    fold = _fold_around(ref)
    if fold is not None:
        return f"{fold}/combiner"
    if "mask" in families and {ref.short, gen.short} <= LOGIC:
        return "mask/changed"
    return "arithmetic/op"


def _fold_around(op: TileOp) -> str | None:
    """The family of the reduction or scan in whose body an op stands."""
    parent: Any = op.parent_op()
    return FOLD_FAMILIES.get(getattr(parent, "short", ""))


def _attribute_rule(name: str, ref: TileOp, gen: TileOp, families: set[str]) -> str | None:
    """Another value of one attribute."""
    short = ref.short
    if short == "alloca":
        return "addressing/base"
    if name == "dim":
        return f"{FOLD_FAMILIES[short]}/axis" if short in FOLD_FAMILIES else "shape-op/changed"
    if name == "identities" and short == "scan":
        return "scan/identity"
    if name == "rounding" and short == "divi":
        return "integer-mode/division-rounding"
    if name == "rounding" and short == "ftof":
        return "conversion/rounding"
    if name == "rounding" and {ref.get(name), gen.get(name)} & {"approx", "full"}:
        return "float-mode/approx"
    if name == "predicate":
        masks = short != "cmpf" and families & {"mask", "padding"}
        return "mask/changed" if masks else condition_rule(gen)
    if name in ("message", "format"):
        return "debug-op/changed" if short == "print_tko" else "runtime-check/changed"
    return ATTRIBUTE_RULES.get(name)


def _operand_rule(name: str, ref: TileOp, gen: TileOp, differences: Sequence[Difference]) -> str:
    """Another operand of one op."""
    short = ref.short
    if name in ("mask", "padding"):
        detail = "changed" if gen.group(name) else "missing"
        return f"{name}/{detail if ref.group(name) else 'extra'}"
    if short in MEMORY and name in ADDRESSES:
        told = (each.rule for each in differences if each.rule.split("/")[0] in PLACES - {"mask"})
        return next(told, "addressing/index")
    if short in ("for", "loop") or name in ("index", "strides", "base", "shape"):
        return OPERAND_RULES.get(name, "loop/carried")
    if short in ("continue", "break", "yield"):
        fold = _fold_around(ref)
        if fold is not None:
            return f"{fold}/combiner"
        return "control-flow/condition" if short == "yield" else "loop/carried"
    if short.startswith("mma"):
        return "accumulator/init" if name == "acc" else "mma/operands"
    if short in ("if", "assert"):
        return condition_rule(gen) if short == "if" else "runtime-check/changed"
    if short == "cat":
        return "shape-op/changed"
    families = {difference.rule.split("/")[0] for difference in differences}
    if "mask" in families and short in LOGIC | {"cmpi"}:
        return "mask/changed"
    values = [value for op in (ref, gen) for value in op.group(name)]
    numbers = {"addressing/base"} & {each.rule for each in differences} and not any(map(is_pointer, values))
    if short not in MEMORY and (numbers or all(sort_of(value) == "data" for value in values)):
        return "arithmetic/operands"  # that other arrays are read there is what follows
    return differences[0].rule if families and families <= PLACES else "arithmetic/operands"


def _type_rule(ref: TileOp, gen: TileOp) -> str:
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


def type_words(ref: TileOp, gen: TileOp, rule: str) -> tuple[str, str]:
    """How the results' types read: where only the order of their dimensions differs, that alone."""
    types: list[Any] = [op.results[0].type for op in (ref, gen)]
    maps: list[tuple[int, ...]] = [getattr(each, "dim_map", ()) for each in types]
    if rule != "dim-map/changed" or maps[0] == maps[1]:
        return str(types[0]), str(types[1])
    a, b = (
        "no dim_map" if list(each) == sorted(each) else f"dim_map=[{', '.join(map(str, each))}]"
        for each in maps
    )
    return a, b
