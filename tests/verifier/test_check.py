"""`check`: many files in one process, text and JSON, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tileir_diff.check import (
    BROKEN,
    OK,
    UNREADABLE,
    check_command,
    check_files,
    check_text,
    exit_status,
    render_json,
    render_text,
)

GOOD = "entry @k(%a: tile<f32>) {\n  %0 = negf %a : tile<f32>\n  return\n}\n"
BAD = (
    "entry @k(%a: tile<f16>) {\n  %0 = addf %a, %a rounding<approx> flush_to_zero : tile<f16>\n  return\n}\n"
)
TWICE = BAD.replace("  return", "  %1 = mulf %a, %a rounding<full> : tile<f16>\n  return")
GARBAGE = "entry @k(%a: tile<f32>) {\n  %0 = negf %a tile\n}\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths: list[str] = []
    for name, text in (("good", GOOD), ("bad", BAD), ("garbage", GARBAGE), ("twice", TWICE)):
        path = tmp_path / f"{name}.mlir"
        path.write_text(text)
        paths.append(str(path))
    return [*paths, str(tmp_path / "absent.mlir")]


def test_every_file_is_checked(files: list[str]) -> None:
    results = check_files(files)
    assert [result.status for result in results] == [OK, BROKEN, UNREADABLE, BROKEN, UNREADABLE]
    assert [result.path for result in results] == files


def test_errors_have_rule_and_position(files: list[str]) -> None:
    good, bad, garbage, twice, absent = check_files(files)
    assert good.errors == ()
    assert [(error.rule, error.line) for error in bad.errors] == [("addf/rounding", 2)]
    assert bad.lines[1][bad.errors[0].column - 1 :].startswith("rounding<approx>")
    assert [(error.rule, error.line) for error in twice.errors] == [
        ("addf/rounding", 2),
        ("mulf/rounding", 3),
    ]
    assert [(error.rule, error.line) for error in garbage.errors] == [("syntax", 2)]
    assert [(error.rule, error.line) for error in absent.errors] == [("unreadable", 0)]


@pytest.mark.parametrize(
    ("chosen", "status"),
    [([0], 0), ([0, 1], 1), ([2], 2), ([0, 1, 2], 2), ([4], 2), ([], 0)],
)
def test_exit_status(files: list[str], chosen: list[int], status: int) -> None:
    assert exit_status(check_files([files[number] for number in chosen])) == status


def test_text_shows_line_and_caret(files: list[str]) -> None:
    text = render_text(check_files(files[:2]))
    lines = text.split("\n")
    assert lines[0] == f"{files[0]}: ok"
    assert lines[1].startswith(f"{files[1]}:2:")
    assert ": error[addf/rounding]: " in lines[1]
    assert "rounding<approx>" in lines[2]
    assert lines[2][lines[3].index("^") :].startswith("rounding<approx>")
    assert lines[4] == "2 files: 1 ok, 1 not"


def test_color_only_paints(files: list[str]) -> None:
    results = check_files(files)
    painted = render_text(results, color=True)
    assert "\x1b[" in painted
    plain = painted.replace("\x1b[32m", "").replace("\x1b[1;31m", "").replace("\x1b[0m", "")
    assert plain == render_text(results)


def test_json_schema(files: list[str]) -> None:
    document = json.loads(render_json(check_files(files)))
    assert document["schema"] == "tileir-check/1"
    assert [entry["ok"] for entry in document["files"]] == [True, False, False, False, False]
    for entry in document["files"]:
        assert set(entry) == {"path", "ok", "errors"}
        assert entry["ok"] == (not entry["errors"])
        for error in entry["errors"]:
            assert set(error) == {"line", "column", "rule", "message"}


def test_command_prints_and_returns(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert check_command(files[:1], "text", False) == OK
    assert capsys.readouterr().out == f"{files[0]}: ok\n"
    assert check_command(files[:2], "json", False) == BROKEN
    assert json.loads(capsys.readouterr().out)["files"][1]["errors"][0]["rule"] == "addf/rounding"


def test_independent_errors_are_all_reported() -> None:
    body = "\n".join(f"%{n} = addf %a, %a rounding<full> : tile<f32>" for n in range(5))
    result = check_text(f"entry @k(%a: tile<f32>) {{\n{body}\nreturn\n}}\n")
    assert [error.line for error in result.errors] == [2, 3, 4, 5, 6]


def test_a_broken_type_is_reported_once() -> None:
    body = "%0 = negf %a : tile<3xf32>\n%1 = negf %0 : tile<3xf32>\n"
    result = check_text(f"testing$func @f(%a: tile<3xf32>) {{\n{body}return\n}}\n")
    assert [(error.rule, error.line) for error in result.errors] == [("tile/power-of-two", 1)]
