"""What the disassembler of an installed toolkit reads of what was written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.dialect.snippets import BLOCKS, LINES
from tileir_diff.bytecode.module import write_module
from tileir_diff.bytecode.versions import VERSIONS
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.dialect.ops import OPS
from tileir_diff.dialect.verifier import verify
from tileir_diff.errors import InputError
from tileir_diff.toolchain import disassemble

from .kernels import kernel

FIXTURES = Path(__file__).parents[2] / "fixtures"
DUMPS = sorted(FIXTURES.glob("kernels/*/*.mlir"))
SNIPPETS = [*LINES, *BLOCKS]
pytestmark = pytest.mark.usefixtures("real_disassembler")


def round_trip(text: str, version: str | None = None) -> str:
    written = write_module(parse_text(text), version)
    return disassemble(written.data, "k.tirbc", locations="loc(" in text)


@pytest.mark.parametrize("path", DUMPS, ids=[f"{path.parent.name}-{path.name}" for path in DUMPS])
def test_own_kernels_come_back_to_the_letter(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert round_trip(text) == text


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version(version: str) -> None:
    for path in DUMPS[::5]:
        text = path.read_text(encoding="utf-8")
        again = round_trip(text, version)
        assert structurally_equal(parse_text(text), parse_text(again)), path


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_each_op(snippet: str) -> None:
    text = kernel(snippet)
    module = parse_text(text)
    try:
        again = round_trip(text)
    except InputError:
        assert verify(module), "the verifier accepts what the disassembler refuses"
        return
    assert structurally_equal(module, parse_text(again))
    assert not verify(module), "the disassembler accepts what the verifier refuses"


def test_snippets_have_every_op_that_bytecode_has() -> None:
    shown = " ".join(kernel(snippet) for snippet in SNIPPETS)
    words = set(shown.replace("\n", " ").split(" "))
    assert set(OPS) - words == {"module", "testing$func"}


LISTS = random.Random(5)
VALUES = [
    ("i1", "[true, false]", 2),
    ("i1", "true", 16),
    ("i1", "false", 128),
    *[
        ("i1", f"[{', '.join(LISTS.choice(['true', 'false']) for _ in range(size))}]", size)
        for size in (4, 8, 16, 64)
    ],
    ("i1", f'"0x{"".join(LISTS.choice(["00", "01"]) for _ in range(128))}"', 128),
    ("i8", "[-128, 127]", 2),
    ("i64", "[-9223372036854775808, 9223372036854775807]", 2),
    ("f16", "[0x7C01, -0.000000e+00]", 2),
    ("bf16", "[0xFF80, 1.000000e+00]", 2),
    ("f32", "[0xFFC00001, 0x4B800000]", 2),
    ("tf32", "[1.000000e+00, -2.000000e+00]", 2),
    ("f64", "[0.33333333333333331, 0xFFF0000000000000]", 2),
    ("f8E4M3FN", "[1.000000e+00, 0x7F]", 2),
    ("f8E5M2", "[-1.000000e+00, 0x7C]", 2),
    ("f8E8M0FNU", "[1.000000e+00, 0xFF]", 2),
    ("f4E2M1FN", "[1.000000e+00, -6.000000e+00]", 2),
    ("fnv8E5M3FNU", "1.000000e+00", 2),
]  # fmt: skip


@pytest.mark.parametrize(("element", "literal", "size"), VALUES)
def test_constants(element: str, literal: str, size: int) -> None:
    text = f"entry @k() {{\n  %c = constant <{element}: {literal}> : tile<{size}x{element}>\n  return\n}}\n"
    assert f"constant <{element}: {literal}> :" in round_trip(text)


IDENTITIES = [
    ("f64", "0xFFF0000000000000 : f64"), ("f64", "-0.000000e+00"), ("f32", "0xFF800000 : f32"),
    ("f16", "0xFC00 : f16"), ("bf16", "-1.000000e+00 : bf16"), ("i64", "-9223372036854775808"),
    ("i32", "-2147483648 : i32"), ("i16", "-3 : i16"), ("i8", "-128 : i8"), ("i1", "true"),
]  # fmt: skip


@pytest.mark.parametrize(("element", "identity"), IDENTITIES)
def test_identities(element: str, identity: str) -> None:
    one = {"i": "1", "f": "1.0", "b": "1.0"}[element[0]] if element != "i1" else "true"
    body = f"(%a: tile<{element}>, %b: tile<{element}>) {{\n yield %a : tile<{element}>\n }}"
    reduce = f"%0 = reduce %c dim=0 identities=[{identity}] : tile<2x{element}> -> tile<{element}>\n {body}"
    text = f"entry @k() {{\n %c = constant <{element}: {one}> : tile<2x{element}>\n {reduce}\n return\n}}\n"
    assert f"identities=[{identity}]" in round_trip(text)


def test_scopes_and_call_sites() -> None:
    text = """entry @k() {
  %0 = make_token : token loc(#loc5)
  %1 = make_token : token loc(#loc6)
  return loc(#loc)
} loc(#loc4)
#di_file = #cuda_tile.di_file<"a \\22b\\22.py" in "/x">
#loc = loc(unknown)
#loc1 = loc("/x/a \\22b\\22.py":3:0)
#loc2 = loc("/x/a \\22b\\22.py":7:2)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "src", linkageName = "k", \
compileUnit = #di_compile_unit, scopeLine = 4>
#di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, file = #di_file, line = 5, column = 2>
#loc3 = #cuda_tile.di_loc<#loc2 in #di_subprogram>
#loc4 = #cuda_tile.di_loc<#loc1 in #di_subprogram>
#loc5 = #cuda_tile.di_loc<#loc2 in #di_lexical_block>
#loc6 = loc(callsite(#loc3 at #loc5))
"""
    again = round_trip(text)
    for line in text.splitlines():
        if "= #cuda_tile.di_" in line and "#loc" not in line:
            assert line in again
    assert "callsite(" in again
    ops = list(parse_text(again).entries[0].inner())
    assert [op.source and (op.source.line, op.source.column) for op in ops] == [(7, 2), (7, 2), None]
