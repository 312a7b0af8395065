"""A kernel shrinks to what the failure needs; each step is valid, and the result is always the same."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from tests.lowering.cases import FIXTURES
from tileir_diff.api import load
from tileir_diff.cli.app import app
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.verifier import verify
from tileir_diff.errors import InputError
from tileir_diff.lowering.assembler import Assembler
from tileir_diff.lowering.assembler import Outcome as Ended
from tileir_diff.lowering.cache import Cache
from tileir_diff.reduce.edits import EDITS, halved
from tileir_diff.reduce.failures import Assembles, Command, Signature, signature_of
from tileir_diff.reduce.search import Candidate, Reduction, candidate, reduce

if TYPE_CHECKING:
    from tileir_diff.reduce.edits import Edit

ATTENTION = FIXTURES / "kernels" / "attention" / "rs.mlir"
SHORT = """entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
  %t = make_token : token
  %x, %u = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
  %y = negf %x : tile<f32>
  %v = store_ptr_tko weak %p, %y token=%u : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""
SMALL = [FIXTURES / "kernels" / name / "rs.mlir" for name in ("locked_sum", "swiglu", "running_total")]


def start(path: Path = ATTENTION) -> Candidate:
    module, _ = load(path, "source")
    made = candidate(module)
    assert made is not None
    return made


def quiet(_: Reduction) -> None:
    """No progress is shown."""


def shrunk(path: Path, word: str) -> Reduction:
    return reduce(start(path), lambda each: word in each.text, seconds=None, progress=quiet)


def test_what_the_failure_does_not_need_is_gone() -> None:
    made = shrunk(ATTENTION, "mmaf")
    assert made.finished
    assert made.before == start().size
    ops = [op.name for op in made.smallest.module.entries[0].walk()]
    assert ops.count("cuda_tile.mmaf") == 1
    assert made.smallest.size <= 6
    assert "x64" not in made.smallest.text
    assert "optimization_hints" not in made.smallest.text


@pytest.mark.parametrize("word", ["load_view_tko", "for %", "reduce ", "div_by", "occupancy", "exp2"])
def test_the_failure_stays_and_the_result_is_valid(word: str) -> None:
    made = shrunk(ATTENTION, word)
    assert word in made.smallest.text
    assert made.smallest.size < made.before / 5
    assert verify(parse_text(made.smallest.text)) == []


def test_the_same_input_gives_the_same_result() -> None:
    assert (
        shrunk(ATTENTION, "store_view_tko").smallest.text == shrunk(ATTENTION, "store_view_tko").smallest.text
    )


def test_a_failure_that_everything_is_needed_for_stays_whole() -> None:
    first = candidate(parse_text(SHORT))
    assert first is not None
    made = reduce(first, lambda each: each.text == first.text, seconds=None, progress=quiet)
    assert made.smallest.text == first.text


def test_time_that_is_up_leaves_what_there_is() -> None:
    made = reduce(start(), lambda each: True, seconds=0, progress=quiet)
    assert not made.finished
    assert made.smallest.size == made.before


def test_an_interrupt_leaves_what_there_is() -> None:
    seen: list[Candidate] = []

    def interrupted(each: Candidate) -> bool:
        if seen:
            raise KeyboardInterrupt
        seen.append(each)
        return True

    made = reduce(start(), interrupted, seconds=None, progress=quiet)
    assert (made.finished, made.smallest) == (False, seen[0])


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_each_edit_applies_somewhere_and_leaves_the_module_alone(edit: Edit) -> None:
    made = 0
    for path in SMALL:
        module = start(path).module
        before = str(module)
        for place in edit.places(module)[:4]:
            changed = candidate(edit.apply(module, [place]))
            made += changed is not None and changed.text != before
        assert str(module) == before
    assert made > 0


def test_extents_are_halved_everywhere_at_once() -> None:
    module = start(FIXTURES / "kernels" / "softmax" / "rs.mlir").module
    smaller = halved(module, 64)
    assert smaller is not None
    made = candidate(smaller)
    assert made is not None
    assert "x64x" not in made.text
    assert "tile=(32x32)" in made.text


# ---- failures


def fake(tmp_path: Path, script: str) -> Assembler:
    tool = tmp_path / "tileiras"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return Assembler(tool, "0.0", Cache(None))


def test_names_and_numbers_do_not_tell_failures_apart() -> None:
    one = signature_of(
        Ended(1, "error: %12 has type tile<4xf32>, line 7\nfailed to compile Tile IR program", b"", "")
    )
    two = signature_of(
        Ended(1, "failed to compile Tile IR program\nerror: %3 has type tile<f32>, line 12", b"", "")
    )
    assert one == two
    assert one != signature_of(Ended(1, "error: no memory", b"", ""))
    assert signature_of(Ended(-11, "at 0x1234", b"", "")) == Signature(-11, "")


def test_another_failure_is_not_the_same(tmp_path: Path) -> None:
    # fails on every kernel, but otherwise on those without an mmaf: bytecode holds its opcode
    long = fake(tmp_path, 'test $(wc -c < k.tilebc) -gt 700 && kill -SEGV $$; echo "other" >&2; exit 1')
    test = Assembles(long, "sm_90")
    first = start()
    assert test(first)
    assert test.expected == Signature(-11, "")
    made = reduce(first, test, seconds=None, progress=quiet)
    from tileir_diff.bytecode.module import write_module

    assert len(write_module(made.smallest.module).data) > 700
    assert made.smallest.size < first.size


def test_a_command_gets_the_file_where_it_says() -> None:
    assert Command("grep -q mmaf {}", 60)(start())
    assert not Command("grep -q nothing {}", 60)(start())
    assert Command("test -s {bytecode} && echo said", 60)(start())
    with pytest.raises(InputError, match="must have"):
        Command("grep -q mmaf", 60)
    with pytest.raises(InputError, match="cannot be read"):
        Command("grep '{}", 60)


def test_a_command_that_hangs_does_not_fail() -> None:
    assert not Command("sleep 5; test -s {}", 0.1)(start())


# ---- the verb


def test_the_verb_writes_kernel_and_report(tmp_path: Path) -> None:
    out, report = tmp_path / "k.mlir", tmp_path / "k.md"
    call = ["reduce", str(ATTENTION), "--while", "grep -q mmaf {}", "-o", str(out), "--report", str(report)]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    assert "nothing more can be taken away" in result.output
    assert out.read_text() in report.read_text()
    assert "`grep -q mmaf {}`" in report.read_text()


def test_a_failure_that_is_not_there_is_said(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["reduce", str(ATTENTION), "--while", "false {}", "-o", str(tmp_path / "k")]
    )
    assert result.exit_code == 1
    assert "nothing to reduce" in result.output
    assert not (tmp_path / "k").exists()


def test_a_crash_is_reported_with_version_and_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        'case "$*" in *--version*) echo "release 0.0, V0.0.1"; exit;; esac; echo "boom" >&2; kill -ABRT $$'
    )
    fake(tmp_path, script)
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    from tileir_diff.toolchain.run import tool_version

    tool_version.cache_clear()
    report = tmp_path / "k.md"
    call = [
        "reduce",
        str(ATTENTION),
        "--crash",
        "sm_90",
        "-o",
        str(tmp_path / "k.mlir"),
        "--report",
        str(report),
    ]
    result = CliRunner().invoke(app, call)
    tool_version.cache_clear()
    assert result.exit_code == 0, result.output
    text = report.read_text()
    assert text.startswith("# tileiras crashes (signal 6), sm_90\n")
    assert "versions: tileiras 0.0.1, tileir-diff" in text
    assert "`tileiras --gpu-name=sm_90 --opt-level=3 -o k.cubin k.tilebc`" in text
    assert "boom" in text


@pytest.mark.parametrize(
    "call", [["reduce", "x.mlir"], ["reduce", "x.mlir", "--while", "true {}", "--crash", "sm_90"]]
)
def test_one_failure_is_named(call: list[str]) -> None:
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 2
    assert "give one of" in result.output


def test_a_file_that_is_not_valid_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text("entry @k() { %0 = nonsense }")
    result = CliRunner().invoke(app, ["reduce", str(path), "--while", "true {}"])
    assert result.exit_code == 2
