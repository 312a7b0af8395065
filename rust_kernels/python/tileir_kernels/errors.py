"""What goes wrong, by the status that the library returns."""

from __future__ import annotations


class KernelError(RuntimeError):
    """A kernel did not compile or was not launched, or there is no device for it."""


class BuildError(RuntimeError):
    """The library does not build, and there is no older one."""


class StaleLibraryWarning(RuntimeWarning):
    """The sources changed and do not build: the library of before is used."""


# TILEIR_NULL to TILEIR_VALUE are the caller's, and name an argument.
_EXCEPTIONS: dict[int, type[Exception]] = {2: TypeError, **dict.fromkeys((1, 3, 4, 5, 6, 7, 8), ValueError)}


def failure(status: int, text: str) -> Exception:
    """The exception for a status other than TILEIR_OK."""
    return _EXCEPTIONS.get(status, KernelError)(text)
