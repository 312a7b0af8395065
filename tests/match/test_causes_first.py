"""One mistake is one finding, and that is the mistake, not what follows from it."""

from __future__ import annotations

import pytest

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


def running(mode: str, name: str, total: str) -> str:
    """`b[i] = total of a[..i] rounded to fours`."""
    parameters = PARAMETERS.replace("ptr<f32>", "ptr<i32>")
    body = f"""
%sum = for %i in (%i0 to %n, step %i1) : tile<i32> iter_values(%acc = %i0) -> (tile<i32>) {{
  %pi = offset %a, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %v, %vt = load_ptr_tko weak %pi token=%t : tile<ptr<i32>> -> tile<i32>, token
  %q = divi %v, %i4 signed{mode} : tile<i32>
  %r = muli %q, %i4 : tile<i32>
  %s1 = addi {total} : tile<i32>
  %po = offset %b, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %st = store_ptr_tko weak %po, %s1 token=%t : tile<ptr<i32>>, tile<i32> -> token
  continue %s1 : tile<i32>
}}"""
    text = kernel(body, parameters=parameters, name=name)
    return "\n".join(line for line in text.split("\n") if "f32" not in line)


def test_what_is_made_of_a_quotient_is_no_place_where_it_is_rounded() -> None:
    reference = running(" rounding<negative_inf>", "k", "%acc, %r")
    (told,) = found(reference, running("", "_Z1k", "%r, %acc"))
    assert (told.rule, told.also) == ("integer-mode/division-rounding", ())


@pytest.mark.parametrize("other", ["addf", "subf", "maxf"])
def test_another_op_before_a_product_is_told_at_the_op(other: str) -> None:
    """Not as what the product is added to, which it is."""
    folder = ROOT / "kernels" / "attention"
    reference, generated = ((folder / f"{side}.mlir").read_text(encoding="utf-8") for side in ("py", "rs"))
    right = "mulf %iterArg0, %bcast_178"
    assert right in generated
    modes = "" if other != "maxf" else " "
    (only,) = found(reference, generated.replace(right, f"{other} %iterArg0, %bcast_178{modes}"))
    assert (only.rule, only.generated and only.generated.op.short) == ("arithmetic/op", other)
