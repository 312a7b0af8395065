"""Files beside the dumps: settings, launches, sources."""

from __future__ import annotations

from tileir_diff.errors import InputError


def read_bytes(path: str) -> bytes:
    """Raises InputError for a file that cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror or error}", path) from None
    except ValueError:
        raise InputError("cannot read: not a path", repr(path)) from None


def read_text(path: str) -> str:
    """Raises InputError for a file that cannot be read, or is no UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InputError("cannot read: not UTF-8 text", path) from None
