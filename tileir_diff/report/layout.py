"""What the text and the Markdown report share: how places, arguments and counts read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.render import base_name, elide, focus

if TYPE_CHECKING:
    from tileir_diff.report.result import Argument, Place, Result, Side, Summary

WIDTH = 100
"""Longest quoted line, in characters."""

SHORT = 72
"""A longer line is shown without its types, unless they are what matters."""

SYMBOL = 48
"""Longest symbol of an entry; front ends mangle types and constants into it."""

HOW = {"role": "by role", "name": "by name", "use": "by use", "unmatched": "no counterpart"}

CAPTION = 60
"""Longest text behind a caret, in characters; the head line of a finding has it too."""

PATH_WIDTH = 32
"""A path longer than this is shown by its last part; the head of the report has it in full."""


def location(side: Side, place: Place | None) -> str:
    """`softmax.mlir:71`."""
    if place is None:
        return "-"
    path = side.path if len(side.path) <= PATH_WIDTH else base_name(side.path)
    return f"{path}:{place.line}" if place.line else path


def source(place: Place | None) -> str:
    """`softmax.py:31`, empty without debug locations."""
    if place is None or place.source is None:
        return ""
    return f"{base_name(place.source.file)}:{place.source.line}"


def clip(place: Place, width: int = WIDTH) -> tuple[str, tuple[int, int] | None]:
    """The op's text in at most `width` characters, the marked part kept, and the mark in it."""
    text, mark = place.text, place.mark
    types = text.rfind(" : ")
    if len(text) > SHORT and mark is not None and mark[1] <= types:
        text = text[:types]
    if len(text) <= width:
        return text, mark
    start, end = mark or (0, 0)
    if end < width:
        return text[: width - 1] + "…", mark
    first = max(0, min(start - width // 3, len(text) - width + 1))
    shown = "…" + text[first + 1 : first + width - 1]
    if first + width - 1 < len(text):
        shown += "…"
    return shown, (start - first, min(end - first, len(shown)))


def argument_lines(arguments: list[Argument], width: int = WIDTH) -> list[str]:
    """All arguments, grouped by how they were paired: `by role: A.base, A.shape0 = a_ptr, a_dim_0; n = m`."""
    groups: dict[str, list[str]] = {}
    for argument in arguments:
        item = f"{', '.join(argument.reference) or 'nothing'} = {', '.join(argument.generated) or 'nothing'}"
        groups.setdefault(HOW.get(argument.how, argument.how), []).append(item)
    lines: list[str] = []
    for how, items in groups.items():
        lines.append(f"{how}: {items[0]}")
        for item in items[1:]:
            if len(lines[-1]) + 2 + len(item) <= width:
                lines[-1] += f"; {item}"
            else:
                lines.append(f"{' ' * len(how)}  {item}")
    return lines


def entry_line(result: Result, index: int) -> str:
    """`@a = @b (97% alike)`."""
    pair = result.pairs[index]
    if pair.reference is None or pair.generated is None:
        return f"{_symbol(pair.reference)} = {_symbol(pair.generated)}"
    return f"{_symbol(pair.reference)} = {_symbol(pair.generated)} ({pair.similarity:.0%} alike)"


def counts(summary: Summary) -> str:
    """`1 critical, 2 warn, 0 info`, and what was set aside."""
    parts = [f"{summary.critical} critical", f"{summary.warn} warn", f"{summary.info} info"]
    parts += [f"{summary.waived} waived"] if summary.waived else []
    parts += [f"{summary.ignored} ignored"] if summary.ignored else []
    return ", ".join(parts)


def versions_line(result: Result) -> str:
    return ", ".join(f"{name} {version}" for name, version in result.versions.items())


def ignored_lines(result: Result) -> list[str]:
    return [f"{rule}: {number} ignored" for rule, number in result.summary.ignored_rules.items()]


def dump_line(side: Side) -> str:
    """`softmax.mlir (tileirdisasm, cutile-python 1.7.0)`."""
    front_end = " ".join(part for part in (side.front_end, side.front_end_version) if part)
    details = ", ".join(part for part in (side.format if side.format != "unknown" else "", front_end) if part)
    return f"{side.path} ({details})" if details else side.path


def caption(place: Place, text: str, other: str) -> str:
    """What stands behind the caret: `mask: lane < N`."""
    text = focus(text, other, CAPTION)
    return f"{place.part}: {text}" if place.part and text else text


def _symbol(entry: str | None) -> str:
    if entry is None:
        return "nothing"
    return elide(f"@{entry.removeprefix('@')}", SYMBOL)
