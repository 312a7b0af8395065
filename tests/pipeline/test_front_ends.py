"""References of other front ends than cuTile Python: shapes come from views, or from the launch file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.real import KERNELS, edited, lay
from tests.pipeline.test_template import END, ported
from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Analysis, Array
from tileir_diff.pipeline.gates.analyst import judge
from tileir_diff.pipeline.gates.common import Given
from tileir_diff.pipeline.gates.signature import slots_of
from tileir_diff.pipeline.references import prepare
from tileir_diff.pipeline.workers.analyse import analyse

CPP = sorted(path.parent.name for path in KERNELS.glob("*/launch.cpp.json"))
VIEWED = ("matmul", "softmax")
"""Those whose views have all sizes in them."""
RAW = """\
entry @scale(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<f32>) {
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %c = constant <i32: 16> : tile<i32>
  %0 = muli %blockId_x, %c : tile<i32>
  %r = reshape %0 : tile<i32> -> tile<1xi32>
  %b = broadcast %r : tile<1xi32> -> tile<16xi32>
  %i = iota : tile<16xi32>
  %1 = addi %b, %i : tile<16xi32>
  %n = reshape %arg2 : tile<i32> -> tile<1xi32>
  %m = broadcast %n : tile<1xi32> -> tile<16xi32>
  %in = cmpi less_than %1, %m, signed : tile<16xi32> -> tile<16xi1>
  %px = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %x = reshape %px : tile<ptr<f32>> -> tile<1xptr<f32>>
  %xs = broadcast %x : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %xp = offset %xs, %1 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
  %zero = constant <f32: 0.0> : tile<16xf32>
  %v, %t = load_ptr_tko weak %xp, %in, %zero
    : tile<16xptr<f32>>, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
  %f = reshape %arg3 : tile<f32> -> tile<1xf32>
  %fs = broadcast %f : tile<1xf32> -> tile<16xf32>
  %p = mulf %v, %fs : tile<16xf32>
  %py = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %y = reshape %py : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ys = broadcast %y : tile<1xptr<f32>> -> tile<16xptr<f32>>
  %yp = offset %ys, %1 : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
  %d = store_ptr_tko weak %yp, %p, %in : tile<16xptr<f32>>, tile<16xf32>, tile<16xi1> -> token
  return
}
"""
"""As a front end writes a kernel that takes pointers, and names its parameters by nothing."""
SIDE: dict[str, Any] = {
    "entry": "scale", "grid": [3], "args": [{"ptr": "x"}, {"ptr": "y"}, {"i32": 40}, {"f32": 2.0}],
}  # fmt: skip
ARRAYS = {"x": {"shape": [5, 8]}, "y": {"shape": [40]}}


def raw_spec(folder: Path, **more: Any) -> str:
    """As `--reference` takes it."""
    lay(folder, {"raw.mlir": RAW, "raw.json": json.dumps({"reference": SIDE | more})})
    return f"scale={folder / 'raw.mlir'},{folder / 'raw.json'}"


def cpp_spec(folder: Path, name: str, **more: Any) -> str:
    """The kernel in tile C++, as a reference: that of a pair of which it is the generated side."""
    launch = json.loads((KERNELS / name / "launch.cpp.json").read_text("utf-8"))
    launch["generated"] |= more
    lay(folder, {"cpp.json": json.dumps(launch)})
    return f"{name}={KERNELS / name / 'cpp.g.mlir'},{folder / 'cpp.json'}"


def analysed(folder: Path, spec: str) -> Analysis:
    """The mechanical analysis, which passes its gate."""
    lay(folder, prepare([spec]))
    made = analyse(folder, "k")
    lay(folder, {"analysis.json": made.to_json()})
    verdict = judge(Given(folder, {})).verdict
    assert verdict.outcome == "PASS", [each for each in verdict.checks if each.result == "fail"]
    return made


@pytest.mark.parametrize("name", CPP)
def test_a_kernel_in_cpp_has_the_arrays_of_its_views_or_of_its_launch(name: str, tmp_path: Path) -> None:
    python = f"{name}={KERNELS / name / 'py.g.mlir'},{KERNELS / name / 'launch.json'}"
    [wanted] = analysed(tmp_path / "py", python).variants
    given = {each: {"shape": known.shape, "strides": known.strides} for each, known in wanted.arrays.items()}
    more = {} if name in VIEWED else {"arrays": given}
    [made] = analysed(tmp_path / "cpp", cpp_spec(tmp_path, name, **more)).variants
    for each, known in made.arrays.items():
        assert known.model_copy(update={"use": ""}) == wanted.arrays[each].model_copy(update={"use": ""})


def test_the_launch_file_says_what_the_dump_does_not(tmp_path: Path) -> None:
    [variant] = analysed(tmp_path, raw_spec(tmp_path, arrays=ARRAYS)).variants
    assert variant.arrays["x"] == Array(dtype="f32", shape=[5, 8], strides=[8, 1], use="read")
    assert [(each.array, each.number) for each in slots_of(variant)] == [
        ("x", -1),
        ("y", -1),
        ("", 0),
        ("", 1),
    ]


def test_an_array_is_aligned_as_the_kernel_promises(tmp_path: Path) -> None:
    promise = "  %px = assume div_by<16>, %arg0 : tile<ptr<f32>>\n"
    spec = raw_spec(tmp_path, arrays={"x": ARRAYS["x"], "y": {"shape": [40], "align": 128}})
    lay(tmp_path, {"raw.mlir": RAW.replace(promise, "").replace("%px", "%arg0")})
    arrays = analysed(tmp_path, spec).variants[0].arrays
    assert {name: each.align for name, each in arrays.items()} == {"x": 4, "y": 128}


def test_the_launch_files_arrays_are_the_users(tmp_path: Path) -> None:
    made = analysed(tmp_path, raw_spec(tmp_path, arrays=ARRAYS))
    arrays = {name: each.model_dump() for name, each in made.variants[0].arrays.items()}
    edited(Given(tmp_path, {}), arrays=arrays | {"x": arrays["x"] | {"shape": [40], "strides": [1]}})
    failed = [each for each in judge(Given(tmp_path, {})).verdict.checks if each.result == "fail"]
    assert [each.name for each in failed] == ["scale: launch"]


def test_without_them_it_says_what_to_write(tmp_path: Path) -> None:
    lay(tmp_path, prepare([raw_spec(tmp_path, arrays={"x": {"shape": [40]}})]))
    with pytest.raises(InputError, match=r'shape of y: the launch file says them: "arrays": {"y"'):
        analyse(tmp_path, "k")


@pytest.mark.parametrize(
    "arrays",
    [
        [], {"z": {"shape": [4]}}, {"x": {}}, {"x": []}, {"x": {"shape": [0]}}, {"x": {"shape": "4"}},
        {"x": {"shape": [4], "strides": [1, 2]}}, {"x": {"shape": [4], "more": 1}}, {"x": {"shape": [1.5]}},
    ],
)  # fmt: skip
def test_arrays_that_are_none_are_told(arrays: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="arrays"):
        prepare([raw_spec(tmp_path, arrays=arrays or ["x"])])


@pytest.mark.slow
@pytest.mark.usefixtures("cargo")
def test_other_front_ends_are_ported(tmp_path: Path) -> None:
    assert ported(tmp_path / "raw", "scale", raw_spec(tmp_path, arrays=ARRAYS)) == END
    assert ported(tmp_path / "cpp", "matmul", cpp_spec(tmp_path, "matmul")) == END
