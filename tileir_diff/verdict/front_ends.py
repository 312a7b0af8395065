"""Which front end made a dump, as far as the dump tells.

Needed for the wording of a fix and for the known gaps; never for what counts as a difference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN = ""

SUFFIXES = {
    ".rs": "cutile-rust",
    ".py": "cutile-python",
    ".cu": "tile-cpp",
    ".cuh": "tile-cpp",
    ".hpp": "tile-cpp",
    ".cpp": "tile-cpp",
    ".jl": "cutile-julia",
}
"""Suffix of the file that debug locations name."""

PRODUCERS = (
    ("nvcc", "tile-cpp"),
    ("cuda compilation tools", "tile-cpp"),
    ("cutile-rs", "cutile-rust"),
    ("cutile-rust", "cutile-rust"),
    ("cutile.jl", "cutile-julia"),
    ("julia", "cutile-julia"),
    ("triton", "triton"),
    ("cutile-python", "cutile-python"),
    ("cuda-tile", "cutile-python"),
    ("cuda.tile", "cutile-python"),
)
"""What the producer string of the module, or the `// Producer:` line of nvcc, holds; in lower case."""

NAMES = (
    (r"^_Z", "tile-cpp"),  # Itanium mangling
    (r"_Kt\d+_", "cutile-python"),  # the signature that cuTile Python appends
    (r"_entry$", "cutile-rust"),
)
"""How each front end forms the symbol of an entry."""


class FrontEnd(NamedTuple):
    """Name ("cutile-rust", ...; empty: not known) and version (empty: not known)."""

    name: str = UNKNOWN
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip() or "unknown front end"


def recognise(producer: str, entries: Iterable[str], files: Iterable[str]) -> FrontEnd:
    """The front end, by what it says of itself first, then by its files, then by its entry symbols.

    `files` are the names in debug locations. Triton writes `.py` too, so a Python file counts only after
    the symbols.
    """
    for word, name in PRODUCERS:
        if word in producer.lower():
            version = re.search(r"\bV?(\d+\.\d+(?:\.\d+)?)\b", producer)
            return FrontEnd(name, version[1] if version else "")
    suffixes = [_suffix(file) for file in files]
    for suffix in suffixes:
        if suffix in SUFFIXES and suffix != ".py":
            return FrontEnd(SUFFIXES[suffix])
    for entry in entries:
        for pattern, name in NAMES:
            if re.search(pattern, entry):
                return FrontEnd(name)
    return FrontEnd(SUFFIXES[".py"]) if ".py" in suffixes else FrontEnd()


def parse_front_end(text: str) -> FrontEnd:
    """`NAME[@VERSION]`, as `--front-end` takes it. Raises InputError for a name that is not known."""
    name, _, version = (part.strip() for part in text.partition("@"))
    known = sorted({name for _, name in PRODUCERS})
    if name not in known:
        from tileir_diff.errors import InputError

        raise InputError(f"no front end '{name}'; there are {', '.join(known)}", "--front-end")
    if version and re.fullmatch(r"\d+(\.\d+)*", version) is None:
        from tileir_diff.errors import InputError

        raise InputError(f"'{version}' is no version; write {name}@0.5.0", "--front-end")
    return FrontEnd(name, version)


def version_key(version: str) -> tuple[int, ...]:
    """For comparing versions: "0.5.0" -> (0, 5, 0); what is not a number counts as 0."""
    return tuple(int(part) if part.isdecimal() else 0 for part in version.split("."))


def _suffix(file: str) -> str:
    return file[file.rfind(".") :] if "." in file else ""
