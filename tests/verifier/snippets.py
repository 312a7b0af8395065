"""Building blocks of the verifier's tests: short modules around one op."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """`broken` breaks exactly the constraint `rule`; `valid` is as close to it as can be, and breaks none."""

    rule: str
    broken: str
    valid: str


def module(text: str) -> str:
    return text + "\n"


def func(arguments: str, body: str) -> str:
    """A test function, whose arguments may have any type, around `body`."""
    return f"testing$func @f({arguments}) {{\n{body}\nreturn\n}}\n"


def generic(op: str, operands: str, properties: str, operand_types: str, result_types: str) -> str:
    """One op in MLIR's generic form, for types that the op's own syntax cannot write down."""
    results = "%r = " if result_types else ""
    written = f" <{{{properties}}}>" if properties else ""
    return f'{results}"cuda_tile.{op}"({operands}){written} : ({operand_types}) -> {result_types or "()"}'
