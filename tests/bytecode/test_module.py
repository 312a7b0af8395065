"""What `assemble` writes and refuses, seen without the toolchain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tileir_diff import InputError, assemble
from tileir_diff.bytecode import assemble_source
from tileir_diff.bytecode.module import write_module
from tileir_diff.dialect import parse_text
from tileir_diff.ingest.source import MAGIC

from .kernels import GLOBAL, kernel

EMPTY = "entry @k(%arg0: tile<ptr<f32>>) {\n  return\n}\n"
PRODUCED = f"// Producer: a compiler\n{EMPTY}"


def test_smallest_file_byte_for_byte() -> None:
    parts = [
        MAGIC + b"\x0d\x01\0\0",  # 13.1
        b"\x82\x09\x08\xcb" + b"\x01",  # functions, 9 bytes from a multiple of 8 on: one
        b"\x00\x03\x02\x00",  # name 0, type 3, an entry, no location
        b"\x03" + b"\x5c\x00\x00",  # 3 bytes of code: return, no results, no operands
        b"\x85\x1e\x04" + b"\x04\xcb\xcb\xcb",  # types, 30 bytes from a multiple of 4 on: four, at
        b"\0\0\0\0" + b"\x01\0\0\0" + b"\x03\0\0\0" + b"\x06\0\0\0",
        b"\x07\x0c\x00\x0d\x01\x00\x10\x01\x02\x00",  # f32, ptr of 0, tile of 1, function of 2
        b"\x81\x09\x04\xcb\xcb\xcb" + b"\x01\xcb\xcb\xcb" + b"\0\0\0\0" + b"k",  # strings: one
        b"\x00",
    ]  # fmt: skip
    assert assemble(parse_text(EMPTY)) == b"".join(parts)


NEWER = [
    ("%0 = atan2 %fv, %fv : tile<4xf32>", "'atan2'", 2),
    ("%0 = tanh %fv rounding<approx> : tile<4xf32>", "'rounding<approx>' on 'tanh'", 2),
    ("%0 = negi %iv overflow<no_wrap> : tile<4xi32>", "'overflow<no_wrap>' on 'negi'", 2),
    ("for unsigned %n in (%i to %i, step %i) : tile<i32> {\n  }", "'unsigned' on 'for'", 2),
    ('%0 = print_tko "a" token=%t -> token', "the token of 'print_tko'", 2),
    ("%0 = constant <f8E8M0FNU: 1.0> : tile<2xf8E8M0FNU>", "the type f8E8M0FNU", 2),
    ("%0 = exp %fv rounding<approx> : tile<4xf32>", "'rounding<approx>' on 'exp'", 3),
    ("%0 = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>", "'alloca'", 3),
    ("%0 = constant <f4E2M1FN: 1.0> : tile<2xf4E2M1FN>", "the type f4E2M1FN", 3),
    ("%0 = insert %r, %m[%i, %i] : tile<4x2xf32>, tile<8x2xf32>", "'insert'", 4),
    ("%0 = ftoi %fv signed saturating : tile<4xf32> -> tile<4xi32>", "'saturating' on 'ftoi'", 4),
    ("%0 = ftof %fv rounding<nearest_away> : tile<4xf32> -> tile<4xtf32>", "'rounding<nearest_away>'", 4),
    ("%0 = ftof %fv rounding<zero> : tile<4xf32> -> tile<4xf16>", "'rounding<zero>' on a conversion", 4),
]  # fmt: skip


@pytest.mark.parametrize(("snippet", "reason", "since"), NEWER, ids=[reason for _, reason, _ in NEWER])
def test_what_a_version_lacks_is_refused_with_line_and_reason(snippet: str, reason: str, since: int) -> None:
    text = kernel(snippet)
    module = parse_text(text, "k.mlir")
    with pytest.raises(InputError) as caught:
        assemble(module, f"13.{since - 1}")
    line = text.split("\n").index(f"  {snippet}".split("\n")[0]) + 1
    assert (caught.value.path, caught.value.line, caught.value.column) == ("k.mlir", line, 3)
    assert caught.value.message.startswith(reason)
    assert caught.value.message.endswith(f"needs bytecode 13.{since}, and 13.{since - 1} was asked for")
    assert write_module(module).version == f"13.{since}"
    assert assemble(module, f"13.{since}")[8:10] == bytes((13, since))


def test_conversion_to_a_scale_had_modes_before() -> None:
    text = kernel("%0 = ftof %fv rounding<zero> : tile<4xf32> -> tile<4xf8E8M0FNU>")
    assert write_module(parse_text(text)).version == "13.2"


def test_unused_token_of_a_print_needs_no_version() -> None:
    assert write_module(parse_text(kernel('%0 = print_tko "a" -> token'))).version == "13.1"


def test_default_version_is_that_of_the_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr("tileir_diff.toolchain.disassemble", lambda data, path: EMPTY)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    path = tmp_path / "k.tirbc"
    path.write_bytes(MAGIC + b"\x0d\x03\0\0")
    assert assemble_source(path).version == "13.3"
    assert assemble_source(path, "13.2").version == "13.2"


def test_no_such_version() -> None:
    with pytest.raises(InputError, match=r"no bytecode version 12\.0; there are 13\.1, 13\.2, 13\.3, 13\.4"):
        assemble(parse_text(EMPTY), "12.0")


def test_producer_is_kept_where_there_is_place_for_it() -> None:
    kept, lost = write_module(parse_text(PRODUCED)), write_module(parse_text(PRODUCED), "13.2")
    assert (kept.version, kept.notes) == ("13.3", ())
    assert b"a compiler" in kept.data
    assert b"a compiler" not in lost.data
    assert lost.notes == ("the module's producer is left out: it needs bytecode 13.3",)


def test_what_is_left_out_is_said() -> None:
    text = f"cuda_tile.module @m {{\n{EMPTY.replace('return', 'return loc(fused[unknown, unknown])')}}}\n"
    assert write_module(parse_text(text)).notes == (
        "debug locations left out, which bytecode cannot hold: 1",
        "the module's name @m is left out: bytecode has none",
    )


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{GLOBAL}{GLOBAL}{EMPTY}", 2, "already defined"),
        ("entry @k() {\n  %0 = constant <f32: 1.0> : tile<3xf32>\n  return\n}\n", 2, "powers? of two"),
        ("testing$func @f() {\n  return\n}\n", 1, r"'testing\$func' cannot be written"),
        ("cuda_tile.global @g alignment = 16 : tile<2xf32>\n", 1, "the initial value of this global is not"),
    ],
)
def test_refused(text: str, line: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        assemble(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_broken_modules_are_written_on_request() -> None:
    text = "entry @k() {\n  %0 = constant <f32: 1.0> : tile<3xf32>\n  return\n}\n"
    assert assemble(parse_text(text), verify=False).startswith(MAGIC)


def test_numbers_that_do_not_fit_are_refused_with_their_line() -> None:
    text = kernel("%0 = assume bounded<0, 9223372036854775808>, %i : tile<i32>")
    with pytest.raises(InputError, match="a number in assumption is too large") as caught:
        assemble(parse_text(text), verify=False)
    assert caught.value.line == 3


def test_the_same_bytes_each_time() -> None:
    code = "import sys, tileir_diff; sys.stdout.buffer.write(tileir_diff.assemble(sys.argv[1]))"
    path = next((Path(__file__).parents[2] / "fixtures" / "kernels").glob("*/py.g.mlir"))
    call = [sys.executable, "-c", code, str(path)]
    runs = [
        subprocess.run(call, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in "12"
    ]
    assert runs[0].stdout == runs[1].stdout == assemble(path)


def test_nothing_is_imported_before_it_is_used() -> None:
    code = "import sys, tileir_diff; print([name for name in sys.modules if 'bytecode' in name])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert result.stdout == "[]\n"
