"""The performance gate: what results of a GPU say about this very kernel, configuration by configuration.

It measures nothing itself and believes nobody's numbers but those of the result file that the user gives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Perf, Ratio, listed
from tileir_diff.pipeline.gates.common import RESULTS, Given, Ruled, Ruling
from tileir_diff.pipeline.log import sha256

if TYPE_CHECKING:
    from tileir_diff.pipeline.artifacts import Analysis

LIMIT: Final = 1 / 1.05
"""The least speed, reference time / our time: of the geometric mean, and of every configuration by itself."""
BOUND: Final = ("kernel.rs", "ffi.rs")
"""Files that a result names by their hash under `sources`, so that it cannot be another kernel's."""


def judge(given: Given) -> Ruled:
    """PASS, SLOW, UNMEASURED, or FAIL where a GPU found a result wrong."""
    ruling = Ruling("performance", given, "none")
    ruling.saw("analysis.json", "perf.json", RESULTS, *BOUND)
    try:
        analysis = given.analysis()
        claimed = given.read(Perf, "perf.json")
        found = measured(given, analysis)
    except InputError as error:
        return ruling.malformed(error)
    same = claimed.model_copy(update={"notes": []}) == found.model_copy(update={"notes": []})
    if not ruling.check(
        "perf.json", None if same else "its numbers are not those of the results", "as measured"
    ):
        return ruling.rule("MALFORMED")
    if not found.results:
        ruling.open("measured", "; ".join(found.notes) or "no result file of a GPU was given")
        return ruling.rule("UNMEASURED")
    ruling.evidence = "gpu"
    wrong = [each for each in results_of(given).correctness if each.right is not True]
    for each in wrong:
        ruling.check(f"{each.case}: right", each.fault or f"error {each.error}")
    if wrong:
        return ruling.rule("FAIL")
    ruling.check("right", None, "every case on the GPU")
    for each in found.configurations:
        slow = f"{each.speed:.3f} of the reference's speed" if each.case in found.slow else None
        ruling.check(f"{each.case}: speed", slow, f"{each.speed:.3f} of the reference's speed")
    mean = found.geomean or 0.0
    ruling.check("geometric mean", f"{mean:.3f}" if mean < LIMIT else None, f"{mean:.3f}")
    return ruling.rule("SLOW" if ruling.failed else "PASS")


def measured(given: Given, analysis: Analysis) -> Perf:
    """What the result file says of this kernel; an artifact without results, and why, where it says nothing.

    Raises InputError for a file that is no result file.
    """
    if not given.has(RESULTS):
        return Perf(notes=["no result file of a GPU was given"])
    data = results_of(given)
    if data.fault or data.benchmark is None:
        return Perf(notes=[f"the harness says that its numbers mean nothing: {data.fault or 'no benchmark'}"])
    rows = {each.case: each for each in data.benchmark.configurations}
    wanted = [variant.name for variant in analysis.variants]
    checked = {each.case for each in data.correctness}
    missing = [name for name in wanted if name not in rows or name not in checked]
    if missing:
        return Perf(notes=[f"not every configuration was measured: {listed(missing)} are missing"])
    now = given.seen(*BOUND)
    others = [name for name in wanted if not _is_of(data.sources.get(rows[name].operator, {}), now)]
    if others:
        why = "the results do not say that they are of this kernel.rs and ffi.rs"
        return Perf(notes=[f"{why}: `sources` of {listed(others)}"])
    ratios = [_ratio(rows[name]) for name in wanted]
    mean = math.exp(sum(math.log(each.speed) for each in ratios) / len(ratios))
    return Perf(
        results=sha256((given.folder / RESULTS).read_bytes()),
        device=data.machine.device,
        geomean=round(mean, 6),
        configurations=ratios,
        slow=[each.case for each in ratios if each.speed < LIMIT],
    )


def _is_of(said: dict[str, str], now: dict[str, str]) -> bool:
    return all(path in now and said.get(path) == now[path] for path in BOUND)


def _ratio(row: _Row) -> Ratio:
    # the ratio is computed from the times: a row cannot claim another
    speed = round(row.reference_us / row.ours_us, 6)
    return Ratio(case=row.case, ours_us=row.ours_us, reference_us=row.reference_us, speed=speed)


Time = Annotated[float, Field(ge=1e-3, le=1e12)]


class _Part(BaseModel):
    """What is read of a result file; the rest of it is not for us."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)


class _Row(_Part):
    case: str
    operator: str
    ours_us: Time
    reference_us: Time
    call_us: Time | None = None


class _Benchmark(_Part):
    configurations: list[_Row]

    @model_validator(mode="after")
    def _once(self) -> _Benchmark:
        if len({each.case for each in self.configurations}) < len(self.configurations):
            raise ValueError("a case is measured twice")
        return self


class _Judged(_Part):
    case: str
    right: bool
    fault: str = ""
    error: float | None = None


class _Machine(_Part):
    device: str
    arch: str = Field(default="", pattern=r"^(sm_\d+[a-z]?)?$")


class Results(_Part):
    """What is read of a result file."""

    schema_: Literal["tileir-kernels-gpu/1"] = Field(alias="schema")
    machine: _Machine
    sources: dict[str, dict[str, str]] = Field(default_factory=dict)
    correctness: list[_Judged]
    benchmark: _Benchmark | None
    fault: str = ""


def results_of(given: Given) -> Results:
    """The result file that the user gave. Raises InputError for one that is none."""
    return read_results(given.text(RESULTS), RESULTS)


def read_results(text: str, path: str) -> Results:
    """Results of a GPU. Raises InputError with the first place that does not follow their schema."""
    try:
        return Results.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        why = f"no results of a GPU run: {place + ': ' if place else ''}{first['msg']}"
        raise InputError(f"{why}; it follows rust_kernels/gpu/schema.json", path) from None
