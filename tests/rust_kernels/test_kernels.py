"""What the kernels compute, by the interpreter: shapes no tile divides, rows with gaps, odd addresses."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rust_kernels.conftest import CFFI, ROOT

pytest.importorskip("cffi", reason=CFFI)
torch = pytest.importorskip("torch")

import cases as table  # noqa: E402
from cases import Case  # noqa: E402
from tileir_kernels import recording  # noqa: E402

from tileir_diff import interpret  # noqa: E402

FORMS = {
    "softmax": ("rows", "views", "chunked", "one_row"),
    "gelu": ("none", "tanh"),
    "geglu": ("none", "tanh"),
    "rms_norm": ("reload", "persistent", "cached"),
    "layer_norm": ("views", "columns", "rows"),
    "persistent_layer_norm": ("computed", "given"),
    "rope": ("full", "quarter"),
    "matmul": ("plain", "persistent-nn", "persistent-nt", "persistent-tn", "persistent-tt"),
    "bmm": ("plain", "persistent-nn", "persistent-nt", "persistent-tn", "persistent-tt"),
}
SHAPES = {
    "geglu": (3, 100),
    "rope": (2, 15, 3, 16),
    "layer_norm-views": (2, 20, 17),
    "layer_norm-columns": (3, 20, 5),
    "layer_norm-rows": (3, 20, 1),
    "splitk_reduce": (2, 3, 20),
    "matmul": (70, 150),
    "bmm": (3, 70, 150),
}
INNER = {"splitk_reduce": 7, "matmul": 100, "bmm": 100}
ROWS = (
    "softmax",
    "silu_and_mul",
    "swiglu",
    "rms_norm",
    "transpose",
    "layer_norm_legacy",
    "persistent_layer_norm",
)
PADDED = (*ROWS, "matmul")


def small_cases() -> list[Case]:
    """Every operator and form on few elements, each type once and each layout once."""
    found: list[Case] = []
    for operator in table.OPERATORS:
        for form in FORMS.get(operator, ("",)):
            named = SHAPES.get(operator) or SHAPES.get(f"{operator}-{form}", (1100,))
            shape = (3, 20) if operator in ROWS else named
            layouts = ("packed", "padded" if operator in PADDED else "packed", "offset")
            pairs = zip(("f32", "f16", "bf16"), layouts, strict=True)
            inner = INNER.get(operator, 0)
            found += [
                Case(operator, form, dtype, shape, layout, inner=inner)
                for dtype, layout in pairs
                if dtype in table.OPERATORS[operator].dtypes
            ]
    # A tile that is a whole row; more rows than the device has blocks for; more columns than a tile.
    found += [
        Case(operator, form, "f16", (2, 16)) for operator, form in (("softmax", "one_row"), ("swiglu", ""))
    ]
    found += [Case("softmax", form, "f16", (5, 20)) for form in ("rows", "views", "chunked")]
    found.append(Case("softmax", "chunked", "f32", (2, 8200)))
    found.append(Case("rms_norm", "reload", "f32", (2, 1030)))
    found.append(Case("rms_norm", "cached", "f16", (2, 16)))
    tall = (("views", (2, 1030, 16)), ("columns", (2, 2100, 6)), ("rows", (2, 17_000, 1)))
    found += [Case("layer_norm", form, "f32", shape) for form, shape in tall]
    found.append(Case("persistent_layer_norm", "computed", "bf16", (20, 20), "padded"))
    found.append(Case("transpose", "", "f16", (70, 130)))
    # Parts that a matrix product sums up, of more columns than a tile; rows of tiles that are no whole group.
    found.append(Case("splitk_reduce", "", "f16", (2, 2, 150), inner=24))
    found += [Case("matmul", form, "f16", (1400, 140), inner=70) for form in ("plain", "persistent-nn")]
    found.append(Case("bmm", "persistent-nn", "f16", (2, 1400, 140), inner=70))
    return found


@pytest.mark.parametrize("case", small_cases(), ids=lambda case: case.name)
def test_a_kernel_computes_what_torch_does(library: Any, tmp_path: Path, case: Case) -> None:
    tensors = table.tensors(case, "cpu")
    operator = table.OPERATORS[case.operator]
    with recording(tmp_path, "sm_90", multiprocessors=1):
        operator.ours(case, tensors)
    ran = run_recorded(tmp_path, tensors)
    assert not ran.findings
    expected = operator.expected(case, tensors)
    assert not any(bool(tensors[name].isnan().any()) for name in operator.beside(case))
    assert table.error(case, tensors, tensors["out"], expected) <= table.tolerance(case)
    gap = storage(tensors["out"])
    assert case.layout != "padded" or bool(
        gap.view(-1)[case.shape[1] : case.shape[1] + table.GAP].isnan().all()
    )


@pytest.mark.slow
def test_products_through_tilegym(library: Any, tmp_path: Path) -> None:
    """By TileGym's own functions, with this backend set; also matrices with gaps, and turned ones."""
    folders = [Path(os.environ["TILEIR_TOOLCHAIN"], name) for name in ("tilegym", "cutile-python")]
    if not all(folder.is_dir() for folder in folders):
        pytest.skip("no TileGym: `make setup-all`")
    paths = [*folders, ROOT, ROOT / "rust_kernels" / "python", ROOT / "rust_kernels" / "gpu"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    command = [sys.executable, str(Path(__file__).with_name("through_tilegym.py")), str(tmp_path)]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(told) == 7
    for each in told:
        assert each["findings"] == 0, each
        assert each["error"] <= each["tolerance"], each


def run_recorded(folder: Path, tensors: dict[str, Any]) -> Any:
    """Interprets the one launch that was recorded, on the tensors that it was recorded with."""
    [described] = folder.glob("*.json")
    launch = json.loads(described.read_text())
    places = {tensor.data_ptr(): storage(tensor) for tensor in tensors.values()}
    args = [places[word["ptr"]] if "ptr" in word else next(iter(word.values())) for word in launch["args"]]
    return interpret(described.with_suffix(".tirbc"), args, grid=launch["grid"])


def storage(tensor: Any) -> Any:
    """All memory from the tensor's first element on, as a vector."""
    size = tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset()
    return tensor.as_strided((size,), (1,))
