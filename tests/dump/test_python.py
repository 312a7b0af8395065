"""Dumps of cuTile Python: the same bytes as the committed ones, and what cannot be dumped says why."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from tests.dump.fixtures import python_likes
from tests.match.fixtures import ROOT
from tileir_diff.cli.app import app
from tileir_diff.dump.like import BYTES, parse_like, parse_likes, row_major
from tileir_diff.dump.model import Dumped
from tileir_diff.dump.python import Wanted, dump_kernels
from tileir_diff.errors import InputError

KERNELS = sorted(path.parent.name for path in (ROOT / "kernels").glob("*/kernel.toml"))
SOFTMAX = "kernels/softmax/kernel.py:softmax"
LIKE = ("x=f16[200,60]:16", "y=f16[200,60]:16", "ROWS=64", "COLS=64")

pytestmark = pytest.mark.usefixtures("compilers")


@pytest.fixture
def compilers(real_disassembler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real front end, asked from the folder that the paths in the dumps are relative to."""
    monkeypatch.chdir(ROOT)


def dump(kernel: str, *like: str, options: tuple[str, ...] = ()) -> Result:
    words = [word for each in like for word in ("--like", each)]
    return CliRunner().invoke(app, ["dump", "py", kernel, *words, *options])


def test_the_bytes_of_the_fixtures() -> None:
    wanted: list[Wanted] = []
    for name in KERNELS:
        entry, like = python_likes(name)
        wanted.append(Wanted(f"kernels/{name}/kernel.py:{entry}", parse_likes(like)))
    for name, made in zip(KERNELS, dump_kernels(wanted), strict=True):
        assert isinstance(made, Dumped), f"{name}: {made}"
        assert made.bytecode == (ROOT / "kernels" / name / "py.tirbc").read_bytes(), name
        assert made.text == (ROOT / "kernels" / name / "py.g.mlir").read_text(), name


def test_three_files_are_written(tmp_path: Path) -> None:
    result = dump(SOFTMAX, *LIKE, options=("-o", str(tmp_path)))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "softmax.tirbc").read_bytes() == (ROOT / "kernels/softmax/py.tirbc").read_bytes()
    assert (tmp_path / "softmax.mlir").read_text() == (ROOT / "kernels/softmax/py.g.mlir").read_text()


def test_what_was_specialised_is_written_beside(tmp_path: Path) -> None:
    dump(SOFTMAX, *LIKE, options=("-o", str(tmp_path), "--bytecode-version", "13.3"))
    data = json.loads((tmp_path / "softmax.json").read_text())
    assert data["schema"] == "tileir-dump/1"
    assert (data["bytecode_version"], data["arch"]) == ("13.3", "sm_100")
    assert data["front_end"].startswith("cutile-python@")
    x, _, rows, _ = data["arguments"]
    assert (x["shape"], x["base_divisible_by"], x["stride_constant"]) == ([200, 60], 16, [None, 1])
    assert rows == {"name": "ROWS", "kind": "constant", "value": 64}


@pytest.mark.parametrize(
    ("kernel", "like", "said"),
    [
        (SOFTMAX, LIKE[:1], "no --like for y, ROWS, COLS; softmax takes x, y, ROWS, COLS"),
        (SOFTMAX, (*LIKE, "z=1"), "no parameter is called z"),
        ("kernels/softmax/kernel.py:softmx", LIKE, "has no kernel softmx; it has softmax"),
        ("kernels/softmax/none.py:softmax", LIKE, "no such file"),
        ("no_such_module:softmax", LIKE, "No module named 'no_such_module'"),
        ("softmax", LIKE, "write MODULE:KERNEL"),
        (SOFTMAX, ("x=f17[3]",), "no type is called f17; did you mean 'f16'?"),
        (SOFTMAX, ("x=f16[3,4](1)",), "2 extents and 1 strides"),
        (SOFTMAX, ("x",), "is no argument"),
        (SOFTMAX, ("x=what",), "neither an array, a type nor a constant"),
    ],
)
def test_what_cannot_be_dumped_says_why(kernel: str, like: tuple[str, ...], said: str) -> None:
    result = dump(kernel, *like)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
    assert len(result.output.splitlines()) == 1


def test_what_the_compiler_refuses_is_told_at_its_line() -> None:
    result = dump(SOFTMAX, *LIKE[:2], "ROWS=63", "COLS=64")
    assert result.exit_code == 2
    first, quoted, caret = result.output.splitlines()
    assert first.startswith("kernels/softmax/kernel.py:9:12: error: ")
    assert "(63, 64) is not a power of two" in first
    assert quoted[len(caret) - 1 :].startswith("ct.load(x")


def test_a_number_for_what_is_no_constant_is_passed_at_the_launch(tmp_path: Path) -> None:
    text = "import cuda.tile as ct\n@ct.kernel\ndef k(x, n, N: ct.Constant[int]):\n"
    (tmp_path / "k.py").write_text(f"{text}    ct.store(x, (n,), ct.full((N,), n, x.dtype))\n")
    plain, typed = dump_kernels(
        [
            Wanted(f"{tmp_path}/k.py:k", parse_likes(["x=i32[64]", n, "N=16"]))
            for n in ("n=5", "n=i32:7")
        ]
    )  # fmt: skip
    assert isinstance(plain, Dumped)
    assert isinstance(typed, Dumped)
    assert plain.bytecode == typed.bytecode
    assert "i32: 5" not in plain.text
    assert plain.specialised["arguments"][1] == {"name": "n", "kind": "scalar", "dtype": "i32", "value": 5}
    result = dump(f"{tmp_path}/k.py:k", "x=i32[64]", "n=4294967296", "N=16")
    assert (result.exit_code, "n=4294967296 does not fit in 32 bits" in result.output) == (2, True)


def test_what_the_project_installed_is_found_without_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = find_spec("cuda") and find_spec("cuda.tile")
    if installed or not (ROOT.parent / ".toolchain" / "cutile-python").is_dir():
        pytest.skip("cuTile Python is installed, or not beside the project")
    monkeypatch.delenv("TILEIR_TOOLCHAIN", raising=False)
    result = dump(SOFTMAX, *LIKE)
    assert result.exit_code == 0, result.output
    assert "entry @" in result.output


def test_without_the_front_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    result = dump(SOFTMAX, *LIKE)
    assert (result.exit_code, "pip install cuda-tile" in result.output) == (2, True)


@given(
    st.sampled_from(sorted(BYTES)),
    st.lists(st.integers(1, 10**6), min_size=1, max_size=4),
    st.sampled_from([None, 1, 4, 16, 128]),
)
def test_an_array_reads_as_it_is_written(dtype: str, shape: list[int], align: int | None) -> None:
    if align is not None:
        align = max(align, BYTES[dtype])  # an element lies at a multiple of its size
    text = f"x={dtype}[{','.join(map(str, shape))}]{'' if align is None else f':{align}'}"
    found = parse_like(text)
    assert (found.dtype, found.shape, found.align) == (dtype, tuple(shape), align or 16)
    assert found.strides == row_major(tuple(shape))
    assert found.strides[-1] == 1


@given(st.text(max_size=20))
def test_any_text_is_an_argument_or_one_message(text: str) -> None:
    try:
        name = parse_like(text).name
    except InputError:
        return
    assert name.isidentifier()
    assert text.strip().startswith(name)
