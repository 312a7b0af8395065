"""The typed IR: reads dumps into xDSL ops of the `cuda_tile` dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect

    from tileir_diff.dialect.ir import ModuleOp


def parse_text(text: str, path: str = "<text>") -> ModuleOp:
    """The typed module of a dump's text. Raises InputError."""
    from tileir_diff.dialect.builder import build_module
    from tileir_diff.ingest.formats import detect_format
    from tileir_diff.syntax.parser import parse_file_syntax
    from tileir_diff.syntax.source import SourceText

    source = SourceText(text, path)
    return build_module(source, parse_file_syntax(source), detect_format(text))


def parse_file(path: str) -> ModuleOp:
    """The typed module of a file, bytecode included; `-` is standard input. Raises InputError."""
    from tileir_diff.ingest import read_source

    file = read_source(path)
    module = parse_text(file.text, file.path)
    if file.bytecode:
        module.format = file.format
    return module


def CUDA_TILE() -> Dialect:  # noqa: N802  (named as xDSL names its dialects)
    """The dialect as an xDSL object: all ops and attributes."""
    from xdsl.ir import Dialect

    from tileir_diff.dialect.attributes import Value
    from tileir_diff.dialect.ir import op_class
    from tileir_diff.dialect.ops import OPS
    from tileir_diff.dialect.types import ALL_TYPES

    return Dialect("cuda_tile", [op_class(short) for short in OPS], [*ALL_TYPES, Value])
