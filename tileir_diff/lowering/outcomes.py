"""What the remarks say of each op, in a few words that compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tileir_diff.lowering.remarks import Remark

MATRIX: Final = ("mmaf", "mmai", "mmaf_scaled")
"""Ops of which the assembler says whether they use tensor cores."""
ACCESSES: Final = ("load_view_tko", "store_view_tko", "atomic_red_view_tko")
"""Ops of which it says which instruction they become; it says nothing of accesses through pointers."""


class Outcome(NamedTuple):
    """What became of one op: instructions that were chosen, and reasons why others were not."""

    chosen: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def tma(self) -> bool:
        return any("TMA" in each for each in self.chosen)

    def __str__(self) -> str:
        chosen = ", ".join(self.chosen)
        reasons = ", ".join(self.reasons)
        if not chosen:
            return reasons or "no remark"
        return f"{chosen} ({reasons})" if reasons else chosen


def outcomes(remarks: tuple[Remark, ...]) -> dict[int, Outcome]:
    """By the number of the op. Words are sorted: the order of remarks is that of the generated code."""
    chosen: dict[int, set[str]] = {}
    reasons: dict[int, set[str]] = {}
    for remark in remarks:
        chosen.setdefault(remark.line, set()).update(_short(each) for each in remark.texts("Instruction"))
        if remark.kind == "Failure":
            why = remark.texts("Reason") or remark.texts("Remark")
            about = "no TMA: " if "Tma" in remark.name else ""
            reasons.setdefault(remark.line, set()).update(about + each for each in why)
    return {
        number: Outcome(tuple(sorted(words)), tuple(sorted(reasons.get(number, set()))))
        for number, words in sorted(chosen.items())
        if number and (words or number in reasons)
    }


def _short(instruction: str) -> str:
    """`TMA Load instruction` is `TMA load`."""
    words = instruction.removesuffix(" instruction")
    return words.replace("TMA Load", "TMA load").replace("TMA Store", "TMA store")
