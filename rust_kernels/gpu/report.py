"""Writes `results.json`, `docs/kernels.md` and `docs/kernels.svg` from the results of runs on one GPU.

`python rust_kernels/gpu/report.py RESULTS.json ...`: a later file replaces what an earlier one says of an
operator. What `overhead.py` wrote may be among them. Without files: the page and plot of what is kept.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
KEPT = HERE / "results.json"
KEPT_CALLS = HERE / "overhead.json"
CALLS_SCHEMA = "tileir-kernels-overhead/1"
MUST = 0.95
LEFT, WIDTH, ROW, LOW, HIGH = 120, 560, 28, 0.9, 1.2

PAGE = """# Kernels in Rust on a GPU

Ports of TileGym's cuTile Python kernels in cuTile Rust (`rust_kernels/`), on one {device} (torch {torch},
CUDA {cuda}), beside the kernel that cuTile Python makes of its original, with the same arguments. Generated
by `rust_kernels/gpu/report.py` from `rust_kernels/gpu/results.json`. How they are built and called is in
[their README](../rust_kernels/README.md).

| operator | right | same bits | timed | speed | 95% | slowest | fastest |
|---|---|---|---|---|---|---|---|
{rows}

- right: cases whose result is that of torch in double precision, within the type's rounding: f16, bf16 and
  f32, ragged shapes, rows with gaps between, addresses aligned to an element only.
- same bits: cases that give the reference's result bit for bit. The others are nearly all of sizes that are a
  multiple of 8 and not of 16: cuTile Rust tells the assembler of multiples of 8, cuTile Python only of 16.
- timed: configurations of the benchmark.
- speed: the reference's device time divided by ours, so above 1 ours is the faster: medians of {pairs} pairs
  or more, the two sides alternating, each with a cold L2 cache, times by CUPTI; then the geometric mean over
  the configurations. 95%: by resampling the pairs.

{slow}

cuTile Rust 0.5.0 makes no valid Tile IR of a masked load of two dimensions with a padding value: it makes a
tile of one dimension of the number. layer_norm's form for rows of fewer than 16 elements (`columns`) needs
one, and declares the operation itself, with a tile for its padding. With that, both sides' machine code for
sm_90 takes as many registers, as much shared memory and as many threads in five of the six configurations; in
`layer_norm-columns-f32-4096x1024x4` the assembler gives ours 256 threads and 94 registers for 128 and 92, why
is not known: neither its bounds nor its casts between signed and unsigned indices are the cause.

geglu takes longer by more than its interval, most of all in bf16. For its `tanh` form in bf16 at 2048x14336
`port-check --lower sm_90` finds the same on both sides: 21 registers, no shared memory, 128 threads, 152
instructions. The assembler orders them otherwise: the first load of ours is the 61st, of the reference the
56th, and some of the products take a constant as another operand. What it starts from differs in the order of
ops alone, which is each front end's; the owner of the schedule is `tileiras`.

A call of ours takes {call:.0f} microseconds of the host (median over the configurations).

![speed by operator: a dot for each configuration, the mean and its interval](kernels.svg)
"""

CALLS = """
## Calls through TileGym

The time of one call on the host, of TileGym {tilegym}'s own function for a small tensor, with this backend
and with its cuTile Python backend, by turns (`rust_kernels/gpu/overhead.py`): medians in microseconds, and
the quotient with 95% by resampling; below 1 a call of ours takes less. Both backends gave the same result.

| operator | ours | cuTile Python | quotient | 95% |
|---|---|---|---|---|
{rows}
"""


def merged(files: list[Path]) -> dict[str, Any]:
    """One result of several, by operator. Raises ValueError for results of different machines."""
    loaded = [json.loads(path.read_text()) for path in files]
    machines = {json.dumps(each["machine"], sort_keys=True) for each in loaded}
    if len(machines) != 1:
        raise ValueError(f"results of {len(machines)} machines; a page is of one")
    cases: dict[str, list[Any]] = {}
    timed: dict[str, list[Any]] = {}
    operators: dict[str, Any] = {}
    sources: dict[str, Any] = {}
    for each in loaded:
        sources |= each.get("sources", {})
        ran = sorted({entry["operator"] for entry in each["correctness"]})
        cases |= {name: [e for e in each["correctness"] if e["operator"] == name] for name in ran}
        benchmark = each["benchmark"] or {"operators": {}, "configurations": []}
        operators |= benchmark["operators"]
        for name in benchmark["operators"]:
            timed[name] = [e for e in benchmark["configurations"] if e["operator"] == name]
    return {
        "schema": loaded[0]["schema"],
        "machine": loaded[0]["machine"],
        "sources": dict(sorted(sources.items())),
        "correctness": [entry for name in sorted(cases) for entry in cases[name]],
        "benchmark": {
            "operators": dict(sorted(operators.items())),
            "configurations": [e for name in sorted(timed) for e in timed[name]],
        },
    }


def page(results: dict[str, Any]) -> str:
    configurations = results["benchmark"]["configurations"]
    names = list(dict.fromkeys(entry["operator"] for entry in results["correctness"]))
    return PAGE.format(
        **results["machine"],
        rows="\n".join(row(results, name) for name in names),
        pairs=min(entry["pairs"] for entry in configurations),
        slow=slow(configurations),
        call=statistics.median(entry["call_us"] for entry in configurations),
    )


def slow(configurations: list[dict[str, Any]]) -> str:
    """What is further from the reference than it may be."""
    found = [f"`{each['case']}` {each['speed']:.3f}" for each in configurations if each["speed"] < MUST]
    return "\n".join(
        [
            f"Below {MUST} {'are' if found else 'is none'}{':' if found else '.'}",
            *(f"- {each}" for each in found),
        ]
    )


def calls(measured: dict[str, Any]) -> str:
    lines: list[str] = []
    for each in measured["operators"]:
        interval = f"{each['low']:.2f} to {each['high']:.2f}"
        cells = each["operator"], f"{each['ours_us']:.1f}", f"{each['theirs_us']:.1f}"
        lines.append(f"| {' | '.join(cells)} | **{each['ratio']:.2f}** | {interval} |")
    return CALLS.format(tilegym=measured["tilegym"], rows="\n".join(lines))


def whole_page(results: dict[str, Any]) -> str:
    """The page, with the calls where they were measured."""
    return page(results) + (calls(json.loads(KEPT_CALLS.read_text())) if KEPT_CALLS.exists() else "")


def row(results: dict[str, Any], name: str) -> str:
    cases = [entry for entry in results["correctness"] if entry["operator"] == name]
    right = sum(entry["right"] for entry in cases)
    same = sum(entry.get("differing") == 0 for entry in cases)
    cells = [name, f"{right} of {len(cases)}", f"{same} of {len(cases)}"]
    summary = results["benchmark"]["operators"].get(name)
    if summary is None:
        return f"| {' | '.join([*cells, '0', '-', '-', '-', '-'])} |"
    speeds = [e["speed"] for e in results["benchmark"]["configurations"] if e["operator"] == name]
    interval = f"{summary['low']:.3f} to {summary['high']:.3f}"
    cells += [
        str(len(speeds)),
        f"**{summary['speed']:.3f}**",
        interval,
        f"{min(speeds):.3f}",
        f"{max(speeds):.3f}",
    ]
    return f"| {' | '.join(cells)} |"


def plot(results: dict[str, Any]) -> str:
    """A row for each operator: dots for its configurations, a bar for the interval of the mean."""
    operators = results["benchmark"]["operators"]
    height = ROW * (len(operators) + 1)
    box = f'viewBox="0 0 {LEFT + WIDTH + 20} {height + 10}" font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}>',
        f'<rect width="{LEFT + WIDTH + 20}" height="{height + 10}" fill="white"/>',
    ]
    for tick in (0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2):
        colour = "#888" if tick == 1.0 else "#ddd"
        parts.append(f'<path d="M{at(tick):.1f} 8V{height - 14}" stroke="{colour}"/>')
        parts.append(f'<text x="{at(tick):.1f}" y="{height}" text-anchor="middle">{tick}</text>')
    for number, (name, summary) in enumerate(operators.items()):
        y = 22 + number * ROW
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{name}</text>')
        for entry in results["benchmark"]["configurations"]:
            if entry["operator"] == name:
                parts.append(
                    f'<circle cx="{at(entry["speed"]):.1f}" cy="{y}" r="3" fill="#7aa6d8" fill-opacity=".6"/>'
                )
        low, high = at(summary["low"]), at(summary["high"])
        parts.append(f'<path d="M{low:.1f} {y}H{high:.1f}" stroke="#c23b22" stroke-width="4"/>')
        parts.append(
            f'<path d="M{at(summary["speed"]):.1f} {y - 7}V{y + 7}" stroke="#c23b22" stroke-width="2"/>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def at(speed: float) -> float:
    """The place of a speed; beyond the ends at the ends."""
    return LEFT + (min(max(speed, LOW), HIGH) - LOW) / (HIGH - LOW) * WIDTH


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    measured = [path for path in files if json.loads(path.read_text())["schema"] == CALLS_SCHEMA]
    for path in measured[-1:]:
        KEPT_CALLS.write_text(path.read_text())
    results = merged([path for path in files if path not in measured] or [KEPT])
    KEPT.write_text(json.dumps(results, indent=1) + "\n")
    (DOCS / "kernels.md").write_text(whole_page(results))
    (DOCS / "kernels.svg").write_text(plot(results))


if __name__ == "__main__":
    main()
