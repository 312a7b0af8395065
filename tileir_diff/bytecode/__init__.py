"""Writes the typed IR as Tile IR bytecode, which `tileirdisasm` and `tileiras` read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from tileir_diff.bytecode.module import Bytecode
    from tileir_diff.dialect.ir import ModuleOp

__all__ = ["assemble", "assemble_source"]


def assemble(
    source: str | os.PathLike[str] | ModuleOp, version: str | None = None, *, verify: bool = True
) -> bytes:
    """The bytecode of a dump: a path, `-` for standard input, or a module of `tileir_diff.dialect`.

    `version` is that of the bytecode, "13.1" to "13.4"; without one, that of the source if it is bytecode,
    else the oldest that can hold the module. Raises InputError for what cannot be read, for the first
    constraint of the dialect that is broken (unless `verify` is False), and for what the version cannot hold.
    """
    return assemble_source(source, version, verify=verify).data


def assemble_source(
    source: str | os.PathLike[str] | ModuleOp, version: str | None = None, *, verify: bool = True
) -> Bytecode:
    """As `assemble`, with the version that was written and notes on what could not be written."""
    import os

    from tileir_diff.bytecode.module import write_module
    from tileir_diff.bytecode.versions import VERSIONS
    from tileir_diff.dialect import parse_text
    from tileir_diff.ingest import read_source

    if isinstance(source, (str, os.PathLike)):
        file = read_source(source)
        module = parse_text(file.text, file.path)
        version = version or (file.version if file.version in VERSIONS else None)
    else:
        module = source
    if verify:
        _refuse_broken(module)
    return write_module(module, version)


def _refuse_broken(module: ModuleOp) -> None:
    """Raises InputError for the first broken constraint."""
    from tileir_diff.dialect.verifier import verify
    from tileir_diff.errors import InputError

    errors = verify(module)
    if not errors:
        return
    first, text = errors[0], module.dump.text if module.dump is not None else None
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    line = text.text.split("\n")[first.line - 1] if text is not None and first.line else None
    path = text.path if text is not None else ""
    raise InputError(f"{first.message}{more}", path, first.line, first.column, line, first.rule)
