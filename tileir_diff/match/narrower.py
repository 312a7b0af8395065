"""Index arithmetic that the generated side does in fewer bits than the reference.

The comparison takes index arithmetic of 32 bits and more not to wrap. Where both sides compute a number in
the same width they wrap alike; where only the generated side's is narrow, that the number fits is the host's
to guarantee.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.graph.integers import fits
from tileir_diff.graph.values import is_used
from tileir_diff.match.obligations import obligation
from tileir_diff.match.overflow import OVERFLOW_OPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame

WIDE = 64


def narrower(blame: Blame) -> list[str]:
    """What must fit the generated side's narrow integers, in words."""
    wide, narrow = _computed(blame.reference)
    found: dict[TileOp, tuple[Term, int]] = {}
    for op in blame.generated.ops:
        value = _narrow_result(op)
        if value is None:
            continue
        term, bits = blame.generated_term(value), _bits(value)
        if term is None or fits(blame.terms, term, bits) or not is_used(op):
            continue
        if any(_matters(other) for other in narrow.get(term, ())):
            continue  # that wraps alike
        if term in wide or any(_widens(use.operation) for use in value.uses):
            found[op] = term, bits
    lines: dict[str, None] = {}
    for op, (term, bits) in found.items():
        # a sum that fits is right whatever its parts do
        if not any(user in found for user in _users(op)):
            lines[obligation(blame.terms, term, f"{blame.show(term)} fits i{bits}")] = None
    return list(lines)


def _narrow_result(op: TileOp) -> Any:
    if op.short not in OVERFLOW_OPS or not 1 < _bits(op.results[0]) < WIDE:
        return None
    return op.results[0]


def _matters(owner: Any) -> bool:
    """Whether an op's result, or a block's argument, has a use."""
    return not hasattr(owner, "results") or is_used(owner)


def _users(op: TileOp) -> Iterator[Any]:
    """The ops that read the result, also in another shape."""
    work: list[Any] = [op]
    while work:
        for use in work.pop().results[0].uses:
            yield use.operation
            if getattr(use.operation, "short", "") in ("reshape", "broadcast"):
                work.append(use.operation)


def _widens(op: Any) -> bool:
    """Whether what wraps before the op is another number after it."""
    return op.short in ("exti", "offset")


def _bits(value: Any) -> int:
    return getattr(getattr(value.type, "element", None), "bits", 0)


def _computed(kernel: Kernel) -> tuple[set[Term], dict[Term, list[Any]]]:
    """The numbers of 64 bits; and those of fewer, with the ops or blocks that they come from."""
    wide: set[Term] = set()
    narrow: dict[Term, list[Any]] = {}
    for value, term in kernel.values.items():
        if not isinstance(term, int):
            continue
        if _bits(value) >= WIDE:
            wide.add(term)
        else:
            narrow.setdefault(term, []).append(value.owner)
    return wide, narrow
