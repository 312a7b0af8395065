"""Writes the output of today below every command of the documentation.

`python -m tests.docs.refresh [PAGE...]`; the pages of rules and lints are written by `make docs`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docs.console import commands, pages, run, shown


def refreshed(page: Path, folder: Path) -> str:
    """The page's text with the output of today."""
    lines = page.read_text(encoding="utf-8").split("\n")
    for command in reversed(commands(page)):
        if command.is_checked:
            lines[command.first : command.last] = shown(command.expected, run(command, folder))
    return "\n".join(lines)


def main() -> None:
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    with tempfile.TemporaryDirectory(prefix="docs-") as folder:
        for page in chosen:
            text = refreshed(page, Path(folder))
            if text != page.read_text(encoding="utf-8"):
                page.write_text(text, encoding="utf-8")
                print(f"{page.name}: changed")


if __name__ == "__main__":
    main()
