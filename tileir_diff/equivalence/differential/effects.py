"""What the runs change in the findings: evidence, and impacts where they say more than structure does.

- A difference on an input is evidence of the finding that explains it, and raises its impact to what was
  seen. Where no finding of that entry is above a hint, it is a finding of its own.
- Equal runs are evidence, and lower nothing that structure has shown. They do lower what structure could not
  settle: `arithmetic/not-proven` to a hint, `arithmetic/reformulated` to rounding, after all kinds of
  numbers were tried.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tileir_diff.equivalence.differential.compare import LARGE
from tileir_diff.match.model import Difference, Site
from tileir_diff.rules import finding
from tileir_diff.rules.model import impact_rank

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.differential.execute import Found, Tested

LOWERED: Final = {"arithmetic/not-proven": "hint", "arithmetic/reformulated": "ulp"}
"""Findings that say that structure does not know; what they are after runs that are all equal."""
ENOUGH: Final = 12
"""Fewer runs lower nothing."""
TINY: Final = 2.0**-100
"""A difference between values below this is one near the end of the range."""
BY_RULE: Final = {
    "assume": ("assume", ("divisibility", "bounds", "integer-mode")),
    "bounds": ("bounds", ("mask", "padding", "bounds", "addressing", "tile-shape", "grid", "loop", "stride")),
    "integer": ("assume", ("integer-mode", "addressing")),
    "memory": ("bounds", ("addressing", "memory-family", "mask")),
    "undetermined": ("bounds", ("padding", "mask", "bounds")),
    "race": ("logic", ("atomic", "grid", "addressing", "mask", "memory-order", "token-order")),
}
"""By family of the interpreter's finding: what it can do, and the rules that explain it."""


def impact_of(difference: Difference) -> str:
    return finding(difference).impact


def matters(difference: Difference) -> bool:
    """Whether a difference is above a hint."""
    return impact_rank(impact_of(difference)) > impact_rank("hint")


def shown_impact(found: Found) -> str:
    """What an input shows that a difference does."""
    mismatch = found.mismatch
    if mismatch.rule:
        return BY_RULE.get(mismatch.rule.partition("/")[0], ("logic", ()))[0]
    if found.recipe.special:
        return "edge"
    if mismatch.reference is None or mismatch.generated is None:
        return "bounds"
    if max(abs(mismatch.reference), abs(mismatch.generated)) < TINY:
        return "edge"
    return "precision" if mismatch.ratio < LARGE else "logic"


def with_difference(
    differences: list[Difference], found: Found, text: str, entries: tuple[TileOp, TileOp]
) -> list[Difference]:
    """The findings of a pair of entries with an input on which they differ."""
    impact = shown_impact(found)
    index = _explaining(differences, found)
    if index is None:
        one, other = (Site(entry, entry.symbol) for entry in entries)
        words = "nothing of the kind", str(found.mismatch)
        own = Difference("semantics/different", one, other, *words, impact=impact, note=text)
        return [*differences, own]
    chosen = differences[index]
    # Another finding may be what the input shows: only what is worse than all of them raises one.
    worst = max(impact_rank(impact_of(each)) for each in differences)
    raised = impact if impact_rank(impact) > worst else chosen.impact
    changed = replace(chosen, impact=raised, note=_joined(chosen.note, text))
    return [*differences[:index], changed, *differences[index + 1 :]]


def _explaining(differences: list[Difference], found: Found) -> int | None:
    """The finding that explains an input best: by its family, else the first that matters."""
    candidates = [at for at, each in enumerate(differences) if matters(each)]
    families = BY_RULE.get(found.mismatch.rule.partition("/")[0], ("", ()))[1]
    for family in families:
        for at in candidates:
            if differences[at].rule.partition("/")[0] == family:
                return at
    return candidates[0] if candidates else None


def with_equal_runs(differences: list[Difference], tested: Tested, text: str) -> list[Difference]:
    """The findings of a pair of entries that were equal in all runs."""
    changed: list[Difference] = []
    for each in differences:
        if not matters(each):
            changed.append(each)
            continue
        noted = replace(each, note=_joined(each.note, text))
        lower = LOWERED.get(each.rule)
        if lower is not None and tested.runs >= ENOUGH and not tested.why:
            lowered = impact_rank(lower) < impact_rank(impact_of(each))
            noted = replace(noted, impact=lower if lowered else noted.impact, status="SEMANTIC_EQUIV")
        changed.append(noted)
    return changed


def _joined(first: str, second: str) -> str:
    return f"{first}; {second}" if first else second
