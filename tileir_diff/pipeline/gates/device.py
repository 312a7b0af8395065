"""Whether a Rust source is device code alone: modules of kernels, and nothing that runs on the host."""

from __future__ import annotations

import re
from typing import Final

TOKEN: Final = re.compile(
    r"//[^\n]*|/\*|(?:br|cr|r)(?P<hashes>#*)\"|\"(?:\\.|[^\"\\])*\"|'(?:\\u\{\w*\}|\\x\w\w|\\.|[^'\\])'|'?\w+|.",
    re.DOTALL,
)
"""A comment, the begin of one that nests or of a raw string, a string, a character, a lifetime, a word."""
NESTED: Final = re.compile(r"/\*|\*/")
MODULE: Final = re.compile(r"\s*(?:#\[allow\([\w\s:,]*\)\]\s*)*#\[cutile::module\]\s*(?:pub\s+)?mod\s+\w+\s*")
READS: Final = ("include", "include_str", "include_bytes", "option_env", "asm", "global_asm")
"""Macros that bring in what is not in the source, or machine code: refused wherever the word stands."""
LINKS: Final = ("extern", "no_mangle", "link_section", "macro_rules", "export_name", "cfg", "cfg_attr")
"""Words of what is linked, called from C, runs before main, or is another thing in another build."""
OTHERS: Final = ("env", "link", "path", "build", "proc_macro", "used")
"""Words that are also names; where `::`, `!` or an attribute follows they belong to the host."""
TESTS: Final = re.compile(
    r"\s*(?:#\[cfg\(test\)\]\s*mod\s+\w+\s*|(?:#\[(?:test|ignore|should_panic)\]\s*)+fn\s+\w+\s*\(\s*\)\s*)(?=\{)"
)
"""What may stand beside the modules: it is in no kernel and no library, and the gate runs it."""
OUTSIDE: Final = "fs|process|net|os|io|env|thread|time|arch|intrinsics|libc|libloading"
"""Modules with which a host reaches files, processes and the machine."""
FOREIGN: Final = re.compile(
    rf"\b(?:{'|'.join(READS)})\b|#\s*!?\s*\[\s*path\b|\benv\s*!"
    r"|\b(?:cfg|cfg_attr|link_section|macro_rules|export_name|proc_macro)\b|#\s*!?\s*\[\s*(?:unsafe\s*\()?\s*(?:link|used)\b"
    rf"|::\s*(?:r#)?(?:{OUTSIDE})\b|\b(?:{OUTSIDE})\s*::"
    r"|\bextern\b(?!\s+fn\b)|\b(?:Recording|Record|Gpu|tileir_record|gpu|cutile|discriminant)\b"
)
CRATE: Final = re.compile(r"\btileir_kernels\b\s*(?:::\s*)?")
GROUP: Final = re.compile(r"\{[^{}]*\}")
LAUNCHES: Final = re.compile(r"\s*(?:(?:abi|call|kernel|memory|record|tensor|tiling)\b|$)")
"""What of the crate describes a launch; the rest are other kernels."""
EXPORTED: Final = re.compile(
    r"\bno_mangle\s*\)?\s*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:unsafe\s+)?extern\s+fn\s+(\w+)"
)
USED: Final = re.compile(r"\buse\b[^;]*;")
IN_USE: Final = re.compile(rf"\b(?:{OUTSIDE})\b")
WORD: Final = re.compile(
    rf"\b(?:{'|'.join((*READS, *LINKS))})\b|\b(?:{'|'.join(OTHERS)})\b(?=\s*(?:::|!|\(|\]|=|\{{))"
    r"|\bstd\b(?=\s*(?:::|as\b))"
)


def exported(text: str) -> list[str]:
    """The functions that the source of a host gives to C."""
    return EXPORTED.findall(plain(text))


def foreign_code(text: str) -> str | None:
    """Where the source of a host is more than a launch, with its line; None where it is not.

    It brings in nothing at compile time, reaches neither files nor processes, is the same in every build,
    has no kernels of its own, and cannot tell whether it is recorded.
    """
    code = plain(text)
    if re.match(r"\ufeff?#!(?!\s*\[)", code):
        return "ffi.rs:1: it is no program"
    found = [word for word in (FOREIGN.search(code),) if word is not None]
    for use in USED.finditer(code):
        found += [word for word in (IN_USE.search(code, use.start(), use.end()),) if word is not None]
    found += [word for word in CRATE.finditer(code) if not _describes(code, word.end())]
    if not found:
        return None
    first = min(found, key=lambda word: word.start())
    return f"ffi.rs:{_line(code, first.start())}: '{first[0].strip()}' is not for what launches a kernel"


def _describes(code: str, at: int) -> bool:
    """Whether all that a path of the crate goes on with, one name or a list in braces, describes a launch."""
    names = [code[at:]]
    if code[at : at + 1] == "{":
        inner, groups = code[at + 1 : (_closing(code, at) or len(code)) - 1], 1
        while groups:
            inner, groups = GROUP.subn("", inner)
        names = inner.split(",")
    return all(LAUNCHES.match(each) for each in names)


def host_code(text: str) -> str | None:
    """Where a source is not device code alone, with its line; None where it is.

    Tests may stand beside the modules, as functions or in a module for them.
    """
    code = plain(text)
    at, wrong = 0, None
    while wrong is None and code[at:].strip():
        found = MODULE.match(code, at) or TESTS.match(code, at)
        end = None if found is None else _closing(code, found.end())
        if found is None or code[found.end() : found.end() + 1] != "{":
            start = at + len(code[at:]) - len(code[at:].lstrip())
            wrong = f"kernel.rs:{_line(code, start)}: only #[cutile::module] modules and tests stand in it"
        elif end is None:
            wrong = f"kernel.rs:{_line(code, found.end())}: this brace is not closed"
        else:
            head = code[at : found.end()]
            code = code[:at] + head.replace("cfg", "   ") + code[found.end() :]
            at = end
    word = WORD.search(code)
    return (
        wrong if word is None else f"kernel.rs:{_line(code, word.start())}: '{word[0]}' belongs to the host"
    )


def plain(text: str) -> str:
    """The source with blanks in place of comments, strings and characters, as rustc reads it."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found is not None  # it matches every character
        token, end = found[0], found.end()
        if token == "/*":
            end = _after_comment(text, end)
        elif found["hashes"] is not None:
            close = text.find(f'"{found["hashes"]}', end)
            end = len(text) if close < 0 else close + 1 + len(found["hashes"])
        hidden = (
            token.startswith(("//", "/*", '"'))
            or found["hashes"] is not None
            or token[:1] == token[-1:] == "'" != token
        )
        parts.append(re.sub(r"[^\n]", " ", text[at:end]) if hidden else token)
        at = end
    return "".join(parts)


def _after_comment(text: str, at: int) -> int:
    """The position after a comment that has begun; comments nest."""
    depth = 1
    for found in NESTED.finditer(text, at):
        depth += 1 if found[0] == "/*" else -1
        if not depth:
            return found.end()
    return len(text)


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
