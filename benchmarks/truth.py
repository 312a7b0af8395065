"""The interpreter against what a GPU computed: `python -m benchmarks.truth`.

Runs every recorded launch of `gpu_truth` (see its README) with the same input, and compares each array that
the launch changed. Integers must be equal; floats must lie within the tolerance of their type, of the
largest value of the array where they are small. Elements that the run reports as undefined (races,
undetermined lanes) do not count. Needs torch.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import statistics
import sys
import time
import traceback
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import ENVIRONMENT, data_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE: dict[str, tuple[float, float]] = {
    "f64": (1e-12, 1e-13),
    "f32": (2e-5, 2e-6),
    "f16": (2e-3, 1e-3),
    "bf16": (1.6e-2, 8e-3),
}
"""By element type: relative to the value, and to the largest value of the array."""


TYPES = {  # unsigned ones by the bits that they share with others
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u32": "int32", "u64": "int64", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
}  # fmt: skip


class Outcome(NamedTuple):
    """One case.

    `status`: "equal"; "close", within the tolerance; "undefined", where what the kernel defines is equal or
    close, and the run says what it does not define; "far"; "unsupported"; "failed".
    """

    name: str
    status: str
    seconds: float
    detail: str
    findings: list[str]


def arrays(case: dict[str, Any]) -> tuple[list[Any], dict[int, Any]]:
    """The launch's arguments in the entry's order, and its arrays by argument. Raises ValueError."""
    import numpy as np

    from tileir_diff.equivalence.backend import torch

    values: list[Any] = []
    found: dict[int, Any] = {}
    for index, argument in enumerate(case["args"]):
        if argument["name"] in case["constants"]:
            continue
        if argument["k"] != "tensor":
            values.append(argument["v"])
            continue
        shape, strides = argument["shape"], argument["stride"]
        count = math.prod(shape)
        random = np.random.default_rng([case["seed"], index])
        kind = argument["dtype"]
        if kind == "bool":
            content: Any = torch.from_numpy(random.integers(0, 2, count)).bool()
        elif kind[0] in "iu":
            content = torch.from_numpy(random.integers(0, 4, count)).to(_type(kind))
        else:
            drawn = random.standard_normal(count).astype(np.float32) * np.float32(0.5)
            content = torch.from_numpy(drawn).to(_type(kind))
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
        buffer = torch.zeros(max(span, 1) if count else 0, dtype=_type(kind))
        buffer.as_strided(shape, strides).copy_(content.reshape(shape))
        crc = zlib.crc32(buffer.view(torch.uint8).numpy().tobytes())
        if crc != case["input_crc32"][str(index)]:
            raise ValueError(f"input {argument['name']} is not the recorded one")
        found[index] = buffer
        values += [buffer, *shape, *strides]
    return values, found


def _type(name: str) -> Any:
    from tileir_diff.equivalence.backend import torch

    return getattr(torch, TYPES[name])


def _position(case: dict[str, Any], index: int) -> int:
    """The entry's parameter that is the pointer of an argument."""
    position = 0
    for argument in case["args"][:index]:
        if argument["name"] not in case["constants"]:
            position += 1 + 2 * len(argument["shape"]) if argument["k"] == "tensor" else 1
    return position


def compare(expected: Any, actual: Any, kind: str, unsure: Any) -> tuple[str, str]:
    """Status of one array, and how far off it is. `unsure` are elements that the kernel leaves undefined."""
    from tileir_diff.equivalence.backend import torch

    if torch.equal(expected.view(torch.uint8), actual.view(torch.uint8)):
        return "equal", ""
    if unsure is not None:
        kept = torch.where(unsure, expected, actual)
        status, detail = compare(expected, kept, kind, None)
        if status == "far":
            return status, detail
        different = int((expected.view(torch.uint8) != actual.view(torch.uint8)).sum() > 0)
        return "undefined" if different else status, f"{int(unsure.sum())} elements are undefined; {detail}"
    if kind not in TOLERANCE:
        wrong = int((expected != actual).sum())
        return "far", f"{wrong} of {expected.numel()} integers differ"
    a, b = expected.double(), actual.double()
    same = (a == b) | (a.isnan() & b.isnan())
    relative, absolute = TOLERANCE[kind]
    largest = float(a[a.isfinite()].abs().max()) if bool(a.isfinite().any()) else 0.0
    error = torch.where(same, 0.0, (a - b).abs())
    limit = relative * a.abs() + absolute * largest
    off = ~same & ~(error <= limit)
    worst = float(torch.nan_to_num(error, nan=math.inf).max())
    if not bool(off.any()):
        return "close", f"largest difference {worst:.3g} of {largest:.3g}"
    at = int(torch.nonzero(off)[0])
    return "far", f"{int(off.sum())} of {a.numel()} differ, first at {at}: {float(a[at])} and {float(b[at])}"


def run_case(folder: Path, case: dict[str, Any]) -> Outcome:
    from tileir_diff import interpret
    from tileir_diff.equivalence.backend import torch

    values, found = arrays(case)
    before = {index: buffer.clone() for index, buffer in found.items()}
    start = time.perf_counter()
    try:
        run = interpret(str(folder / case["mlir"]), values, grid=case["grid"], entry=case["entry"])
    except KeyError as error:
        return Outcome(case["name"], "unsupported", time.perf_counter() - start, str(error), [])
    except Exception:
        text = traceback.format_exc()
        return Outcome(case["name"], "failed", time.perf_counter() - start, text, [])
    seconds = time.perf_counter() - start
    status = "equal"
    details: list[str] = []
    order = ("equal", "close", "undefined", "far")
    for index, buffer in found.items():
        argument = case["args"][index]
        if str(index) in case["changed"]:
            content = bytearray(zlib.decompress(base64.b64decode(case["changed"][str(index)])))
            expected = torch.frombuffer(content, dtype=buffer.dtype)
        else:
            expected = before[index]
        unsure = run.undetermined.get(f"arg{_position(case, index)}")
        if unsure is not None:
            unsure = unsure.reshape(-1, buffer.element_size()).any(dim=1)[: buffer.numel()]
        found_status, detail = compare(expected, buffer, argument["dtype"], unsure)
        status = max(status, found_status, key=order.index)
        if detail:
            details.append(f"{argument['name']}: {detail}")
    findings = [f"{each.rule} line {each.line}: {each.message} (x{each.times})" for each in run.findings]
    return Outcome(case["name"], status, seconds, "; ".join(details), findings)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("folder", nargs="?", help="the folder that holds cases.jsonl")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--json", metavar="FILE", help="write all outcomes")
    parser.add_argument("-v", "--verbose", action="store_true", help="each case, with its findings")
    options = parser.parse_args(arguments)
    named = data_folder()
    folder = Path(options.folder) if options.folder else (named or Path()) / "gpu_truth"
    if not (folder / "cases.jsonl").exists():
        print(f"no recorded launches: pass their folder, or set {ENVIRONMENT}", file=sys.stderr)
        return 2
    lines = (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    outcomes: list[Outcome] = []
    for line in lines:
        case = json.loads(line)
        if options.only in case["name"]:
            outcome = run_case(folder, case)
            outcomes.append(outcome)
            if options.verbose or outcome.status not in ("equal", "close"):
                _show(outcome)
    if options.json:
        text = json.dumps([each._asdict() for each in outcomes], indent=1)
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    return _summary(outcomes)


def _show(outcome: Outcome) -> None:
    print(f"{outcome.status:12} {outcome.seconds:6.2f} s  {outcome.name}  {outcome.detail}")
    for each in outcome.findings:
        print(f"    {each}")


def _summary(outcomes: list[Outcome]) -> int:
    total = len(outcomes)
    counts = {status: sum(each.status == status for each in outcomes)
              for status in ("equal", "close", "undefined", "far", "unsupported", "failed")}  # fmt: skip
    good = counts["equal"] + counts["close"]
    seconds = [each.seconds for each in outcomes] or [0.0]
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    print(
        f"within tolerance: {good} of {total}; with findings: {sum(bool(each.findings) for each in outcomes)}"
    )
    print(f"within tolerance where the kernel defines a result: {good + counts['undefined']} of {total}")
    print(f"seconds: median {statistics.median(seconds):.3f}, longest {max(seconds):.2f}")
    return 0 if good + counts["undefined"] >= 0.99 * total else 1


if __name__ == "__main__":
    raise SystemExit(main())
