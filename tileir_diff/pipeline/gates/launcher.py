"""A program of its own: calls a port's wrapper with arrays that are only described, and nothing is launched.

Standard library alone, for it runs beside the code of others: `launcher.py LIBRARY WRAPPER FOLDER < request`.
The library records what it would launch (bytecode and launch) as files in FOLDER.
"""

import ctypes
import importlib.util
import json
import sys


class Array:
    """An array: address, element type, extents and strides in elements."""

    def __init__(self, ptr: int, dtype: str, shape: list[int], strides: list[int]) -> None:
        self.ptr = ptr
        self.dtype = dtype
        self.shape = shape
        self.strides = strides


class Library:
    """The functions of ffi.rs, and no other: a library of C would also give those of all that it links."""

    def __init__(self, library: ctypes.CDLL, names: list[str]) -> None:
        for name in names:
            try:
                setattr(self, name, getattr(library, name))
            except AttributeError:
                continue


def main(library_path: str, wrapper_path: str, folder: str) -> int:
    request = json.load(sys.stdin)
    library = ctypes.CDLL(library_path)
    library.tileir_error.restype = ctypes.c_char_p
    arch = request["arch"].encode()
    if library.tileir_record(folder.encode(), arch, request["multiprocessors"], 0):
        print(library.tileir_error().decode())
        return 1
    spec = importlib.util.spec_from_file_location("wrapper", wrapper_path)
    assert spec is not None
    assert spec.loader is not None
    wrapper = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wrapper)
    arrays = {name: Array(**each) for name, each in request["arrays"].items()}
    functions = Library(library, request["functions"])
    status = wrapper.call(functions, arrays, request["scalars"], request["device"], request["stream"])
    if status:
        print(f"status {status}: {library.tileir_error().decode()}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
