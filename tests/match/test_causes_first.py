"""One mistake is one finding, and that is the mistake, not what follows from it."""

from __future__ import annotations

from tests.match.fixtures import ROOT
from tests.match.snippets import PARAMETERS, found, kernel
from tileir_diff.api import diff

SUM = """
%l1 = offset %a, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
%at = offset %b, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
"""


def test_another_axis_is_one_finding_with_the_masks_that_follow_it() -> None:
    sides = ROOT / "kernels/vector_add/py.mlir", ROOT / "mistakes/block_axis/gen.mlir"
    (cause,) = [each for each in diff(*sides).findings if each.severity == "critical"]
    assert cause.rule == "grid/axis"
    assert "`.0` is x" in cause.fix
    assert len(cause.also) == 2


def counted(*, in_memory: bool, name: str) -> str:
    """`b[block] = sum of four`: in a value that is carried, or in `b` itself."""
    if in_memory:
        loop = """
%done = for %i in (%i0 to %i4, step %i1) : tile<i32> iter_values(%tok = %t) -> (token) {
  %o1, %o1t = load_ptr_tko weak %at token=%tok : tile<ptr<i32>> -> tile<i32>, token
  %s1 = addi %o1, %i : tile<i32>
  %st = store_ptr_tko weak %at, %s1 token=%o1t : tile<ptr<i32>>, tile<i32> -> token
  continue %st : token
}"""
    else:
        loop = """
%sum = for %i in (%i0 to %i4, step %i1) : tile<i32> iter_values(%acc = %x) -> (tile<i32>) {
  %s1 = addi %acc, %i : tile<i32>
  continue %s1 : tile<i32>
}
%st = store_ptr_tko weak %at, %sum token=%t : tile<ptr<i32>>, tile<i32> -> token"""
    parameters = PARAMETERS.replace("ptr<f32>", "ptr<i32>")
    body = f"{SUM}{loop}"
    text = kernel(body, parameters=parameters, name=name)
    prologue = [line for line in text.split("\n") if "f32" not in line]
    return "\n".join(prologue)


def test_a_sum_in_memory_where_the_reference_overwrites() -> None:
    reference, generated = counted(in_memory=False, name="k"), counted(in_memory=True, name="_Z1k")
    (told,) = found(reference, generated)
    assert told.rule == "accumulator/in-memory"
    assert "adds to what is in" in told.message
    assert found(generated, generated.replace("_Z1k", "k")) == []
    assert "accumulator/in-memory" not in {each.rule for each in found(generated, reference)}
