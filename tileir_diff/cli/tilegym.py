"""`--exit-style tilegym`: exit status and closing lines of TileGym's diff_ir.sh, a drop-in for its pipeline.

There, 2 is PASS_WITH_NOTES. A blocked comparison exits 1: it must not look like one that passed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.verdict import BLOCKED, FAIL_COMPILER_BUG, FAIL_FIXABLE, PASS, PASS_WITH_NOTES

if TYPE_CHECKING:
    from tileir_diff.report.result import Result

EXIT_STATUS = {PASS: 0, PASS_WITH_NOTES: 2, FAIL_FIXABLE: 1, FAIL_COMPILER_BUG: 1, BLOCKED: 1}


def closing_lines(result: Result) -> str:
    """The verdict with its counts, then one line a finding."""
    lines = [_verdict(result)]
    if result.verdict == BLOCKED:
        return f"{lines[0]}\n"
    lines += [f"{f.severity.upper()}: {f.rule}: {f.message}" for f in result.findings if f.severity != "info"]
    lines += [f"WARN: the host must guarantee: {each}" for each in result.obligations]
    lines += [f"WARN: not checked: {each}" for each in result.not_checked]
    return "\n".join(lines) + "\n"


def _verdict(result: Result) -> str:
    if result.verdict in (FAIL_FIXABLE, FAIL_COMPILER_BUG):
        return f"VERDICT: {result.verdict} ({result.summary.critical} critical diff(s))"
    if result.verdict == PASS_WITH_NOTES:
        workarounds = sum(finding.status == "SEMANTIC_EQUIV" for finding in result.findings)
        notes = (
            result.summary.warn + len(result.obligations) + len(result.not_checked) + result.summary.waived
        )
        return f"VERDICT: {result.verdict} ({workarounds} workaround op(s), {notes} note(s))"
    return f"VERDICT: {result.verdict}"
