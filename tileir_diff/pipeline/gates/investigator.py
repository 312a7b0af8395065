"""The gate of the performance investigator: every slow case has a cause with evidence, or is named."""

from __future__ import annotations

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Perf, Residual, listed
from tileir_diff.pipeline.gates.common import Given, Ruled, Ruling
from tileir_diff.pipeline.gates.diff import unproven


def judge(given: Given) -> Ruled:
    """EXPLAINED where each slow case is accounted for and each line that is quoted stands there."""
    ruling = Ruling("investigator", given)
    ruling.saw("residual.json", "perf.json")
    try:
        residual = given.read(Residual, "residual.json")
        perf = given.read(Perf, "perf.json")
    except InputError as error:
        return ruling.malformed(error)
    told = {each.case for each in residual.causes} | set(residual.unexplained)
    silent = [case for case in perf.slow if case not in told]
    ruling.check(
        "slow cases", f"nothing is said of {listed(silent)}" if silent else None, f"{len(perf.slow)}"
    )
    others = sorted(told - set(perf.slow))
    ruling.check("only slow cases", f"{listed(others)} is not slow" if others else None)
    for each in residual.causes:
        ruling.saw(*(proof.file for proof in each.evidence))
        ruling.check(f"{each.case}: {each.kind}", unproven(given, each.evidence), each.claim)
    if residual.unexplained:
        ruling.open("unexplained", listed(residual.unexplained))
    return ruling.rule("FAIL" if ruling.failed else "EXPLAINED")
