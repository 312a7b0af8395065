"""The performance gate: what results of a GPU say about this very kernel, configuration by configuration.

It measures nothing itself and believes nobody's numbers but those of the result file that the user gives.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, cast

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Perf, Ratio, listed
from tileir_diff.pipeline.gates.common import RESULTS, Given, Ruled, Ruling
from tileir_diff.pipeline.log import sha256

if TYPE_CHECKING:
    from tileir_diff.pipeline.artifacts import Analysis

SCHEMA: Final = "tileir-kernels-gpu/1"
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
    wrong = [each for each in _results(given)["correctness"] if not each.get("right")]
    for each in wrong:
        ruling.check(f"{each['case']}: right", str(each.get("fault") or f"error {each.get('error')}"))
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
    data = _results(given)
    now = {path: sha256((given.folder / path).read_bytes()) for path in BOUND if given.has(path)}
    said = cast("dict[str, Any]", data["sources"]) if isinstance(data.get("sources"), dict) else {}
    if any(said.get(path) != name for path, name in now.items()):
        return Perf(notes=["the results do not say that they are of this kernel.rs and ffi.rs: `sources`"])
    if data.get("fault") or not data.get("benchmark"):
        return Perf(
            notes=[f"the harness says that its numbers mean nothing: {data.get('fault', 'no benchmark')}"]
        )
    rows = {str(each["case"]): each for each in data["benchmark"]["configurations"]}
    wanted = [variant.name for variant in analysis.variants]
    checked = {str(each["case"]) for each in data["correctness"]}
    missing = [name for name in wanted if name not in rows or name not in checked]
    if missing:
        return Perf(notes=[f"not every configuration was measured: {listed(missing)} are missing"])
    ratios = [_ratio(rows[name]) for name in wanted]
    mean = math.exp(sum(math.log(each.speed) for each in ratios) / len(ratios))
    return Perf(
        results=sha256((given.folder / RESULTS).read_bytes()),
        device=str(data["machine"]["device"]),
        geomean=round(mean, 6),
        configurations=ratios,
        slow=[each.case for each in ratios if each.speed < LIMIT],
    )


def _ratio(row: dict[str, Any]) -> Ratio:
    ours, reference = float(row["ours_us"]), float(row["reference_us"])
    # the ratio is computed from the times: a row cannot claim another
    return Ratio(
        case=str(row["case"]), ours_us=ours, reference_us=reference, speed=round(reference / ours, 6)
    )


def _results(given: Given) -> dict[str, Any]:
    try:
        found: object = json.loads(given.text(RESULTS))
    except ValueError as error:
        raise InputError(f"not JSON: {error}", RESULTS) from None
    data = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    benchmark = data.get("benchmark")
    shaped = (
        data.get("schema") == SCHEMA
        and isinstance(data.get("machine"), dict)
        and isinstance(data["machine"].get("device"), str)
        and _rows(data.get("correctness"), ("case", "right"))
        and (benchmark is None or (isinstance(benchmark, dict) and _timed(cast("dict[str, Any]", benchmark))))
    )
    if not shaped:
        raise InputError(
            f"no results of a GPU run: it follows rust_kernels/gpu/schema.json, {SCHEMA}", RESULTS
        )
    return data


def _timed(benchmark: dict[str, Any]) -> bool:
    rows = benchmark.get("configurations")
    if not _rows(rows, ("case", "ours_us", "reference_us")):
        return False
    times = [each[key] for each in cast("list[Any]", rows) for key in ("ours_us", "reference_us")]
    return all(type(each) in (int, float) and math.isfinite(each) and each > 0 for each in times)


def _rows(rows: object, keys: tuple[str, ...]) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, dict) and all(key in row for key in keys) for row in cast("list[Any]", rows)
    )
