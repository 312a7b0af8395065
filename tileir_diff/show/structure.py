"""Reductions, matrix products, loops, branches, checks and prints of an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Tile
from tileir_diff.lints.latency_in_persistent_loop import is_persistent

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.lints.facts import EntryFacts
    from tileir_diff.show.naming import Names

Json = dict[str, Any]

COMBINERS = {
    "addf": "sum", "addi": "sum", "mulf": "product", "muli": "product", "maxf": "max", "maxi": "max",
    "minf": "min", "mini": "min", "andi": "and", "ori": "or", "xori": "xor",
}  # fmt: skip


def reductions(facts: EntryFacts) -> list[Json]:
    """One record a reduce or scan; `combiner` is sum, max, .. where the body is a single op, else its ops."""
    result: list[Json] = []
    for op in facts.of("reduce", "scan"):
        values = op.group("operands")
        shape = _shape(values[0]) if values else []
        dim = op.get("dim")
        result.append(
            {
                "line": op.span.line,
                "op": op.short,
                "axis": dim,
                "extent": shape[dim] if isinstance(dim, int) and dim < len(shape) else None,
                "shape": shape,
                "elements": [_element(value) for value in values],
                "combiner": _combiner(op),
                "identities": [_literal(literal) for literal in op.get("identities") or ()],
                "reverse": op.get("reverse"),
                "used": op in facts.live,
            }
        )
    return result


def _combiner(op: TileOp) -> str:
    body = [inner for inner in op.inner() if inner.short not in ("yield", "constant")]
    if len(body) == 1 and len(op.group("operands")) == 1:
        only = body[0]
        name = COMBINERS.get(only.short, only.short)
        return f"{name} propagate_nan" if only.get("propagate_nan") else name
    return ", ".join(inner.short for inner in body)


def matrix_products(facts: EntryFacts) -> list[Json]:
    """One record an mma: shapes of both operands, element types, accumulator."""
    result: list[Json] = []
    for op in facts.of("mmaf", "mmai", "mmaf_scaled"):
        result.append(
            {
                "line": op.span.line,
                "op": op.short,
                "lhs": _shape(op.one("lhs")),
                "rhs": _shape(op.one("rhs")),
                "element": [_element(op.one("lhs")), _element(op.one("rhs"))],
                "accumulator": _element(op.one("acc")),
                "scales": [
                    _element(value) for name in ("lhs_scale", "rhs_scale") for value in op.group(name)
                ],
                "fast_acc": bool(op.get("fast_acc")),
                "signed": [op.get("signed_lhs"), op.get("signed_rhs")] if op.short == "mmai" else [],
            }
        )
    return result


def loops(facts: EntryFacts, names: Names) -> list[Json]:
    """One record a loop. `trips` is a number where it is constant, else an expression or null."""
    kernel = facts.kernel
    evaluated = {loop.op: loop for loop in kernel.loops} if kernel is not None else {}
    result: list[Json] = []
    numbers = {loop.op: number for number, loop in enumerate(kernel.loops)} if kernel is not None else {}
    for op in facts.of("for", "loop"):
        record: Json = {"line": op.span.line, "op": op.short, "depth": _depth(facts, op)}
        record["name"] = f"it{numbers[op]}" if op in numbers else ""
        if op.short == "for":
            for name in ("lower", "upper", "step"):
                record[name] = names.say(op.one(name))
            record["unsigned"] = bool(op.get("unsigned_cmp"))
            record["persistent"] = is_persistent(op)
        loop = evaluated.get(op)
        trips: int | str | None = None
        if loop is not None and loop.trip is not None and kernel is not None:
            number = kernel.terms.value(loop.trip)
            trips = names.say_term(loop.trip) if number is None else number
        elif loop is None:
            trips = _constant_trips(facts, op)
        record["trips"] = trips
        arguments = op.regions[0].block.args[1 if op.short == "for" else 0 :]
        record["carried"] = [str(argument.type) for argument in arguments]
        result.append(record)
    return result


def _constant_trips(facts: EntryFacts, op: TileOp) -> int | None:
    """Trips of a `for` that the evaluation has unrolled (one trip) or dropped (none)."""
    terms = facts.terms
    bounds = [facts.term(op.one(name)) for name in ("lower", "upper", "step")] if op.short == "for" else []
    if terms is None or not bounds or any(bound is None for bound in bounds):
        return None
    lower, upper, step = (terms.value(bound) for bound in bounds if bound is not None)
    if lower is None or upper is None or not step or step < 0:
        return None
    return max(0, -((lower - upper) // step))


def branches(facts: EntryFacts, names: Names) -> list[Json]:
    """One record an `if`: its condition, what it yields, and how it can leave early."""
    result: list[Json] = []
    for op in facts.of("if"):
        exits = [
            inner.short
            for region in op.regions
            for inner in _direct(region)
            if inner.short in ("break", "continue", "return")
        ]
        result.append(
            {
                "line": op.span.line,
                "condition": names.say(op.one("condition")),
                "else": any(inner.short != "yield" for inner in _direct(op.regions[1]))
                if len(op.regions) > 1
                else False,
                "results": [str(value.type) for value in op.results],
                "exits": exits,
                "depth": _depth(facts, op),
            }
        )
    return result


def checks(facts: EntryFacts, names: Names) -> list[Json]:
    """Asserts and prints."""
    result: list[Json] = []
    for op in facts.of("assert", "print_tko"):
        values = op.group("condition") if op.short == "assert" else op.group("args")
        result.append(
            {
                "line": op.span.line,
                "op": op.short,
                "text": op.get("message") if op.short == "assert" else op.get("format"),
                "values": [names.say(value) for value in values],
            }
        )
    return result


def grid(facts: EntryFacts) -> Json:
    """Which axes of the grid the kernel looks at, as far as it uses them."""
    result: Json = {}
    for key, short in (("block_id", "get_tile_block_id"), ("num_tile_blocks", "get_num_tile_blocks")):
        axes: set[int] = set()
        for op in facts.of(short):
            axes.update(index for index, value in enumerate(op.results) if _used(facts, value))
        result[key] = ["xyz"[axis] for axis in sorted(axes)]
    return result


def _used(facts: EntryFacts, value: SSAValue) -> bool:
    work = [value]
    while work:
        for use in work.pop().uses:
            user: Any = use.operation
            if getattr(user, "short", "") == "assume":
                work.extend(user.results)
            elif user in facts.live or getattr(user, "short", "") in ("load_ptr_tko", "load_view_tko"):
                return True
    return False


def _direct(region: Any) -> list[Any]:
    return [op for block in region.blocks for op in block.ops]


def _depth(facts: EntryFacts, op: TileOp) -> int:
    depth = 0
    parent = op.parent_op()
    while parent is not None and parent is not facts.entry:
        depth += 1
        parent = parent.parent_op()
    return depth


def _shape(value: SSAValue | None) -> list[int]:
    return list(value.type.shape) if value is not None and isinstance(value.type, Tile) else []


def _element(value: SSAValue | None) -> str:
    return str(value.type.element) if value is not None and isinstance(value.type, Tile) else ""


def _literal(literal: DenseElements | None) -> str:
    if literal is None:
        return "?"
    return str(literal.ints()[0]) if literal.element.is_int else f"{literal.floats()[0]:g}"
