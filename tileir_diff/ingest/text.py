"""Files beside the dumps: settings, launches, sources."""

from __future__ import annotations

from typing import Final

from tileir_diff.errors import InputError

LARGEST: Final = 1 << 28
"""Bytes of a file. A device has no end, and a dump of this size could not be compared either."""


def bounded(data: bytes, path: str) -> bytes:
    """Raises InputError for more bytes than a file may have."""
    if len(data) > LARGEST:
        raise InputError(f"cannot read: larger than {LARGEST >> 20} MiB", path)
    return data


def read_bytes(path: str) -> bytes:
    """Raises InputError for a file that cannot be read, or is larger than LARGEST."""
    try:
        with open(path, "rb") as file:
            return bounded(file.read(LARGEST + 1), path)
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
