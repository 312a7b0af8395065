"""Which printer wrote a dump."""

import time

import pytest

from tileir_diff.ingest.formats import detect_format


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        ("entry @k() {\n}", "disassembly"),
        ("global @g <i32: 1> : tile<1xi32>\nentry @k() {\n}", "disassembly"),
        ("entry @k() {\n  return loc(#loc)\n} loc(#loc)\n#loc = loc(unknown)", "disassembly-g"),
        ("cuda_tile.module @m {\n  entry @k() {\n  }\n}", "mlir"),
        ("module attributes {a.b} {\n  cuda_tile.module @m {\n  }\n}", "mlir"),
        ('"builtin.module"() ({\n}) : () -> ()', "mlir-generic"),
        ('module {\n "cuda_tile.return"() : () -> ()\n}', "mlir-generic"),
        ("cuda_tile.module @m {\n  entry @k(%0: tile<i32>) {\n  }\n}", "cutile-rs"),
        ("cuda_tile.module @m {\n  %2 = negi %1 {overflow = 1} : tile<i32>\n}", "cutile-rs"),
        ("cuda_tile.module @m {\n  %2 = alloca <structural-op>\n}", "cutile-rs"),
        ('entry @k() {\n  assert %c, "module" : tile<i1>\n}', "disassembly"),
    ],
)
def test_format(text: str, format_: str) -> None:
    assert detect_format(text) == format_


@pytest.mark.parametrize(
    "text", ["\n" * 200_000, " " * 200_000, "entry @" * 50_000, '"cuda_tile.' * 50_000, "loc(" * 50_000]
)
def test_takes_linear_time(text: str) -> None:
    start = time.process_time()
    detect_format(text)
    assert time.process_time() - start < 2
