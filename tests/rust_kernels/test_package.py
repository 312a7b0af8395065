"""The Python package around the library: its one declaration, what it refuses, how it builds."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.rust_kernels.conftest import CFFI, ROOT

pytest.importorskip("cffi", reason=CFFI)
torch = pytest.importorskip("torch")

import tileir_kernels as kernels  # noqa: E402
from tileir_kernels import build, errors  # noqa: E402
from tileir_kernels import library as loading  # noqa: E402
from tileir_kernels.header import header  # noqa: E402
from tileir_kernels.tensors import describe  # noqa: E402

untyped: Any = kernels
"""For arguments of the wrong type."""

CALLS = {
    "softmax": lambda x: kernels.softmax(x),
    "silu_and_mul": lambda x: kernels.silu_and_mul(x),
    "swiglu": lambda x: kernels.swiglu(x, x),
    "relu": lambda x: kernels.relu(x),
    "gelu": lambda x: kernels.gelu(x),
    "geglu": lambda x: kernels.geglu(x),
    "dropout": lambda x: kernels.dropout(x, 1),
    "rms_norm": lambda x: kernels.rms_norm(x, torch.ones(8)),
    "layer_norm": lambda x: kernels.layer_norm(x, torch.ones(8), torch.ones(8)),
    "layer_norm_legacy": lambda x: kernels.layer_norm_legacy(x, torch.ones(8), torch.ones(8)),
    "persistent_layer_norm": lambda x: kernels.persistent_layer_norm(x, torch.ones(8), torch.ones(8)),
    "rope": lambda x: kernels.rope(x, x, torch.zeros(1, 4, 8), torch.zeros(1, 4, 8)),
    "splitk_reduce": lambda x: kernels.splitk_reduce(x, torch.zeros(4, 8)),
    "matmul": lambda x: kernels.matmul(x, torch.zeros(8, 4)),
    "bmm": lambda x: kernels.bmm(x, torch.zeros(2, 8, 4)),
    "transpose": lambda x: kernels.transpose(x),
}
NAMES = {"swiglu": "gate", "rope": "query", "splitk_reduce": "parts", "matmul": "a", "bmm": "a"}


def test_the_header_is_made_of_the_one_declaration() -> None:
    written = ROOT / "rust_kernels" / "include" / "tileir_kernels.h"
    assert written.read_text() == header(), "python -m tileir_kernels.header include/tileir_kernels.h"


def test_every_operator_that_is_declared_is_in_the_package() -> None:
    declared = set(re.findall(r"int32_t tileir_(\w+)\(const TensorDesc", loading.CDEF))
    assert declared == set(CALLS)
    assert declared <= set(kernels.__all__)


@pytest.fixture
def recorder(library: Any, tmp_path: Path) -> Any:
    with kernels.recording(tmp_path, "sm_90"):
        yield tmp_path


@pytest.mark.parametrize("operator", CALLS)
@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (None, TypeError),
        ([1.0, 2.0], TypeError),
        (torch.zeros(4, 8, dtype=torch.int32), TypeError),
        (torch.zeros(4, 8, dtype=torch.float64), TypeError),
        (torch.zeros((2,) * 9), ValueError),
        (torch.zeros(0, 8), ValueError),
        (torch.zeros(4, 0), ValueError),
        (torch.zeros(4, 8, requires_grad=True), ValueError),
        (torch.zeros(2, 4, 8).permute(2, 0, 1), ValueError),
        (torch.zeros(8, 4).t(), ValueError),
    ],
    ids=[
        "None",
        "list",
        "int32",
        "float64",
        "rank 9",
        "no rows",
        "no columns",
        "gradient",
        "permuted",
        "transposed",
    ],
)
def test_what_does_not_fit_is_refused_by_name(recorder: Path, operator: str, wrong: Any, kind: type) -> None:
    with pytest.raises(kind, match=rf"^{NAMES.get(operator, 'input')}: "):
        CALLS[operator](wrong)
    assert not list(recorder.iterdir())


@pytest.mark.parametrize("operator", CALLS)
def test_a_tensor_that_is_not_on_a_gpu_is_refused_by_name(operator: str) -> None:
    with pytest.raises(ValueError, match=rf"^{NAMES.get(operator, 'input')}: .* CUDA device"):
        CALLS[operator](torch.zeros(4, 8))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: kernels.softmax(x, x[:, :7]), "out: shape"),
        (lambda x: kernels.softmax(x, x.half()), "out: dtype"),
        (lambda x: kernels.softmax(x, torch.zeros(16, 4).t()[:, :16:2]), "out: "),
        (lambda x: kernels.softmax(x, variant="wavy"), "variant: 'wavy'"),
        (lambda x: kernels.softmax(x[0]), "input: 1 dimensions, not 2"),
        (lambda x: kernels.silu_and_mul(x[:, :7]), "input: "),
        (lambda x: kernels.swiglu(x, x[:, :4]), "up: shape"),
        (lambda x: kernels.swiglu(x, x.half()), "up: dtype"),
        (lambda x: kernels.gelu(x, "sigmoid"), "approximate: 'sigmoid'"),
        (lambda x: kernels.geglu(x, 2), "dim: 2"),
        (lambda x: kernels.geglu(x[:3], 0), "input: dimension 0"),
        (lambda x: kernels.transpose(x, x), "out: shape"),
        (lambda x: kernels.matmul(x, x), "b: shape"),
        (lambda x: kernels.matmul(x, x.half().t().contiguous()), "b: dtype"),
        (lambda x: kernels.matmul(x, x.t()), "b: the elements"),
        (lambda x: kernels.matmul(x, x, transpose_b=True), "transpose_b: the plain form"),
        (lambda x: kernels.matmul(x, x, True, out=x, variant="persistent"), "out: shape"),
        (lambda x: kernels.matmul(x, x, True, variant="lazy"), "variant: 'lazy'"),
        (lambda x: kernels.matmul(x, x[:, :4], tiling=kernels.Tiling(m=48)), "b: shape"),
        (lambda x: kernels.matmul(x[:, :4], x, tiling=kernels.Tiling(m=48)), "tile_m: 48"),
        (lambda x: kernels.matmul(x[:, :4], x, tiling=kernels.Tiling(latency=11)), "latency: 11"),
        (lambda x: kernels.matmul(x[:, :4], x, tiling=kernels.Tiling(group=-1)), "group: -1"),
        (lambda x: kernels.bmm(x[None], x[None]), "b: shape"),
        (lambda x: kernels.bmm(x[None, :, :4], x.expand(2, 4, 8)), "b: shape"),
        (lambda x: kernels.bmm(x[None], x[None], True, variant="plain"), "transpose_a: the plain form"),
        (lambda x: kernels.splitk_reduce(x[None, None], x[None]), "lse: shape"),
        (lambda x: kernels.splitk_reduce(x[None, None], x[None, None, :, 0].half()), "lse: dtype"),
        (lambda x: kernels.splitk_reduce(x[None, None], x[None, None, :, 0]), "lse: "),
        (lambda x: kernels.splitk_reduce(x[None, None], x[None, :1, :4], x[None, :1, :5]), "out: shape"),
        (lambda x: kernels.dropout(x, 1, 1.5), "p: 1.5"),
        (
            lambda x: kernels.layer_norm(x, x[0], x[0], start=2),
            "start: no dimensions of input lie in 2",
        ),
        (lambda x: kernels.layer_norm(x, x[0], x[0], start=1, end=1), "start: no dimensions"),
        (lambda x: kernels.layer_norm(x, x[0], x[0], end=-1), "start: no dimensions"),
        (
            lambda x: kernels.layer_norm(x, torch.ones(8, 2)[:, 0], x[0]),
            "weight: its elements must be adjacent",
        ),
        (lambda x: kernels.layer_norm(x, x[0, :4], x[0, :4]), "weight: shape"),
        (lambda x: kernels.layer_norm(x, x[0], x[0].half()), "bias: dtype"),
        (lambda x: kernels.layer_norm(x, x[0], x[0], mean=x[:, :1].half()), "mean: dtype must be f32"),
        (lambda x: kernels.layer_norm(x, x[0], x[0], rstd=x[:3, :1]), "rstd: shape"),
        (lambda x: kernels.layer_norm_legacy(x, x[0], x[0, :4]), "bias: shape"),
        (lambda x: kernels.layer_norm_legacy(x, x[0], x[0], mean=x[:3, 0]), "mean: shape"),
        (lambda x: kernels.layer_norm_legacy(torch.ones(1, 16_385), x[0], x[0]), "weight: shape"),
        (lambda x: kernels.layer_norm_legacy(torch.ones(1, 16_385), *torch.ones(2, 16_385)), "input: a row"),
        (lambda x: kernels.persistent_layer_norm(x.half(), x[0], x[0]), "input: dtype must be f32 or bf16"),
        (lambda x: kernels.persistent_layer_norm(x, x[0].half(), x[0]), "bias: dtype"),
        (lambda x: kernels.persistent_layer_norm(x, x[0], x[0], rstd=x[0, :4].half()), "rstd: dtype must be"),
        (lambda x: kernels.persistent_layer_norm(x, x[0], x[0], tile_rows=6), "tile_rows: 6"),
        (lambda x: kernels.rope(x[None, None], x[None, None, 1:], x, x), "key: shape"),
        (lambda x: kernels.rope(x[None, None], x[None, None], x, x[:, 4:]), "sin: shape"),
        (lambda x: kernels.rope(x[None, None], x[None, None], x[:, :3], x[:, :3]), "cos: shape"),
        (lambda x: kernels.rope(x[None, None], x[None, None], x.half(), x), "sin: dtype"),
        (lambda x: kernels.rope(x[None, None], x[None, None].half(), x, x), "key: dtype"),
        (lambda x: kernels.rope(x[None, None], x[None, None], x, x, 6), "rotated: half of 6"),
        (lambda x: kernels.rope(x[None, None], x[None, None], x, x, 16), "rotated: half of 16"),
        (lambda x: kernels.rope(x[None, None].mT, x[None, None].mT, x.t(), x.t()), "query: only along"),
        (lambda x: kernels.dropout(x, 1, float("nan")), "p: "),
        (lambda x: untyped.dropout(x, 1, "half"), "p: a number"),
        (lambda x: untyped.dropout(x, 1.5), "seed: an integer"),
        (lambda x: untyped.geglu(x, 1.0), "dim: an integer"),
        (lambda x: kernels.geglu(x, 1 << 40), "dim: 1099511627776"),
        (lambda x: untyped.rms_norm(x, x[0], None), "eps: a number"),
        (lambda x: untyped.rms_norm(x, x[0], 1e-6, "1"), "shift: a number"),
        (lambda x: untyped.layer_norm(x, x[0], x[0], start="last"), "start: an integer"),
        (lambda x: untyped.layer_norm(x, x[0], x[0], end=1.5), "end: an integer"),
        (lambda x: untyped.persistent_layer_norm(x, x[0], x[0], compute="yes"), "compute: an integer"),
        (lambda x: untyped.persistent_layer_norm(x, x[0], x[0], tile_rows=2.0), "tile_rows: an integer"),
        (lambda x: kernels.persistent_layer_norm(x, x[0], x[0], tile_rows=1 << 30), "tile_rows: a tile has"),
        (lambda x: untyped.rope(x[None, None], x[None, None], x, x, "all"), "rotated: an integer"),
        (lambda x: untyped.relu(x, hints=4), "hints: a Hints"),
        (lambda x: kernels.relu(x, hints=kernels.Hints(-1)), "hints: occupancy, -1"),
        (lambda x: kernels.relu(x, hints=kernels.Hints(num_ctas=3)), "hints: num_ctas, 3"),
        (lambda x: kernels.relu(x, hints=kernels.Hints(num_worker_warps=64)), "hints: num_worker_warps, 64"),
        (lambda _: kernels.Hints(num_ctas=1 << 40), "num_ctas: 1099511627776"),
        (lambda _: untyped.Tiling(m=1.5), "m: an integer"),
        (lambda x: untyped.matmul(x[:, :4], x, tiling=(64, 64)), "tiling: a Tiling"),
        (lambda x: kernels.matmul(x[:, :4], x, tiling=kernels.Tiling(m=1 << 30)), "tile_m: a tile has"),
        (lambda x: kernels.relu(x.to_sparse_csr()), "input: its elements must be stored by strides"),
        (lambda x: kernels.swiglu(x, x.to_sparse()), "up: its elements must be stored by strides"),
        (
            lambda x: kernels.relu(torch.nested.nested_tensor([x, x[:2]])),
            "input: its elements must be stored",
        ),
        (lambda x: kernels.relu(x.to("meta")), "input: its address is null"),
    ],
)
def test_an_option_or_output_that_does_not_fit_is_refused(recorder: Path, call: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as told:
        call(torch.zeros(4, 8))
    assert str(told.value).startswith(said)


def square(*shape: int) -> Any:
    return torch.zeros(*(shape or (8, 8)))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: kernels.softmax(x, square(1, 8).expand(8, 8)), "out: elements of it share memory"),
        (lambda x: kernels.softmax(x, square(16, 8).as_strided((8, 8), (7, 1))), "out: elements of it share"),
        (lambda x: kernels.bmm(x[None], x[None], out=x.expand(2, 8, 8)[:1]), "out: it shares memory with a"),
        (
            lambda _: kernels.bmm(square(2, 8, 8), square(2, 8, 8), out=square().expand(2, 8, 8)),
            "out: elements",
        ),
        (lambda x: kernels.matmul(square(), x, out=x), "out: it shares memory with b"),
        (lambda x: kernels.transpose(x, x), "out: it shares memory with input"),
        (lambda x: kernels.softmax(x[:4], x[1:5]), "out: it shares memory with input"),
        (lambda x: kernels.softmax(x[1:5], x[:4]), "out: it shares memory with input"),
        (lambda x: kernels.softmax(x[:, :4], x[:, 2:6]), "out: it shares memory with input"),
        (lambda x: kernels.silu_and_mul(x, x[:, 4:]), "out: it shares memory with input"),
        (
            lambda x: kernels.rms_norm(x, torch.ones(8), rstd=x.view(-1)[8:16]),
            "rstd: it shares memory",
        ),
        (lambda x: kernels.rms_norm(square(), x[0], out=x), "out: it shares memory with weight"),
        (lambda _: _rope(square(1, 1, 4, 8).expand(1, 2, 4, 8)), "query: elements of it share memory"),
        (lambda _: _rope(*[square(1, 2, 4, 8)] * 2), "key: it shares memory with query"),
        (lambda _: _rope(q := square(1, 2, 4, 8), cos=q[0, 0]), "query: it shares memory with cos"),
    ],
)
def test_an_output_that_other_blocks_read_or_write_is_refused(recorder: Path, call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=rf"^{said}"):
        call(square())
    assert not list(recorder.iterdir())


def _rope(query: Any, key: Any = None, cos: Any = None) -> Any:
    key = square(1, 2, 4, 8) if key is None else key
    return kernels.rope(query, key, square(4, 8) if cos is None else cos, square(4, 8))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: kernels.softmax(x, x),
        lambda x: kernels.swiglu(x, x, x),
        lambda x: kernels.layer_norm(x, torch.ones(8), torch.ones(8), out=x),
        lambda x: kernels.silu_and_mul(x, x[:, :4]),
        lambda x: kernels.softmax(x[:, :4], x[:, 4:]),
        lambda x: kernels.softmax(x[::2], x[1::2]),
        lambda x: kernels.matmul(x[:, :4], x[:4], out=square(8, 16)[:, 8:]),
        lambda _: _rope(*square(1, 4, 3, 2, 8).permute(2, 0, 3, 1, 4)[:2]),
    ],
    ids=["itself", "both", "norm", "first half", "columns", "rows", "gaps", "packed query and key"],
)
def test_an_output_in_place_or_between_inputs_is_written(recorder: Path, call: Any) -> None:
    call(square())
    assert len(list(recorder.glob("*.json"))) == 1


def test_memory_that_is_not_what_it_says_is_refused(recorder: Path) -> None:
    negated = torch.zeros(4, 8, dtype=torch.complex64).conj().imag
    assert negated.is_neg()
    for wrong, said in ((negated, "negated"), (torch.zeros(4, 8).to_sparse(), "by strides")):
        with pytest.raises(ValueError, match=rf"^input: .*{said}"):
            kernels.relu(wrong)
    assert not list(recorder.iterdir())


def test_what_is_remembered_of_a_layout_skips_no_check(recorder: Path) -> None:
    for _ in range(2):
        kernels.relu(torch.zeros(3, 7))
    with pytest.raises(ValueError, match=r"^input: requires a gradient"):
        kernels.relu(torch.zeros(3, 7, requires_grad=True))
    with torch.no_grad():
        kernels.relu(torch.zeros(3, 7, requires_grad=True))
    assert len(list(recorder.glob("*.json"))) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((None, "sm_90"), "folder: "),
        (("/nowhere", "sm_90"), "folder: /nowhere"),
        ((".", None), "arch: "),
        ((".", "hopper"), "arch: "),
        ((".", "sm_90", 0), "multiprocessors: 0"),
        ((".", "sm_90", "all"), "multiprocessors: "),
    ],
)
def test_what_cannot_be_recorded_is_refused_by_name(library: Any, arguments: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"^{said}"), kernels.recording(*arguments):
        pass
    assert not loading.is_recording()


def test_a_recording_within_another_leaves_it_on(recorder: Path, tmp_path_factory: Any) -> None:
    inner = tmp_path_factory.mktemp("inner")
    with kernels.recording(inner, "sm_100"):
        kernels.relu(torch.zeros(4))
    kernels.relu(torch.zeros(4))
    assert [len(list(folder.glob("*.json"))) for folder in (inner, recorder)] == [1, 1]


def test_a_library_loaded_anew_does_not_launch_what_is_recorded(
    recorder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Launches:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} of another library than the one that records")

    monkeypatch.setattr(loading._loaded, "get", Launches)
    kernels.relu(torch.zeros(4))
    assert len(list(recorder.glob("*.json"))) == 1


def test_only_the_thread_that_records_records(recorder: Path) -> None:
    def call() -> str:
        with pytest.raises(ValueError, match="a tensor on a CUDA device is needed") as told:
            kernels.relu(torch.zeros(4))
        return str(told.value)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(call).result().startswith("input: ")
    assert not list(recorder.iterdir())


def test_a_call_within_a_call_has_descriptors_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when another thread calls: the library has the tensors of its own call until it returns."""
    given: list[tuple[int, int]] = []
    tensors = [(torch.zeros(5), torch.zeros(5)) for _ in range(2)]

    class Library:
        @staticmethod
        def tileir_relu(out: Any, x: Any, *_: Any) -> int:
            pointers = (out.ptr, x.ptr)
            given.append(pointers)
            if len(given) < len(tensors):
                kernels.relu(*tensors[len(given)])
            assert (out.ptr, x.ptr) == pointers
            return 0

    monkeypatch.setattr(loading.recording_state, "library", Library)
    for _ in range(2):
        given.clear()
        kernels.relu(*tensors[0])
        assert given == [(out.data_ptr(), x.data_ptr()) for x, out in tensors]


def test_sources_are_looked_at_again_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[float] = []
    now = [100.0]
    monkeypatch.setattr("tileir_kernels.library.time.monotonic", lambda: now[0])
    monkeypatch.setattr(build, "stamp", lambda: looked.append(now[0]) or ((1, 1),))
    loaded = loading._Loaded()
    loaded.library, loaded.stamp = "the library", ((1, 1),)
    moments = [100.0 + share * loading.FRESH_SECONDS for share in (0, 0.5, 1.5, 2, 3)]
    for now[0] in moments:
        assert loaded.get() == "the library"
    assert looked == [moments[0], moments[2], moments[4]]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_a_launch_says_so(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tileir_kernels.tensors.is_recording", lambda: True)
    given = describe("input", torch.zeros(8))
    status = library.tileir_relu(given, given, loading.ffi.NULL, 0, loading.ffi.NULL)
    assert status == library.TILEIR_DEVICE
    with pytest.raises(kernels.KernelError, match=r"^device: "):
        loading.check(library, status)


def test_an_address_within_an_element_is_refused(library: Any) -> None:
    given = describe_at(4099)
    assert library.tileir_relu(given, given, loading.ffi.NULL, 0, loading.ffi.NULL) == library.TILEIR_STRIDE
    assert loading.ffi.string(library.tileir_error()).startswith(b"input: its address 0x1003")


def describe_at(address: int) -> Any:
    return loading.ffi.new(
        "TensorDesc *", {"ptr": address, "ndim": 1, "shape": [4], "strides": [1], "dtype": 0}
    )


def test_null_descriptors_are_refused(library: Any) -> None:
    null = loading.ffi.NULL
    assert library.tileir_relu(null, null, null, 0, null) == library.TILEIR_NULL
    assert library.tileir_record(b"/nowhere", b"sm_90", 1, 0) == library.TILEIR_VALUE


def test_each_status_is_an_exception() -> None:
    assert isinstance(errors.failure(2, "x"), TypeError)
    assert all(isinstance(errors.failure(status, "x"), ValueError) for status in (1, 3, 4, 5, 6, 7, 8))
    assert all(isinstance(errors.failure(status, "x"), kernels.KernelError) for status in (9, 10, 11, 12))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources, and a cargo that copies them into the library, or fails where they hold `error`."""
    folder = tmp_path / "workspace"
    (folder / "kernels" / "src").mkdir(parents=True)
    for name in ("Cargo.toml", "kernels/Cargo.toml", "kernels/src/lib.rs"):
        (folder / name).write_text("first")
    tools = tmp_path / "bin"
    tools.mkdir()
    cargo = tools / "cargo"
    cargo.write_text(
        "#!/bin/sh\necho built >> log\n"
        "if grep -q error kernels/src/lib.rs; then echo 'error: no such tile' >&2; exit 101; fi\n"
        f"mkdir -p target/release; cp kernels/src/lib.rs target/release/{build.NAME}\n"
    )
    cargo.chmod(cargo.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    for name in ("CARGO_TARGET_DIR", "TILEIR_TOOLCHAIN", "TILEIR_KERNELS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_a_changed_source_is_built_once(workspace: Path) -> None:
    first = build.library(workspace)
    assert first.read_text() == "first"
    assert build.library(workspace) == first
    before = build.stamp(workspace)
    source = workspace / "kernels" / "src" / "lib.rs"
    source.write_text("second!")
    assert build.stamp(workspace) != before
    second = build.library(workspace)
    assert (first.read_text(), second.read_text()) == ("first", "second!")
    source.write_text("first")
    assert build.library(workspace) == first
    assert (workspace / "log").read_text() == "built\n" * 2


def test_a_new_source_file_is_a_change(workspace: Path) -> None:
    before = build.stamp(workspace), build.content_hash(workspace)
    (workspace / "kernels" / "src" / "more.rs").write_text("more")
    assert build.stamp(workspace) != before[0]
    assert build.content_hash(workspace) != before[1]


def test_what_an_editor_leaves_beside_a_source_is_none(workspace: Path) -> None:
    before = build.stamp(workspace)
    (workspace / "kernels" / "src" / ".#lib.rs").symlink_to("user@host.1234")
    assert build.stamp(workspace) == before


def test_a_source_that_changes_during_a_build_is_built_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = workspace / "kernels" / "src" / "lib.rs"
    run = build.subprocess.run
    edits = iter(["second"])

    def edited(*arguments: Any, **options: Any) -> Any:
        done = run(*arguments, **options)
        source.write_text(next(edits, source.read_text()))
        return done

    monkeypatch.setattr(build.subprocess, "run", edited)
    assert build.library(workspace).read_text() == "second"
    source.write_text("first")
    assert build.library(workspace).read_text() == "first"


def test_a_library_of_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loading.LIBRARY, "libc.so.6")
    with pytest.raises(ImportError, match="no library of these kernels"):
        loading._Loaded().get()


def test_a_failed_build_says_why_and_leaves_the_old_library(workspace: Path) -> None:
    first = build.library(workspace)
    (workspace / "kernels" / "src" / "lib.rs").write_text("error")
    with pytest.raises(kernels.BuildError, match="no such tile"):
        build.library(workspace)
    assert build.newest(workspace) == first
    assert [path.name for path in first.parent.iterdir() if path.suffix == ".new"] == []


def test_a_library_that_no_longer_builds_is_used_with_a_warning(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"library": lambda: build_library(workspace), "stamp": lambda: stamp(workspace)}
    build_library, stamp = build.library, build.stamp
    for name, call in calls.items():
        monkeypatch.setattr(build, name, call)
    loaded = loading._Loaded()
    opened: list[Path] = []
    monkeypatch.setattr(loaded, "load", lambda path, seen: opened.append(path) or _set(loaded, path, seen))
    monkeypatch.delenv(loading.LIBRARY, raising=False)
    first = loaded.get()
    assert loaded.get() == first
    (workspace / "kernels" / "src" / "lib.rs").write_text("error")
    loaded.looked -= loading.FRESH_SECONDS
    with pytest.warns(kernels.StaleLibraryWarning, match="no such tile"):
        assert loaded.get() == first
    assert loaded.get() == first
    (workspace / "kernels" / "src" / "lib.rs").write_text("third")
    loaded.looked -= loading.FRESH_SECONDS
    assert loaded.get() != first
    assert len(opened) == 2


def _set(loaded: Any, path: Path, seen: Any) -> Path:
    loaded.library, loaded.stamp = path, seen
    return path


def test_a_folder_that_is_none_is_told_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def built() -> Any:
        raise AssertionError("a library was asked for")

    monkeypatch.setattr(loading._loaded, "get", built)
    with (
        pytest.raises(ValueError, match="is no folder"),
        kernels.recording(tmp_path / "x", "sm_90"),
    ):
        pass


def test_compilers_beside_the_project_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toolkit = tmp_path / ".toolchain" / "nvidia" / "cu13"
    tool = toolkit / "bin" / "tileiras"
    monkeypatch.setattr(build, "WORKSPACE", tmp_path / "rust_kernels")
    for name in (build.TOOLCHAIN, build.TOOLKIT, build.ASSEMBLER, "LIBCLANG_PATH"):
        monkeypatch.setenv(name, "")  # put back afterwards, whatever is set meanwhile
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    build.find_assembler()
    assert (build.compilers(), build.ASSEMBLER in os.environ) == (None, False)
    tool.parent.mkdir(parents=True)
    tool.touch()
    made = build.environment()
    assert made[build.TOOLKIT] == str(toolkit)
    assert made["LIBCLANG_PATH"] == str(tmp_path / ".toolchain" / "clang" / "native")
    build.find_assembler()
    assert (os.environ[build.ASSEMBLER], os.environ[build.TOOLKIT]) == (str(tool), str(toolkit))
