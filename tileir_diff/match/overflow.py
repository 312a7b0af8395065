"""Promises that an integer op does not wrap, which the other side does not make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileir_diff.match.align import Alignment
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference

OVERFLOW_OPS = frozenset({"addi", "subi", "muli", "shli", "negi", "trunci"})
FLAGS = {"nsw": frozenset({"nsw"}), "nuw": frozenset({"nuw"}), "nw": frozenset({"nsw", "nuw"})}


def overflow_promises(blame: Blame, alignment: Alignment) -> list[Difference]:
    """Flags by which the generated op promises not to wrap, where the reference's op does not."""
    found: list[Difference] = []
    for item in alignment.local:
        if (
            item.what != "attribute"
            or item.name != "overflow"
            or item.reference is None
            or item.generated is None
        ):
            continue
        ref_flags, gen_flags = (flags_of(op.get("overflow")) for op in (item.reference, item.generated))
        if gen_flags <= ref_flags or _fits(blame, item.generated, gen_flags - ref_flags):
            continue
        found.append(
            blame.make(
                "integer-mode/overflow",
                item.reference,
                item.generated,
                str(item.reference.get("overflow")),
                str(item.generated.get("overflow")),
                part="overflow",
            )
        )
    return found


def unshared_overflow(blame: Blame) -> list[Difference]:
    """The same for dumps that do not align, for generated ops that compute what one of the reference does.

    Signed overflow flags of tile C++ are the language's and say nothing about the port.
    """
    stated: dict[Any, tuple[frozenset[str], Any]] = {}
    for value, term in blame.reference.values.items():
        op: Any = value.owner
        if isinstance(term, int) and getattr(op, "short", "") in OVERFLOW_OPS:
            key = (term, value.type.element.bits)  # type: ignore[attr-defined]
            flags = flags_of(op.get("overflow"))
            old = stated.get(key)
            stated[key] = (flags | old[0] if old is not None else flags, op)
    found: list[Difference] = []
    seen: set[Any] = set()
    for value, term in blame.generated.values.items():
        op = value.owner
        if (
            not isinstance(term, int)
            or getattr(op, "short", "") not in OVERFLOW_OPS
            or op.get("overflow") == "none"
        ):
            continue
        flags = flags_of(op.get("overflow"))
        if blame.generated.name.startswith("_Z"):
            flags -= {"nsw"}
        key = (blame.rename(term), value.type.element.bits)  # type: ignore[attr-defined]
        partner = stated.get(key)
        if partner is None or flags <= partner[0] or key in seen or _fits(blame, op, flags - partner[0]):
            continue
        seen.add(key)
        found.append(
            blame.make(
                "integer-mode/overflow",
                partner[1],
                op,
                str(partner[1].get("overflow")),
                str(op.get("overflow")),
                part="overflow",
            )
        )
    return found


def flags_of(value: object) -> frozenset[str]:
    return FLAGS.get(str(value), frozenset())


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
