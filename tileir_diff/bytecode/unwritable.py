"""What bytecode, or one version of it, cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp


class Unwritable(Exception):  # noqa: N818  (an input error once its place is known)
    """A part of an op that has no encoding; `op` is None until somebody knows which."""

    def __init__(self, message: str, op: TileOp | None = None) -> None:
        super().__init__(message)
        self.op = op
