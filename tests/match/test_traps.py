"""What graph matchers get wrong: operand slots, operand order, and output that depends on the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.match.snippets import assert_equal, assert_found, with_value

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "fixtures" / "kernels"
T = "tile<128xf32>"
ORDERED = ("subf", "divf", "remf", "atan2", "fpowf")
COMMUTATIVE = ("addf", "mulf", "maxf", "minf")


def binary(op: str, left: str, right: str) -> str:
    return with_value(f"%e = exp %v : {T}\n%w = {op} %{left}, %{right} : {T}")


@pytest.mark.parametrize("op", ORDERED)
def test_operands_of_an_ordered_op_do_not_commute(op: str) -> None:
    first = assert_found(binary(op, "v", "e"), binary(op, "e", "v"), "arithmetic")
    assert first.impact == "logic"


@pytest.mark.parametrize("op", COMMUTATIVE)
def test_operands_of_a_commutative_op_do(op: str) -> None:
    assert_equal(binary(op, "v", "e"), binary(op, "e", "v"))


@pytest.mark.parametrize("op", [*COMMUTATIVE, *ORDERED])
def test_one_value_in_both_operands_counts_twice(op: str) -> None:
    """A graph without operand slots merges the two edges of `mulf x, x`."""
    assert_equal(binary(op, "v", "v"), binary(op, "v", "v"))
    assert_found(binary(op, "v", "v"), binary(op, "v", "e"), "arithmetic")
    assert_found(binary(op, "e", "e"), binary(op, "v", "v"), "arithmetic")


def test_slots_of_a_select() -> None:
    def chosen(first: str, second: str) -> str:
        return with_value(
            f"%c = cmpi less_than %o, %mv, signed : tile<128xi32> -> tile<128xi1>\n%e = exp %v : {T}\n"
            f"%w = select %c, %{first}, %{second} : tile<128xi1>, {T}"
        )

    assert_found(chosen("v", "e"), chosen("e", "v"), "arithmetic/operands")


def test_slots_of_an_fma() -> None:
    def fused(*operands: str) -> str:
        return with_value(f"%e = exp %v : {T}\n%w = fma {', '.join('%' + o for o in operands)} : {T}")

    assert_equal(fused("v", "e", "one"), fused("e", "v", "one"))
    assert_found(fused("v", "v", "e"), fused("v", "e", "v"), "arithmetic")
    assert_found(fused("v", "v", "e"), fused("e", "e", "v"), "arithmetic")


def report(arguments: list[str], seed: str) -> tuple[int, str]:
    env = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-m", "tileir_diff", *arguments, "--format", "json"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("kernel", "reference", "generated", "launch"),
    [
        ("attention", "py.g.mlir", "rs.g.mlir", None),
        ("matmul", "py.mlir", "cpp.mlir", None),
        ("matmul", "py.mlir", "../softmax/rs.mlir", None),
        ("locked_sum", "py.mlir", "rs.mlir", "launch.json"),
    ],
)
def test_a_report_does_not_depend_on_the_hash_seed(
    kernel: str, reference: str, generated: str, launch: str | None
) -> None:
    folder = KERNELS / kernel
    arguments = [str(folder / reference), str(folder / generated)]
    if launch is not None:
        arguments += ["--launch", str(folder / launch)]
    first = report(arguments, "0")
    assert first == report(arguments, "1")
    assert first == report(arguments, "0")
