"""The gate of the performance investigator: causes are those that code finds; what has none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Perf, Residual, listed
from tileir_diff.pipeline.gates.common import Given, Ruled, Ruling, told
from tileir_diff.pipeline.gates.diff import unproven
from tileir_diff.pipeline.gates.residue import investigate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.pipeline.artifacts import Residue


def judge(given: Given) -> Ruled:
    """EXPLAINED where each slow case has the causes that code finds, and is unexplained where it has none."""
    ruling = Ruling("investigator", given)
    ruling.saw("residual.json")
    try:
        residual = given.read(Residual, "residual.json")
        perf = given.read(Perf, "perf.json")
        found = investigate(given)
    except InputError as error:
        return ruling.malformed(InputError(told(error, given.folder), ""))
    ruling.saw(*found.saw)
    ruling.versions.update(found.versions)
    others = sorted(({each.case for each in residual.causes} | set(residual.unexplained)) - set(perf.slow))
    ruling.check("only slow cases", f"{listed(others)} is not slow" if others else None)
    for case in perf.slow:
        said, is_so = _facts(residual.causes, case), _facts(found.causes, case)
        ruling.check(f"{case}: causes", _difference(said, is_so), f"{len(is_so)} facts")
        if case in found.device:
            ruling.check(f"{case}: device", None, found.device[case])
        if case in found.open:
            ruling.open(f"{case}: device", found.open[case])
    for each in residual.causes:
        ruling.saw(*(proof.file for proof in each.evidence))
        ruling.check(f"{each.case}: {each.kind}", unproven(given, each.evidence), each.claim)
    unexplained = sorted(set(residual.unexplained)), sorted(found.unexplained)
    wrong = f"it says {listed(unexplained[0]) or 'none'}, and it is {listed(unexplained[1]) or 'none'}"
    ruling.check("unexplained", None if unexplained[0] == unexplained[1] else wrong, listed(unexplained[1]))
    if found.unexplained:
        ruling.open("unexplained", listed(unexplained[1]))
    return ruling.rule("FAIL" if ruling.failed else "EXPLAINED")


def _facts(causes: Sequence[Residue], case: str) -> list[str]:
    """Every fact of a case in words that compare."""
    return [
        f"{each.side}, {each.kind}: {fact.what}: reference {fact.reference}, generated {fact.generated}"
        f"{f' ({fact.why})' if fact.why else ''}"
        for each in causes
        if each.case == case
        for fact in each.facts
    ]


def _difference(said: list[str], is_so: list[str]) -> str | None:
    untrue = [each for each in said if each not in is_so]
    if untrue:
        return f"code does not find: {listed(untrue)}"
    silent = [each for each in is_so if each not in said]
    return f"it does not tell: {listed(silent)}" if silent else None
