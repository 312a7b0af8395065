"""What is not covered: one message with the op's place, status 2, and nothing written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.transpile.cases import KERNELS, around
from tileir_diff.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = [
    (["%k = trunci %lane : tile<8xi32> -> tile<8xi8>",
      "%u = itof %k signed : tile<8xi8> -> tile<8xf32>", "%w = addf %u, %v : tile<8xf32>"],
     "%k = trunci", "trunci", "promises nothing"),
    (["%w = divf %v, %v rounding<full> : tile<8xf32>"], "%w = divf", "divf", "rounding<full>"),
    (["%k = constant <f32: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tile<8xf32>",
      "%w = addf %v, %k : tile<8xf32>"], "%k = constant", "constant", "elements differ"),
    (["%r = reduce %v dim=0 identities=[1.0 : f32] : tile<8xf32> -> tile<f32>",
      "(%l: tile<f32>, %m: tile<f32>) {", "%a = addf %l, %m : tile<f32>", "yield %a : tile<f32>", "}",
      "%r1 = reshape %r : tile<f32> -> tile<1xf32>", "%w = broadcast %r1 : tile<1xf32> -> tile<8xf32>"],
     "%r = reduce", "reduce", "another identity"),
    (["%w = scan %v dim=0 reverse=false identities=[1.0 : f32] : tile<8xf32> -> tile<8xf32>",
      "(%l: tile<f32>, %m: tile<f32>) {", "%a = mulf %l, %m : tile<f32>", "yield %a : tile<f32>", "}"],
     "%w = scan", "scan", "sums from 0"),
    (["%z = constant <i64: 0> : tile<i64>", "%one = constant <i64: 1> : tile<i64>",
      "%k = exti %n signed : tile<i32> -> tile<i64>",
      "%w = for %i in (%z to %k, step %one) : tile<i64> iter_values(%l = %v) -> (tile<8xf32>) {",
      "%e = exp %l : tile<8xf32>", "continue %e : tile<8xf32>", "}"],
     "%w = for", "for", "32 bits"),
    (["%u = bitcast %v : tile<8xf32> -> tile<8xi32>", "%k = ptr_to_int %at : tile<8xptr<f32>> -> tile<8xi64>",
      "%m = itof %k signed : tile<8xi64> -> tile<8xf32>", "%w = addf %m, %v : tile<8xf32>"],
     "%k = ptr_to_int", "ptr_to_int", "not covered"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "at", "op", "why"), REFUSED, ids=[each[2] for each in REFUSED])
def test_one_message_at_its_place(lines: list[str], at: str, op: str, why: str, tmp_path: Path) -> None:
    text = around(*lines)
    dump, output = tmp_path / "small.mlir", tmp_path / "kernel.rs"
    dump.write_text(text)
    result = CliRunner().invoke(app, ["transpile", str(dump), "-o", str(output)])
    assert result.exit_code == 2, result.output
    line = next(number for number, each in enumerate(text.splitlines(), 1) if at in each)
    head, quoted, caret = result.stderr.splitlines()
    assert head.startswith(f"{dump}:{line}:3: error: cannot translate {op}: ")
    assert why in head
    assert quoted.strip() == text.splitlines()[line - 1].strip()
    assert caret.strip() == "^"
    assert sorted(tmp_path.iterdir()) == [dump]


def test_an_array_type_without_a_name(tmp_path: Path) -> None:
    dump = tmp_path / "small.mlir"
    dump.write_text(
        "entry @k(%p: tile<ptr<f8E8M0FNU>>) {\n  %t = make_token : token\n"
        "  %v, %u = load_ptr_tko weak %p token=%t : tile<ptr<f8E8M0FNU>> -> tile<f8E8M0FNU>, token\n"
        "  return\n}\n"
    )
    result = CliRunner().invoke(app, ["transpile", str(dump)])
    assert (result.exit_code, "no type for f8E8M0FNU" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--check"], "--check compares files"),
        (["-o", "kernel.txt"], "the name of a Rust file ends so"),
        (["--name", "a b"], "no name of a Rust function"),
        (["--entry", "other"], "no entry '@other'; there are @"),
    ],
)
def test_wrong_calls(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["transpile", str(KERNELS / "softmax" / "py.mlir"), *words])
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


def test_several_entries(tmp_path: Path) -> None:
    text = around("%w = exp %v : tile<8xf32>")
    dump = tmp_path / "two.mlir"
    dump.write_text(f"cuda_tile.module @m {{\n{text}{text.replace('@small', '@other')}}}\n")
    result = CliRunner().invoke(app, ["transpile", str(dump)])
    assert (result.exit_code, "--entry names one; there are @small, @other" in result.stderr) == (2, True)
    result = CliRunner().invoke(app, ["transpile", str(dump), "--entry", "@other", "--name", "mine"])
    assert (result.exit_code, "pub unsafe fn mine(" in result.output) == (0, True)
