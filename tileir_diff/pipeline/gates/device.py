"""Whether a Rust source is device code alone: modules of kernels, and nothing that runs on the host."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|r#*\".*?\"#*|'(?:\\.|[^'\\])'", re.DOTALL
)
"""Comments, strings and characters."""
MODULE: Final = re.compile(r"\s*(?:#\[allow\([\w\s:,]*\)\]\s*)*#\[cutile::module\]\s*(?:pub\s+)?mod\s+\w+\s*")
READS: Final = ("include", "include_str", "include_bytes", "option_env", "asm", "global_asm")
"""Macros that bring in what is not in the source, or machine code: refused wherever the word stands."""
LINKS: Final = ("extern", "no_mangle", "link_section", "macro_rules", "export_name")
"""Words of what is linked, called from C, or runs before main."""
OTHERS: Final = ("env", "link", "path", "std", "build", "proc_macro", "used")
"""Words that are also names; where `::`, `!` or an attribute follows they belong to the host."""
FOREIGN: Final = re.compile(rf"\b(?:{'|'.join(READS)})\b|#\s*\[\s*path\b|\benv\s*!")
WORD: Final = re.compile(
    rf"\b(?:{'|'.join((*READS, *LINKS))})\b|\b(?:{'|'.join(OTHERS)})\b(?=\s*(?:::|!|\(|\]|=|\{{))"
)


def foreign_code(text: str) -> str | None:
    """Where the source of a host brings in a file or machine code at compile time; None where it does not."""
    plain = _plain(text)
    word = FOREIGN.search(plain)
    if word is None:
        return None
    return f"ffi.rs:{_line(plain, word.start())}: '{word[0]}' brings in what is not in the source"


def host_code(text: str) -> str | None:
    """Where a source is not device code alone, with its line; None where it is."""
    plain = _plain(text)
    word = WORD.search(plain)
    if word is not None:
        return f"kernel.rs:{_line(plain, word.start())}: '{word[0]}' belongs to the host"
    at = 0
    while plain[at:].strip():
        found = MODULE.match(plain, at)
        if found is None or plain[found.end() : found.end() + 1] != "{":
            start = at + len(plain[at:]) - len(plain[at:].lstrip())
            return f"kernel.rs:{_line(plain, start)}: only #[cutile::module] modules stand in it"
        end = _closing(plain, found.end())
        if end is None:
            return f"kernel.rs:{_line(plain, found.end())}: this brace is not closed"
        at = end
    return None


def _plain(text: str) -> str:
    """The source with blanks in place of comments, strings and characters."""
    return HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _closing(text: str, start: int) -> int | None:
    """The position after the brace that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return at + 1
    return None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
