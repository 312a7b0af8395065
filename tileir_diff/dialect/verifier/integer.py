"""Modes of integer ops, and the range of iota."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.access import number, result_tile
from tileir_diff.dialect.verifier.broken import Broken, Constraints, Rules
from tileir_diff.dialect.verifier.kinds import phrase

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

DIVISION_MODES = ("zero", "negative_inf", "positive_inf")

RULES: Rules = {
    "divi/rounding": f"the rounding mode of divi is {phrase(DIVISION_MODES)}",
    "divi/unsigned-negative-inf": "an unsigned divi does not round to negative_inf",
    "negi/overflow": "negi does not take no_unsigned_wrap",
    "iota/rank": "iota gives a tile of rank 1",
    "iota/range": "the last number of an iota fits its element type",
}


def division(op: TileOp) -> Broken | None:
    mode = op.get("rounding")
    if mode not in DIVISION_MODES:
        return Broken("divi/rounding", f"`divi` rounds to {phrase(DIVISION_MODES)}, found {mode}", "rounding")
    if mode == "negative_inf" and op.get("signed") == "unsigned":
        message = "rounding mode negative_inf needs `signed`: an unsigned quotient is already rounded down"
        return Broken("divi/unsigned-negative-inf", message, "rounding")
    return None


def negation(op: TileOp) -> Broken | None:
    if op.get("overflow") == "nuw":
        return Broken("negi/overflow", "`negi` is signed, it takes no no_unsigned_wrap", "overflow")
    return None


def iota(op: TileOp) -> Broken | None:
    result = result_tile(op)
    if len(result.shape) != 1:
        return Broken("iota/rank", f"`iota` gives a tile of rank 1, found {result}", "result")
    bits = number(result).bits
    if result.shape[0] > 1 << bits:
        message = f"`iota` counts to {result.shape[0] - 1}, too much for {result.element}"
        return Broken("iota/range", message, "result")
    return None


CONSTRAINTS: Constraints = {"divi": (division,), "negi": (negation,), "iota": (iota,)}
