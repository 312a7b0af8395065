"""Writing reports: to standard output, or to a file that is complete or not there."""

from __future__ import annotations

import os
import sys

from tileir_diff.errors import InputError


def emit(text: str, output: str | None) -> None:
    """Writes to `output`, or to standard output if None. Raises InputError if the file cannot be written."""
    if output is None or output == "-":
        _print(text)
        return
    # Written beside and renamed: whoever waits for the file never sees half of it.
    beside = f"{output}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        os.replace(beside, output)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise InputError(f"cannot write: {error.strerror}", output) from None


def _print(text: str) -> None:
    """A terminal or a file name may not be able to show every character: that must not lose the report."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def complain(error: InputError) -> None:
    """The one message for bad input, to standard error."""
    sys.stderr.write(f"{error}\n")  # Python opens it with backslashreplace
