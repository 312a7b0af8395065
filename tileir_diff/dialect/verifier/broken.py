"""What a constraint function returns, and what the verifier reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp


class Broken(NamedTuple):
    """One constraint that does not hold for one op.

    `part` names the piece of the op's text to point at: an attribute, an operand group,
    `operand:<i>` for the group of operand i, `result` for the type of the result, or `type:<text>` for a
    type as it is printed; None is the op itself.
    """

    rule: str
    message: str
    part: str | None = None


@dataclass(frozen=True)
class CheckError:
    """One error of a file, at a 1-based position in its text."""

    rule: str
    message: str
    line: int
    column: int

    @property
    def position(self) -> tuple[int, int]:
        return (self.line, self.column)


Constraint = Callable[["TileOp"], Broken | None]
Constraints = dict[str, tuple[Constraint, ...]]
Rules = dict[str, str]


def first_broken(op: TileOp, constraints: tuple[Constraint, ...]) -> Broken | None:
    """The first of `constraints` that `op` breaks: later ones may rely on earlier ones."""
    for constraint in constraints:
        broken = constraint(op)
        if broken is not None:
            return broken
    return None
