"""The loaded library: the one that TILEIR_KERNELS_LIBRARY names, else the one built from the sources.

Of sources, the library follows every change: the next call builds and loads it anew.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cffi import FFI

from tileir_kernels import build
from tileir_kernels.errors import BuildError, StaleLibraryWarning, failure
from tileir_kernels.options import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARY: Final = "TILEIR_KERNELS_LIBRARY"
"""Names a library that is there: nothing is built."""
CACHE: Final = "TILEIR_KERNELS_CACHE"
"""Names a folder for compiled kernels."""

FRESH_SECONDS: Final = 0.01
"""For so long sources that were looked at are not looked at again: that takes longer than a call."""

CDEF: Final = Path(__file__).with_name("cdef.h").read_text("utf-8")
"""The C ABI, declared once: for cffi here, and for C in `include/tileir_kernels.h`."""

ffi: Any = FFI()
ffi.cdef(CDEF)


class _Loaded:
    """What is loaded. `stamp`: of the sources that it was made of; None where there are none to follow."""

    def __init__(self) -> None:
        self.library: Any = None
        self.stamp: tuple[tuple[int, int], ...] | None = None
        self.looked = 0.0

    def get(self) -> Any:
        """The library, up to date. Raises BuildError where it does not build and there is none of before."""
        if self.library is not None and (self.stamp is None or self.fresh()):
            return self.library
        given = os.environ.get(LIBRARY)
        if given:
            return self.load(Path(given), None)
        stamp = build.stamp()
        try:
            return self.load(build.library(), stamp)
        except BuildError as error:
            older = build.newest()
            if self.library is None and older is None:
                raise
            warnings.warn(f"the library of before is used: {error}", StaleLibraryWarning, stacklevel=4)
            self.stamp, self.looked = stamp, 0.0  # not again before the next change
            return self.library if older is None or self.library is not None else self.load(older, stamp)

    def fresh(self) -> bool:
        """Whether the sources are those of the library, or were a moment ago."""
        now = time.monotonic()
        if now - self.looked < FRESH_SECONDS:
            return True
        if self.stamp != build.stamp():
            return False
        self.looked = now
        return True

    def load(self, path: Path, stamp: tuple[tuple[int, int], ...] | None) -> Any:
        build.find_assembler()
        library = ffi.dlopen(str(path))
        try:
            theirs, ours = library.tileir_tensor_desc_size(), ffi.sizeof("TensorDesc")
        except AttributeError:
            raise ImportError(f"{path}: it is no library of these kernels") from None
        if theirs != ours:
            raise ImportError(
                f"{path}: its TensorDesc has {theirs} bytes, not {ours}: it is of another version"
            )
        self.library, self.stamp, self.looked = library, stamp, 0.0
        cache = os.environ.get(CACHE)
        if cache:
            check(library, library.tileir_cache(cache.encode()))
        return library


class _Recording(threading.local):
    """What writes down the calls of this thread, and where to: the library, too, keeps that by thread.

    `library`: one that is loaded anew would launch them.
    """

    library: Any = None
    arguments: tuple[Any, ...] = ()


_loaded = _Loaded()
recording_state: Final = _Recording()


def library() -> Any:
    """The library, built and loaded where that is needed."""
    return _loaded.get()


def is_recording() -> bool:
    return recording_state.library is not None


def check(library: Any, status: int) -> None:
    """Raises what a status means."""
    if status:
        raise failure(status, ffi.string(library.tileir_error()).decode())


@contextmanager
def recording(
    folder: str | os.PathLike[str], arch: str, multiprocessors: int = 132, *, assemble: bool = False
) -> Iterator[None]:
    """Within it operators launch nothing: they write the kernels and launches into `folder`.

    They take tensors of any device; only addresses, shapes and strides matter. `assemble`: also compile the
    kernels for `arch` into the cache that TILEIR_KERNELS_CACHE names. Sources that change are not followed.
    Raises TypeError or ValueError, with the argument's name.
    """
    if not isinstance(arch, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"arch: a name such as sm_90 is needed, not {arch!r}")
    try:
        place = os.fsencode(folder)
    except TypeError:
        raise TypeError(f"folder: a path is needed, not {folder!r}") from None
    if not os.path.isdir(place):
        raise ValueError(f"folder: {os.fsdecode(place)} is no folder")
    outer = recording_state.library, recording_state.arguments
    loaded = library() if outer[0] is None else outer[0]
    _record(loaded, (place, arch.encode(), whole("multiprocessors", multiprocessors), int(assemble)))
    try:
        yield
    finally:
        _record(loaded, outer[1])


def _record(loaded: Any, arguments: tuple[Any, ...]) -> None:
    """From now on records so; without arguments, no longer."""
    check(loaded, loaded.tileir_record(*arguments or (ffi.NULL, ffi.NULL, 0, 0)))
    recording_state.library, recording_state.arguments = (loaded if arguments else None), arguments
