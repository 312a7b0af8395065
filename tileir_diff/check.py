"""`tileir-diff check`: reads dumps and verifies them, many in one process."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.verifier import CheckError

SCHEMA: Final = "tileir-check/1"
SYNTAX: Final = "syntax"
NO_INPUT: Final = "unreadable"

OK, BROKEN, UNREADABLE = 0, 1, 2


@dataclass(frozen=True)
class FileResult:
    """What `check` found in one file.

    `status` is OK, BROKEN (constraints do not hold) or UNREADABLE (no such file, or not Tile IR).
    `lines` are the file's lines as text, for quoting.
    """

    path: str
    status: int
    errors: tuple[CheckError, ...] = ()
    lines: tuple[str, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        return self.status == OK


def check_text(text: str, path: str = "<text>") -> FileResult:
    """Verify one dump given as text."""
    from tileir_diff.dialect import parse_text
    from tileir_diff.dialect.verifier import verify

    try:
        errors = tuple(verify(parse_text(text, path)))
    except InputError as error:
        return _refused(path, error, text, SYNTAX)
    lines = tuple(text.split("\n")) if errors else ()
    return FileResult(path, BROKEN if errors else OK, errors, lines)


def check_file(path: str) -> FileResult:
    """Verify one file; `-` is standard input, reported as `<stdin>`. Bytecode is disassembled first."""
    from tileir_diff.ingest import read_source

    try:
        source = read_source(path)
    except InputError as error:
        return _refused(error.path, error, "", NO_INPUT)
    return check_text(source.text, source.path)


def check_files(paths: Sequence[str]) -> list[FileResult]:
    """Verify files in order; one that cannot be read is reported as such, and the rest are still checked."""
    return [check_file(path) for path in paths]


def _refused(path: str, error: InputError, text: str, rule: str) -> FileResult:
    """An input error as a result: one that names a rule is a broken constraint, found while reading.

    `rule` is that of an error that names none.
    """
    from tileir_diff.dialect.verifier import CheckError

    status = UNREADABLE if error.rule in (None, SYNTAX) else BROKEN
    found = CheckError(error.rule or rule, error.message, error.line, error.column)
    return FileResult(path, status, (found,), tuple(text.split("\n")))


def exit_status(results: Sequence[FileResult]) -> int:
    """0: all files are valid. 1: some break a constraint. 2: some cannot be read."""
    return max((result.status for result in results), default=OK)


def render_json(results: Sequence[FileResult]) -> str:
    """The results as `tileir-check/1`."""
    files = [
        {
            "path": result.path,
            "ok": result.ok,
            "errors": [
                {"line": error.line, "column": error.column, "rule": error.rule, "message": error.message}
                for error in result.errors
            ],
        }
        for result in results
    ]
    return json.dumps({"schema": SCHEMA, "files": files}, indent=2, ensure_ascii=False) + "\n"


def render_text(results: Sequence[FileResult], color: bool = False) -> str:
    """One line for a valid file; per error a line with its position, the source line and a caret."""
    parts: list[str] = []
    for result in results:
        if result.ok:
            parts.append(f"{result.path}: {_paint('ok', '32', color)}")
        parts.extend(_render_error(result, error, color) for error in result.errors)
    if len(results) > 1:
        bad = sum(not result.ok for result in results)
        parts.append(f"{len(results)} files: {len(results) - bad} ok, {bad} not")
    return "\n".join(parts) + "\n"


def _render_error(result: FileResult, error: CheckError, color: bool) -> str:
    position = f":{error.line}:{error.column}" if error.line else ""
    label = _paint(f"error[{error.rule}]", "1;31", color)
    head = f"{result.path}{position}: {label}: {error.message}"
    line = result.lines[error.line - 1] if 0 < error.line <= len(result.lines) else None
    # InputError knows how to quote a long line around a column: everything after its own first line.
    quoted = str(InputError("", result.path, error.line, error.column, line)).partition("\n")[2]
    return f"{head}\n{quoted}" if quoted else head


def _paint(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def check_command(paths: Sequence[str], format_: str = "text", color: bool = False) -> int:
    """Verify `paths`, print the results to standard output, and return the exit status.

    `format_` is `text` or `json`; `color` applies to text only.
    Raises InputError if standard output cannot be written.
    """
    from tileir_diff.cli.output import emit

    results = check_files(paths)
    rendered = render_json(results) if format_ == "json" else render_text(results, color)
    emit(rendered, None)
    return exit_status(results)
