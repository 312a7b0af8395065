"""Why a configuration is slow: what code finds of it, before and after anybody has written about it.

Device side: the dump that the host launched and the reference's, through the assembler for the architecture
that was measured. Host side: grid, what a launcher sets, and the time of a call.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.lowering.cubin import MEASURES
from tileir_diff.pipeline.artifacts import Fact, Perf, Proof, Residue
from tileir_diff.pipeline.gates.common import RESULTS, Given, compare, told
from tileir_diff.pipeline.gates.performance import results_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tileir_diff.pipeline.artifacts import Variant
    from tileir_diff.report.model import Finding, Lowering, Place, Report

Side = tuple[str, str]
CLAIMS: Final[dict[Side, str]] = {
    ("device", "memory-family"): "memory is reached by another family of operations",
    ("device", "hint"): "a hint or a promise differs, and with it the machine code",
    ("device", "lowering"): "the assembler makes other instructions of the same operations",
    ("device", "resources"): "a block takes more of a multiprocessor",
    ("device", "arithmetic"): "a waived difference in what is computed",
    ("host", "grid"): "the launch has another grid",
    ("host", "tuning"): "the launch has other tiles or other hints of the kernel",
    ("host", "wrapper"): "a call takes the host longer than the kernel takes the device",
}
"""Every kind of cause, in the order in which they are told; all but the last lengthen a kernel's own time."""
FAMILIES: Final[dict[str, Side]] = {
    "memory-family": ("device", "memory-family"), "latency-hint": ("device", "hint"),
    "tma-hint": ("device", "hint"), "divisibility": ("device", "hint"), "bounds": ("device", "hint"),
    "entry-hint": ("host", "tuning"), "tile-shape": ("host", "tuning"),
    "lowering": ("device", "lowering"), "grid": ("host", "grid"), "launch": ("host", "grid"),
}  # fmt: skip
"""The kind of a finding by its family; all others are arithmetic."""
COST: Final = ("shared", "local", "registers")
"""Measures of which more is worse."""
SHAPE: Final = ("threads", "blocks_a_cluster")
"""Measures of which another value is another kernel."""


class Investigated(NamedTuple):
    """What code finds of the slow cases.

    `unexplained`: slow cases without a cause that lengthens the kernel's own time. `device` says of each case
    what the assembler made of it; `open` what was not looked at, and why.
    """

    causes: list[Residue]
    unexplained: list[str]
    device: dict[str, str]
    open: dict[str, str]
    versions: dict[str, str]
    saw: list[str]


def investigate(given: Given) -> Investigated:
    """Raises InputError where an artifact or a dump that it needs is not there."""
    perf = given.read(Perf, "perf.json")
    variants = {each.name: each for each in given.analysis().variants}
    made = Investigated([], [], {}, {}, {}, ["analysis.json", "perf.json", RESULTS])
    for case in perf.slow:
        if case not in variants:
            raise InputError(f"no variant is called {case}", "perf.json")
        causes = _case(given, variants[case], made)
        made.causes.extend(causes)
        if all(each.kind == "wrapper" for each in causes):
            made.unexplained.append(case)
    return made


def _case(given: Given, variant: Variant, made: Investigated) -> list[Residue]:
    dump, launch = f"launched/{variant.name}.mlir", f"launched/{variant.name}.launch.json"
    made.saw.extend((variant.reference, dump, launch))
    sides = json.loads(given.text(launch))
    report = _report(given, variant, sides, made)
    found: dict[Side, list[Fact]] = {}
    quoted: dict[Side, list[Proof]] = {}

    def add(side: Side, fact: Fact, places: Sequence[tuple[str, Place | None]] = ()) -> None:
        if fact not in found.setdefault(side, []):
            found[side].append(fact)
            quoted.setdefault(side, []).extend(_quoted(given, places))

    lowered = next((each for each in report.lowering if each.reference and each.generated), None)
    for each in [*report.findings, *(waived.finding for waived in report.waived)]:
        if _counts(each, lowered):
            side = FAMILIES.get(each.rule.partition("/")[0], ("device", "arithmetic"))
            fact = Fact(what=each.rule, reference=each.expected, generated=each.actual, why=each.evidence)
            add(side, fact, ((variant.reference, each.reference), (dump, each.generated)))
    if lowered is not None:
        _resources(lowered, add)
        made.device[variant.name] = _told(lowered)
    grids = tuple(" x ".join(map(str, sides[side]["grid"])) for side in ("reference", "generated"))
    if grids[0] != grids[1]:
        add(("host", "grid"), Fact(what="grid", reference=grids[0], generated=grids[1]))
    _call(given, variant, add)
    return [
        Residue.model_validate({
            "case": variant.name, "side": side, "kind": kind, "claim": claim,
            "facts": found[side, kind], "evidence": list(dict.fromkeys(quoted[side, kind])),
        })
        for (side, kind), claim in CLAIMS.items()
        if (side, kind) in found
    ]  # fmt: skip


def _report(given: Given, variant: Variant, sides: dict[str, Any], made: Investigated) -> Report:
    """Both dumps, compared and, where there is an assembler for what was measured, assembled."""
    from tileir_diff.toolchain import find_tool

    dump = f"launched/{variant.name}.mlir"
    arch = (results_of(given).machine.arch if given.has(RESULTS) else "") or variant.arch
    with tempfile.TemporaryDirectory(prefix="tileir-residue-") as place:
        if find_tool("tileiras") is None:
            made.open[variant.name] = "no tileiras: nothing is known of the machine code"
            return compare(given, variant.reference, dump, sides, Path(place))
        try:
            report = compare(given, variant.reference, dump, sides, Path(place), lower=arch)
        except InputError as error:  # one that does not know this GPU
            made.open[variant.name] = told(error, given.folder)
            return compare(given, variant.reference, dump, sides, Path(place))
    made.versions["tileiras"] = report.versions["tileiras"]
    if not any(each.reference and each.generated for each in report.lowering):
        made.open[variant.name] = next(iter(report.not_checked), f"nothing was assembled for {arch}")
    return report


def _counts(finding: Finding, lowered: Lowering | None) -> bool:
    """Whether a difference can cost time: none does in the same machine code, and no hint without another."""
    if finding.impact == "none" or (lowered is not None and lowered.same_code):
        return False
    settled = finding.impact == "hint" and not finding.rule.startswith("memory-family/")
    return not settled or lowered is None or finding.severity == "critical"


def _resources(lowered: Lowering, add: Callable[[Side, Fact], None]) -> None:
    """What a block takes more of, and what it is otherwise."""
    assert lowered.reference is not None  # the caller has looked
    assert lowered.generated is not None
    ours, theirs = lowered.generated.model_dump(), lowered.reference.model_dump()
    for field, name, unit in MEASURES:
        worse = ours[field] > theirs[field] if field in COST else ours[field] != theirs[field]
        if worse and field in (*COST, *SHAPE):
            what = f"{name} for {lowered.arch}"
            fact = Fact(what=what, reference=f"{theirs[field]}{unit}", generated=f"{ours[field]}{unit}")
            add(("device", "resources"), fact)


def _told(lowered: Lowering) -> str:
    """What the assembler made of both, in one sentence."""
    by = f"tileiras {lowered.assembler} for {lowered.arch}"
    if lowered.same_code:
        return f"{by}: the same machine code as the reference"
    assert lowered.reference is not None  # the caller has looked
    assert lowered.generated is not None
    ours, theirs = lowered.generated.model_dump(), lowered.reference.model_dump()
    parts = [f"{name} {ours[field]}{unit}, reference {theirs[field]}{unit}"
             for field, name, unit in MEASURES if ours[field] != theirs[field]]  # fmt: skip
    return f"{by}: {'; '.join(parts) or 'other machine code of the same size'}"


def _call(given: Given, variant: Variant, add: Callable[[Side, Fact], None]) -> None:
    """A host that takes longer for a call than the device: what follows waits for it."""
    benchmark = results_of(given).benchmark if given.has(RESULTS) else None
    for row in benchmark.configurations if benchmark is not None else ():
        if row.case == variant.name and row.call_us is not None and row.call_us > row.ours_us:
            why = f"the kernel takes {row.ours_us:g} us"
            fact = Fact(what="time of a call", reference="", generated=f"{row.call_us:g} us", why=why)
            add(("host", "wrapper"), fact)


def _quoted(given: Given, places: Sequence[tuple[str, Place | None]]) -> list[Proof]:
    """The lines of dumps in which ops stand."""
    found: list[Proof] = []
    for file, place in places:
        lines = given.text(file).split("\n")
        if place is not None and 0 < place.line <= len(lines):
            found.append(Proof(file=file, line=place.line, text=lines[place.line - 1].strip()[:1000]))
    return found
