"""Whether a wrapper is nothing but a call of the port's library: no other module, no file."""

from __future__ import annotations

import ast
import ctypes
import re
from typing import Final

MODULES: Final = ("__future__", "collections", "ctypes", "dataclasses", "enum", "math", "typing")
"""Modules without files, processes, and kernels of others."""
CTYPES: Final = re.compile(
    r"c_\w+|Structure|Union|Array|POINTER|pointer|byref|sizeof|addressof|alignment|ArgumentError"
)
"""What describes an argument; the rest of ctypes opens libraries and reaches any memory."""
REACH: Final = frozenset(
    name for name in (*dir(ctypes), "from_address", "in_dll", "from_buffer", "LoadLibrary")
    if not CTYPES.fullmatch(name) and not name.startswith("__")
)  # fmt: skip
WORDS: Final = frozenset(
    (
     "open", "exec", "eval", "compile", "globals", "locals", "vars", "getattr", "setattr", "delattr", "type",
     "input", "breakpoint", "object", "super", "help", "exit", "quit",
    )
)  # fmt: skip
"""Names of Python with which all the rest can be reached."""


def foreign_python(text: str) -> str | None:
    """Where a wrapper reaches for more than its library, with its line; None where it does not."""
    try:
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
    except SyntaxError as error:
        return f"wrapper.py:{error.lineno or 1}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"wrapper.py:1: it cannot be parsed: {error}"
    for node in nodes:
        why = _foreign(node)
        if why is not None:
            return f"wrapper.py:{getattr(node, 'lineno', 1)}: {why}"
    return None


def _foreign(node: ast.AST) -> str | None:
    match node:
        case ast.Import(names=names):
            return _first([_module(each.name) for each in names])
        case ast.ImportFrom(level=level) if level:
            return "a wrapper is one file: it imports none beside it"
        case ast.ImportFrom(module=module, names=names):
            return _module(module or "") or _first(
                [_ctypes(each.name) for each in names if module == "ctypes"]
            )
        case ast.Attribute(attr=name):
            inside = isinstance(node.value, ast.Name) and node.value.id == "ctypes"
            return _name(name) or (_ctypes(name) if inside else _reaches(name))
        case ast.Name(id=name):
            return _name(name) or (f"'{name}' reaches what is not the library's" if name in WORDS else None)
        case _:
            return None


def _first(found: list[str | None]) -> str | None:
    return next((why for why in found if why is not None), None)


def _module(name: str) -> str | None:
    found = name == "collections.abc" or name in MODULES
    return None if found else f"'{name}' is not imported by a wrapper: it calls the library, and nothing else"


def _ctypes(name: str) -> str | None:
    return None if CTYPES.fullmatch(name) else f"'ctypes.{name}' reaches what is not the library's"


def _reaches(name: str) -> str | None:
    """What ctypes has under whatever name it goes here."""
    return f"'{name}' reaches what is not the library's" if name in REACH else None


def _name(name: str) -> str | None:
    return f"'{name}' reaches what is not the library's" if name.startswith("__") else None
