"""The parts: remarks, cubins, the cache, the assembler's failures, marks."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.lowering.cases import FIXTURES
from tileir_diff.api import load
from tileir_diff.bytecode.module import write_module
from tileir_diff.errors import InputError
from tileir_diff.lowering.assembler import Assembler, failure_of
from tileir_diff.lowering.assembler import Outcome as Ended
from tileir_diff.lowering.cache import Cache, user_cache
from tileir_diff.lowering.cubin import read_cubin
from tileir_diff.lowering.marks import marked, numbers
from tileir_diff.lowering.outcomes import Outcome, outcomes
from tileir_diff.lowering.remarks import parse_remarks

CUBIN = Path(__file__).with_name("vector_add.cubin")
REMARKS = """--- !Passed
Pass:            Memory
Name:            RemarkMemoryLoadInstructionSelected
DebugLoc:        { File: 'it''s.py', Line: 9, Column: 11 }
Function:        softmax
Args:
  - RemarkId:    2
  - Remark:      Load instruction selected
  - Instruction: Global-memory load instruction
...
--- !Failure
Pass:            Memory
Name:            RemarkMemoryTmaLoadFailed
DebugLoc:        { File: 'it''s.py', Line: 9, Column: 11 }
Function:        softmax
Args:
  - RemarkId:    1
  - Remark:      Failed to select TMA load instruction
  - Reason:      'loc("it''s.py":9:11): TMA only supports zero padding'
  - Reason:      'loc("it''s.py":9:11): TMA only supports zero padding'
...
"""


def test_repeated_reasons_and_remarks_count_once() -> None:
    remarks = parse_remarks(REMARKS + REMARKS.replace("RemarkId:    2", "RemarkId:    7"))
    assert [(each.kind, each.line, each.column) for each in remarks] == [
        ("Passed", 9, 11),
        ("Failure", 9, 11),
    ]
    assert remarks[1].texts("Reason") == ("TMA only supports zero padding",)


def test_what_is_no_remark_is_refused() -> None:
    with pytest.raises(ValueError, match="not a line of a remark"):
        parse_remarks("Segmentation fault")


def test_the_outcome_of_an_op_is_its_instruction_and_why_no_other() -> None:
    expected = Outcome(("Global-memory load",), ("no TMA: TMA only supports zero padding",))
    assert outcomes(parse_remarks(REMARKS)) == {9: expected}
    assert str(expected) == "Global-memory load (no TMA: TMA only supports zero padding)"


def test_remarks_without_a_place_belong_to_no_op() -> None:
    text = REMARKS.replace("DebugLoc:        { File: 'it''s.py', Line: 9, Column: 11 }\n", "")
    assert outcomes(parse_remarks(text)) == {}


def test_a_cubin_tells_registers_memory_and_threads() -> None:
    [(name, kernel)] = read_cubin(CUBIN.read_bytes(), "vector_add.cubin").items()
    assert name.startswith("vector_add_Kt1")
    assert (kernel.registers, kernel.shared, kernel.local, kernel.threads) == (16, 0, 0, 128)
    assert kernel.code_bytes > 0
    assert len(kernel.code) == 64


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"not a cubin" * 20])
def test_what_is_no_cubin_is_bad_input(data: bytes) -> None:
    with pytest.raises(InputError):
        read_cubin(data, "k.cubin")


def test_every_cut_of_a_cubin_is_bad_input_or_read() -> None:
    data = CUBIN.read_bytes()
    for size in range(0, len(data), 977):
        try:
            read_cubin(data[:size], "k.cubin")
        except InputError:
            continue


def test_the_cache_is_keyed_by_all_that_matters(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    keys = {cache.key(b"a", "1", "sm_90"), cache.key(b"a", "1", "sm_100"), cache.key(b"b", "1", "sm_90")}
    assert len(keys | {cache.key(b"a", "1s", "m_90")}) == 4


def test_the_cache_gives_back_what_was_put(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new")
    assert cache.get("ab") is None
    cache.put("ab", {"x": [1]})
    assert cache.get("ab") == {"x": [1]}
    assert [path.name for path in (tmp_path / "new" / "ab").iterdir()] == ["ab.json"]


def test_a_broken_entry_counts_as_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("ab", {})
    (tmp_path / "ab" / "ab.json").write_text("{")
    assert cache.get("ab") is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    Cache(file).put("ab", {})
    Cache(None).put("ab", {})
    assert Cache(None).get("ab") is None


def test_the_cache_lies_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "tileir-diff" / "lowering"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_cache() == Path("~/.cache/tileir-diff/lowering").expanduser()


def fake(tmp_path: Path, script: str) -> Assembler:
    """An assembler that is a shell script; its folder is the working directory."""
    tool = tmp_path / "tileiras"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return Assembler(tool, "0.0", Cache(tmp_path / "cache"))


def test_what_was_lowered_once_is_not_lowered_again(tmp_path: Path) -> None:
    script = f"echo >> {tmp_path}/calls; cp {CUBIN} k.cubin; cp {tmp_path}/remarks k.yaml"
    (tmp_path / "remarks").write_text(REMARKS)
    assembler = fake(tmp_path, script)
    first = assembler.lower(b"x", "sm_90")
    assert assembler.lower(b"x", "sm_90") == first
    assert len(first.remarks) == 2
    assembler.lower(b"y", "sm_90")
    assert (tmp_path / "calls").read_text() == "\n\n"


def test_a_failure_is_told_and_not_kept(tmp_path: Path) -> None:
    assembler = fake(tmp_path, "echo 'error: failed to compile' >&2; exit 3")
    assert assembler.lower(b"x", "sm_90").failure == "failed to compile"
    assert not (tmp_path / "cache").exists()


def test_a_crash_is_called_one(tmp_path: Path) -> None:
    assert fake(tmp_path, "kill -SEGV $$").lower(b"x", "sm_90").failure == "crashed (signal 11)"
    assert failure_of(Ended(1, "", b"", "")) == "exit status 1, no message"


def test_an_unknown_architecture_is_bad_input(tmp_path: Path) -> None:
    said = "tileiras: for the --gpu-name option: Cannot find option named 'sm_1'!"
    script = f'test "$1" = --help && echo " =sm_90 - GPU" && exit; echo "{said}" >&2; exit 1'
    with pytest.raises(InputError, match=r"knows no sm_1; it knows sm_90$"):
        fake(tmp_path, script).lower(b"x", "sm_1")


def test_foreign_toolkits_are_hidden_from_the_assembler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_HOME", "elsewhere")
    assembler = fake(tmp_path, 'test -z "$CUDA_HOME" || exit 1; echo "${CUDA_HOME}none" >&2; exit 2')
    assert assembler.lower(b"x", "sm_90").failure == "none"
    assert os.environ["CUDA_HOME"] == "elsewhere"


@pytest.mark.parametrize("name", ["matmul/py.g", "attention/rs", "vector_add/cpp.g"])
def test_marks_are_the_only_change_and_can_be_written(name: str) -> None:
    module, _ = load(FIXTURES / "kernels" / f"{name}.mlir", "reference")
    copy = marked(module, numbers(module))
    assert [op.name for op in copy.walk()] == [op.name for op in module.walk()]
    assert write_module(copy).notes == write_module(module).notes or "debug" in str(
        write_module(module).notes
    )
    places = [getattr(op, "location_text", None) for op in copy.entries[0].walk()]
    assert len({place for place in places if place}) == len(places)
