"""Whether a Rust source is device code alone: modules of kernels, and nothing that runs on the host."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|r#*\".*?\"#*|'(?:\\.|[^'\\])'", re.DOTALL
)
"""Comments, strings and characters."""
MODULE: Final = re.compile(r"\s*(?:#\[allow\([\w\s:,]*\)\]\s*)*#\[cutile::module\]\s*(?:pub\s+)?mod\s+\w+\s*")
HOST: Final = (
    "extern", "asm", "global_asm", "include", "include_str", "include_bytes", "env", "option_env",
    "no_mangle", "link_section", "link", "macro_rules", "path", "std", "build", "proc_macro",
    "export_name", "used",
)  # fmt: skip
"""Words of the host's side: what links, reads files at compile time, or runs before main."""
WORD: Final = re.compile(rf"\b(?:{'|'.join(HOST)})\b(?=\s*(?:::|!|\(|\]|=|\{{))|\bextern\b")


def host_code(text: str) -> str | None:
    """Where a source is not device code alone, with its line; None where it is."""
    plain = HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
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
