"""What gates have in common: what they are given, what they give back, how they compare two dumps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from tileir_diff import __version__
from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Analysis, Artifact, Check, GateFinding, GateVerdict, Variant
from tileir_diff.pipeline.log import sha256

if TYPE_CHECKING:
    from tileir_diff.pipeline.artifacts import Evidence
    from tileir_diff.pipeline.stages import Outcome, Stage
    from tileir_diff.report.model import Finding, Place, Report

WAIVERS: Final = "given/waivers.toml"
RESULTS: Final = "given/results.json"
BASELINES: Final = "given/baselines.json"
Made = TypeVar("Made", bound=Artifact)


class Given(NamedTuple):
    """What a gate may look at: a folder with the port's files, and what the user decided.

    Files under `given/` and `reference/` are the user's; nothing else can make a verdict better.
    """

    folder: Path
    settings: dict[str, str]
    hide: tuple[Path, ...] = ()
    """Folders that a program of a worker must not see."""

    def text(self, path: str) -> str:
        """A file of the port. Raises InputError."""
        from tileir_diff.ingest.text import read_text

        try:
            return read_text(str(self.folder / path))
        except InputError as error:
            raise InputError(error.message, path, error.line, error.column) from None

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return (self.folder / path).is_file()

    def read(self, model: type[Made], path: str) -> Made:
        """An artifact. Raises InputError where it is not there or does not follow its schema."""
        return model.read(self.text(path), path)

    def analysis(self) -> Analysis:
        """The analysis. Raises InputError."""
        return self.read(Analysis, "analysis.json")

    def seen(self, *paths: str) -> dict[str, str]:
        """Hashes of those files that are there."""
        found = {path: self.folder / path for path in paths if self.has(path)}
        return {path: sha256(place.read_bytes()) for path, place in sorted(found.items())}


class Ruled(NamedTuple):
    """A verdict, and the files that the gate wrote with it."""

    verdict: GateVerdict
    outputs: dict[str, bytes]


Gate = Callable[[Given], Ruled]


class Ruling:
    """A verdict in the making."""

    def __init__(self, stage: Stage, given: Given, evidence: Evidence = "static") -> None:
        self.stage: Stage = stage
        self.given = given
        self.evidence: Evidence = evidence
        self.checks: list[Check] = []
        self.findings: list[GateFinding] = []
        self.outputs: dict[str, bytes] = {}
        self.versions: dict[str, str] = {"tileir-diff": __version__}
        self._saw: set[str] = set()

    def saw(self, *paths: str) -> None:
        """These files decide the verdict too."""
        self._saw.update(paths)

    def check(self, name: str, wrong: str | None, right: str = "") -> bool:
        """Enters a question that is answered: `wrong` says what fails, None that nothing does."""
        result = "pass" if wrong is None else "fail"
        self.checks.append(Check(name=name, result=result, detail=_fit(right if wrong is None else wrong)))
        return wrong is None

    def open(self, name: str, why: str) -> None:
        """Enters a question that nobody answered."""
        self.checks.append(Check(name=name, result="open", detail=_fit(why)))

    @property
    def failed(self) -> bool:
        """Whether a check failed."""
        return any(check.result == "fail" for check in self.checks)

    def rule(self, outcome: Outcome) -> Ruled:
        """The verdict."""
        verdict = GateVerdict(
            stage=self.stage,
            outcome=outcome,
            evidence=self.evidence,
            checks=self.checks,
            findings=self.findings,
            saw=self.given.seen(*self._saw),
            settings=dict(sorted(self.given.settings.items())),
            versions=dict(sorted(self.versions.items())),
        )
        return Ruled(verdict, self.outputs)

    def malformed(self, error: InputError) -> Ruled:
        """The verdict on an artifact that is none."""
        where = f"{error.path}:{error.line}: " if error.line else f"{error.path}: " if error.path else ""
        self.check("schema", f"{where}{error.message}")
        return self.rule("MALFORMED")


def _fit(text: str, most: int = 10_000) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


# ---- comparing dumps


def launch_of(variant: Variant, generated: dict[str, Any]) -> dict[str, Any]:
    """A launch file's content: the reference's side as the analysis says it, and the other one."""
    reference = {"entry": variant.entry, "grid": variant.grid, "args": variant.arguments}
    return {"reference": reference, "generated": generated}


def compare(
    given: Given, reference: str, generated: str, launch: dict[str, Any], place: Path, *, lower: str = ""
) -> Report:
    """Compares two dumps with a launch, as the gate's policy asks.

    `reference` and `generated` are paths from the port's folder; `place` is a folder for the launch file;
    `lower` is an architecture for which both are assembled, anew.
    Raises InputError for a dump that cannot be read.
    """
    from tileir_diff.api import diff

    path = place / "launch.json"
    path.write_text(json.dumps(launch), "utf-8")
    return diff(
        given.folder / reference,
        given.folder / generated if not os.path.isabs(generated) else generated,
        launch=path,
        waivers=_waivers(given),
        today=date.fromisoformat(given.settings["today"]) if "today" in given.settings else None,
        lower=lower,
        cache=False,
    )


def _waivers(given: Given) -> tuple[Any, ...]:
    from tileir_diff.verdict.config import read_config

    return read_config(str(given.folder / WAIVERS)).waivers if given.has(WAIVERS) else ()


def against(report: Report) -> str | None:
    """Why a comparison does not pass the gate; None: PASS, or every note is waived."""
    worst = [each for each in report.findings if each.severity != "info"]
    if worst:
        more = f" (and {len(worst) - 1} more)" if len(worst) > 1 else ""
        return f"{report.verdict}: {worst[0].rule}: {worst[0].message}{more}"
    if report.not_checked:
        return f"{report.verdict}: not checked: {report.not_checked[0]}"
    return None if report.ok else f"{report.verdict}: {report.why}"


def gate_finding(variant: str, found: Finding) -> GateFinding:
    """A finding as a writer needs it: the line of the kernel's own source where the dump has it."""
    return GateFinding(
        variant=variant,
        rule=found.rule,
        severity=found.severity,
        message=found.message,
        effect=found.effect,
        fix=found.fix,
        reference=_place(found.reference),
        generated=_place(found.generated, of_source=True),
    )


def _place(place: Place | None, *, of_source: bool = False) -> str:
    if place is None:
        return ""
    if of_source and place.source is not None:
        return f"{Path(place.source.file).name}:{place.source.line}: {place.text}"
    return f"line {place.line}: {place.text}"


def told(error: InputError, folder: Path) -> str:
    """An error as a verdict keeps it: without the folder in which the gate happened to work."""
    # rustc names a source by the package that it was built in
    path = Path(error.path).name if error.path.endswith(".rs") else error.path
    at = f"{path}:{error.line}:{error.column}: " if error.line else ""
    text = f"{at}{error.message}"
    if error.source_line:
        text += f"\n  {error.source_line.strip()}"
    for each in (str(folder), os.path.relpath(folder)):
        text = text.replace(f"{each}/", "").replace(each, ".")
    return text
