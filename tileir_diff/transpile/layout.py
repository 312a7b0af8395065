"""Statements of Rust laid out as rustfmt lays them out: what is too long for a line is broken at its call."""

from __future__ import annotations

from typing import Final

WIDTH: Final = 100
CALL_WIDTH: Final = 60
STRUCT_WIDTH: Final = 18
"""rustfmt breaks a call whose arguments take more, and a struct whose fields do."""
SHORT: Final = 10
"""Up to this length names of a list share a line."""
INDENT: Final = "    "


class Call:
    """A call, or what else has its operands in brackets."""

    brackets = ("(", ")")
    width = CALL_WIDTH
    trailing_comma = True

    def __init__(self, name: str, *operands: str, unsafe: bool = False) -> None:
        self.name = name
        self.operands = operands
        self.unsafe = unsafe

    @property
    def text(self) -> str:
        return f"{self.name}{self.brackets[0]}{', '.join(self.operands)}{self.brackets[1]}"

    @property
    def short(self) -> bool:
        """Whether rustfmt leaves it on one line, where there is room."""
        return len(", ".join(self.operands)) <= self.width

    def broken(self, indent: str) -> list[str]:
        """One operand a line."""
        inner = [f"{indent}{INDENT}{each}," for each in self.operands]
        if not self.trailing_comma:
            inner[-1] = inner[-1][:-1]
        opening, closing = (each.strip() for each in self.brackets)
        gap = " " if opening == "{" else ""
        return [f"{indent}{self.name}{gap}{opening}", *inner, f"{indent}{closing}"]


class Macro(Call):
    """A macro with its arguments."""

    trailing_comma = False


class Listed(Call):
    """A call of one list; short names fill the lines of one that is broken."""

    brackets = ("(&[", "])")
    width = CALL_WIDTH - len("&[]")

    def broken(self, indent: str) -> list[str]:
        if any(len(each) > SHORT for each in self.operands):
            return super().broken(indent)
        lines = [f"{indent}{self.name}(&["]
        filled = f"{indent}{INDENT}{self.operands[0]},"
        for each in self.operands[1:]:
            if len(filled) + len(each) + 2 > WIDTH:
                lines.append(filled)
                filled = f"{indent}{INDENT}{each},"
            else:
                filled += f" {each},"
        return [*lines, filled, f"{indent}])"]


class Struct(Call):
    """A struct with its fields."""

    brackets = (" { ", " }")
    width = STRUCT_WIDTH


Text = Call | str


def let(pattern: str, type_: str, value: Text, indent: str, mutable: bool = False) -> list[str]:
    """`let PATTERN: TYPE = VALUE;`"""
    return _assigned(f"let {'mut ' if mutable else ''}{pattern}: {type_} =", value, indent)


def assign(name: str, value: Text, indent: str) -> list[str]:
    """`NAME = VALUE;`"""
    return _assigned(f"{name} =", value, indent)


def statement(value: Call, indent: str) -> list[str]:
    """A call for what it does."""
    if not value.unsafe:
        line = f"{indent}{value.text};"
        return [line] if value.short and len(line) <= WIDTH else _ended(value.broken(indent))
    line = f"{indent}unsafe {{ {value.text} }};"
    if value.short and len(line) <= WIDTH:
        return [line]
    return _ended(_block(value, indent))


def _assigned(head: str, value: Text, indent: str) -> list[str]:
    if isinstance(value, str):
        line = f"{indent}{head} {value};"
        return [line] if len(line) <= WIDTH else [f"{indent}{head}", f"{indent}{INDENT}{value};"]
    whole = f"unsafe {{ {value.text} }}" if value.unsafe else value.text
    line = f"{indent}{head} {whole};"
    if value.short and len(line) <= WIDTH:
        return [line]
    below = f"{indent}{INDENT}{whole};"
    if value.short and len(below) <= WIDTH:
        return [f"{indent}{head}", below]
    lines = _block(value, indent) if value.unsafe else value.broken(indent)
    first = f"{indent}{head} {lines[0].strip()}"
    if len(first) <= WIDTH:
        return _ended([first, *lines[1:]])
    deeper = indent + INDENT
    lines = _block(value, deeper) if value.unsafe else value.broken(deeper)
    return _ended([f"{indent}{head}", *lines])


def _block(value: Call, indent: str) -> list[str]:
    inner = indent + INDENT
    line = f"{inner}{value.text}"
    lines = [line] if value.short and len(line) <= WIDTH else value.broken(inner)
    return [f"{indent}unsafe {{", *lines, f"{indent}}}"]


def _ended(lines: list[str]) -> list[str]:
    return [*lines[:-1], f"{lines[-1]};"]
