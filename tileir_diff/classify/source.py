"""Whether the kernel's source asks for what its IR lacks: then the front end lost it."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from tileir_diff.report.result import FindingRecord, Result

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Bug(NamedTuple):
    """One entry of the catalogue; see the head of frontend_bugs.toml."""

    id: str
    front_end: str
    rule: str
    asks: str
    near: bool
    versions: str
    reason: str
    actual: str = "*"
    workaround: str = ""


class Asked(NamedTuple):
    """A property that the source asks for: the bug that lost it, and the source's line."""

    bug: Bug
    line: int
    text: str


@cache
def catalogue() -> tuple[Bug, ...]:
    """All known bugs, in the file's order."""
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "frontend_bugs.toml"), "rb") as file:
        entries = cast("list[dict[str, str | bool]]", tomllib.load(file)["bug"])
    return tuple(Bug(**entry) for entry in entries)  # pyright: ignore[reportArgumentType]


def asked(source: str, finding: FindingRecord, result: Result) -> Asked | None:
    """The known bug that explains a finding: the source asks for what the reference has."""
    for bug in catalogue():
        if bug.front_end != result.generated.front_end or not fnmatchcase(finding.rule, bug.rule):
            continue
        if not fnmatchcase(finding.actual, bug.actual):
            continue
        place = finding.generated.source if finding.generated is not None else None
        for line, statement in _statements(source):
            if bug.near and place is not None and not line <= place.line <= line + statement.count("\n"):
                continue
            match = re.search(bug.asks, statement)
            if match and _agrees(match.groupdict().get("value"), finding):
                return Asked(bug, line, " ".join(statement.split()))
    return None


def _agrees(value: str | None, finding: FindingRecord) -> bool:
    """Whether the source names what the reference has, and not what the generated side has."""
    if value is None:
        return True
    wanted, got = NUMBER.search(finding.expected), NUMBER.search(finding.actual)
    if wanted is None or got is None:
        return False
    return float(value) == float(wanted[0]) != float(got[0])


def _statements(source: str) -> list[tuple[int, str]]:
    """Statements and parameters of Rust with the line at which each begins; comments are left out."""
    text = re.sub(r"//[^\n]*", lambda match: " " * len(match[0]), source)
    text = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL)
    found: list[tuple[int, str]] = []
    at = 0
    for part in re.split(r"(?<=;)", text):
        lead = len(part) - len(part.lstrip())
        found.append((text.count("\n", 0, at + lead) + 1, part.strip()))
        at += len(part)
    return found
