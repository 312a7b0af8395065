"""A summary as one screen of text. Everything shown comes from the record that `--format json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.excerpt import cut
from tileir_diff.shorten import balanced, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.report.color import Painter

Json = dict[str, Any]

CELL = 48
"""Longest cell of a table, in characters; longer ones are cut in the text, never in JSON."""

WIDTH = 118
"""Where lists are wrapped."""

LABEL = 12

SHORT = 24
"""Longest trip count that is shown as an expression."""


def render(summary: Json, paint: Painter) -> str:
    """The summary of a file, one block of lines a kernel."""
    blocks = [_kernel(summary, kernel, paint) for kernel in summary["kernels"]]
    head = [f"note: {lost}" for lost in summary["approximations"]]
    return "\n".join([*head, "\n\n".join(blocks)]).strip("\n") + "\n"


def _kernel(summary: Json, kernel: Json, paint: Painter) -> str:
    made_by = summary["front_end"] or "unknown front end"
    lines = [paint("bold", _cut("@" + kernel["entry"], WIDTH))]
    lines.append(f"{'file':<{LABEL}}{summary['path']}:{kernel['line']}  ({made_by}, {kernel['ops']} ops)")

    def section(name: str, body: Sequence[str]) -> None:
        """A label and its lines; nothing if there are none."""
        for index, line in enumerate(body):
            label = f"{name:<{LABEL}}" if index == 0 else " " * LABEL
            lines.append((paint("dim", label) + line).rstrip())

    section("grid", _grid(kernel))
    section("hints", _hints(kernel["hints"]))
    section("arrays", _arrays(kernel))
    section("scalars", _scalars(kernel))
    section("memory", _memory(kernel))
    section("loops", _loops(kernel))
    section("branches", _branches(kernel))
    section("reductions", _reductions(kernel))
    section("mma", _mma(kernel))
    section("casts", _wrap([_times(f"{c['from']}->{c['to']}", c["count"]) for c in kernel["conversions"]]))
    section("float modes", _float_modes(kernel))
    section("promises", _promises(kernel))
    section("checks", _checks(kernel))
    section("dead code", _dead(kernel))
    section("notes", [_cut(note, WIDTH) for note in kernel["notes"]])
    section("lints", _lints(kernel, paint))
    return "\n".join(lines)


def _grid(kernel: Json) -> list[str]:
    blocks, sizes = kernel["grid"]["block_id"], kernel["grid"]["num_tile_blocks"]
    parts = [", ".join(f"block.{axis}" for axis in blocks) or "no block id"]
    if sizes:
        parts.append(", ".join(f"grid.{axis}" for axis in sizes))
    lines = [str(loop["line"]) for loop in kernel["loops"] if loop.get("persistent")]
    if lines:
        parts.append(f"persistent loop at line {', '.join(lines)}")
    return ["; ".join(parts)]


def _hints(hints: dict[str, dict[str, Any]]) -> list[str]:
    shown = _hint_text(hints)
    return [shown] if shown else []


def _hint_text(hints: dict[str, dict[str, Any]]) -> str:
    return "; ".join(
        f"{architecture}: " + ", ".join(f"{key}={_word(value)}" for key, value in sorted(pairs.items()))
        for architecture, pairs in sorted(hints.items())
        if pairs
    )


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _arrays(kernel: Json) -> list[str]:
    arguments = kernel["arguments"]
    rows = [
        (
            array["name"],
            arguments[array["argument"]]["name"],
            array["element"],
            _bracket(array["shape"])
            if array["shape"]
            else "pointers only"
            if array["use"] != "unused"
            else "",
            f"strides {_bracket(array['strides'])}" if array["strides"] else "",
            array["use"],
        )
        for array in kernel["arrays"]
    ]
    return _table(rows)


def _bracket(values: Sequence[Any]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _scalars(kernel: Json) -> list[str]:
    """Parameters that are neither a base nor a size or stride of a view; unused ones in one line."""
    rows: list[tuple[str, ...]] = []
    unused: list[str] = []
    for argument in kernel["arguments"]:
        roles = argument["roles"]
        if any("." in role for role in roles):
            continue
        if roles == ["unused"]:
            unused.append(argument["name"])
        else:
            rows.append(
                (argument["name"], argument["type"].removeprefix("tile<").removesuffix(">"), "; ".join(roles))
            )
    lines = _table(rows)
    return [*lines, *_wrap([f"unused: {unused[0]}", *unused[1:]])] if unused else lines


def _memory(kernel: Json) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for record in kernel["memory"]:
        mode = "cas" if record["op"] == "atomic_cas_tko" else record["mode"]
        kind = record["kind"] if mode is None else f"{record['kind']} {mode}"
        where = record["at"] if record["at"].startswith("[") else f"[{record['at']}]"
        rows.append(
            (
                str(record["line"]),
                kind,
                record["family"],
                "x".join(map(str, record["tile"])) or "scalar",
                record["element"],
                _cut(f"{record['array']}{where}", CELL),
                _lanes(record),
                _extras(record),
            )
        )
    return (
        _table([("line", "op", "family", "tile", "type", "where", "lanes", ""), *rows]) if rows else ["none"]
    )


def _lanes(record: Json) -> str:
    if record["mask"] == "true":
        return "all"
    if record["mask"] is not None:
        shown = _cut(f"if {record['mask']}", CELL)
    elif record["family"] == "pointer":
        shown = "all"
    elif record["inbounds"] and all(record["inbounds"]):
        shown = "inbounds"
    elif record["bounds"] is None:
        shown = "whole tiles" if record["reached"] else ""
    else:
        shown = "up to the edge"
    if record["kind"] == "load" and (record["mask"] is not None or record["bounds"] is not None):
        shown += f", else {record['padding'] or 'undetermined'}"
    return shown


def _extras(record: Json) -> str:
    parts: list[str] = []
    if record["ordering"] != "weak":
        parts.append(f"{record['ordering']} {record['scope'] or ''}".strip())
    if record["guard"] is not None:
        parts.append(f"when {_cut(record['guard'], 40)}")
    if not record["reached"]:
        parts.append("never reached")
    elif not record["used"]:
        parts.append("not used")
    hints = _hint_text(record["hints"])
    return "; ".join([*parts, hints] if hints else parts)


def _loops(kernel: Json) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for loop in kernel["loops"]:
        indent = "  " * loop["depth"]
        if loop["op"] == "for":
            head = f"for {loop['lower']} to {loop['upper']} step {loop['step']}"
        else:
            head = "loop until break"
        trips = loop["trips"]
        count = {None: "", 0: "never", 1: "once"}.get(trips, f"{trips} times")
        if isinstance(trips, str) and len(trips) > SHORT:
            count = ""  # the bounds say as much
        values = [kind for kind in loop["carried"] if kind != "token"]
        tokens = len(loop["carried"]) - len(values)
        carried = ", ".join(values + ([f"{tokens} token{'s' if tokens > 1 else ''}"] if tokens else []))
        rows.append(
            (
                str(loop["line"]),
                loop["name"],
                _cut(indent + head, CELL),
                _cut(count, CELL),
                f"carries {carried}" if carried else "",
            )
        )
    return _table(rows)


def _branches(kernel: Json) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for branch in kernel["branches"]:
        results = ", ".join(branch["results"])
        rows.append(
            (
                str(branch["line"]),
                _cut("  " * branch["depth"] + f"if {branch['condition']}", CELL),
                "with else" if branch["else"] else "",
                f"gives {results}" if results else "",
                ", ".join(branch["exits"]),
            )
        )
    return _table(rows)


def _reductions(kernel: Json) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for record in kernel["reductions"]:
        shape = "x".join(map(str, record["shape"]))
        rows.append(
            (
                str(record["line"]),
                f"{record['op']} {_cut(record['combiner'], 32)}",
                f"axis {record['axis']} of {shape} {', '.join(record['elements'])}",
                f"from {', '.join(record['identities'])}",
                "reverse" if record["reverse"] else "" if record["used"] else "not used",
            )
        )
    return _table(rows)


def _mma(kernel: Json) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for record in kernel["mma"]:
        shape = " * ".join("x".join(map(str, side)) for side in (record["lhs"], record["rhs"]))
        extras = [*record["scales"], "fast_acc"] if record["fast_acc"] else record["scales"]
        elements = record["element"][0] if len(set(record["element"])) == 1 else ", ".join(record["element"])
        rows.append(
            (
                str(record["line"]),
                record["op"],
                shape,
                elements,
                f"accumulates in {record['accumulator']}",
                " ".join(extras),
            )
        )
    return _table(rows)


def _float_modes(kernel: Json) -> list[str]:
    with_modes = [
        _times(f"{record['op']} {record['element']} {'+'.join(record['modes'])}", record["count"])
        for record in kernel["float_modes"]
        if record["modes"]
    ]
    plain = sum(record["count"] for record in kernel["float_modes"] if not record["modes"])
    if plain:
        with_modes.append(f"{plain} plain IEEE, nearest even")
    return _wrap(with_modes)


def _promises(kernel: Json) -> list[str]:
    """By promise, since the same ones hold for many values."""
    grouped: dict[str, list[str]] = {}
    for record in kernel["promises"]:
        for promise in record["promises"]:
            grouped.setdefault(promise, []).append(_cut(record["value"], 40))
    lines: list[str] = []
    for promise, values in grouped.items():
        lines += _wrap([f"{promise}: {values[0]}", *values[1:]])
    return lines


def _checks(kernel: Json) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for record in kernel["checks"]:
        what = "assert" if record["op"] == "assert" else "print"
        rows.append(
            (
                str(record["line"]),
                what,
                _cut(ascii(record["text"])[1:-1], CELL),
                _cut(", ".join(record["values"]), CELL),
            )
        )
    return _table(rows)


def _dead(kernel: Json) -> list[str]:
    dead = kernel["dead_code"]
    if not dead["count"]:
        return []
    return _wrap([f"{dead['count']} ops", *(_times(op, count) for op, count in dead["ops"].items())])


def _lints(kernel: Json, paint: Painter) -> list[str]:
    lines: list[str] = []
    shown: set[tuple[str, str]] = set()
    for record in kernel["lints"]:
        severity = paint(record["severity"], f"{record['severity']:<4}")
        lines.append(f"{severity}  {record['rule']}  line {record['line']}: {record['message']}")
        advice = record["rule"], record["fix"]
        if advice not in shown:
            lines.append(f"      fix: {record['fix']}")
        shown.add(advice)
    if kernel["lints_skipped"]:
        lines.append("not checked, for lack of a normal form: " + ", ".join(kernel["lints_skipped"]))
    return lines


def _times(what: str, count: int) -> str:
    return what if count == 1 else f"{what} x{count}"


def _cut(text: str, limit: int) -> str:
    """A formula with the innermost brackets left out, until it fits; other text without its end."""
    return shortened(text, "", limit) or balanced(cut(text, limit))


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows with aligned columns; columns that are empty everywhere are left out."""
    if not rows:
        return []
    columns = [column for column in range(len(rows[0])) if any(row[column] for row in rows[_header(rows) :])]
    widths = [max(len(row[column]) for row in rows) for column in columns]
    return [
        "  ".join(f"{row[column]:<{width}}" for column, width in zip(columns, widths, strict=True)).rstrip()
        for row in rows
    ]


def _header(rows: Sequence[tuple[str, ...]]) -> int:
    """Whether the first row is a header, which does not keep a column alive."""
    return 1 if rows[0][0] == "line" else 0


def _wrap(items: Sequence[str]) -> list[str]:
    """Items joined by commas, wrapped between items."""
    lines: list[str] = []
    current = ""
    for item in items:
        extended = f"{current}, {item}" if current else item
        if current and len(extended) > WIDTH - LABEL:
            lines.append(current + ",")
            current = "  " + item
        else:
            current = extended
    return [*lines, current] if current else lines
