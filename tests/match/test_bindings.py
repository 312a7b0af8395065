"""A parameter of the reference that is a constant in the port: bound to it where it may have that value."""

from __future__ import annotations

import pytest

from tests.match.snippets import compared, found

T, V = "tile<128xf32>", "tensor_view<100000xf32, strides=[1]>"
TILES = f"partition_view<tile=(128), padding_value = zero, {V}>"


def summed(name: str, parameters: str, count: str) -> str:
    """Adds as many tiles of `x` as `%cnt` says."""
    return f"""entry @{name}(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>{parameters}) {{
%tok = make_token : token
%c0 = constant <i32: 0> : tile<i32>
%c1 = constant <i32: 1> : tile<i32>
%c128 = constant <i32: 128> : tile<i32>
{count}
%z = constant <f32: 0.0> : {T}
%xt = make_tensor_view %x, shape = [100000], strides = [1] : {V}
%xv = make_partition_view %xt : {TILES}
%r = for %i in (%c0 to %cnt, step %c1) : tile<i32> iter_values(%a = %z) -> ({T}) {{
%v, %vt = load_view_tko weak %xv[%i] token = %tok : {TILES}, tile<i32> -> {T}, token
%b = addf %a, %v : {T}
continue %b : {T}
}}
%oi = iota : tile<128xi32>
%or = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
%ob = broadcast %or : tile<1xptr<f32>> -> tile<128xptr<f32>>
%o = offset %ob, %oi : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
%e = store_ptr_tko weak %o, %r token=%tok : tile<128xptr<f32>>, {T} -> token
return
}}
"""


def reference(promise: str, op: str = "addi %n, %c0") -> str:
    count = f"%n = assume {promise}, %n0 : tile<i32>\n%cnt = {op} : tile<i32>"
    return summed("k", ", %n0: tile<i32>", count)


def port(count: int) -> str:
    return summed("_Z1k", "", f"%cnt = constant <i32: {count}> : tile<i32>")


@pytest.mark.parametrize(
    ("promise", "op", "count", "kept"),
    [
        ("div_by<16>", "addi %n, %c0", 32, True),
        ("div_by<16>", "addi %n, %c0", 3, False),
        ("div_by<1>", "addi %n, %c0", 3, True),
        ("bounded<0, 2>", "addi %n, %c0", 2, True),
        ("bounded<0, 2>", "addi %n, %c0", 3, False),
        ("bounded<0, ?>", "subi %c128, %n", 100, True),
        ("bounded<0, ?>", "subi %c128, %n", 200, False),
    ],
)
def test_a_constant_is_what_the_reference_promises(promise: str, op: str, count: int, kept: bool) -> None:
    result = compared(reference(promise, op), port(count))
    serious = [each.rule for each in found(reference(promise, op), port(count)) if each.impact != "hint"]
    assert serious == ([] if kept else ["loop/bounds"])
    assert any(line.startswith("reference n0 = ") for line in result.obligations) == kept
