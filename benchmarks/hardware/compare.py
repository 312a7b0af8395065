"""Runs the recorded launches in the interpreter and compares what both left in memory."""

from __future__ import annotations

import base64
import json
import time
import traceback
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.hardware.cases import Case, cases, contents, torch_type
from benchmarks.truth import compare as compare_arrays

if TYPE_CHECKING:
    from pathlib import Path

ORDER = ("equal", "close", "undefined", "far", "failed")


class Outcome(NamedTuple):
    """One launch.

    `status` as in `benchmarks.truth`. `gpu_differs` and `run_differs` say whether the GPU's result, and the
    interpreter's, is another than that of the launch it should equal; None where there is none.
    """

    name: str
    status: str
    detail: str
    seconds: float
    gpu_differs: bool | None
    run_differs: bool | None
    findings: tuple[str, ...]


def compare(results: Path, only: str, verbose: bool) -> int:
    recorded = read_results(results)
    outcomes: list[Outcome] = []
    after: dict[str, dict[str, Any]] = {}
    for case in cases():
        if case.name not in recorded or only not in case.name:
            continue
        record = recorded[case.name]
        if "error" in record:
            print(f"{case.name}: the GPU gave no result: {record['error']}")
            continue
        outcome = _outcome(case, record, recorded, after)
        outcomes.append(outcome)
        odd = outcome.status not in ("equal", "close") or outcome.gpu_differs != outcome.run_differs
        if verbose or odd:
            print(f"{outcome.name}: {outcome.status}; {outcome.detail or 'no difference'}")
            if outcome.gpu_differs != outcome.run_differs:
                print(f"    differs from {case.base}: GPU {outcome.gpu_differs}, run {outcome.run_differs}")
            for finding in outcome.findings[:3]:
                print(f"    {finding}")
    for status, count in sorted(Counter(outcome.status for outcome in outcomes).items()):
        print(f"{status:10} {count}")
    paired = [outcome for outcome in outcomes if outcome.gpu_differs is not None]
    agree = sum(outcome.gpu_differs == outcome.run_differs for outcome in paired)
    print(f"{agree} of {len(paired)}: GPU and run say the same of two kernels (equal bytes, or not)")
    return 0


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    lines = [line for part in sorted(folder.glob("results*.jsonl")) for line in part.read_text().splitlines()]
    records = [json.loads(line) for line in lines]
    return {record["name"]: record for record in records}


def _outcome(
    case: Case,
    record: dict[str, Any],
    recorded: dict[str, dict[str, Any]],
    after: dict[str, dict[str, Any]],
) -> Outcome:
    from tileir_diff import interpret
    from tileir_diff.equivalence.backend import torch

    arrays = contents(case.kernel)
    buffers = {
        name: torch.frombuffer(bytearray(content), dtype=torch_type(kind))
        for name, (kind, content) in arrays.items()
    }
    values = [
        buffers[value] if kind == "ptr" else value
        for argument in case.launch["args"]
        for kind, value in argument.items()
    ]
    start = time.perf_counter()
    try:
        run = interpret(str(case.dump), values, grid=case.launch["grid"], entry=case.launch["entry"])
    except Exception:
        return Outcome(case.name, "failed", traceback.format_exc()[-300:], 0.0, None, None, ())
    seconds = time.perf_counter() - start
    after[case.name] = buffers
    status, details = "equal", list[str]()
    if record["guards"]:
        details.append(f"the GPU wrote outside {', '.join(record['guards'])}")
    if not record.get("repeats", True):
        details.append("the GPU's runs differ")
    for name, buffer in buffers.items():
        kind, before = arrays[name]
        expected = torch.frombuffer(bytearray(_after(record, name, before)), dtype=buffer.dtype)
        unsure = _unsure(run, case, name, buffer)
        found, detail = compare_arrays(expected, buffer, kind, unsure)
        status = max(status, found, key=ORDER.index)
        if detail:
            details.append(f"{name}: {detail}")
    findings = tuple(f"{each.rule} line {each.line}: {each.message} (x{each.times})" for each in run.findings)
    gpu, ran = None, None
    if case.base is not None and case.base in after and "changed" in recorded.get(case.base, {}):
        gpu = record["changed"] != recorded[case.base]["changed"]
        ran = any(
            not torch.equal(buffer.view(torch.uint8), after[case.base][name].view(torch.uint8))
            for name, buffer in buffers.items()
        )
    return Outcome(case.name, status, "; ".join(details), seconds, gpu, ran, findings)


def _after(record: dict[str, Any], name: str, before: bytes) -> bytes:
    """Content of an array after the launch."""
    if name not in record["changed"]:
        return before
    return zlib.decompress(base64.b64decode(record["changed"][name]))


def _unsure(run: Any, case: Case, name: str, buffer: Any) -> Any:
    """Elements that the kernel leaves undefined, None for none."""
    position = next(i for i, argument in enumerate(case.launch["args"]) if argument.get("ptr") == name)
    unsure = run.undetermined.get(f"arg{position}")
    if unsure is None:
        return None
    return unsure.reshape(-1, buffer.element_size()).any(dim=1)[: buffer.numel()]


def gpu_result(name: str, levels: dict[int, Path], made_by: tuple[str, str], output: Path) -> int:
    """What `tileir-diff classify --gpu-result` reads, of one launch at the assembler's levels 0 and 3.

    A level agrees where every array is as the interpreter leaves it, within the tolerance of its type, and
    nothing was written outside one. `made_by`: the device, and the assembler's version.
    """
    case = next(case for case in cases() if case.name == name)
    agrees: dict[str, bool] = {}
    notes: list[str] = []
    for level, folder in sorted(levels.items()):
        record = read_results(folder)[name]
        outcome = _outcome(case, record, {}, {})
        agrees[f"O{level}"] = outcome.status in ("equal", "close") and not record["guards"]
        notes += [f"O{level}: {outcome.detail}"] if outcome.detail else []
    agrees["direct"] = agrees[f"O{max(levels)}"]
    data = {"schema": "tileir-gpu-result/1", "device": made_by[0], "assembler": made_by[1], "recorded": True,
            "agrees": dict(sorted(agrees.items())), "note": "; ".join(notes)}  # fmt: skip
    output.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 0
