"""Commands and their output in Markdown: fenced blocks of the language `console`, run in fixtures/.

A line that begins with `$ ` is a command for the shell, continued after a backslash; the lines up to the next
command are what it prints, standard error included. A line `...` stands for any number of lines.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
FENCE = "```"
PROMPT = "$ "
GAP = "..."
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Command:
    """One command of one page. `lines` of the page, from `first` up to `last`, exclusive, are its output."""

    page: Path
    number: int
    text: str
    first: int
    last: int
    expected: tuple[str, ...]

    @property
    def is_checked(self) -> bool:
        """Commands that install or compile are shown, not run."""
        return self.text.startswith("tileir-diff ") or " | tileir-diff " in self.text


def pages() -> list[Path]:
    """All pages of the documentation but the generated ones of the rules, sorted."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(page: Path) -> list[Command]:
    """The commands of a page, in order."""
    return list(_commands(page, page.read_text(encoding="utf-8").split("\n")))


def _commands(page: Path, lines: list[str]) -> Iterator[Command]:
    for start, end in _blocks(lines):
        position = start
        while position < end:
            first = _after_command(lines, position, end)
            last = next((i for i in range(first, end) if lines[i].startswith(PROMPT)), end)
            if lines[position].startswith(PROMPT):
                text = "\n".join([lines[position].removeprefix(PROMPT), *lines[position + 1 : first]])
                yield Command(page, position + 1, text, first, last, tuple(lines[first:last]))
            position = last


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for index, line in enumerate(lines):
        if start is None and line == f"{FENCE}console":
            start = index + 1
        elif start is not None and line == FENCE:
            yield start, index
            start = None


def _after_command(lines: list[str], position: int, end: int) -> int:
    while position < end and lines[position].endswith("\\"):
        position += 1
    return position + 1


def run(command: Command, folder: Path) -> list[str]:
    """Runs the command in fixtures/ and returns the lines it prints. `folder` gets the `tileir-diff`."""
    program = folder / "tileir-diff"
    if not program.exists():
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tileir_diff "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    quiet = ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TILEIR_DIFF_DEBUG")
    env = {name: value for name, value in os.environ.items() if name not in quiet}
    env |= {"PATH": f"{folder}{os.pathsep}{env['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    done = subprocess.run(
        ["sh", "-c", command.text],
        cwd=FIXTURES,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    return [line.rstrip() for line in done.stdout.removesuffix("\n").split("\n")]


def matches(expected: tuple[str, ...], actual: list[str]) -> bool:
    """Whether the output is as shown; a line `...` stands for any number of lines."""
    if not expected:
        return not actual
    if expected[0] == GAP:
        return any(matches(expected[1:], actual[skip:]) for skip in range(len(actual) + 1))
    return bool(actual) and expected[0].rstrip() == actual[0] and matches(expected[1:], actual[1:])


def shown(expected: tuple[str, ...], actual: list[str]) -> list[str]:
    """What the page should show: the output, cut where the page cut it.

    As many lines before the first and after the last `...` are kept as were shown.
    """
    if matches(expected, actual):
        return list(expected)
    if GAP not in expected:
        return actual
    before = expected.index(GAP)
    after = len(expected) - 1 - max(i for i, line in enumerate(expected) if line == GAP)
    if before + after >= len(actual):
        return actual
    return [*actual[:before], GAP, *actual[len(actual) - after :]]
