"""Reading: files, standard input, bytecode; what cannot be read says why."""

import contextlib
import io
import re
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tileir_diff.dialect import parse_file
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.errors import InputError
from tileir_diff.ingest import read_source
from tileir_diff.ingest.source import MAGIC

TEXT = "entry @k() {\n  return\n}\n"
ROOT = Path(__file__).parents[2]


def tool(folder: Path, script: str) -> None:
    """A stand-in for the disassembler: what is tested is how it is called and what becomes of its answer."""
    path = folder / "bin" / "tileirdisasm"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_text(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(TEXT)
    source = read_source(path)
    assert (source.path, source.text, source.format, source.bytecode) == (
        str(path),
        TEXT,
        "disassembly",
        False,
    )


def test_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert read_source(path).text == TEXT


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    source = read_source("-")
    assert (source.path, source.text) == ("<stdin>", TEXT)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the input is empty"),
        (b" \n\t\n", "the input is empty"),
        (b"\xff\xfe\x00", "byte 0 is not UTF-8"),
        (b"entry\x00", "zero bytes"),
        (b"\x7fELF\x02".ljust(18, b"\x00") + b"\xbe\x00", r"a compiled kernel \(cubin\)"),
        (b"\x7fELF\x02".ljust(18, b"\x00") + b"\x3e\x00", "an ELF file, not Tile IR"),
        (b"\x7fELF", "an ELF file"),
    ],
)
def test_what_is_not_a_dump(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "k.mlir"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_source(path)
    assert caught.value.path == str(path)


def test_what_is_not_utf8_has_a_place(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_bytes("// é\r\n// é".encode() + b"\xe9\n")
    with pytest.raises(InputError, match="byte 12 is not UTF-8") as caught:
        read_source(path)
    assert (caught.value.line, caught.value.column) == (2, 5)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_device_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tileir_diff.ingest.text.LARGEST", 1 << 20)
    with pytest.raises(InputError, match="/dev/zero: error: cannot read: larger than 1 MiB"):
        read_source("/dev/zero")


@pytest.mark.parametrize("name", ["missing.mlir", "."])
def test_what_is_not_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_source(tmp_path / name)


def test_path_that_is_none() -> None:
    with pytest.raises(InputError, match="not a path"):
        read_source("a\0b")


# ---- bytecode


def test_bytecode_is_known_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = "entry @k() {\\n  return loc(#loc)\\n}\\n#loc = loc(unknown)\\n"
    tool(tmp_path, f'test "$1" = -g && test -s "$2" && printf "{dump}"')
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    path = tmp_path / "any.name"
    path.write_bytes(MAGIC + b"\x0d\x04 and so on")
    source = read_source(path)
    assert (source.format, source.bytecode) == ("bytecode", True)
    module = parse_file(str(path))
    assert module.format == "bytecode"
    assert module.entries[0].get("sym_name") == "k"


def test_no_disassembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    path = tmp_path / "k.tilebc"
    path.write_bytes(MAGIC)
    with pytest.raises(InputError, match=r"bytecode, and no tileirdisasm was found .* in TILEIR_TOOLCHAIN="):
        read_source(path)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "echo 'error: error at offset 12: unsupported Tile version' >&2; exit 3",
            "offset 12: unsupported Tile version",
        ),
        ("exit 7", "exit status 7, no message"),
        ("exit 0", "exit status 0, no message"),
        ("kill -SEGV $$", "crashed on this bytecode (signal 11)"),
    ],
)
def test_refusing_disassembler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    tool(tmp_path, script)
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    path = tmp_path / "k.tilebc"
    path.write_bytes(MAGIC)
    with pytest.raises(InputError) as caught:
        read_source(path)
    assert message in caught.value.message


def test_misleading_settings_are_kept_from_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, 'test -z "$CUDA_HOME$CUDA_PATH$CUDA_ROOT" && echo "entry @clean() {}"')
    monkeypatch.setenv("TILEIR_TOOLCHAIN", str(tmp_path))
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        monkeypatch.setenv(name, "/elsewhere")
    path = tmp_path / "k.tilebc"
    path.write_bytes(MAGIC)
    assert "clean" in read_source(path).text


@pytest.mark.usefixtures("real_disassembler")
def test_real_bytecode_is_its_dump() -> None:
    found = 0
    for bytecode in sorted((ROOT / "fixtures" / "kernels").glob("*/*.t*bc"))[:6]:
        dump = bytecode.with_suffix(".mlir")
        if dump.exists():
            found += 1
            assert structurally_equal(parse_file(str(bytecode)), parse_file(str(dump)))
    assert found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.usefixtures("real_disassembler")
def test_damaged_bytecode_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    files = sorted((ROOT / "fixtures" / "kernels").glob("*/*.t*bc"))
    content = bytearray(files[0].read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(len(MAGIC), len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "k.tilebc"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        parse_file(str(path))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k.mlir"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        parse_file(str(path))


@pytest.mark.usefixtures("real_disassembler")
def test_real_disassembler_refuses_damage(tmp_path: Path) -> None:
    path = tmp_path / "k.tilebc"
    path.write_bytes(MAGIC + b"\x0d\x09\x00\x00junk")
    with pytest.raises(InputError, match=r"refuses this bytecode: .*unsupported Tile version 13\.9"):
        read_source(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("k.py", "this is Python, not Tile IR; `tileir-diff dump py`"),
        ("k.rs", "this is Rust"),
        ("k.cu", "CUDA C++"),
    ],
)
def test_a_source_is_told_as_one(name: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("def kernel(): pass\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(words)):
        read_source(path)
    path.write_text("entry @k() {\nreturn\n}\n", encoding="utf-8")
    assert read_source(path).format
