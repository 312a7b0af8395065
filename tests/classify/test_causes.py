"""Each real case comes out as what it is; a step without input is open, and decides nothing."""

from __future__ import annotations

import json
import stat
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.lowering.cases import FIXTURES
from tests.match.fixtures import SOURCES, Edit, edits
from tileir_diff.cli.app import app

EDITS: dict[str, Edit] = {each.name: each for kind in ("mistakes", "harmless") for each in edits(kind)}
CASES = tomllib.loads((FIXTURES / "causes.toml").read_text("utf-8"))["case"]
REAL = [(case, name) for case in CASES for name in case["generated"]]
DUMPS = {"python": "py", "rust": "rs", "cpp": "cpp"}
SOFTMAX = FIXTURES / "kernels" / "softmax"


@pytest.fixture(autouse=True)
def no_toolchain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing here needs an assembler but what brings its own."""
    (tmp_path / "none").mkdir()
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def classify(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["classify", "--format", "json", *map(str, arguments)])


def made(*arguments: str | Path) -> dict[str, Any]:
    result = classify(*arguments)
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.output)


def answers(data: dict[str, Any]) -> dict[str, str]:
    return {step["name"]: step["answer"] for step in data["steps"]}


def edited_source(edit: Edit, folder: Path) -> Path:
    path = folder / SOURCES[edit.side]
    text = (edit.kernel / SOURCES[edit.side]).read_text("utf-8")
    path.write_text(text.replace(edit.record["find"], edit.record["replace"]), "utf-8")
    return path


@pytest.mark.parametrize(("case", "name"), REAL, ids=[f"{case['cause']}-{name}" for case, name in REAL])
def test_cause_and_owner_of_a_real_case(
    case: dict[str, Any],
    name: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if name.endswith(".tirbc"):
        monkeypatch.delenv("TILEIR_TOOLCHAIN")
        request.getfixturevalue("real_disassembler")
    data = made(*call_of(case, name, tmp_path))
    assert (data["cause"], data["owner"] or "") == (case["cause"], case["owner"]), data["why"]
    assert answers(data)["verifies"] == ("no" if name.endswith(".tirbc") else "yes")
    assert answers(data)["gpu"] in ("open", "not run") or "gpu_result" in case


def call_of(case: dict[str, Any], name: str, folder: Path) -> list[str | Path]:
    """The arguments of `classify` for one generated side of a case."""
    edit = EDITS.get(name)
    if edit is None:
        call: list[str | Path] = [FIXTURES / case["reference"], FIXTURES / name]
    else:
        side = edit.record.get("reference") or ("rust" if edit.side == "python" else "python")
        own = edit.kernel / f"{DUMPS[side]}.g.mlir"
        call = [FIXTURES / case["reference"] if "reference" in case else own, edit.folder / "gen.g.mlir"]
    if case.get("launch"):
        call += ["--launch", FIXTURES / case["launch"] if edit is None else edit.folder / "launch.json"]
    if case.get("source") and edit is not None:
        call += ["--source", edited_source(edit, folder)]
    if "gpu_result" in case:
        call += ["--gpu-result", FIXTURES / case["gpu_result"]]
    return call


def test_there_are_five_real_cases_of_each_cause_that_can_be_had() -> None:
    counted = Counter(case["cause"] for case, _ in REAL)
    wanted = ("translation", "frontend-bug", "known-gap", "host", "equivalent")
    assert all(counted[cause] >= 5 for cause in wanted), counted


def test_a_source_that_asks_for_nothing_lost_is_no_bug_of_the_front_end(tmp_path: Path) -> None:
    edit = EDITS["reduction_axis"]
    call = [SOFTMAX / "py.g.mlir", edit.folder / "gen.g.mlir", "--source", edited_source(edit, tmp_path)]
    data = made(*call)
    assert (data["cause"], answers(data)["source"]) == ("translation", "no")


def test_a_source_that_asks_for_what_the_ir_has_is_no_bug_of_the_front_end(tmp_path: Path) -> None:
    edit = EDITS["scan_axis_ignored"]
    source = tmp_path / "kernel.rs"
    source.write_text(
        edited_source(edit, tmp_path).read_text("utf-8").replace("scan_sum(tile, 1i32", "scan_sum(tile, 0i32")
    )
    data = made(edit.kernel / "py.g.mlir", edit.folder / "gen.g.mlir", "--source", source)
    assert data["cause"] != "frontend-bug"


def test_a_comment_asks_for_nothing(tmp_path: Path) -> None:
    edit = EDITS["scan_axis_ignored"]
    source = tmp_path / "kernel.rs"
    text = edited_source(edit, tmp_path).read_text("utf-8")
    source.write_text(
        text.replace("let inner: Tile<f32, { [1, COLS] }> = scan_sum(tile, 1i32", "// scan_sum(tile, 1i32")
    )
    data = made(edit.kernel / "py.g.mlir", edit.folder / "gen.g.mlir", "--source", source)
    assert data["cause"] != "frontend-bug"


def test_runs_are_a_step_of_their_own() -> None:
    pytest.importorskip("torch", reason="running kernels needs torch: pip install 'tileir-diff[run]'")
    edit = EDITS["sum_for_max"]
    call = [SOFTMAX / "py.g.mlir", edit.folder / "gen.g.mlir", "--launch", edit.folder / "launch.json"]
    assert answers(made(*call))["runs"] == "open"
    data = made(*call, "--exec", "--runs", "4")
    steps = {step["name"]: step for step in data["steps"]}
    assert steps["runs"]["answer"] == "no"
    assert "different" in steps["runs"]["evidence"]
    assert data["cause"] == "translation"


# ---- IR that does not verify


def test_ir_that_does_not_verify_is_the_front_ends(tmp_path: Path) -> None:
    text = (SOFTMAX / "rs.mlir").read_text("utf-8")
    generated = tmp_path / "gen.mlir"
    generated.write_text(text.replace("dim=1", "dim=7", 1), "utf-8")
    data = made(SOFTMAX / "py.mlir", generated)
    assert (data["cause"], data["owner"], data["verdict"]) == ("frontend-bug", "frontend", "BLOCKED")
    assert answers(data)["verifies"] == "no"
    assert set(answers(data).values()) == {"no", "not run"}


def test_a_reference_that_does_not_verify_is_bad_input(tmp_path: Path) -> None:
    reference = tmp_path / "ref.mlir"
    reference.write_text((SOFTMAX / "py.mlir").read_text("utf-8").replace("dim=1", "dim=7", 1), "utf-8")
    assert classify(reference, SOFTMAX / "rs.mlir").exit_code == 2


def test_a_file_that_does_not_parse_is_bad_input(tmp_path: Path) -> None:
    generated = tmp_path / "gen.mlir"
    generated.write_text("entry @k( {", "utf-8")
    assert classify(SOFTMAX / "py.mlir", generated).exit_code == 2


# ---- steps that need a GPU: results made up for the test, which say so


def gpu_file(folder: Path, **agrees: bool) -> Path:
    path = folder / "gpu.json"
    data = {
        "schema": "tileir-gpu-result/1", "device": "no device", "assembler": "13.4.92", "recorded": True,
        "agrees": agrees, "note": "made up for a test",
    }  # fmt: skip
    path.write_text(json.dumps(data), "utf-8")
    return path


@pytest.mark.parametrize(
    ("agrees", "cause", "owner"),
    [
        ({"direct": False}, "tileiras-bug", "tileiras"),
        ({"direct": False, "O0": True, "O3": False}, "tileiras-bug", "tileiras"),
        ({"direct": False, "host": False}, "tileiras-bug", "tileiras"),
        ({"direct": True, "host": False}, "host", "host"),
        ({"direct": True, "host": True}, "equivalent", None),
        ({"host": False}, "equivalent", None),  # not known whether the kernel alone is right
        ({}, "equivalent", None),
    ],
)
def test_gpu_results_decide_where_structure_is_the_same(
    agrees: dict[str, bool], cause: str, owner: str | None, tmp_path: Path
) -> None:
    call = [SOFTMAX / "py.g.mlir", SOFTMAX / "rs.g.mlir", "--launch", SOFTMAX / "launch.json"]
    data = made(*call, "--gpu-result", gpu_file(tmp_path, **agrees))
    assert (data["cause"], data["owner"]) == (cause, owner)
    steps = {step["name"]: step for step in data["steps"]}
    assert steps["gpu"]["answer"] == {True: "yes", False: "no", None: "open"}[agrees.get("direct")]
    if "direct" in agrees:
        assert "recorded on no device" in steps["gpu"]["evidence"]
        assert "made up for a test" in steps["gpu"]["evidence"]
    assert ("host" in agrees and "direct" in agrees) == (steps["host"]["answer"] != "open")


def test_a_gpu_result_never_hides_a_difference(tmp_path: Path) -> None:
    gpu = gpu_file(tmp_path, direct=True, host=True)
    generated = EDITS["reduction_axis"].folder / "gen.g.mlir"
    assert made(SOFTMAX / "py.g.mlir", generated, "--gpu-result", gpu)["cause"] == "translation"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"schema": "tileir-gpu-result/1", "agrees": {"x": true}}']
)
def test_what_is_no_gpu_result_is_bad_input(text: str, tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    path.write_text(text)
    assert classify(SOFTMAX / "py.mlir", SOFTMAX / "rs.mlir", "--gpu-result", path).exit_code == 2


# ---- the assembler


def assembler(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the assembler: a shell script."""
    from tileir_diff.toolchain.run import tool_version

    tool = folder / "tileiras"
    tool.write_text(f'#!/bin/sh\ncase "$*" in *--version*) echo "V0.0.1"; exit;; esac\n{script}\n')
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(folder))
    tool_version.cache_clear()


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("kill -SEGV $$", "tileiras-bug"),
        ('case "$*" in *level=0*) kill -SEGV $$;; esac; echo "not for this one" >&2; exit 1', "tileiras-bug"),
        ('echo "not for this architecture" >&2; exit 1', "unknown"),
    ],
)
def test_only_a_crash_is_a_bug_of_the_assembler(
    script: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assembler(tmp_path, script, monkeypatch)
    data = made(SOFTMAX / "py.mlir", SOFTMAX / "rs.mlir", "--launch", SOFTMAX / "launch.json")
    step = next(step for step in data["steps"] if step["name"] == "assembler")
    assert step["answer"] == "no"
    assert "at -O0" in step["evidence"]
    assert data["cause"] == cause


# ---- what is proven


STORE = """
cuda_tile.module @m {{
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {{
    %c128 = constant <i32: 128> : tile<i32>
    %v = constant <f32: 1.0> : tile<f32>
    %u = muli %n, %c128 : tile<i32>
    {sum}
    %q = offset %p, %s : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %t = store_ptr_tko weak %q, %v : tile<ptr<f32>>, tile<f32> -> token
  }}
}}
"""


@pytest.mark.parametrize(
    ("factor", "options", "answer", "cause"),
    [
        ("%u", [], "open", "translation"),
        ("%u", ["--prove"], "yes", "equivalent"),
        ("%n", ["--prove"], "no", "translation"),
    ],
)
def test_a_proof_is_a_step_of_its_own(
    factor: str, options: list[str], answer: str, cause: str, tmp_path: Path
) -> None:
    reference, generated = tmp_path / "ref.mlir", tmp_path / "gen.mlir"
    by_bits = (
        f"%x = xori {factor}, %n : tile<i32>\n%a = andi %u, %n : tile<i32>\n"
        "%d = addi %a, %a : tile<i32>\n%s = addi %x, %d : tile<i32>"
    )
    reference.write_text(STORE.format(sum="%s = addi %u, %n : tile<i32>"), "utf-8")
    generated.write_text(STORE.format(sum=by_bits), "utf-8")
    data = made(reference, generated, *options)
    assert (data["cause"], answers(data)["proven"]) == (cause, answer), data["steps"]


# ---- what was launched

CUBIN = FIXTURES.parent / "tests" / "lowering" / "vector_add.cubin"
"""Of the Python kernel, for sm_90."""
ADD = FIXTURES / "kernels" / "vector_add"


def test_another_kernel_that_was_launched_is_the_hosts() -> None:
    call = [SOFTMAX / "py.mlir", SOFTMAX / "rs.mlir", "--launch", SOFTMAX / "launch.json", "--cubin", CUBIN]
    data = made(*call)
    assert (data["cause"], data["owner"], answers(data)["cubin"]) == ("host", "host", "no")
    assert "vector_add" in data["why"]


def test_a_kernel_of_that_name_alone_shows_nothing() -> None:
    data = made(ADD / "rs.mlir", ADD / "py.mlir", "--cubin", CUBIN)
    assert (data["cause"], answers(data)["cubin"]) == ("equivalent-if", "open")
    launch = next(step for step in data["steps"] if step["name"] == "launch")
    assert (launch["answer"], launch["settle"]) == ("open", "`--launch FILE`")
    given = made(ADD / "py.mlir", ADD / "rs.mlir", "--launch", ADD / "launch.json")
    assert answers(given)["launch"] != "open"


@pytest.mark.parametrize(("generated", "answer"), [("py.mlir", "yes"), ("edited.mlir", "open")])
def test_the_code_of_what_was_launched_is_compared(
    generated: str,
    answer: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.delenv("TILEIR_TOOLCHAIN")
    request.getfixturevalue("real_disassembler")
    text = (ADD / "py.mlir").read_text("utf-8")
    side = tmp_path / generated
    side.write_text(text if answer == "yes" else text.replace("addf", "subf"), "utf-8")
    data = made(side, side, "--cubin", CUBIN)
    assert answers(data)["cubin"] == answer


@pytest.mark.parametrize("content", [None, b"", b"no cubin"])
def test_what_is_no_cubin_is_bad_input(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "k.cubin"
    if content is not None:
        path.write_bytes(content)
    assert classify(SOFTMAX / "py.mlir", SOFTMAX / "rs.mlir", "--cubin", path).exit_code == 2


# ---- output


def test_text_ends_with_the_cause() -> None:
    call = ["classify", str(SOFTMAX / "py.mlir"), str(SOFTMAX / "rs.mlir")]
    result = CliRunner().invoke(app, [*call, "--launch", str(SOFTMAX / "launch.json")])
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "CAUSE: equivalent"
    assert "what would settle the open steps" in result.output
    assert max(map(len, result.output.splitlines())) <= 120


def test_the_json_follows_the_schema_of_the_docs() -> None:
    from tileir_diff.classify.schema import TARGET, ClassificationModel, schema

    assert json.loads(TARGET.read_text("utf-8")) == schema()
    ClassificationModel.model_validate(made(SOFTMAX / "py.mlir", SOFTMAX / "rs.mlir"))
