"""Whether a wrapper is nothing but a call of the port's library: no other module, no file."""

from __future__ import annotations
import __future__

import ast
import collections
import collections.abc
import ctypes
import dataclasses
import math
import re
import types
import typing
from typing import Final, cast

CTYPES: Final = re.compile(
    r"c_\w+|Structure|Union|Array|POINTER|pointer|byref|sizeof|addressof|alignment|ArgumentError"
)
"""What describes an argument; the rest of ctypes opens libraries and reaches any memory."""
EVALUATES: Final = frozenset(("ForwardRef", "evaluate_forward_ref", "get_args", "get_type_hints"))
"""What of typing runs a text as Python, or gives what does."""
MODULES: Final[dict[str, frozenset[str]]] = {
    "__future__": frozenset(__future__.all_feature_names),
    "ctypes": frozenset(name for name in dir(ctypes) if CTYPES.fullmatch(name)),
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
    **{
        module.__name__: frozenset(cast("list[str]", vars(module)["__all__"])) - EVALUATES
        for module in (collections, collections.abc, dataclasses, typing)
    },
}
"""Modules without files, processes, and kernels of others, and their names; they hold other modules, too."""
FRAMES: Final = frozenset(
    name
    for kind in (
        types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
        types.FrameType, types.TracebackType,
    )
    for name in dir(kind)
    if "_" in name.strip("_")
)  # fmt: skip
"""The way from a generator to the names of Python, and to those of whoever calls."""
REACH: Final = FRAMES.union(
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
    modules = {
        each.asname or each.name: each.name
        for node in nodes
        if isinstance(node, ast.Import)
        for each in node.names
    }
    # a module is nothing but the place of its names: who had it as a value could ask for others
    places = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        why = _foreign(node, modules, is_place=id(node) in places)
        if why is not None:
            return f"wrapper.py:{getattr(node, 'lineno', 1)}: {why}"
    return None


def _foreign(node: ast.AST, modules: dict[str, str], *, is_place: bool) -> str | None:
    match node:
        case ast.Import(names=names):
            return _first([_module(each.name, alone=True) for each in names])
        case ast.ImportFrom(level=level) if level:
            return "a wrapper is one file: it imports none beside it"
        case ast.ImportFrom(module=module, names=names):
            found = _module(module or "", alone=False)
            return found or _first([_of(module or "", each.name) for each in names])
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in modules:
            return _of(modules[name], attribute)
        case ast.Attribute(attr=name):
            return _reaches(name)
        case ast.MatchClass(kwd_attrs=names):  # a pattern asks for attributes, too
            return _first([_reaches(name) for name in names])
        case ast.Name(id=name) if name in WORDS or (name in modules and not is_place):
            return _refused(name)
        case ast.Name(id=name) if name.startswith("__"):
            return _refused(name)
        case _:
            return None


def _first(found: list[str | None]) -> str | None:
    return next((why for why in found if why is not None), None)


def _module(name: str, *, alone: bool) -> str | None:
    if name in MODULES and not (alone and "." in name):
        return None
    return f"'{name}' is not imported by a wrapper: it calls the library, and nothing else"


def _of(module: str, name: str) -> str | None:
    return None if name in MODULES.get(module, ()) else _refused(f"{module}.{name}")


def _reaches(name: str) -> str | None:
    """What there is under whatever name an object goes here."""
    return _refused(name) if name.startswith("__") or name in REACH else None


def _refused(name: str) -> str:
    return f"'{name}' reaches what is not the library's"
