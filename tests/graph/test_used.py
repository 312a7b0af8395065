"""Which values matter: asked of one op, or of all at once."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

import tileir_diff
from tileir_diff.dialect import parse_text
from tileir_diff.graph.values import is_used, ops_within, read_values

DUMPS = sorted((Path(__file__).parents[2] / "fixtures" / "kernels").glob("*/*.g.mlir"))


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: f"{dump.parent.name}-{dump.name}")
def test_all_at_once_is_the_same_as_each(dump: Path) -> None:
    for entry in parse_text(dump.read_text()).entries:
        ops = ops_within(entry)
        read = read_values(ops)
        some = [op for op in ops if op.results]
        assert some
        assert [op.results[0] in read for op in some] == [is_used(op) for op in some]


def seconds(length: int, op: str) -> float:
    """How long it takes to compare a kernel with a chain of so many ops."""
    chain = "".join(f"%a{i + 1} = {op.format(f'%a{i}')} : tile<i32>\n" for i in range(length))
    module = parse_text(
        f"entry @k(%p: tile<ptr<i32>>, %a0: tile<i32>) {{\n{chain}"
        f"%t = store_ptr_tko weak %p, %a{length} : tile<ptr<i32>>, tile<i32> -> token\nreturn\n}}\n"
    )
    start = process_time()
    assert tileir_diff.diff(module, module).verdict == "PASS"
    return process_time() - start


@pytest.mark.parametrize("op", ["addi {}, %a0", "maxi {}, %a0 signed"])
def test_a_long_chain_takes_linear_time(op: str) -> None:
    seconds(10, op)  # what is loaded once
    assert seconds(2000, op) < 6 * seconds(500, op) + 0.5
