"""The host builder's gate: the library builds with kernel.rs as it was, and is right for every variant.

Without a GPU the library records its launches, and both sides run in the interpreter: the verdict says so.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.errors import InputError, MissingToolError
from tileir_diff.pipeline import sandbox
from tileir_diff.pipeline.artifacts import Compared, Correctness, GateVerdict
from tileir_diff.pipeline.gates.analyst import tolerances
from tileir_diff.pipeline.gates.common import (
    RESULTS,
    WAIVERS,
    Given,
    Ruled,
    Ruling,
    against,
    compare,
    gate_finding,
    launch_of,
    told,
)  # fmt: skip
from tileir_diff.pipeline.gates.device import exported, foreign_code
from tileir_diff.pipeline.gates.host_build import kernels_folder, library
from tileir_diff.pipeline.gates.signature import slots_of
from tileir_diff.pipeline.gates.wrapper import foreign_python
from tileir_diff.pipeline.log import sha256

if TYPE_CHECKING:
    from tileir_diff.pipeline.artifacts import Analysis, Variant

MULTIPROCESSORS: Final = 132
"""Of the device that a recorded launch is told of."""
SECONDS: Final = 120.0
"""For one call of the wrapper."""
RUNS: Final = 3
CHANCES: Final = 1 << 16
ADDRESS, SPACING, STREAM = 0x7F << 40, 1 << 34, 0x55 << 40
"""Where a driver has its arrays and a process its streams, and bytes between arrays; never touched."""
LAUNCHER: Final = Path(__file__).with_name("launcher.py")


def judge(given: Given) -> Ruled:
    """ALL_PASS where every variant is right; NO_BUILD where the library does not build.

    Raises MissingToolError where there is no cargo.
    """
    ruling = Ruling("host", given, "none")
    ruling.saw("analysis.json", "kernel.rs", "ffi.rs", "wrapper.py", "gates/kernel.json", WAIVERS)
    try:
        analysis = given.analysis()
        for path in ("kernel.rs", "ffi.rs", "wrapper.py"):
            given.text(path)
        passed = given.read(GateVerdict, "gates/kernel.json")
        ruling.saw(*(variant.reference for variant in analysis.variants))
    except InputError as error:
        return ruling.malformed(error)
    now = sha256((given.folder / "kernel.rs").read_bytes())
    same = passed.outcome == "PASS" and passed.saw.get("kernel.rs") == now
    if not ruling.check("kernel.rs", None if same else "it is not the one that passed its gate", now):
        return ruling.rule("FAIL")
    for name, wrong in (
        ("host code", foreign_code(given.text("ffi.rs"))),
        ("wrapper", foreign_python(given.text("wrapper.py"))),
    ):
        ruling.check(name, wrong, "a launch and nothing else")
    if ruling.failed:
        return ruling.rule("FAIL")
    with tempfile.TemporaryDirectory(prefix="tileir-host-") as place:
        try:
            kernels_folder()
            built = library(given, Path(place))
        except MissingToolError:
            raise
        except InputError as error:
            ruling.check("builds", told(error, Path(place)))
            return ruling.rule("NO_BUILD")
        ruling.check("builds", None, "kernel.rs and ffi.rs")
        return _run(ruling, analysis, built, Path(place), now)


def _run(ruling: Ruling, analysis: Analysis, built: Path, place: Path, kernel: str) -> Ruled:
    compared: list[Compared] = []
    before = sha256(built.read_bytes())
    for variant in analysis.variants:
        launched = _launched(ruling, variant, built, place)
        if sha256(built.read_bytes()) != before:  # where nothing hides it from a wrapper
            ruling.check(f"{variant.name}: launches", "the library was changed while it was judged")
            return ruling.rule("FAIL")
        if launched is None:
            compared.append(_not_run(variant, "it was not launched"))
        else:
            compared.append(_same(ruling, variant, launched, place))
    ran = all(each.outcome == "equal" for each in compared)
    ruling.evidence = "interpreter" if any(each.runs for each in compared) else "static"
    made = Correctness(evidence=ruling.evidence, kernel=kernel, compared=compared)
    ruling.outputs["correctness.json"] = made.to_json().encode()
    if ruling.given.has(RESULTS):
        ruling.open("gpu", "results are looked at by the performance gate")
    return ruling.rule("ALL_PASS" if ran and not ruling.failed else "FAIL")


def _not_run(variant: Variant, why: str) -> Compared:
    return Compared(variant=variant.name, outcome="not-run", detail=why, runs=0)


# ---- what the host launches


def _launched(ruling: Ruling, variant: Variant, built: Path, place: Path) -> dict[str, Any] | None:
    """The generated side of the launch that the host makes for a variant; its dump is among the outputs."""
    folder = Path(tempfile.mkdtemp(dir=place))
    wrapper = ruling.given.folder / "wrapper.py"
    # the same for the same host, and nothing that a host could be written for
    chance = int(
        sha256((ruling.given.text("ffi.rs") + ruling.given.text("wrapper.py") + variant.name).encode())[:8],
        16,
    )
    arrays: dict[str, dict[str, Any]] = {
        name: {"ptr": ADDRESS + at * SPACING + (2 * (chance % CHANCES) + 1) * each.align, "dtype": each.dtype,
               "shape": each.shape, "strides": each.strides}
        for at, (name, each) in enumerate(variant.arrays.items())
    }  # fmt: skip
    request = {
        "arch": variant.arch, "multiprocessors": MULTIPROCESSORS, "arrays": arrays,
        "scalars": _scalars(variant), "functions": [*exported(ruling.given.text("ffi.rs")), "tileir_error"],
        "device": chance % 8, "stream": STREAM + 16 * chance if chance % 4 else None,
    }  # fmt: skip
    call = [sys.executable, "-I", str(LAUNCHER), str(built), str(wrapper), str(folder)]
    environment = _environment()
    stdin = json.dumps(request).encode()
    ran = sandbox.run(
        call, folder, SECONDS, environment=environment, stdin=stdin, hide=ruling.given.hide
    )  # fmt: skip
    said = ran.said.decode("utf-8", "replace").strip().replace(f"{folder}/", "").replace(f"{place}/", "")
    lines = said.splitlines()[-3:]
    what = f"{variant.name}: launches"
    if ran.status != 0:
        how = "it did not end" if ran.status is None else f"it ended with status {ran.status}"
        ruling.check(what, f"{how}: {' / '.join(lines)}" if lines else how)
        return None
    records = sorted(folder.glob("*.json"))
    if len(records) != 1:
        ruling.check(
            what, f"{len(records)} launches for one call: {', '.join(each.stem for each in records)}"
        )
        return None
    try:
        return _read(ruling, variant, records[0], {each["ptr"]: name for name, each in arrays.items()})
    except (InputError, ValueError, LookupError, TypeError, AttributeError, OSError, RecursionError) as error:
        text = error.message if isinstance(error, InputError) else str(error)
        ruling.check(what, f"its record cannot be read: {text}")
        return None


def _environment() -> dict[str, str]:
    from tileir_diff.toolchain.cargo import cargo_environment
    from tileir_diff.toolchain.find import find_tool

    environment = cargo_environment()
    tool = find_tool("tileiras")
    if tool is not None:
        environment.setdefault("CUTILE_TILEIRAS_PATH", str(tool))
    return environment


def _scalars(variant: Variant) -> list[int | float | str | None]:
    """Numbers that the reference gets and that are no extent or stride, in order."""
    return [slot.value for slot in slots_of(variant) if not slot.array]


def _read(ruling: Ruling, variant: Variant, record: Path, names: dict[int, str]) -> dict[str, Any]:
    """Raises InputError, ValueError and the like for a record that is none."""
    from tileir_diff.toolchain.run import disassemble

    told_: dict[str, Any] = json.loads(sandbox.read_plain(record, sandbox.LARGEST))
    bytecode = sandbox.read_plain(record.with_suffix(".tirbc"), sandbox.LARGEST)
    text = disassemble(bytecode, record.stem)
    args: list[dict[str, Any]] = []
    unknown = ""
    for word in told_["args"]:
        if "ptr" in word:
            unknown = unknown or ("" if word["ptr"] in names else hex(word["ptr"]))
            args.append({"ptr": names.get(word["ptr"])})
        else:
            args.append(word)
    grid = [int(size) for size in told_["grid"]]
    side = {"entry": str(told_["entry"]), "grid": grid, "args": args}
    stem = f"launched/{variant.name}"
    ruling.outputs[f"{stem}.mlir"] = text.encode()
    ruling.outputs[f"{stem}.launch.json"] = (json.dumps(launch_of(variant, side), indent=1) + "\n").encode()
    wrong = f"it passes the address {unknown}, which is none of the arrays" if unknown else None
    ruling.check(f"{variant.name}: launches", wrong, f"{told_['kernel']} on {grid}")
    return side


# ---- whether the result is the reference's


def _same(ruling: Ruling, variant: Variant, side: dict[str, Any], place: Path) -> Compared:
    dump = place / f"{variant.name}.mlir"
    dump.write_bytes(ruling.outputs[f"launched/{variant.name}.mlir"])
    launch = launch_of(variant, side)
    try:
        report = compare(ruling.given, variant.reference, str(dump), launch, place)
    except InputError as error:
        ruling.check(f"{variant.name}: same as the reference", told(error, ruling.given.folder))
        return _not_run(variant, "the two dumps cannot be compared")
    wrong = against(report)
    ruling.check(f"{variant.name}: same as the reference", wrong, report.verdict)
    ruling.findings += [gate_finding(variant.name, each) for each in report.findings
                        if each.severity != "info"]  # fmt: skip
    found = interpreted(ruling.given, variant, dump, launch)
    text = None if found.outcome == "equal" else found.detail
    ruling.check(f"{variant.name}: runs", text, found.detail)
    return found


def interpreted(given: Given, variant: Variant, dump: Path, launch: dict[str, Any]) -> Compared:
    """Both sides on the same inputs in the interpreter, with the launches that each has."""
    from tileir_diff.api import load
    from tileir_diff.equivalence.differential.pairs import run_pair
    from tileir_diff.match.launch import parse_launch
    from tileir_diff.match.model import CompareOptions, Execution

    file = dump.with_name("run.launch.json")
    file.write_text(json.dumps(launch), "utf-8")
    paths = str(given.folder / variant.reference), str(dump)
    modules = load(paths[0], "reference")[0], load(paths[1], "generated")[0]
    entries = tuple(
        next(each for each in module.entries if each.symbol == str(launch[name]["entry"]).removeprefix("@"))
        for module, name in zip(modules, ("reference", "generated"), strict=True)
    )
    seconds, tolerance = float(given.settings.get("run_seconds", "60")), tolerances(variant)
    how = Execution(RUNS, 0, seconds, None, tolerance=tolerance)
    options = CompareOptions(parse_launch([str(file)]))
    try:
        made, _ = run_pair(
            modules, (entries[0], entries[1]), (entries[0].symbol, entries[1].symbol), paths, [], options, how
        )
    except InputError as error:
        return _not_run(variant, error.message)
    if made.outcome not in ("equal", "different"):
        return _not_run(variant, made.detail)
    limits = (f"{name} within rtol {rtol:g}, atol {atol:g}" for name, (rtol, atol) in tolerance.items())
    detail = "; ".join([made.detail, *(limits if made.outcome == "equal" else ())])
    return Compared.model_validate(
        {"variant": variant.name, "outcome": made.outcome, "detail": detail, "runs": made.runs}
    )
