"""A harmless edit beside a defect hides nothing: not a print, not a message, not a promise."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, compared, found, kernel
from tileir_diff.match.launch import parse_launch
from tileir_diff.match.model import CompareOptions
from tileir_diff.rules import finding

VIEW = "tensor_view<?xf32, strides=[1]>"
TILES = f"partition_view<tile=(128), {VIEW}>"
GLOBAL = "global @g alignment = 16 <f32: [{0}, 2.0, 3.0, 4.0]> : tile<4xf32>\n"


def critical(reference: str, generated: str, options: CompareOptions = CompareOptions()) -> list[str]:
    every = [finding(each) for each in compared(reference, generated, options).differences]
    return [each.rule for each in every if each.impact not in ("none", "hint")]


def printing(text: str, value: str = "%v") -> str:
    return kernel(
        f'{LOAD}\n%w = mulf %v, {value} : tile<128xf32>\n{STORE}\n%p = print_tko "{text}" token=%st -> token'
    )


def test_a_print_beside_another_argument_at_the_launch() -> None:
    options = CompareOptions(launch=parse_launch(["reference.n=300", "generated.n=301"]))
    plain = critical(printing("a"), printing("a"), options)
    assert plain
    assert critical(printing("a"), printing("b"), options) == plain


def test_a_print_beside_another_global() -> None:
    body = (
        "%gp = get_global @g : tile<ptr<f32>>\n%gv, %gt = load_ptr_tko weak %gp token=%t : "
        "tile<ptr<f32>> -> tile<f32>, token\n%g1 = reshape %gv : tile<f32> -> tile<1xf32>\n"
        f"%w = broadcast %g1 : tile<1xf32> -> tile<128xf32>\n{STORE}\n"
    )
    reference = GLOBAL.format("1.0") + kernel(f'{body}%p = print_tko "a" token=%t -> token')
    for line in ('%p = print_tko "b" token=%t -> token', 'assert %y1, "m" : tile<i1>'):
        check = "%y1 = cmpi less_than %y, %i4, signed : tile<i32> -> tile<i1>\n" * ("assert" in line)
        assert critical(reference, GLOBAL.format("9.0") + kernel(f"{body}{check}{line}"))


@pytest.mark.parametrize(
    ("around", "rules"),
    [
        ("if %few {{\n{0}\n}}", ("control-flow/", "mask/")),
        ("for %k in (%i0 to %i4, step %i1) : tile<i32> {{\n{0}\n}}", ("loop/",)),
    ],
)
def test_a_message_beside_another_guard(around: str, rules: tuple[str, ...]) -> None:
    few = "%few = cmpi less_than %m, %i4, signed : tile<i32> -> tile<i1>\n"
    first = few + "%ok = cmpi less_than %n, %m, signed : tile<i32> -> tile<i1>\n"
    check = 'assert %ok, "{0}" : tile<i1>'.format
    reference = kernel(first + check("x"))
    for message in ("x", "y"):
        result = critical(reference, kernel(first + around.format(check(message))))
        assert any(rule.startswith(rules) for rule in result), (message, result)


def test_a_promise_beside_another_guard() -> None:
    def stored(promise: str, around: str) -> str:
        store = (
            f"%s = store_view_tko weak %one, %tiles[%x]{promise} token=%t : "
            f"tile<128xf32>, {TILES}, tile<i32> -> token"
        )
        return kernel(
            f"%view = make_tensor_view %b, shape = [%n], strides = [1] : tile<i32> -> {VIEW}\n"
            f"%tiles = make_partition_view %view : {TILES}\n"
            "%few = cmpi less_than %m, %i4, signed : tile<i32> -> tile<i1>\n" + around.format(store)
        )

    promised, guarded = " inbounds = [true]", "if %few {{\n{0}\n}}"
    assert not found(stored("", "{0}"), stored("", "{0}"))
    for before, after in ((promised, ""), ("", promised), ("", "")):
        assert critical(stored(before, "{0}"), stored(after, guarded)), (before, after)
        assert critical(stored(before, guarded), stored(after, "{0}")), (before, after)


def scaled_product(left: str, scale: str) -> str:
    """A product of constants of 1 but for one of its factors and the scale of that one."""
    pointers, product = "tile<64x64xptr<f32>>", "tile<64x64xf32>"
    factor, scales, others = "tile<64x64xf8E4M3FN>", "tile<64x2xf8E8M0FNU>", "tile<2x64xf8E8M0FNU>"
    return kernel(f"""
%l = constant <f8E4M3FN: {left}> : {factor}
%r = constant <f8E4M3FN: 4.0> : {factor}
%sl = constant <f8E8M0FNU: {scale}> : {scales}
%sr = constant <f8E8M0FNU: 1.0> : {others}
%from = constant <f32: 0.0> : {product}
%w = mmaf_scaled %l, %r, %from, %sl, %sr : {factor}, {factor}, {product}, {scales}, {others}
%b2 = reshape %b : tile<ptr<f32>> -> tile<1x1xptr<f32>>
%bs = broadcast %b2 : tile<1x1xptr<f32>> -> {pointers}
%st = store_ptr_tko weak %bs, %w token=%t : {pointers}, {product} -> token""")


@pytest.mark.parametrize("changed", [("2.0", "1.0"), ("1.0", "2.0")])
def test_a_factor_of_a_scaled_product_and_its_scale(changed: tuple[str, str]) -> None:
    assert critical(scaled_product("1.0", "1.0"), scaled_product(*changed)) == ["constant/value"]
