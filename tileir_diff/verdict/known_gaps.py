"""The catalogue of what a front end is known not to express, by version. Data: known_gaps.toml."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from tileir_diff.verdict.front_ends import FrontEnd, version_key

if TYPE_CHECKING:
    from tileir_diff.rules.model import Finding


class Gap(NamedTuple):
    """One entry of the catalogue; see the head of known_gaps.toml."""

    id: str
    front_end: str
    rule: str
    reason: str
    since: str = ""
    before: str = ""
    expected: str = "*"
    actual: str = "*"
    op: str = "*"
    only_if: str = ""
    workaround: str = ""

    def covers(self, finding: Finding) -> bool:
        return (
            fnmatchcase(finding.rule, self.rule)
            and fnmatchcase(finding.expected, self.expected)
            and fnmatchcase(finding.actual, self.actual)
            and (self.op == "*" or any(fnmatchcase(name, self.op) for name in _ops(finding)))
        )

    def open_in(self, version: str) -> bool | None:
        """Whether that version has the gap; None if it depends on a version that is not known."""
        if not self.since and not self.before:
            return True
        if not version:
            return None
        key = version_key(version)
        return (not self.since or key >= version_key(self.since)) and (
            not self.before or key < version_key(self.before)
        )

    @property
    def versions(self) -> str:
        """The versions that have it, in words; empty if all do."""
        parts = [f"since {self.since}" if self.since else "", f"before {self.before}" if self.before else ""]
        return " and ".join(part for part in parts if part)


def _ops(finding: Finding) -> list[str]:
    return [site.op.short for site in (finding.reference, finding.generated) if site is not None]


@cache
def catalogue() -> tuple[Gap, ...]:
    """All gaps, in the file's order."""
    import tomllib  # only needed once there is a finding

    with open(os.path.join(os.path.dirname(__file__), "known_gaps.toml"), "rb") as file:
        entries = cast("list[dict[str, str]]", tomllib.load(file)["gap"])
    return tuple(Gap(**entry) for entry in entries)


def matching_gap(finding: Finding, front_end: FrontEnd) -> Gap | None:
    """The first gap of that front end that covers the finding; its version may still rule it out."""
    if not front_end.name:
        return None
    for gap in catalogue():
        if (
            gap.front_end == front_end.name
            and gap.covers(finding)
            and gap.open_in(front_end.version) is not False
        ):
            return gap
    return None
