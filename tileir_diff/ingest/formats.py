"""Which printer wrote a dump, from its content. The parser reads all forms alike; this is for the report."""

from __future__ import annotations

import re
from typing import Final

GENERIC: Final = re.compile(r'"(?:cuda_tile|builtin)\.[\w$.]+"\s*\(')
MODULE: Final = re.compile(r"^[ \t]*+(?:cuda_tile\.|builtin\.)?module\b", re.MULTILINE)
# Spellings that only the cuTile Rust printer has.
CUTILE_RS: Final = re.compile(
    r"optimization_hints = #cuda_tile\.optimization_hints<|= cuda_tile\.loop\b|^[ \t]*+cuda_tile\.global\b"
    r"|\boverflow (?:nsw|nuw|nw)\b|\brounding (?:negative_inf|positive_inf|zero)\b|<structural-op>"
    r"|\{(?:rounding_mode|overflow|mode|fast_acc) = |^[ \t]*+entry @[^\s(]++\(%0: "
    r"|f8e4m3fn|f8e5m2|f8e8m0fnu|f4e2m1fn",
    re.MULTILINE,
)
LOCATION: Final = re.compile(r"loc\((?:#|\"|unknown|callsite|fused)")


def detect_format(text: str) -> str:
    """The format's name; a bare list of entries and globals is the disassembler's."""
    if GENERIC.search(text):
        return "mlir-generic"
    if MODULE.search(text):
        return "cutile-rs" if CUTILE_RS.search(text) else "mlir"
    return "disassembly-g" if LOCATION.search(text) else "disassembly"


def producer_line(text: str) -> str:
    """The producer that a `// Producer:` comment at the head of a dump names, else an empty string."""
    for line in text[:2000].splitlines():
        if line.startswith("//") and line[2:].lstrip().startswith("Producer:"):
            return line.partition("Producer:")[2].strip()
    return ""
