"""Where a term comes from: the op to point at, found from the op that uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.match.model import Site

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term

TRANSPARENT = frozenset({"reshape", "broadcast", "permute", "extract", "assume", "exti", "trunci"})
"""Ops that pass a value through: a finding names the op behind them."""
PREDICATES = frozenset({"andi", "cmpf", "cmpi", "ori", "xori"})
"""Ops that a condition is made by."""


def site(kernel: Kernel, op: Any, part: str | None = None) -> Site | None:
    return None if op is None else Site(op, kernel.name, part)


def defining_op(value: SSAValue | None) -> TileOp | None:
    """The op that computes a value, looking through shape ops and assumes; None for a block argument."""
    for _ in range(1000):
        if value is None:
            return None
        owner: Any = value.owner
        if not hasattr(owner, "short"):
            return None
        if owner.short in TRANSPARENT:
            value = owner.operands[0]
            continue
        return owner
    return None


def condition_rule(op: TileOp | None) -> str:
    """The rule for another condition: of a branch, or of one by which a `loop` is left."""
    work: list[Any] = [] if op is None else [op]
    for each in work:
        if each.short == "if":
            last = [region.block.last_op for region in each.regions if region.blocks]
            if any(getattr(end, "short", "") == "break" for end in last):
                return "control-flow/exit"
        elif each.short in PREDICATES | TRANSPARENT:
            users = (use.operation for result in each.results for use in result.uses)
            work.extend(user for user in users if user not in work)
    return "control-flow/condition"


def origin(kernel: Kernel, term: Term, user: Any = None) -> Any:
    """The op that computes ``term``; among several equal ones, the one that ``user`` reads."""
    if user is not None:
        for value in user.operands:
            if kernel.values.get(value) == term:
                op = defining_op(value)
                if op is not None:
                    return op
    found = kernel.terms.origins[kernel.side].get(term)
    if found is not None:
        return found
    atom = kernel.terms.single(term)
    return None if atom is None else kernel.terms.origins[kernel.side].get(atom)


def text(op: Any) -> str:
    """The op in short, for expected / actual: its name and modifiers."""
    parts = [op.short]
    for key in (
        "predicate",
        "ordering",
        "signed",
        "rounding",
        "overflow",
        "mode",
        "memory_ordering",
        "memory_scope",
    ):
        value = op.get(key)
        if value not in (None, "none") and not isinstance(value, (dict, tuple)):
            parts.append(str(value))
    for key in ("flush_to_zero", "propagate_nan", "saturating", "fast_acc"):
        if op.get(key):
            parts.append(key)
    return " ".join(parts)
