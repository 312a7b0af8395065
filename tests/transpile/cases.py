"""Small modules, and real dumps, to translate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.match.fixtures import ROOT
from tileir_diff.api import load
from tileir_diff.dialect import parse_text
from tileir_diff.transpile import Transpiled, transpile

if TYPE_CHECKING:
    from pathlib import Path

KERNELS = ROOT / "kernels"
PARAMETERS = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>"
PROLOGUE = """\
  %t = make_token : token
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %lane = iota : tile<8xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pa = broadcast %p1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %at = offset %pa, %lane : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %v, %vt = load_ptr_tko weak %at token=%t : tile<8xptr<f32>> -> tile<8xf32>, token
"""
STORE = "  %s = store_ptr_tko weak %at, %w token=%t : tile<8xptr<f32>>, tile<8xf32> -> token\n"


def around(*lines: str, parameters: str = PARAMETERS) -> str:
    """A kernel that loads `%v` (8 numbers in f32), does these, and stores `%w`; `%b` is the block's index."""
    body = "".join(f"  {line}\n" for line in lines)
    return f"entry @small({parameters}) {{\n{PROLOGUE}{body}{STORE}  return\n}}\n"


def translated(text: str) -> Transpiled:
    [entry] = parse_text(text, "small.mlir").entries
    return transpile(entry, "small.mlir")


def body(text: str) -> list[str]:
    """The statements of the Rust entry for a module."""
    lines = translated(text).text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("    pub unsafe fn"))
    first = next(index for index, line in enumerate(lines) if index >= start and line.endswith("{"))
    return [line.strip() for line in lines[first + 1 : -2]]


def dump(path: Path) -> Transpiled:
    module, _ = load(path, "source")
    return transpile(module.entries[0], str(path))
