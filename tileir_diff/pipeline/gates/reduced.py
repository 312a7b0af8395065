"""The smaller kernel that comes with a bug of the front end: it differs as the whole does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.pipeline.gates.common import compare

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tileir_diff.pipeline.gates.common import Given
    from tileir_diff.pipeline.gates.diagnosis import Diagnosis
    from tileir_diff.reduce.search import Candidate
    from tileir_diff.report.model import Report

Told = tuple[str, str, str]


class Differs(NamedTuple):
    """Whether a kernel differs from the variant's reference by one finding: rule, reference, generated."""

    given: Given
    reference: str
    launch: dict[str, Any]
    finding: Told
    place: Path

    def __call__(self, candidate: Candidate) -> bool:
        path = self.place / "candidate.mlir"
        path.write_text(candidate.text, "utf-8")
        try:
            report = compare(self.given, self.reference, str(path), self.launch, self.place)
        except InputError:  # it lacks what the launch passes
            return False
        return self.finding in _critical(report)


def differs(given: Given, found: Diagnosis, place: Path) -> tuple[Differs, Candidate] | None:
    """The test for the finding of a diagnosis, and the whole kernel; None for IR that does not verify.

    `place` is a folder for files. Raises InputError where a file is not there.
    """
    from tileir_diff.api import load
    from tileir_diff.reduce.search import candidate

    side = "launched" if found.failed == "host" else "generated"
    reference = next(
        each.reference for each in given.analysis().variants if each.name == found.variant
    )  # a diagnosis names one of them
    launch = json.loads(given.text(f"{side}/{found.variant}.launch.json"))
    dump = f"{side}/{found.variant}.mlir"
    given.text(dump)
    try:
        start = candidate(load(str(given.folder / dump), "generated")[0])
        told = _critical(compare(given, reference, dump, launch, place))
    except InputError:
        return None
    return (Differs(given, reference, launch, told[0], place), start) if start is not None and told else None


def _critical(report: Report) -> list[Told]:
    return [
        (each.rule, each.expected, each.actual) for each in report.findings if each.severity == "critical"
    ]
