"""`tileir-diff assemble`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import KERNEL, Run
from tileir_diff import assemble


def test_writes_what_the_api_gives(run: Run, folder: Path) -> None:
    result = run("assemble", "ref.mlir", "-o", "ref.tirbc")
    assert (result.exit_code, result.output) == (0, "")
    assert (folder / "ref.tirbc").read_bytes() == assemble("ref.mlir")
    assert sorted(path.name for path in folder.iterdir() if "ref" in path.name) == ["ref.mlir", "ref.tirbc"]


def test_standard_input_and_output(run: Run) -> None:
    result = run("assemble", "-", "--bytecode-version", "13.4", "-o", "-", stdin=KERNEL)
    assert (result.exit_code, result.stdout_bytes) == (0, assemble("ref.mlir", "13.4"))


def test_unreadable_and_broken_input_writes_nothing(run: Run, folder: Path) -> None:
    for name, place in (("broken.mlir", "broken.mlir:2:8"), ("absent.mlir", "absent.mlir")):
        result = run("assemble", name, "-o", "out.tirbc")
        assert result.exit_code == 2
        assert result.stderr.startswith(f"{place}: error: ")
        assert not (folder / "out.tirbc").exists()


def test_broken_constraint_is_refused_unless_it_is_wanted(run: Run, folder: Path) -> None:
    (folder / "odd.mlir").write_text(
        KERNEL.replace("%0 = constant", "%2 = iota : tile<3xi32>\n  %0 = constant")
    )
    refused = run("assemble", "odd.mlir", "-o", "odd.tirbc")
    assert (refused.exit_code, "odd.mlir:2:" in refused.stderr) == (2, True)
    assert run("assemble", "odd.mlir", "--no-verify", "-o", "odd.tirbc").exit_code == 0
    assert (folder / "odd.tirbc").exists()


def test_older_version_is_refused_with_line_and_reason(run: Run, folder: Path) -> None:
    (folder / "new.mlir").write_text(
        KERNEL.replace("%0 = constant", "%2 = gdc_wait_tko -> token\n  %0 = constant")
    )
    result = run("assemble", "new.mlir", "--bytecode-version", "13.3", "-o", "new.tirbc")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "new.mlir:2:3: error: 'gdc_wait_tko' needs bytecode 13.4, and 13.3 was asked"
    )
    assert run("assemble", "new.mlir", "--bytecode-version", "13.9", "-o", "new.tirbc").exit_code == 2


def test_what_is_left_out_is_noted(run: Run, folder: Path) -> None:
    (folder / "named.mlir").write_text(f"cuda_tile.module @m {{\n{KERNEL}}}\n")
    result = run("assemble", "named.mlir", "-o", "named.tirbc")
    assert result.exit_code == 0
    assert result.stderr == "named.mlir: note: the module's name @m is left out: bytecode has none\n"
