"""One operand replaced by another value of its type, or two at once: comparing ends, whatever it tells."""

from __future__ import annotations

from contextlib import ExitStack
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.match.fixtures import DUMPS, ROOT, dump, findings, kernels
from tileir_diff.dialect.ir import TileOp
from tileir_diff.match.edits import Edit, with_operand
from tileir_diff.match.model import CompareOptions
from tileir_diff.rules.root_cause import compared

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tileir_diff.dialect.ir import ModuleOp

LARGE = ("attention", "matmul", "matmul_persistent")
NEW = not settings().derandomize
"""Whether this run looks for examples that no other has seen: then there are more."""


def choices(module: ModuleOp) -> list[tuple[TileOp, int, list[SSAValue]]]:
    """The operands that another value of their type could take the place of, with those that are in scope."""
    found: list[tuple[TileOp, int, list[SSAValue]]] = []

    def visit(op: Operation, scope: list[SSAValue]) -> None:
        if isinstance(op, TileOp):
            for index, operand in enumerate(op.operands):
                others = [value for value in scope if value.type == operand.type and value is not operand]
                if others and "token" not in str(operand.type):
                    found.append((op, index, others))
        for block in (block for region in op.regions for block in region.blocks):
            inner = [*scope, *block.args]
            for each in block.ops:
                visit(each, inner)
                inner.extend(each.results)

    visit(module, [])
    return found


def wrong(module: ModuleOp, random: Random, number: int) -> list[Edit]:
    places = random.sample(choices(module), number)
    return [with_operand(op, index, "", random.choice(others)) for op, index, others in places]


def check(kernel: str, number: int, seed: int) -> None:
    """Compares the Python dump with the Rust dump in which ``number`` operands are others."""
    reference, generated = (dump(ROOT / "kernels" / kernel / DUMPS[side]) for side in ("python", "rust"))
    edits = wrong(generated, Random(f"{kernel} {number} {seed}"), number)
    with ExitStack() as stack:
        for edit in {edit.op: edit for edit in edits}.values():
            stack.enter_context(edit.applied())
        findings(compared(reference, generated, CompareOptions()))


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(
    "kernel", [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in kernels()]
)
@settings(max_examples=60 if NEW else 10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_comparing_ends_whatever_operands_are(kernel: str, number: int, seed: int) -> None:
    check(kernel, number, seed)
