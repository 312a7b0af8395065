"""Where in the text an error is shown: the offending part of the op, else the op."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp


def locate(op: TileOp, part: str | None) -> tuple[int, int]:
    """Line and column of a `Broken.part` of `op`."""
    offset = _offset(op, part) if part is not None else None
    if offset is not None and op.dump is not None:
        return op.dump.text.position(op.start + offset)
    span = (op.part_span(_group(op, part)) if part is not None else None) or op.span
    return span.line, span.column


def _offset(op: TileOp, part: str) -> int | None:
    """Offset in the op's text of a part that `part_span` does not know: `result`, or `type:<text>`."""
    kind, _, rest = part.partition(":")
    text = op.text
    if kind == "type":
        found = text.find(rest)
        return found if found >= 0 else None
    if kind != "result" or op.part_span("types") is None:
        return None
    arrow = text.rfind("->")
    if arrow < 0:
        return None
    after = text[arrow + 2 :]
    return arrow + 2 + len(after) - len(after.lstrip(" ("))


def _group(op: TileOp, part: str) -> str:
    """The name that `part_span` knows: `operand:<i>` becomes the group that holds operand i."""
    kind, _, number = part.partition(":")
    if kind in ("result", "type"):
        return "types"
    if kind != "operand":
        return part
    position = int(number)
    for name, size in zip(op.spec.operands, op.segments, strict=True):
        if position < size:
            return name.rstrip("?*")
        position -= size
    return part
