"""The kernel writer's gate: kernel.rs builds, its compiler takes each entry, each dump is the reference's.

This is the check before any test: `tileir-diff gate` runs it alone.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tileir_diff.errors import InputError, MissingToolError
from tileir_diff.pipeline.gates.common import (
    WAIVERS,
    Given,
    Ruled,
    Ruling,
    against,
    compare,
    gate_finding,
    launch_of,
    told,
)  # fmt: skip
from tileir_diff.pipeline.gates.device import host_code
from tileir_diff.pipeline.gates.rust_tests import run_tests
from tileir_diff.pipeline.gates.signature import plan

if TYPE_CHECKING:
    from tileir_diff.dump.model import Dumped
    from tileir_diff.pipeline.artifacts import Analysis, Variant
    from tileir_diff.pipeline.gates.signature import Planned


def judge(given: Given) -> Ruled:
    """PASS where each variant's dump passes against its reference; NO_BUILD where rustc refuses kernel.rs.

    Raises MissingToolError where cargo or the disassembler is not there.
    """
    ruling = Ruling("kernel", given)
    ruling.saw("analysis.json", "kernel.rs", WAIVERS)
    try:
        analysis = given.analysis()
        source = given.text("kernel.rs")
    except InputError as error:
        return ruling.malformed(error)
    ruling.saw(*(variant.reference for variant in analysis.variants))
    wrong = host_code(source)
    if not ruling.check("device code", wrong, "modules of kernels alone"):
        return ruling.rule("FAIL")
    from tileir_diff.dump.rust import Exporter

    try:
        exporter = Exporter(str(given.folder / "kernel.rs"))
    except MissingToolError:
        raise
    except InputError as error:
        ruling.check("builds", told(error, given.folder))
        return ruling.rule("NO_BUILD")
    ruling.check("builds", None, f"{len(exporter.entries)} entries")
    _export(ruling, analysis, exporter)
    if not _tests(ruling):
        return ruling.rule("NO_BUILD")
    return ruling.rule("FAIL" if ruling.failed else "PASS")


def _tests(ruling: Ruling) -> bool:
    """Runs what the writer has written to test the kernel; False where it does not build."""
    what = "tests in kernel.rs"
    try:
        tested = run_tests(ruling.given)
    except InputError as error:
        ruling.check(what, told(error, ruling.given.folder))
        return False
    if tested.ignored:
        ruling.open(what, f"marked as ignored, and not run: {tested.ignored}")
    if tested.wrong is None and not tested.passed:
        ruling.open(what, "there is none that runs")
    else:
        ruling.check(what, tested.wrong, f"{tested.passed} passed")
    return True


def _export(ruling: Ruling, analysis: Analysis, exporter: Any) -> None:
    """One dump each, and how it compares."""
    from tileir_diff.dump.model import check_architecture
    from tileir_diff.dump.rust import Wanted

    wanted: list[tuple[Variant, Planned]] = []
    for variant in analysis.variants:
        try:
            check_architecture(variant.arch)
            planned = plan(variant, exporter.entries, "kernel.rs")
        except InputError as error:
            ruling.check(f"{variant.name}: signature", told(error, ruling.given.folder))
            continue
        ruling.check(f"{variant.name}: signature", None, planned.entry.path)
        wanted.append((variant, planned))
    jobs = [Wanted(each.entry.path, each.arguments, variant.arch, variant.target.options)
            for variant, each in wanted]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tileir-gate-") as place:
        for (variant, planned), made in zip(wanted, exporter.dump(jobs), strict=True):
            if isinstance(made, MissingToolError):
                raise made
            if isinstance(made, InputError):
                ruling.check(f"{variant.name}: compiles", told(made, ruling.given.folder))
                continue
            ruling.check(f"{variant.name}: compiles", None, "and the disassembler verifies it")
            ruling.versions["cutile-rust"] = str(made.specialised["front_end"]).partition("@")[2]
            _compared(ruling, variant, planned, made, Path(place))


def _compared(ruling: Ruling, variant: Variant, planned: Planned, made: Dumped, place: Path) -> None:
    from tileir_diff.port.launch import side_launch

    x, y, z = variant.grid
    side = side_launch(made, planned.arguments, (x, y, z))
    stem = f"generated/{variant.name}"
    ruling.outputs[f"{stem}.mlir"] = made.text.encode()
    told_ = {**made.specialised, "sources": planned.sources}
    ruling.outputs[f"{stem}.json"] = (json.dumps(told_, indent=1) + "\n").encode()
    launch = launch_of(variant, side)
    ruling.outputs[f"{stem}.launch.json"] = (json.dumps(launch, indent=1) + "\n").encode()
    dump = place / f"{variant.name}.mlir"
    dump.write_text(made.text, "utf-8")
    try:
        report = compare(ruling.given, variant.reference, str(dump), launch, place)
    except InputError as error:
        ruling.check(f"{variant.name}: same as the reference", told(error, ruling.given.folder))
        return
    wrong = against(report)
    ruling.check(f"{variant.name}: same as the reference", wrong, report.verdict)
    ruling.findings += [gate_finding(variant.name, each) for each in report.findings
                        if each.severity != "info"]  # fmt: skip
    if wrong is None and report.obligations:
        # the host's gate has the host's own launch
        ruling.open(f"{variant.name}: host", "; ".join(report.obligations[:3]))
