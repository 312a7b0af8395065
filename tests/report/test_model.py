"""The pydantic models, the plain records and the published schema are the same thing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_type_hints

import pytest
from pydantic import ValidationError

from tileir_diff.errors import InputError
from tileir_diff.report import model, result
from tileir_diff.report.build import Dump, blocked_result
from tileir_diff.report.json_format import render_json
from tileir_diff.report.schema import schema_text

ROOT = Path(__file__).parents[2]
SAME = [
    (result.Source, model.Source),
    (result.Place, model.Place),
    (result.FindingRecord, model.Finding),
    (result.WaivedRecord, model.Waived),
    (result.Side, model.Side),
    (result.Pair, model.Pair),
    (result.Argument, model.Argument),
    (result.EquivalenceRecord, model.Equivalence),
    (result.SemanticsRecord, model.Semantics),
    (result.Summary, model.Summary),
    (result.ErrorRecord, model.Error),
    (result.Result, model.Report),
]


@pytest.mark.parametrize(("record", "published"), SAME)
def test_fields_agree(record: type[result.Source], published: type[model.Source]) -> None:
    plain = list(record._fields)
    assert [field.alias or name for name, field in published.model_fields.items()] == plain


@pytest.mark.parametrize(("record", "published"), SAME)
def test_what_may_be_absent_agrees(record: type[result.Source], published: type[model.Source]) -> None:
    def optional(owner: type) -> list[bool]:
        hints = get_type_hints(owner)
        names = list(record._fields)
        return [
            type(None) in getattr(hints[name if name in hints else name + "_"], "__args__", ())
            for name in names
        ]

    assert optional(record) == optional(published)


@pytest.mark.parametrize("name", ["failing", "waived", "passing"])
def test_json_is_the_model(name: str, request: pytest.FixtureRequest) -> None:
    record: result.Result = request.getfixturevalue(name)
    text = render_json(record)
    report = model.Report.model_validate_json(text)
    assert report == model.Report.from_result(record)
    assert report.to_json() == text
    assert text.endswith("}\n")


def test_json_has_the_fields_of_the_contract(failing: result.Result) -> None:
    data = json.loads(render_json(failing))
    contract = "schema verdict owner reference generated pairs arguments findings summary timing"
    assert set(contract.split()) <= set(data)
    assert data["schema"] == "tileir-diff/1"
    assert data["timing"] == {}
    finding = data["findings"][0]
    contract = "rule severity impact status cause reference generated expected actual message fix evidence"
    assert set(contract.split()) <= set(finding)
    assert set(finding["reference"]) >= {"entry", "op", "line", "column", "text", "source"}
    source = {"file": "/src/softmax.py", "line": 31, "column": 5, "called": None}
    assert finding["reference"]["source"] == source
    assert finding["reference"]["line"] == 11


def test_the_mark_is_the_part(failing: result.Result) -> None:
    marks: list[str] = []
    for finding in failing.findings:
        for place in (finding.reference, finding.generated):
            if place is not None and place.mark is not None:
                marks.append(place.text[slice(*place.mark)])
    assert marks == ["%1", "store_ptr_tko", "rounding<approx>", "exp", "print_tko"]


def test_one_line_json_is_one_line(failing: result.Result) -> None:
    text = render_json(failing, indent=None)
    assert text.count("\n") == 1
    assert json.loads(text) == json.loads(render_json(failing))


def test_a_blocked_report_says_what_is_wrong() -> None:
    error = InputError("unexpected '}'", "a.mlir", 3, 7, "  }", "syntax")
    blocked = blocked_result(Dump("a.mlir"), Dump("b.mlir"), error, {"tileir-diff": "0.0.0"})
    report = model.Report.from_result(blocked)
    assert report.verdict == "BLOCKED"
    assert not report.ok
    assert report.error == model.Error(
        message="unexpected '}'", path="a.mlir", line=3, column=7, rule="syntax"
    )


def test_the_model_refuses_what_is_not_in_the_contract(passing: result.Result) -> None:
    data = json.loads(render_json(passing))
    with pytest.raises(ValidationError):
        model.Report.model_validate({**data, "verdict": "FINE"})
    with pytest.raises(ValidationError):
        model.Report.model_validate({**data, "more": 1})


def test_the_published_schema_is_fresh() -> None:
    assert (ROOT / "docs" / "schema" / "report.json").read_text(encoding="utf-8") == schema_text(), (
        "run `make docs`"
    )
