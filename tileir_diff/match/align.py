"""Op-by-op alignment of two entries that are almost the same text: which single ops differ.

Two builds of one kernel, or a kernel and its edited copy, differ in a few ops. Values tell that something
differs; the alignment tells which line was changed. It is used where nearly all ops align, and only to place
findings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import types_of

if TYPE_CHECKING:
    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp

MAX_LOCAL = 6
"""More local differences than this are not "the same text with an edit"."""
MIN_SHARE = 0.9
"""Share of ops that must align on both sides."""
LONGEST_MIDDLE = 4000
"""Blocks whose differing middle is longer are not aligned: the alignment is quadratic in the worst case."""

KINDS = (
    "addf subf mulf divf remf maxf minf fma absf negf sqrt rsqrt exp exp2 log log2 floor ceil tanh",
    "sin cos tan sinh cosh",
    "addi subi muli mulhii divi remi mini maxi shli shri andi ori xori negi absi",
    "cmpi cmpf",
    "ftof itof ftoi exti trunci bitcast",
    "reshape broadcast permute extract cat",
    "reduce scan",
    "mmaf mmai mmaf_scaled",
    "load_ptr_tko load_view_tko",
    "store_ptr_tko store_view_tko atomic_rmw_tko atomic_cas_tko atomic_red_view_tko",
    "for loop",
    "make_partition_view make_strided_view make_gather_scatter_view",
    "get_tile_block_id get_num_tile_blocks",
    "break continue yield",
)
"""Ops that are written for each other, by mistake or on purpose; all others only for their own kind."""
KIND_OF = {name: index for index, names in enumerate(KINDS) for name in names.split()}

NOT_COMPARED = frozenset({"hints", "sym_name", "function_type"})


@dataclass(slots=True)
class Local:
    """One op that differs in itself: an attribute, its type, its kind, or which value it reads."""

    reference: TileOp | None
    generated: TileOp | None
    what: str
    """kind, attribute, type, operand, missing, extra; after placing also results, inserted, removed"""
    name: str = ""
    """The attribute or the operand group."""
    operand: int = -1


@dataclass(slots=True)
class Alignment:
    """Aligned ops and what differs between them."""

    pairs: list[tuple[TileOp, TileOp]] = field(default_factory=list[tuple["TileOp", "TileOp"]])
    local: list[Local] = field(default_factory=list[Local])
    total: int = 0
    gave_up: bool = False

    @property
    def close(self) -> bool:
        """Whether the two entries are the same text but for a few ops."""
        return (
            not self.gave_up
            and len(self.local) <= MAX_LOCAL
            and 2 * len(self.pairs) >= MIN_SHARE * self.total
        )


def align(reference: TileOp, generated: TileOp) -> Alignment:
    """Align two entries, region by region."""
    result = Alignment()
    values: dict[SSAValue, SSAValue] = {}
    ref_block, gen_block = reference.regions[0].block, generated.regions[0].block
    if len(ref_block.args) != len(gen_block.args):
        result.gave_up = True
        return result
    values.update(zip(ref_block.args, gen_block.args, strict=True))
    _blocks(ref_block, gen_block, values, result)
    if result.gave_up:
        return result
    for ref_op, gen_op in result.pairs:
        _compare_ops(ref_op, gen_op, values, result)
    if not result.local:
        return result
    position = {id(op): index for index, op in enumerate(reference.walk())}
    gen_position = {id(op): index for index, op in enumerate(generated.walk())}
    result.local.sort(
        key=lambda item: (
            position.get(id(item.reference), 1 << 30) if item.reference is not None else 1 << 30,
            gen_position.get(id(item.generated), 0) if item.generated is not None else 0,
        )
    )
    return result


def _key(op: Any) -> tuple[Any, ...]:
    return (op.short, tuple(types_of(op.results)), len(op.inputs), len(op.regions))


def _blocks(ref: Block, gen: Block, values: dict[SSAValue, SSAValue], result: Alignment) -> None:
    left: list[Any] = list(ref.ops)
    right: list[Any] = list(gen.ops)
    result.total += len(left) + len(right)
    start = 0
    while start < min(len(left), len(right)) and _key(left[start]) == _key(right[start]):
        _pair(left[start], right[start], values, result)
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and _key(left[-1 - end]) == _key(right[-1 - end]):
        end += 1
    middle_left, middle_right = left[start : len(left) - end], right[start : len(right) - end]
    if max(len(middle_left), len(middle_right)) > LONGEST_MIDDLE:
        result.gave_up = True
        return
    if middle_left or middle_right:
        _middle(middle_left, middle_right, values, result)
    for offset in range(end, 0, -1):
        _pair(left[-offset], right[-offset], values, result)


def _middle(left: list[Any], right: list[Any], values: dict[SSAValue, SSAValue], result: Alignment) -> None:
    keys_left, keys_right = [_key(op) for op in left], [_key(op) for op in right]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, keys_left, keys_right, autojunk=False).get_opcodes():
        if tag == "equal":
            for x, y in zip(left[i1:i2], right[j1:j2], strict=True):
                _pair(x, y, values, result)
            continue
        if tag == "replace" and i2 - i1 == j2 - j1:
            for x, y in zip(left[i1:i2], right[j1:j2], strict=True):
                _replaced(x, y, values, result)
            continue
        _unequal_runs(left[i1:i2], right[j1:j2], values, result)


def _unequal_runs(
    left: list[Any], right: list[Any], values: dict[SSAValue, SSAValue], result: Alignment
) -> None:
    """Runs of different lengths: an op with an operand more or less, or a carried value, is still itself."""
    kinds_left, kinds_right = [_kind(op) for op in left], [_kind(op) for op in right]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, kinds_left, kinds_right, autojunk=False).get_opcodes():
        if tag == "equal":
            for x, y in zip(left[i1:i2], right[j1:j2], strict=True):
                _pair(x, y, values, result)
            continue
        result.local.extend(Local(op, None, "missing") for op in left[i1:i2])
        result.local.extend(Local(None, op, "extra") for op in right[j1:j2])


def _kind(op: Any) -> tuple[Any, ...]:
    return (op.short, () if op.regions else tuple([result.type for result in op.results]))


def _replaced(ref: Any, gen: Any, values: dict[SSAValue, SSAValue], result: Alignment) -> None:
    """Two ops in the same place that are not spelled alike: one for the other, or two that are unrelated."""
    same_shape = len(ref.results) == len(gen.results) and len(ref.operands) == len(gen.operands)
    if ref.short == gen.short or (same_shape and _alike(ref, gen)):
        _pair(ref, gen, values, result)
    elif _alike(ref, gen):
        result.local.append(Local(ref, gen, "kind"))
        _map_results(ref, gen, values)
    else:
        result.local.append(Local(ref, None, "missing"))
        result.local.append(Local(None, gen, "extra"))


def _alike(ref: Any, gen: Any) -> bool:
    """Whether one op may have been written for the other."""
    return KIND_OF.get(ref.short, ref.short) == KIND_OF.get(gen.short, gen.short)


def _map_results(ref: Any, gen: Any, values: dict[SSAValue, SSAValue]) -> None:
    for a, b in zip(ref.results, gen.results, strict=False):
        values[a] = b


def _pair(ref: Any, gen: Any, values: dict[SSAValue, SSAValue], result: Alignment) -> None:
    result.pairs.append((ref, gen))
    _map_results(ref, gen, values)
    for ref_region, gen_region in zip(ref.regions, gen.regions, strict=False):
        if not ref_region.blocks or not gen_region.blocks:
            continue
        for a, b in zip(ref_region.block.args, gen_region.block.args, strict=False):
            values[a] = b
        _blocks(ref_region.block, gen_region.block, values, result)


def _compare_ops(ref: Any, gen: Any, values: dict[SSAValue, SSAValue], result: Alignment) -> None:
    if ref.short != gen.short:
        result.local.append(Local(ref, gen, "kind"))
        return
    for attribute in ref.spec.attributes if ref.properties or gen.properties else ():
        name = attribute.name
        if name not in NOT_COMPARED and ref.get(name) != gen.get(name):
            result.local.append(Local(ref, gen, "attribute", name))
    if any(a.type != b.type for a, b in zip(ref.results, gen.results, strict=False)):
        result.local.append(Local(ref, gen, "type", "results"))
    if ref.segments == gen.segments and all(
        values.get(a) is b for a, b in zip(ref.inputs, gen.inputs, strict=True)
    ):
        return
    ref_groups, gen_groups = operand_groups(ref), operand_groups(gen)
    if [name for name, _ in ref_groups] != [name for name, _ in gen_groups]:
        names = {name for name, _ in ref_groups} ^ {name for name, _ in gen_groups}
        result.local.append(Local(ref, gen, "operand", min(names) if names else "operands"))
        return
    for index, ((name, a), (_, b)) in enumerate(zip(ref_groups, gen_groups, strict=True)):
        if values.get(a) is not b:
            result.local.append(Local(ref, gen, "operand", name, index))


def operand_groups(op: Any) -> list[tuple[str, SSAValue]]:
    """Operands with the name of their group, in order."""
    names = [name for name, size in zip(op.group_index, op.segments, strict=True) for _ in range(size)]
    return list(zip(names, op.inputs, strict=True))


def settled_promises(alignment: Alignment) -> frozenset[int]:
    """The ``assume`` ops that align and differ in nothing."""
    touched = {
        id(op) for item in alignment.local for op in (item.reference, item.generated) if op is not None
    }
    return frozenset(
        id(op)
        for pair in alignment.pairs
        if pair[0].short == pair[1].short == "assume"
        and id(pair[0]) not in touched
        and id(pair[1]) not in touched
        for op in pair
    )
