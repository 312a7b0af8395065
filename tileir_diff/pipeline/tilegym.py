"""The result of a port in the layout of TileGym's conversion skill, so that its validators read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Analysis, Correctness, DiffReport, GateVerdict, Perf
from tileir_diff.pipeline.gates.common import Given
from tileir_diff.pipeline.show import verdict_text

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = "tilegym"
KINDS: Final = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
NOT_RUN: Final = "no GPU was used: both sides ran in the interpreter of tileir-diff"


def lay_out(folder: Path) -> list[str]:
    """Writes `tilegym/OPERATOR/..` below a run's folder; the paths that were written, sorted.

    What a run does not have is not made up: without a measurement there is no performance.md.
    Raises InputError where there is no analysis yet.
    """
    tree = Given(folder / "tree", {})
    analysis = tree.analysis()
    files = _files(tree, analysis)
    place = folder / FOLDER / analysis.operator
    try:
        for path, text in files.items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(place)) from None
    return sorted(files)


def _files(tree: Given, analysis: Analysis) -> dict[str, str]:
    several = len(analysis.variants) > 1
    files = {"reference/analysis.json": _analysis(analysis)}
    for variant in analysis.variants:
        tail = f"_{variant.name}" if several else ""
        files[f"reference/reference{tail}.mlir"] = _module(tree.text(variant.reference))
        if tree.has(f"generated/{variant.name}.mlir"):
            files[f"generated/generated{tail}.mlir"] = _module(tree.text(f"generated/{variant.name}.mlir"))
    for name in ("kernel.rs", "ffi.rs"):
        if tree.has(name):
            files[name] = tree.text(name)
    for stage, name in (("analyst", "agent_a"), ("kernel", "agent_b"), ("host", "agent_d")):
        if tree.has(f"gates/{stage}.json"):
            told = verdict_text(tree.read(GateVerdict, f"gates/{stage}.json"))
            # its validators look for either
            for place in ("reports", "reports/agent_logs"):
                files[f"{place}/{name}.md"] = f"# {stage}\n\n```\n{told}```\n"
    if tree.has("diff_report.json"):
        files["generated/diff_report.md"] = _diff_report(tree)
    if tree.has("gates/kernel.json"):
        files["reports/build_log.md"] = "## Attempt 1\n\nThe gate's own build; see agent_b.md.\n"
    if tree.has("correctness.json"):
        files["reports/correctness.md"] = _correctness(tree)
    perf = tree.read(Perf, "perf.json") if tree.has("perf.json") else None
    if perf is not None and perf.geomean is not None:
        files["reports/performance.md"] = _performance(perf)
    return files


def _module(text: str) -> str:
    """A dump in which the word stands that its validators look for: disassemblers leave the module out."""
    return text if "cuda_tile.module" in text else f"// in a cuda_tile.module, which is not printed\n{text}"


VERDICTS: Final = {
    "kernel": "FAIL_FIXABLE",
    "host": "FAIL_FIXABLE",
    "upstream": "FAIL_COMPILER_BUG",
    "unknown": "BLOCKED",
}


def _diff_report(tree: Given) -> str:
    """The diagnosis in its sections; what the gates found is the checklist."""
    report = tree.read(DiffReport, "diff_report.json")
    path = f"gates/{report.failed}.json"
    failed = tree.read(GateVerdict, path) if tree.has(path) else None
    found = [] if failed is None else failed.findings
    checks = [] if failed is None else failed.checks
    severity = {"critical": "CRITICAL", "warn": "WARN", "info": "INFO"}
    rows = [f"| {at} | {each.rule} | {each.message} | DIFFERS | {severity[each.severity]} | {each.fix} |"
            for at, each in enumerate(found, 1)]  # fmt: skip
    status = {"pass": "MATCH", "fail": "DIFFERS", "open": "MISSING"}
    table = [f"| {each.name} | {status[each.result]} | {' '.join(each.detail.split())} |" for each in checks]
    proofs = [f"- {each.file}:{each.line}: `{each.text}`" for each in report.evidence]
    effects = "; ".join(each.effect for each in found if each.effect)
    owner = report.owner or "unknown"
    lines = [
        f"VERDICT: {VERDICTS[report.route]}",
        "\n## Structural Comparison\n\n| Check | Status | Detail |\n|---|---|---|", *table,
        "\n## Checklist Diff\n\n| # | Item | Difference | Status | Severity | Action |",
        f"|{'---|' * 6}", *rows,
        f"\n## Root Cause Analysis\n\n{report.cause}, owner {owner}\n", *proofs,
        f"\n## Impact Assessment\n\n{effects or 'not known'}",
        f"\n## Verdict\n\nVERDICT: {VERDICTS[report.route]}\n\nowner: {owner}",
        f"\n## Action Items\n\n- {report.fix}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _analysis(analysis: Analysis) -> str:
    """Its analysis.json: the same facts under that skill's names."""
    single = len(analysis.variants) == 1
    families = sorted(
        {family for each in analysis.variants for access in each.memory for family in access.families}
    )
    tolerance = {KINDS.get(array.dtype, array.dtype): _tolerance(array.dtype)
                 for each in analysis.variants for array in each.arrays.values()}  # fmt: skip
    made: dict[str, Any] = {
        "kernel_name": analysis.operator,
        "source": analysis.baseline.backend,
        "launch_path": "direct",
        "pattern": "single" if single else "multi_variant",
        "ops_used": families,
        "reference_backend": "cutile",
        "reference_backend_selection": {
            "winner": "cutile",
            "reason": analysis.baseline.why or "not measured",
        },
        "test_perf_configs": {
            each.name: {"shapes": [array.shape for array in each.arrays.values()]}
            for each in analysis.variants
        },
        "kernel_variants": [
            {
                "variant_name": each.name,
                "kernel_function": each.entry,
                "reference_ir": f"reference/reference{'' if single else '_' + each.name}.mlir",
                "dispatch_condition": each.dispatch,
                "constants": each.constants,
                "reference_backend": "cutile",
            }
            for each in analysis.variants
        ],
        "config_to_variant": {each.name: each.name for each in analysis.variants},
        "correctness_reference": {"function": analysis.variants[0].entry, "source": "reference dump"},
        "correctness_tolerance": tolerance,
        "autotune_backends": [],
        "autotune_configs": None,
        "known_gaps": [],
    }
    return json.dumps(made, indent=1) + "\n"


def _tolerance(dtype: str) -> dict[str, float]:
    from tileir_diff.pipeline.gates.analyst import TOLERANCE

    rtol, atol = TOLERANCE.get(dtype, (0.0, 0.0))
    return {"rtol": rtol, "atol": atol}


def _correctness(tree: Given) -> str:
    found = tree.read(Correctness, "correctness.json")
    passed = tree.read(GateVerdict, "gates/host.json").outcome == "ALL_PASS"
    rows = "\n".join(f"| {each.variant} | {each.outcome} | {each.detail} |" for each in found.compared)
    note = "" if found.evidence == "gpu" else f"\n{NOT_RUN}\n"
    head = f"VERDICT: {'ALL_PASS' if passed else 'FAIL'}\n{note}"
    return f"{head}\n| Test | Result | How |\n|---|---|---|\n{rows}\n"


def _performance(perf: Perf) -> str:
    # that skill's ratio is our time / reference time
    ratio = 1 / (perf.geomean or 1.0)
    rows = "\n".join(f"| {each.case} | {1 / each.speed:.4f} |" for each in perf.configurations)
    verdict = "INVESTIGATE" if perf.slow else "DONE"
    return (
        f"VERDICT: {verdict}\n\ngeomean_ratio={ratio:.4f}\n\n| Configuration | Ratio |\n|---|---|\n{rows}\n"
    )
