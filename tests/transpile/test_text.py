"""What is written for an op, how values are named, and that the result is laid out as rustfmt would."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.transpile.cases import KERNELS, around, body, dump, translated
from tileir_diff.cli.app import app
from tileir_diff.dialect.attributes import DenseElements
from tileir_diff.dialect.scalars import encode
from tileir_diff.dialect.types import SCALARS
from tileir_diff.errors import InputError
from tileir_diff.port.table import read_table
from tileir_diff.transpile import rust_name
from tileir_diff.transpile.layout import Call, Listed, Macro, Struct, let, statement
from tileir_diff.transpile.spelling import literal

SNAPSHOTS = Path(__file__).with_name("snapshots")
UNCOVERED = (
    "running_total/py.mlir", "running_total/py.g.mlir", "transpose/cpp.mlir", "transpose/cpp.g.mlir",
)  # fmt: skip
"""Dumps with a scan along another dimension than the first, or with a `trunci`."""
KEPT = ("matmul", "softmax", "vector_add")


@pytest.mark.parametrize("name", KEPT)
def test_a_kernel_is_written_as_it_was(name: str) -> None:
    assert dump(KERNELS / name / "py.mlir").text == (SNAPSHOTS / f"{name}.rs").read_text()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["%w = negf %v : tile<8xf32>"], "let negated: Tile<f32, { [8] }> = negf(a_tile);"),
        (
            ["%w = divf %v, %v rounding<approx> flush_to_zero : tile<8xf32>"],
            "let quotient: Tile<f32, { [8] }> = divf(a_tile, a_tile, rounding::Approx, ftz::Enabled);",
        ),
        (
            ["%w = exp %v rounding<approx> : tile<8xf32>"],
            (
                "let exponential: Tile<f32, { [8] }> =\n"
                "unsafe { exp_with_rounding(a_tile, rounding::Approx) };"
            ),
        ),
        (
            ["%w = maxf %v, %v propagate_nan : tile<8xf32>"],
            "let larger: Tile<f32, { [8] }> = maxf(a_tile, a_tile, nan::Enabled, ftz::Disabled);",
        ),
        (
            ["%w = fma %v, %v, %v flush_to_zero : tile<8xf32>"],
            (
                "let fused: Tile<f32, { [8] }> =\n"
                "fma(a_tile, a_tile, a_tile, rounding::NearestEven, ftz::Enabled);"
            ),
        ),
        (
            ["%c = cmpf not_equal unordered %v, %v : tile<8xf32> -> tile<8xi1>",
             "%w = select %c, %v, %v : tile<8xi1>, tile<8xf32>"],
            (
                "let unequal: Tile<bool, { [8] }> =\n"
                "cmpf(a_tile, a_tile, predicate::NotEqual, cmp_ordering::Unordered);"
            ),
        ),
        (
            ["%u = itof %lane unsigned : tile<8xi32> -> tile<8xf32>", "%w = addf %u, %v : tile<8xf32>"],
            (
                "let lane_unsigned: Tile<u32, { [8] }> = bitcast(lane);\n"
                "let converted: Tile<f32, { [8] }> = convert_tile(lane_unsigned);"
            ),
        ),
        (
            ["%r = reduce %v dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>",
             "(%l: tile<f32>, %m: tile<f32>) {", "%a = addf %l, %m : tile<f32>", "yield %a : tile<f32>", "}",
             "%r1 = reshape %r : tile<f32> -> tile<1xf32>",
             "%w = broadcast %r1 : tile<1xf32> -> tile<8xf32>"],
            "let total: Tile<f32, { [] }> = reduce_sum(a_tile, 0i32);",
        ),
        (
            ["%x1 = reshape %x : tile<f32> -> tile<1xf32>",
             "%xs = broadcast %x1 : tile<1xf32> -> tile<8xf32>", "%w = mulf %xs, %v : tile<8xf32>"],
            "let factor_tile: Tile<f32, { [8] }> = broadcast_scalar(factor, shape![8]);",
        ),
    ],
)  # fmt: skip
def test_an_op_is_a_call(lines: list[str], expected: str) -> None:
    text = "\n".join(body(around(*lines)))
    assert expected in text


def test_operators_stand_inside_each_other_as_they_bind() -> None:
    lines = body(
        around(
            "%a = subf %v, %v : tile<8xf32>", "%c = addf %v, %a : tile<8xf32>",
            "%m = mulf %c, %v : tile<8xf32>", "%w = addf %m, %v : tile<8xf32>",
        )
    )  # fmt: skip
    assert "let sum: Tile<f32, { [8] }> = (a_tile + (a_tile - a_tile)) * a_tile + a_tile;" in lines


def test_what_is_used_twice_has_a_name() -> None:
    lines = body(around("%a = mulf %v, %v : tile<8xf32>", "%w = addf %a, %a : tile<8xf32>"))
    assert "let product: Tile<f32, { [8] }> = a_tile * a_tile;" in lines


def test_what_is_unused_or_repeated_is_not_written() -> None:
    lines = body(
        around(
            "%dead = exp %v : tile<8xf32>", "%a = exp2 %v : tile<8xf32>", "%c = exp2 %v : tile<8xf32>",
            "%w = subf %a, %c : tile<8xf32>",
        )
    )  # fmt: skip
    assert [line for line in lines if "exp" in line] == [
        "let exponential: Tile<f32, { [8] }> = exp2(a_tile, ftz::Disabled);",
        "let difference: Tile<f32, { [8] }> = exponential - exponential;",
    ]


def test_what_a_loop_hands_on_is_assigned_all_at_once() -> None:
    lines = body(
        around(
            "%z = constant <i32: 0> : tile<i32>", "%one = constant <i32: 1> : tile<i32>",
            "%e = exp %v : tile<8xf32>",
            "%f:2 = for %i in (%z to %n, step %one) : tile<i32> iter_values(%l = %v, %r = %e)"
            " -> (tile<8xf32>, tile<8xf32>) {",
            "%d = subf %l, %r : tile<8xf32>", "continue %r, %d : tile<8xf32>, tile<8xf32>", "}",
            "%w = addf %f#0, %f#1 : tile<8xf32>",
        )
    )  # fmt: skip
    start = lines.index("for _step in 0i32..number {")
    assert lines[start + 1 : start + 5] == [
        "let next_exponential_2: Tile<f32, { [8] }> = a_tile_2 - exponential_2;",
        "a_tile_2 = exponential_2;",
        "exponential_2 = next_exponential_2;",
        "}",
    ]


def test_a_branch_with_values() -> None:
    lines = body(
        around(
            "%z = constant <i32: 0> : tile<i32>",
            "%c = cmpi less_than %n, %z, signed : tile<i32> -> tile<i1>",
            "%w = if %c -> (tile<8xf32>) {", "%e = exp %v : tile<8xf32>", "yield %e : tile<8xf32>",
            "} else {", "yield %v : tile<8xf32>", "}",
        )
    )  # fmt: skip
    start = lines.index("let chosen: Tile<f32, { [8] }> = if number < 0i32 {")
    assert lines[start + 1 : start + 6] == [
        "let exponential: Tile<f32, { [8] }> = exp(a_tile);", "exponential", "} else {", "a_tile", "};",
    ]  # fmt: skip


def test_an_early_return_becomes_a_guard() -> None:
    lines = body(
        around(
            "%z = constant <i32: 0> : tile<i32>",
            "%c = cmpi less_than %n, %z, signed : tile<i32> -> tile<i1>",
            "if %c {", "return", "}", "%w = exp %v : tile<8xf32>",
        )
    )  # fmt: skip
    start = lines.index("if number >= 0i32 {")
    assert lines[start + 1].startswith("let exponential")
    assert lines[-1] == "}"


VIEW = "tensor_view<?x?xf16, strides=[?,1]>"
TILES = f"partition_view<tile=(4x8), {VIEW}>"
ARRAY = """\
entry @array(%p: tile<ptr<f16>>, %d0: tile<i32>, %d1: tile<i32>, %s0: tile<i32>, %s1: tile<i32>) {{
  %t = make_token : token
  %pa = assume div_by<16>, %p : tile<ptr<f16>>
  %a0 = assume bounded<0, ?>, %d0 : tile<i32>
  %a1 = assume bounded<0, ?>, %d1 : tile<i32>
  %a2 = assume div_by<16>, %a1 : tile<i32>
  %a3 = assume bounded<0, ?>, %s0 : tile<i32>
{more}  %v = make_tensor_view %pa, shape = [%a0, %a2], strides = [%a3, 1] : tile<i32> -> {view}
  %w = make_partition_view %v : {tiles}
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %x, %xt = load_view_tko weak %w[%b, %by] token = %t : {tiles}, tile<i32> -> tile<4x8xf16>, token
  %st = store_view_tko weak %x, %w[%by, %b] token = %xt : tile<4x8xf16>, {tiles}, tile<i32> -> token
  return
}}
"""


def test_an_array_is_a_tensor_and_the_launch_says_its_facts() -> None:
    made = translated(ARRAY.format(more="", view=VIEW, tiles=TILES))
    assert "pub unsafe fn array(a: &Tensor<f16, { [-1, -1] }>) {" in made.text
    assert "assume" not in made.text
    assert made.likes == ("a=f16[33,48](49,1):16",)


@pytest.mark.parametrize(
    "more",
    [
        "  %k = assume bounded<0, 100>, %a0 : tile<i32>\n",
        "  %k = assume div_by<32>, %a3 : tile<i32>\n",
        (
            "  %one = reshape %pa : tile<ptr<f16>> -> tile<1xptr<f16>>\n"
            "  %y, %yt = load_ptr_tko weak %one token=%t : tile<1xptr<f16>> -> tile<1xf16>, token\n"
        ),
    ],
    ids=["a bound", "a divisor above 16", "its pointer"],
)
def test_what_a_launch_cannot_say_is_written_by_hand(more: str) -> None:
    made = translated(ARRAY.format(more=more, view=VIEW, tiles=TILES))
    assert "a: *mut f16," in made.text
    assert "make_tensor_view(" in made.text
    assert made.likes[0] == "a=f16[1]:16"


def test_numbers_are_exact() -> None:
    def f32(value: float) -> str | None:
        return literal(DenseElements(SCALARS["f32"], (), (encode(value, "f32"),)))

    assert [f32(each) for each in (0.0, -0.0, 1.0, 0.1, 1e-5, 3.4028234663852886e38, 1.4426950408889634)] == [
        "0.0f32", "-0.0f32", "1.0f32", "0.1f32", "1e-5f32", "3.4028235e38f32", "1.442695f32",
    ]  # fmt: skip
    assert f32(float("inf")) is None
    assert literal(DenseElements(SCALARS["i32"], (), (0xFFFFFFFF,))) == "-1i32"


@pytest.mark.parametrize("bits", [0x7FC00001, 0xFFC00000, 0x7F800001])
def test_a_nan_keeps_its_bits(bits: int) -> None:
    lines = body(around(f"%k = constant <f32: 0x{bits:08X}> : tile<8xf32>", "%w = addf %v, %k : tile<8xf32>"))
    signed = bits - (1 << 32) if bits >> 31 else bits
    assert f"let bits: Tile<i32, {{ [8] }}> = constant({signed}i32, shape![8]);" in lines


def test_the_least_integer_is_no_literal_of_a_scalar() -> None:
    lines = body(
        around(
            "%k = constant <i32: -2147483648> : tile<i32>", "%m = addi %n, %k : tile<i32>",
            "%f = itof %m signed : tile<i32> -> tile<f32>", "%f1 = reshape %f : tile<f32> -> tile<1xf32>",
            "%w = broadcast %f1 : tile<1xf32> -> tile<8xf32>",
        )
    )  # fmt: skip
    assert "let constant_of: Tile<i32, { [] }> = constant(-2147483648i32, shape![]);" in lines
    assert any("number + constant_of_scalar" in line for line in lines)


@pytest.mark.parametrize(("bits", "number"), [(0x3F80, "1.0f32"), (0x7F80, "f32::INFINITY")])
def test_a_number_of_bf16_goes_through_f32(bits: int, number: str) -> None:
    made = translated(
        around(
            f"%k = constant <bf16: 0x{bits:04X}> : tile<8xbf16>", "%w = ftof %k : tile<8xbf16> -> tile<8xf32>"
        )
    ).text
    assert f"constant({number}, shape![8]);" in made
    assert "bf16::" not in made


def test_a_tile_of_false_is_no_constant() -> None:
    lines = body(
        around(
            "%k = constant <i1: false> : tile<8xi1>", "%w = select %k, %v, %v : tile<8xi1>, tile<8xf32>"
        )
    )  # fmt: skip
    assert "let none: Tile<bool, { [8] }> = broadcast_scalar(false, shape![8]);" in lines


def test_a_loop_ends_with_what_it_carries() -> None:
    lines = body(
        around(
            "%z = constant <i32: 0> : tile<i32>", "%one = constant <i32: 1> : tile<i32>",
            "%l:2 = loop iter_values(%i = %z, %a = %v) : tile<i32>, tile<8xf32> -> tile<i32>, tile<8xf32> {",
            "%c = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1>", "if %c {", "} else {",
            "break %i, %a : tile<i32>, tile<8xf32>", "}",
            "%e = exp %a : tile<8xf32>", "%j = addi %i, %one : tile<i32>",
            "continue %j, %e : tile<i32>, tile<8xf32>", "}", "%w = negf %l#1 : tile<8xf32>",
        )
    )  # fmt: skip
    start = lines.index("loop {")
    assert lines[start - 2 : start + 8] == [
        "let mut carried: i32 = 0i32;", "let mut a_tile_2: Tile<f32, { [8] }> = a_tile;",
        "loop {", "if carried >= number {", "break;", "}", "carried = carried + 1i32;",
        "a_tile_2 = exp(a_tile_2);", "}", "let negated: Tile<f32, { [8] }> = negf(a_tile_2);",
    ]  # fmt: skip


def test_several_values_of_a_branch_are_variables() -> None:
    lines = body(
        around(
            "%z = constant <i32: 0> : tile<i32>",
            "%c = cmpi less_than %n, %z, signed : tile<i32> -> tile<i1>",
            "%r:2 = if %c -> (tile<8xf32>, tile<i32>) {", "%e = exp %v : tile<8xf32>",
            "yield %e, %z : tile<8xf32>, tile<i32>", "} else {", "yield %v, %n : tile<8xf32>, tile<i32>", "}",
            "%f = itof %r#1 signed : tile<i32> -> tile<f32>", "%f1 = reshape %f : tile<f32> -> tile<1xf32>",
            "%fs = broadcast %f1 : tile<1xf32> -> tile<8xf32>", "%w = addf %r#0, %fs : tile<8xf32>",
        )
    )  # fmt: skip
    start = lines.index("let mut chosen: Tile<f32, { [8] }> = a_tile;")
    assert lines[start + 1 : start + 7] == [
        "let mut chosen_2: i32 = number;", "if number < 0i32 {",
        "let exponential: Tile<f32, { [8] }> = exp(a_tile);", "chosen = exponential;", "chosen_2 = 0i32;",
        "}",
    ]  # fmt: skip


def test_names_of_kernels() -> None:
    assert rust_name("vector_add_Kt1_A1f32_1t1_p16_I256") == "vector_add"
    assert rust_name("_relu_fwd_kernel_entry") == "relu_fwd_kernel"
    assert rust_name("Test.kernel") == "kernel"
    assert rust_name("exp") == "exp_kernel"
    assert rust_name("2d") == "kernel_2d"


def test_layout() -> None:
    short, long = Call("f", "a", "b"), Call("f", "a" * 40, "b" * 40)
    assert let("x", "T", short, "    ") == ["    let x: T = f(a, b);"]
    assert let("x", "T", long, "")[0] == "let x: T = f("
    assert let("x", "T" * 90, short, "") == [f"let x: {'T' * 90} =", "    f(a, b);"]
    assert statement(Call("f", "a" * 61, unsafe=True), "") == [
        "unsafe {", "    f(", f"        {'a' * 61},", "    )", "};",
    ]  # fmt: skip
    joined = let("t", "Token", Listed("join_tokens", *(f"token_{number}" for number in range(14))), "")
    assert joined == [
        "let t: Token = join_tokens(&[",
        "    token_0, token_1, token_2, token_3, token_4, token_5, token_6, token_7, token_8, token_9,",
        "    token_10, token_11, token_12, token_13,",
        "]);",
    ]
    assert statement(Macro("m!", "a" * 61, '"b"'), "") == ["m!(", f"    {'a' * 61},", '    "b"', ");"]
    assert let("s", "S", Struct("S", "dims: &[a, b, c, d]"), "") == [
        "let s: S = S {",
        "    dims: &[a, b, c, d],",
        "};",
    ]


@pytest.mark.parametrize(
    "path", sorted(KERNELS.glob("*/*.mlir")), ids=lambda each: f"{each.parent.name}-{each.stem}"
)
def test_the_same_dump_gives_the_same_text_as_rustfmt_lays_it_out(path: Path, tmp_path: Path) -> None:
    if f"{path.parent.name}/{path.name}" in UNCOVERED:
        with pytest.raises(InputError):
            dump(path)
        return
    made = dump(path).text
    assert made == dump(path).text
    if shutil.which("rustfmt") is None:
        return
    file = tmp_path / "kernel.rs"
    file.write_text(made)
    call = ["rustfmt", "--edition", "2024", "--check", str(file)]  # no rustfmt.toml is above it
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_plain_diff_does_not_load_it() -> None:
    code = (
        "import sys; from tileir_diff.api import diff; "
        f"diff({str(KERNELS / 'softmax' / 'py.mlir')!r}, {str(KERNELS / 'softmax' / 'rs.mlir')!r}); "
        "print([m for m in sys.modules if m.startswith('tileir_diff.transpile')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_the_command_is_listed() -> None:
    said = CliRunner().invoke(app, ["--help"]).output
    assert "transpile" in said


@pytest.mark.parametrize("absolute", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("place", ["out", "link", "."])
def test_paths_of_the_table_begin_at_the_table(
    absolute: tuple[bool, bool], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("whole/out", "whole/deep/inside", "moved"):
        (tmp_path / name).mkdir(parents=True)
    root = tmp_path / "whole"
    (root / "link").symlink_to("deep/inside")
    shutil.copy(KERNELS / "softmax" / "py.mlir", root / "in.mlir")
    monkeypatch.chdir(root)
    reference, output = "in.mlir", f"{place}/kernel.rs"
    words = (root / reference if absolute[0] else reference, "-o", root / output if absolute[1] else output)
    result = CliRunner().invoke(app, ["transpile", *map(str, words)])
    assert result.exit_code == 0, result.output
    root.rename(tmp_path / "moved" / "whole")
    monkeypatch.chdir(tmp_path)
    [row] = read_table(f"moved/whole/{place}/kernel.toml")
    assert Path(row.reference).samefile("moved/whole/in.mlir")
    assert Path(row.crate).samefile(f"moved/whole/{output}")


def test_what_cannot_be_compared_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["transpile", str(KERNELS / "softmax" / "py.mlir"), "-o", str(tmp_path / "k.rs"), "--check"]
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, "no cargo on PATH" in result.output) == (2, True)
    assert (tmp_path / "k.rs").is_file()
    assert (tmp_path / "k.toml").is_file()
