"""A run as text, and as plain data for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from tileir_diff.equivalence.model import Finding, Run

MOST_SHOWN: Final = 16
"""Elements of a traced tile that are shown along one dimension."""


def run_text(run: Run, path: str, written: list[str]) -> str:
    """The report of a run: what was traced and printed, what went wrong, what the hardware may choose."""
    lines: list[str] = []
    for each in run.traced:
        lines += [
            f"{path}:{each.op.span.line}: block {_place(each.block)} {each.name} = {_short(each.value)}"
        ]
    for each in run.printed:
        lines += [f"block {_place(each.block)}: {line}" for line in each.text.splitlines() or [""]]
    for each in run.findings:
        lines += _finding(each, path)
    x, y, z = run.grid
    lines.append(f"@{run.entry}: {x} x {y} x {z} blocks, run {run.how}")
    lines += ["not complete: some blocks were stopped"] if not run.complete else []
    lines.append(f"changed: {', '.join(run.changed) or 'no array'}")
    lines += [f"undetermined elements: {', '.join(run.undetermined)}"] if run.undetermined else []
    if run.freedoms:
        lines.append("the hardware may choose")
        lines += [f"  line {each.line}: {each.what}: {each.bound}" for each in run.freedoms]
    lines += [f"approximated: {each}" for each in run.approximations]
    lines += [f"wrote {each}" for each in written]
    notes = len(run.findings) - len(run.errors)
    counts = (len(run.errors), "error"), (notes, "note")
    lines.append(", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts))
    return "\n".join(lines) + "\n"


def _finding(each: Finding, path: str) -> list[str]:
    lines = [f"{path}:{each.line}:{each.column}: {each.severity}[{each.rule}]: {each.message}"]
    if each.text:
        lines.append(f"  {each.text}")
    where = [f"block {_place(each.block)}"] if each.block else []
    where += [f"lane {_place(each.lane)}"] if each.lane else []
    where += [f"{name} = {value}" for name, value in each.values.items()]
    times = f" (and {each.times - 1} more)" if each.times > 1 else ""
    if where:
        lines.append(f"  at {', '.join(where)}{times}")
    return lines


def _place(numbers: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, numbers))})"


def _short(value: Any) -> str:
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value)
    parts = cast("list[Any]", value)
    shown = [_short(each) for each in parts[:MOST_SHOWN]]
    rest = f", ... {len(parts)} in all" if len(parts) > MOST_SHOWN else ""
    return f"[{', '.join(shown)}{rest}]"


def run_data(run: Run, path: str, written: list[str]) -> dict[str, Any]:
    """The same for JSON; not-a-number and infinities as strings."""
    return {
        "schema": "tileir-diff-run/1",
        "path": path,
        "entry": run.entry,
        "grid": list(run.grid),
        "how": run.how,
        "complete": run.complete,
        "changed": run.changed,
        "undetermined": sorted(run.undetermined),
        "written": written,
        "findings": [
            {
                "rule": each.rule,
                "severity": each.severity,
                "message": each.message,
                "line": each.line,
                "column": each.column,
                "text": each.text,
                "block": list(each.block),
                "lane": list(each.lane),
                "values": {name: _plain(value) for name, value in each.values.items()},
                "count": each.times,
            }
            for each in run.findings
        ],
        "freedoms": [{"line": each.line, "what": each.what, "bound": each.bound} for each in run.freedoms],
        "traced": [
            {
                "line": each.op.span.line,
                "name": each.name,
                "block": list(each.block),
                "value": _plain(each.value),
            }
            for each in run.traced
        ],
        "printed": [{"block": list(each.block), "text": each.text} for each in run.printed],
        "approximations": run.approximations,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value
