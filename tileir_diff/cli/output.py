"""Writing results: to standard output, or to a file that is complete or not there."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import click

from tileir_diff.errors import InputError

PATH = click.Path(allow_dash=True, readable=False)
"""Shells complete file names for it; what is wrong with a file is said when it is read."""


class Seconds(click.FloatRange):
    """A duration; a shell's `nan` and `inf` are none."""

    def __init__(self, *, min_open: bool = False) -> None:
        super().__init__(0, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return seconds


STDIN = "<stdin>"
"""Name of standard input in reports, as in messages about it."""


def open_closed() -> None:
    """A standard stream that was closed at the start is empty, or takes everything.

    No file that is opened later gets its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
            setattr(sys, name, stream)


def emit(text: str, output: str | None) -> None:
    """Writes to `output`, or to standard output if None. Raises InputError if the file cannot be written."""
    if output is None or output == "-":
        _print(text)
        return
    write_file(text.encode("utf-8", "backslashreplace"), output)


def emit_bytes(data: bytes, output: str) -> None:
    """Writes to `output`, `-` is standard output. Raises InputError if it cannot be written."""
    if output != "-":
        write_file(data, output)
        return
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        give_up(error)


def write_file(data: bytes, output: str) -> None:
    """Writes a file that is complete or not there. Raises InputError if it cannot be written."""
    output = os.path.realpath(output)  # the target of a link is written, not the link
    if os.path.exists(output) and not os.path.isfile(output):
        _write_through(data, output)
        return
    # Written beside and renamed: whoever waits for the file never sees half of it.
    beside = f"{output}.{os.getpid()}.tmp"
    try:
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, output)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise InputError(f"cannot write: {error.strerror}", output) from None


def _print(text: str) -> None:
    """A terminal or a file name may not be able to show every character: that must not lose the report.

    A reader that has seen enough is no failure: the status stays the verdict's.
    """
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except OSError as error:
        give_up(error)


def give_up(error: OSError) -> None:
    """Standard output is gone. Raises InputError, unless its reader has seen enough."""
    # what is left in the buffer is written again at exit: to where it cannot fail
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        raise InputError(f"cannot write: {error.strerror}", "<stdout>") from None


def _write_through(data: bytes, output: str) -> None:
    """A device or a pipe cannot be replaced by a file. Raises InputError if it cannot be written."""
    try:
        with open(output, "wb") as file:
            file.write(data)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", output) from None


def complain(error: InputError) -> None:
    """The one message for bad input, to standard error."""
    sys.stderr.write(f"{error}\n")  # Python opens it with backslashreplace
