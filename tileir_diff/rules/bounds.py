"""Promises about ranges: `assume bounded` and `inbounds` of view accesses.

## What it does

Compares the ranges that each side promises, beyond what holds by construction (block ids, loop indices
and sizes are not negative), and the dimensions along which a view access promises to stay inside.

## Why it matters

A false range is undefined behaviour, and lets the compiler drop a mask that is needed.
`inbounds` on a tile that overhangs reads and writes outside the array.

## Example

`inbounds = [true, true]` on a store in the generated kernel only: `bounds/inbounds`.

## Known problems

Whether a promise is true is the host's matter. With `--launch` it is checked for that launch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference

DETAILS: Mapping[str, Detail] = {
    "inbounds": Detail(
        impact="assume",
        message="the {op} has inbounds {actual}; in the reference {expected}",
        effect="no bounds check along these dimensions: a tile at the edge reads or writes outside the array",
        fix="leave out inbounds{at} for the dimensions that can run past the edge",
        fixes={
            "cutile-rust": "pass `false` as inbounds{at} for the dimensions that can run past the edge, "
            "and no `unchecked_accesses`",
            "cutile-python": "leave `check_bounds=True`{at} for an access that can run past the edge",
        },
    ),
    "missing": Detail(
        impact="none",
        message="no range promised; the reference promises {expected}",
        effect="none on results; the compiler knows less",
        fix="nothing to do",
    ),
    "stronger": Detail(
        impact="assume",
        message="promises {actual}; the reference has {expected}",
        effect="undefined behaviour where the promise is false",
        fix="promise no more than {expected}{at}",
        fixes={"cutile-rust": "promise no more than {expected}{at}: correct or remove the `assume_bounds`"},
    ),
    "weaker": Detail(
        impact="none",
        message="promises {actual}; the reference has {expected}",
        effect="none on results; the compiler knows less",
        fix="nothing to do",
    ),
}

PROMISED = DETAILS["inbounds"]._replace(
    message="the {op} promises to stay in bounds; the reference checks {expected}"
)

CHECKED = Detail(
    impact="hint",
    message="the {op} checks {actual}; in the reference it promises to stay in bounds",
    effect="none on results: the reference is defined only where its promise is true; checks cost time",
    fix="nothing to do for results",
)

OF_A_VALUE = Detail(
    impact="assume",
    message="promises {actual} of a value that is {expected}",
    effect="undefined behaviour: the promise is false",
    fix="promise only what holds{at}: the value is {expected}",
)

DROPPED = DETAILS["stronger"]._replace(
    fix="drop the promise{at}, unless the host guarantees it",
    fixes={"cutile-rust": "remove the `assume_bounds`{at}, unless the host guarantees it"},
)


def judge(difference: Difference) -> Detail | None:
    """What is promised of an access or of a known value reads otherwise than a range does."""
    detail = difference.rule.partition("/")[2]
    if detail == "inbounds":
        sides = ("promised" in difference.expected, "promised" in difference.actual)
        return {(False, True): PROMISED, (True, False): CHECKED}.get(sides)
    if detail != "stronger":
        return None
    if difference.expected.lstrip("-").isdecimal():
        return OF_A_VALUE
    return DROPPED if difference.expected.startswith("no ") else None
