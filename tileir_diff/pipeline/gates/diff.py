"""The gate of the IR-diff analyst: where a failure goes is what code finds; the report must say the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import DiffReport
from tileir_diff.pipeline.gates.common import Given, Ruled, Ruling, told
from tileir_diff.pipeline.gates.diagnosis import OUTCOMES, diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.pipeline.artifacts import Proof
    from tileir_diff.pipeline.gates.diagnosis import Diagnosis


def judge(given: Given) -> Ruled:
    """TO_KERNEL, TO_HOST, UPSTREAM or UNDIAGNOSED; MALFORMED where the report says what is not so."""
    ruling = Ruling("diff", given)
    ruling.saw("diff_report.json", "analysis.json", "kernel.rs")
    ruling.saw(*(f"gates/{stage}.json" for stage in ("kernel", "host", "performance")))
    try:
        report = given.read(DiffReport, "diff_report.json")
        with tempfile.TemporaryDirectory(prefix="tileir-diff-") as place:
            found = diagnose(given, Path(place))
            _told(ruling, report, found)
            if found.route == "upstream":
                _reduced(ruling, report, found, Path(place))
    except InputError as error:
        return ruling.malformed(InputError(told(error, given.folder), ""))
    return ruling.rule("MALFORMED" if ruling.failed else OUTCOMES[found.route])


def _told(ruling: Ruling, report: DiffReport, found: Diagnosis) -> None:
    """The report says what is so, and quotes what stands there."""
    for what in ("failed", "variant", "cause", "owner", "route"):
        is_so, said = getattr(found, what), getattr(report, what)
        ruling.check(
            what, None if said == is_so else f"it says {said}, and it is {is_so}: {found.why}", str(is_so)
        )
    wrong = unproven(ruling.given, report.evidence)
    ruling.check("evidence", wrong, f"{len(report.evidence)} lines stand where it says")


def unproven(given: Given, proofs: Sequence[Proof]) -> str | None:
    """The first line that does not stand where it is said to; None where all do."""
    for proof in proofs:
        try:
            lines = given.text(proof.file).split("\n")
        except InputError as error:
            return f"{proof.file}: {error.message}"
        stands = lines[proof.line - 1] if proof.line <= len(lines) else ""
        if not proof.text.strip() or proof.text.strip() not in stands:
            return f"{proof.file}:{proof.line}: '{proof.text}' does not stand there"
    return None


def _reduced(ruling: Ruling, report: DiffReport, found: Diagnosis, place: Path) -> None:
    """A bug comes with a kernel that shows it, one of the front end with the line that asks, too."""
    if found.cause != "tileiras-bug":
        asks = any(proof.file == "kernel.rs" for proof in report.evidence)
        wrong = (
            None if asks else "a bug of the front end needs the line of kernel.rs that asks for what is lost"
        )
        ruling.check("asked", wrong, "the source's own line")
        _still_differs(ruling, report, found, place)
        return
    if report.reduced is None or not report.reduced.endswith(".mlir"):
        ruling.check(
            "reduced", "a bug of the assembler needs a kernel that shows it: `tileir-diff reduce --crash`"
        )
        return
    ruling.saw(report.reduced)
    ruling.check("reduced", _still_fails(ruling.given, report.reduced), report.reduced)


def _still_differs(ruling: Ruling, report: DiffReport, found: Diagnosis, place: Path) -> None:
    """The reduced kernel differs from the reference by the same finding, and is not larger than the whole."""
    from tileir_diff.api import load
    from tileir_diff.pipeline.gates.reduced import differs
    from tileir_diff.reduce.search import candidate

    made = differs(ruling.given, found, place)
    if made is None:
        ruling.open("reduced", "the IR does not verify, and cannot be made smaller")
        return
    if report.reduced is None or not report.reduced.endswith(".mlir"):
        ruling.check("reduced", "a bug of the front end needs a smaller kernel that still differs: reduced/")
        return
    ruling.saw(report.reduced)
    test, whole = made
    rule, expected, actual = test.finding
    try:
        ruling.given.text(report.reduced)
        smaller = candidate(load(str(ruling.given.folder / report.reduced), "generated")[0])
    except InputError as error:
        ruling.check("reduced", told(error, ruling.given.folder))
        return
    wrong = None
    if smaller is None or smaller.size > whole.size:
        wrong = f"it is larger than the whole, {whole.size} ops" if smaller else "it does not read back"
    elif not test(smaller):
        wrong = f"it does not show {rule}: {expected} in the reference, {actual}"
    size = smaller.size if smaller is not None else 0
    ruling.check("reduced", wrong, f"{rule}: {whole.size} ops to {size}")


def _still_fails(given: Given, path: str) -> str | None:
    from tileir_diff.api import load
    from tileir_diff.bytecode import assemble
    from tileir_diff.lowering.assembler import find_assembler
    from tileir_diff.lowering.cache import Cache

    try:
        load(str(given.folder / path), "source")
        lowered = find_assembler(Cache(None)).lower(assemble(str(given.folder / path)), "sm_90")
    except InputError as error:
        return told(error, given.folder)
    return None if lowered.failure else "the assembler takes it"
