"""The report as Markdown, for pull requests and notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tileir_diff.errors import printable
from tileir_diff.report import layout

if TYPE_CHECKING:
    from tileir_diff.report.result import FindingRecord, Place, Result, Side

UNLIMITED = 1 << 20
"""Width of a line: what shows Markdown breaks them, and each is an item of its own."""


def render_markdown(result: Result) -> str:
    """The whole report, in the order of the text report."""
    owner = f" (owner: {result.owner})" if result.owner else ""
    lines = [
        f"## {result.verdict}: `{base(result.reference)}` and `{base(result.generated)}`",
        "",
        f"{_prose(result.why)}{owner}",
        "",
        f"- reference: `{printable(result.reference.path)}`, {_kind(result.reference)}",
        f"- generated: `{printable(result.generated.path)}`, {_kind(result.generated)}",
        *(f"- entry: {_escape(layout.entry_line(result, index))}" for index in range(len(result.pairs))),
        f"- {layout.counts(result.summary)}",
    ]
    for severity in ("critical", "warn", "info"):
        found = [finding for finding in result.findings if finding.severity == severity]
        for finding in found:
            lines += ["", *_finding(result, finding)]
    lines += _list(
        "Waived",
        [f"`{w.finding.rule}`: {_prose(w.finding.message)}: {_escape(w.reason)}" for w in result.waived],
    )
    lines += _list("Lowering", [_escape(item.strip()) for item in layout.lowering_lines(result)])
    lines += _list("Semantics", [_escape(layout.semantics_line(each)) for each in result.semantics])
    for commands in (each.commands for each in result.semantics if each.commands):
        lines += ["", "```sh", *commands, "```"]
    lines += _list("Not checked", [_escape(item) for item in result.not_checked])
    lines += _list("Ignored", [_escape(item) for item in layout.ignored_lines(result)])
    lines += _list("Assumed", [_escape(item) for item in result.assumptions])
    obligations = layout.obligation_lines(result.obligations, UNLIMITED)
    lines += _list("Conditions on the host", [f"`{line}`" for line in obligations])
    lines += _list("Arguments", [f"`{line}`" for line in layout.argument_lines(result.arguments, UNLIMITED)])
    lines += _list("Treated as equal", [f"{each.name}: {_escape(each.why)}" for each in result.equivalences])
    lines += _list("Notices", [_escape(item) for item in result.notices])
    lines += ["", f"{layout.versions_line(result)}", "", f"VERDICT: {result.verdict}"]
    return "\n".join(lines) + "\n"


def base(side: Side) -> str:
    return printable(layout.base_name(side.path))


def _finding(result: Result, finding: FindingRecord) -> list[str]:
    quotes = _quote("reference", result.reference, finding.reference, finding.expected)
    quotes += _quote("generated", result.generated, finding.generated, finding.actual)
    fence = _fence(quotes)
    lines = [
        f"### {finding.severity}: `{finding.rule}`: {_prose(finding.message)}",
        "",
        f"{fence}mlir",
        *quotes,
        fence,
    ]
    lines += ["", f"- impact: {finding.impact}, cause: {finding.cause}"]
    body = ("effect", finding.effect), ("fix", finding.fix), *layout.evidence_lines(finding)
    for label, text in body:
        lines += [f"- {label}: {_prose(text)}"] if text else []
    return lines


def _quote(label: str, side: Side, place: Place | None, text: str) -> list[str]:
    origin = layout.source(place)
    head = f"// {label} {layout.location(side, place)}{f' ({origin})' if origin else ''}: {text or 'nothing'}"
    return [head] if place is None else [head, place.text]


def _fence(lines: list[str]) -> str:
    """Longer than any run of backticks in the block: a string in a dump must not end it."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    return "`" * max(3, longest + 1)


def _list(title: str, items: list[str]) -> list[str]:
    return ["", f"**{title}**", "", *(f"- {item}" for item in items)] if items else []


def _kind(side: Side) -> str:
    return (
        " ".join(part for part in (side.front_end, side.front_end_version) if part) or "front end not known"
    )


def _prose(text: str) -> str:
    """Text with code in backticks: all markup outside of it is taken literally."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _escape(text)
    return "`".join(part if index % 2 else _escape(part) for index, part in enumerate(parts))


def _escape(text: str) -> str:
    """Text of a dump, a name or a reason must not become markup, or another line."""
    return "".join(f"\\{char}" if char in "\\`*_<>[]|#" else char for char in printable(text))
