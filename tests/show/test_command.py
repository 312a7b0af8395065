"""The command: text that fits a screen, JSON that other tools read, one clear error for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tileir_diff.show import show_command

from .kernels import MASKED, PRODUCT, ROWS

WIDEST = 160


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "k.mlir"
    path.write_text(ROWS + MASKED + PRODUCT, encoding="utf-8")
    return path


def test_text(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_command(str(dump), entry="rows") == 0
    output = capsys.readouterr().out
    assert output.startswith("@rows\n")
    rows = [line.split() for line in output.splitlines()]
    load = [
        "load",
        "partition",
        "1x64",
        "f32",
        "A[it0,",
        "0]",
        "up",
        "to",
        "the",
        "edge,",
        "else",
        "zero",
        "default:",
    ]
    assert any(row[1:14] == load for row in rows), output
    assert "grid        block.x; grid.x; persistent loop at line 12" in output
    assert "unused: %no" in output
    assert max(map(len, output.splitlines())) <= WIDEST
    assert len(output.splitlines()) <= 24


def test_all_kernels_in_order(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_command(str(dump)) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("@")]
    assert heads == ["@rows", "@masked", "@product"]


def test_json_and_text_come_from_one_record(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_command(str(dump), format="json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["schema"] == "tileir-show/1"
    assert show_command(str(dump)) == 0
    text = capsys.readouterr().out
    for kernel in summary["kernels"]:
        for record in kernel["memory"]:
            assert record["at"] in text
            assert (record["mask"] or "") in text


def test_same_input_same_output(dump: Path) -> None:
    """Whatever the hash seed."""
    outputs = {
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"from tileir_diff.show import show_command; show_command({str(dump)!r}, format='json')",
            ],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert b"tileir-show/1" in outputs.pop()


def test_color_only_when_asked(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_command(str(dump), color="never")
    plain = capsys.readouterr().out
    show_command(str(dump), color="always")
    colored = capsys.readouterr().out
    assert "\x1b[" not in plain
    assert "\x1b[1m@rows" in colored


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("entry @k(%a: tile<i32>) {\n  %x = addi %a, %b : tile<i32>\n  return\n}\n", ":2:"),
        ("entry @k(%a: tile<3xi32>) {\n  return\n}\n", ":1:"),
        ("global @g <i32: [1]> : tile<1xi32>\n", "no kernel"),
    ],
)
def test_bad_input(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(text, encoding="utf-8")
    assert show_command(str(path)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert "Traceback" not in captured.err


def test_unknown_entry_names_the_known_ones(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_command(str(dump), entry="nope") == 2
    assert "no entry '@nope'; there are @rows, @masked, @product" in capsys.readouterr().err


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show_command(str(tmp_path / "none.mlir")) == 2
    assert "none.mlir" in capsys.readouterr().err


def test_a_compare_and_swap_is_told_from_other_atomics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lock.mlir").write_text(
        "entry @k(%a: tile<ptr<i32>>, %v: tile<i32>) {\n"
        "  %r, %t = atomic_cas_tko relaxed device %a, %v, %v :\n"
        "    tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n"
        "  %s, %u = atomic_rmw_tko relaxed device %a, add, %v :\n"
        "    tile<ptr<i32>>, tile<i32> -> tile<i32>, token\n"
        "  return\n}\n"
    )
    assert show_command(str(tmp_path / "lock.mlir")) == 0
    shown = capsys.readouterr().out
    assert "atomic cas" in shown
    assert "atomic add" in shown


def test_a_long_index_is_cut_with_whole_brackets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = "%p0 = muli %bx, %bx : tile<i32>\n" + "".join(
        f"%p{n + 1} = divi %p{n}, %n signed : tile<i32>\n%q{n} = addi %p{n + 1}, %bx : tile<i32>\n".replace(
            f"divi %p{n},", f"divi %{'p' if n == 0 else 'q'}{n - (n > 0)},"
        )
        for n in range(8)
    )
    path = tmp_path / "k.mlir"
    path.write_text(
        "entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {\n%bx, %by, %bz = get_tile_block_id : tile<i32>\n"
        f"{index}%a = offset %p, %q7 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n%t = make_token : token\n"
        "%one = constant <f32: 1.0> : tile<f32>\n"
        "%s = store_ptr_tko weak %a, %one token=%t : tile<ptr<f32>>, tile<f32> -> token\nreturn\n}\n",
        encoding="utf-8",
    )
    assert show_command(str(path)) == 0
    (store,) = [line for line in capsys.readouterr().out.splitlines() if " store " in line]
    assert "…" in store
    assert [store.count(each) for each in "(["] == [store.count(each) for each in ")]"]
