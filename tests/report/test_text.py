"""The text report, against files: `UPDATE_SNAPSHOTS=1 pytest tests/report` writes them again."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tileir_diff.report.layout import LINE, location
from tileir_diff.report.markdown_format import render_markdown
from tileir_diff.report.result import Result, SemanticsRecord
from tileir_diff.report.text_format import render_line, render_stat, render_text

SNAPSHOTS = Path(__file__).parent / "snapshots"


def check(name: str, text: str) -> None:
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_failing_report(failing: Result) -> None:
    check("failing.txt", render_text(failing))


def test_a_report_with_equivalences(failing: Result) -> None:
    check("equivalences.txt", render_text(failing, equivalences=True))


def test_a_report_with_waived_findings(waived: Result) -> None:
    check("waived.txt", render_text(waived))


def test_a_passing_report(passing: Result) -> None:
    check("passing.txt", render_text(passing))


def test_lines_are_quoted_once(failing: Result) -> None:
    first = failing.findings[0]
    text = render_text(failing._replace(findings=[first, first._replace(message="and more")]))
    assert text.count(location(failing.generated, first.generated)) == 1
    assert text.count("the lines above") == 1


def test_what_an_execution_showed_is_told_once(failing: Result) -> None:
    """As the evidence of the finding, if there is one; else among what both sides gave."""
    detail = "different: stores 1 at y[3] where the reference stores 2"
    ran = failing._replace(semantics=[SemanticsRecord("a", "b", "different", detail, 4, 0, ["again"])])
    first, *rest = failing.findings
    for findings in (failing.findings, [first._replace(evidence=f"and more; {detail}"), *rest]):
        text = " ".join(render_text(ran._replace(findings=findings)).split())
        assert text.count("stores 1 at y[3]") == 1
        assert "again" in text


def test_the_short_forms(failing: Result) -> None:
    check("stat.txt", render_stat(failing))
    check("line.txt", render_line(failing))


def test_markdown(failing: Result) -> None:
    check("failing.md", render_markdown(failing))


def test_colour_changes_nothing_but_colour(failing: Result) -> None:
    plain = render_text(failing)
    coloured = render_text(failing, color=True)
    assert coloured != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert coloured.endswith("\nVERDICT: FAIL_FIXABLE\n")


@pytest.mark.parametrize("result", ["failing", "waived", "passing"])
def test_the_last_line_is_the_verdict(result: str, request: pytest.FixtureRequest) -> None:
    value: Result = request.getfixturevalue(result)
    for text in (render_text(value), render_stat(value), render_markdown(value)):
        assert text.endswith(f"\nVERDICT: {value.verdict}\n")


def test_the_caret_stands_below_the_part_that_matters(failing: Result) -> None:
    lines = render_text(failing).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  reference") and "store_ptr_tko" in line)
    caret = lines[at + 1].index("^")
    assert lines[at][caret:].startswith("%1")
    assert lines[at + 1].count("^") == 2


def test_the_caret_is_on_the_screen_wherever_it_stands_in_the_op(failing: Result) -> None:
    """The padding of a view stands far behind the op's name, and the path before it may be long."""
    types = "partition_view<tile=(64x64), padding_value = neg_inf, tensor_view<?x?xf16, strides=[?,1]>>"
    text = f"%tile, %token = load_view_tko weak %pview[%block, %zero] token = %0 : {types}"
    start = text.index("padding_value")
    finding = failing.findings[0]
    assert finding.reference is not None
    place = finding.reference._replace(
        text=text, op="load_view_tko", part="padding", mark=(start, start + len("padding_value = neg_inf"))
    )
    one = failing._replace(findings=[finding._replace(reference=place)])
    for path in ("a.mlir", "kernels/softmax/reference.g.mlir", "long/" * 30 + "a.mlir"):
        side = one.reference._replace(path=path)
        lines = render_text(one._replace(reference=side)).splitlines()
        at = next(i for i, line in enumerate(lines) if "padding_value" in line)
        caret = lines[at + 1].index("^")
        assert lines[at][caret:].startswith("padding_value = neg_inf")
        assert len(lines[at]) <= LINE
        assert len(lines[at + 1]) <= LINE
        assert any(f"{path}:11:3" in line for line in lines[at - 1 : at + 1])


def test_a_long_fix_is_wrapped_below_itself(failing: Result) -> None:
    finding = failing.findings[0]._replace(fix="mask it " * 40 + "now", effect="")
    lines = render_text(failing._replace(findings=[finding])).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  fix "))
    end = next(i for i in range(at, len(lines)) if not lines[i])
    start = lines[at].index("mask")
    assert " ".join(line[start:] for line in lines[at:end]) == finding.fix
    assert all(len(line) <= LINE and not line[:start].strip() for line in lines[at + 1 : end])
    assert end - at == 4


def test_both_quotes_of_a_finding_begin_in_one_column(failing: Result) -> None:
    for path in ("a.mlir", "long/" * 30 + "a.mlir"):
        side = failing.reference._replace(path=path)
        lines = render_text(failing._replace(reference=side)).splitlines()
        columns = {line.index("%4 = store_ptr_tko") for line in lines if "%4 = store_ptr_tko" in line}
        assert len(columns) == 1


def test_one_defect_fits_one_screen(failing: Result) -> None:
    one = failing._replace(findings=failing.findings[:1])
    assert len(render_text(one).splitlines()) <= 40


def test_text_of_a_dump_cannot_break_out_of_markdown(failing: Result) -> None:
    text = render_markdown(failing)
    fences = [line for line in text.splitlines() if line.startswith("```")]
    assert len(fences) % 2 == 0
    assert "*now*" in text
