"""What is not covered: one message with the op's place in the dump."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tileir_diff.dialect.ir import TileOp


def refuse(op: TileOp, why: str) -> InputError:
    """The error for an op that cannot be written, at its place."""
    message = f"cannot translate {op.short}: {why}"
    if op.dump is None:
        return InputError(message)
    return op.dump.text.error(message, op.start)


def refuse_type(op: TileOp, type_: Attribute) -> InputError:
    """The error for a type that the front end lacks."""
    return refuse(op, f"cuTile Rust has no type for {type_}")
