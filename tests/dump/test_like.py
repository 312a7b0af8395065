"""How arguments are written, and what a launch of a Rust entry makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from tileir_diff.cli.app import app
from tileir_diff.dump.like import Argument, parse_likes
from tileir_diff.dump.rust import parse_grid, parse_options
from tileir_diff.dump.rust_signature import Entry, choose, entries_of, specialise
from tileir_diff.errors import InputError

TENSOR = "& Tensor < E , { [- 1 , - 1] } >"
SAID: dict[str, Any] = {
    "module": "k::ops::m", "name": "f",
    "generics": [
        {"name": "E", "type": ""}, {"name": "N", "type": "i32"}, {"name": "C", "type": "bool"},
        {"name": "S", "type": "[i32 ; 2]"},
    ],
    "parameters": [
        {"name": "x", "kind": "tensor", "type": TENSOR, "element": "E", "rank": 2},
        {"name": "p", "kind": "pointer", "type": "* mut f32", "element": "f32", "rank": None},
        {"name": "n", "kind": "scalar", "type": "i32", "element": "i32", "rank": None},
        {"name": "eps", "kind": "scalar", "type": "f32", "element": "f32", "rank": None},
    ],
}  # fmt: skip
[ENTRY] = entries_of([SAID])
LIKES = ("x=f16[24,1000](1024,1):8", "p=f32[7]:4", "n=24", "eps=f32", "N=64", "C=true", "S=[16,32]")


def changed(name: str, text: str) -> list[Argument]:
    return parse_likes([f"{name}={text}" if each.startswith(f"{name}=") else each for each in LIKES])


def test_a_launch_looks_at_addresses_extents_strides_and_integers() -> None:
    made = specialise(ENTRY, parse_likes(LIKES))
    assert made["generics"] == ["f16", "64", "true", "16", "32"]
    assert made["integers"] == [{"name": "n", "value": "24"}]
    assert made["pointers"] == [{"name": "p", "align": 4}]
    x, p, n, eps = made["arguments"]
    assert (x["shape_divisible_by"], x["stride_divisible_by"], x["base_divisible_by"]) == ([8, 8], [16, 1], 8)
    assert (x["stride_constant"], x["dtype"]) == ([None, 1], "f16")
    assert (p["base_divisible_by"], n["divisible_by"]) == (4, 8)
    assert eps == {"name": "eps", "kind": "scalar", "dtype": "f32"}


@pytest.mark.parametrize(("value", "divisor"), [(0, 16), (1, 1), (-24, 8), (1 << 30, 16), (-(1 << 31), 16)])
def test_the_divisor_of_an_integer(value: int, divisor: int) -> None:
    made = specialise(ENTRY, changed("n", str(value)))
    assert made["arguments"][2]["divisible_by"] == divisor


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x", "f16[24]", "x must be of 2 dimensions, not 1"),
        ("p", "3", "p must be an array"),
        ("x", "f16[24,4294967296]", "x must be of 32-bit extents and strides, and 4294967296 is not"),
        ("p", "f16[7]", "p must be of type f32, not f16"),
        ("n", "i32", "n must be with a value, n=1000"),
        ("n", "2147483648", "n must be a number of type i32, and 2147483648 is none"),
        ("n", "true", "n must be a number of type i32, and True is none"),
        ("n", "f32", "n must be a scalar of type i32"),
        ("eps", "'a'", "eps must be a f32, and a is none"),
        ("N", "true", "N is a const generic of type i32: N=64"),
        ("C", "1", "C is a const generic of type bool: C=true"),
        ("S", "[16]", "S is a const generic of type [i32 ; 2]: S=[16,32]"),
        ("S", "16", "S is a const generic"),
    ],
)
def test_what_does_not_fit_is_told_with_the_signature(name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        specialise(ENTRY, changed(name, text))
    assert said in raised.value.message
    assert raised.value.path == "k::ops::m::f"
    assert raised.value.message.endswith("x: &Tensor<E, {[-1, -1]}>, p: *mut f32, n: i32, eps: f32")


def test_a_type_is_given_or_found() -> None:
    assert specialise(ENTRY, parse_likes([*LIKES, "E=f16"]))["generics"][0] == "f16"
    with pytest.raises(InputError, match="x must be of type f32, not f16"):
        specialise(ENTRY, parse_likes([*LIKES, "E=f32"]))
    with pytest.raises(InputError, match="E is a type: E=f16"):
        specialise(ENTRY, parse_likes([*LIKES, "E=3"]))
    with pytest.raises(InputError, match="no --like for n, eps"):
        specialise(ENTRY, [each for each in parse_likes(LIKES) if each.name not in ("n", "eps")])


def test_an_entry_is_named_by_the_end_of_its_path() -> None:
    other = ENTRY._replace(module="k::other::m")
    for name in ("ops::m::f", "k::ops::m::f"):
        assert choose([ENTRY, other], name, "k") is ENTRY
    assert choose([ENTRY], "", "k") is ENTRY
    for name in ("f", "m::f", ""):
        with pytest.raises(InputError, match="one of k::ops::m::f, k::other::m::f"):
            choose([ENTRY, other], name, "k")
    for name in ("s::m::f", "g"):
        with pytest.raises(InputError, match="it has no entry"):
            choose([ENTRY, other], name, "k")
    with pytest.raises(InputError, match="it has no kernel"):
        choose([], "f", "k")
    whole = Entry("m", "f", (), ())
    assert choose([whole, ENTRY], "m::f", "k") is whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y=x", Argument("y", "array", "f16", (24, 1000), (1024, 1), 8)),
        ("y=@x", Argument("y", "array", "f16", (24, 1000), (1024, 1), 8, same="x")),
        ("s=x.stride0", Argument("s", "constant", value=1024)),
        ("s=i32:x.shape1", Argument("s", "scalar", "i32", value=1000)),
        ("s=i64:-5", Argument("s", "scalar", "i64", value=-5)),
        ("s=f32:1e-6", Argument("s", "scalar", "f32", value=1e-6)),
        ("s=bool:true", Argument("s", "scalar", "bool", value=True)),
        ("s=[1, 2]", Argument("s", "constant", value=(1, 2))),
    ],
)
def test_an_argument_may_refer_to_another(text: str, expected: Argument) -> None:
    assert parse_likes([LIKES[0], text])[1] == expected


def test_another_name_of_another_name() -> None:
    *_, last = parse_likes([LIKES[0], "y=@x", "z=@y"])
    assert last.same == "x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("y=@z", "no argument before it is called z"),
        ("y=z.shape0", "no argument before it is called z"),
        ("y=x.shape2", "x has 2 dimensions"),
        ("y=i32:what", "neither an array, a type nor a constant"),
        ("y=i32:'a'", "'a' is no number"),
        ("y=z", "neither an array, a type nor a constant"),
    ],
)
def test_what_refers_to_nothing(text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_likes([LIKES[0], text])
    assert said in raised.value.message


def test_options_and_grids_are_read_or_refused() -> None:
    assert parse_options(["occupancy=2", "max_divisibility=8"]) == {"occupancy": 2, "max_divisibility": 8}
    assert (parse_grid("4"), parse_grid("4, 5,6"), parse_grid(None)) == ((4, 1, 1), (4, 5, 6), None)
    for text, said in (("ocupancy=2", "did you mean 'occupancy'"), ("occupancy=x", "write occupancy=2")):
        with pytest.raises(InputError, match=said):
            parse_options([text])
    for text in ("0", "a", "1,2,3,4", ""):
        with pytest.raises(InputError, match="is no grid"):
            parse_grid(text)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["x=f16[4]:0"], "no f16 lies at a multiple of 0 bytes"),
        (["x=f32[4]:6"], "no f32 lies at a multiple of 6 bytes"),
        (["x=f16[9223372036854775808]"], "does not fit 64 bits"),
        (["x=f16[4]", "x=f16[5]"], "x is given before"),
    ],
)
def test_arguments_that_no_launch_has_are_refused(texts: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_likes(texts)


@pytest.mark.parametrize("arch", ["sm_1", "gpu", "sm_", ""])
@pytest.mark.parametrize("front_end", ["py", "rs", "cpp"])
def test_an_architecture_that_has_no_tile_ir_is_refused(front_end: str, arch: str) -> None:
    result = CliRunner().invoke(app, ["dump", front_end, "kernel", "--arch", arch])
    assert (result.exit_code, f"'{arch}' is no architecture" in result.output) == (2, True), result.output
