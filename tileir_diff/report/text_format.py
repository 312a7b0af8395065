"""The report as text: verdict, why, counts, findings, what was not checked or is assumed, arguments.

One defect fits one screen. The last line is always `VERDICT: <verdict>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.errors import printable
from tileir_diff.report import layout
from tileir_diff.report.color import Painter

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.report.result import FindingRecord, Place, Result, Side

LABEL = 12
"""Column at which the body of a finding starts."""

STYLES = {
    "PASS": "pass",
    "PASS_WITH_NOTES": "notes",
    "FAIL_FIXABLE": "fail",
    "FAIL_COMPILER_BUG": "fail",
    "BLOCKED": "fail",
}


def render_text(result: Result, *, color: bool = False, equivalences: bool = False) -> str:
    """The whole report. `equivalences` lists what was treated as equal, with the reasons."""
    paint = Painter(color)
    lines = _head(result, paint)
    for severity in ("critical", "warn", "info"):
        lines += _group(result, severity, paint)
    lines += _waived(result, paint)
    lines += _section("lowering", layout.lowering_lines(result), paint)
    lines += _semantics(result, paint)
    lines += _section("not checked", result.not_checked, paint)
    lines += _section("ignored by --select or --ignore", layout.ignored_lines(result), paint)
    lines += _section("assumed", result.assumptions, paint)
    lines += _section(layout.OBLIGATIONS, layout.obligation_lines(result.obligations), paint)
    lines += _section("arguments (reference = generated)", layout.argument_lines(result.arguments), paint)
    lines += _equivalences(result, equivalences, paint)
    lines += _section("notices", [printable(notice) for notice in result.notices], paint)
    lines += _section(
        "timing", [f"{step} {seconds * 1e3:.1f} ms" for step, seconds in result.timing.items()], paint
    )
    lines += ["", paint("dim", layout.versions_line(result)), _verdict_line(result)]
    return "\n".join(lines) + "\n"


def render_stat(result: Result) -> str:
    """One line an entry, the counts, what the whole report says besides, why, and the verdict."""
    lines = [_stat_line(result, index) for index in range(len(result.pairs))]
    lines += [layout.counts(result.summary)]
    besides = layout.besides(result)
    lines += [f"also in the report: {besides}"] if besides else []
    lines += [f"notice: {printable(notice)}" for notice in result.notices]
    lines += [result.why, _verdict_line(result)]
    return "\n".join(lines) + "\n"


def render_line(result: Result) -> str:
    """One line for a whole comparison, for lists of many."""
    pair = f"{printable(result.reference.path)} {printable(result.generated.path)}"
    tail = f"{layout.counts(result.summary)}  {result.why}" if result.error is None else result.why
    return f"{result.verdict:<17} {pair}  {tail}\n"


def render_total(verdicts: list[str]) -> str:
    """How many of many comparisons have which verdict."""
    counts = [f"{verdicts.count(each)} {each}" for each in STYLES if each in verdicts]
    return f"{len(verdicts)} pair{'s' if len(verdicts) > 1 else ''}: {', '.join(counts)}\n"


def _head(result: Result, paint: Painter) -> list[str]:
    owner = f" (owner: {result.owner})" if result.owner else ""
    lines = [
        f"{paint(STYLES[result.verdict], result.verdict)}{owner}: {result.why}",
        f"  reference  {layout.dump_line(result.reference)}",
        f"  generated  {layout.dump_line(result.generated)}",
    ]
    lines += [f"  entry      {layout.entry_line(result, index)}" for index in range(len(result.pairs))]
    return [*lines, layout.counts(result.summary)]


def _group(result: Result, severity: str, paint: Painter) -> list[str]:
    lines: list[str] = []
    quoted: list[tuple[Side, Place | None]] = []
    for finding in result.findings:
        if finding.severity == severity:
            places = _places(result, finding)
            lines += ["", *_finding(result, finding, paint, quoted=places == quoted)]
            quoted = places
    return ["", paint(severity, severity.upper()), *lines[1:]] if lines else []


def _finding(result: Result, finding: FindingRecord, paint: Painter, *, quoted: bool) -> list[str]:
    """One finding; the lines that the one before it has ``quoted`` are not shown again."""
    head = f"{paint(finding.severity, finding.rule)}: {paint('bold', finding.message)}"
    if finding.severity == "info":
        return [f"{head}  [{_where(result, finding)}]"]
    width = max(len(layout.location(side, place)) for side, place in _places(result, finding))
    cut = [layout.is_cut(place, width + LABEL + 4) for _, place in _places(result, finding)]
    if width > layout.BESIDE or any(cut):
        width = 0
    lines = [head]
    texts = (finding.expected, finding.actual)
    for (side, place), label, text, other in zip(
        _places(result, finding), ("reference", "generated"), texts, reversed(texts), strict=True
    ):
        lines += [] if quoted else _quote(label, side, place, text, other, width, paint)
    lines += [f"  {'at':<{LABEL - 2}} the lines above"] if quoted else []
    body = [
        (
            "impact",
            finding.impact if finding.cause == "translation" else f"{finding.impact} ({finding.cause})",
        ),
        ("effect", finding.effect),
        ("fix", finding.fix),
        *layout.evidence_lines(finding),
    ]
    for label, text in body:
        lines += [f"  {label:<{LABEL - 2}} {line}" for label, line in _wrapped(label, text)]
    return lines


def _wrapped(label: str, text: str) -> list[tuple[str, str]]:
    """The text in lines that fit, the label beside the first one."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= layout.LINE - LABEL - 1:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [(label if index == 0 else "", line) for index, line in enumerate(lines)]


def _places(result: Result, finding: FindingRecord) -> list[tuple[Side, Place | None]]:
    return [(result.reference, finding.reference), (result.generated, finding.generated)]


def _quote(
    label: str, side: Side, place: Place | None, text: str, other: str, width: int, paint: Painter
) -> list[str]:
    """The location, the op as printed, and below it a caret at the part that matters with what it says.

    The op stands behind the location, or below it for a `width` of 0.
    """
    where = f"  {label:<{LABEL - 2}} {layout.location(side, place):<{width}}   "
    lines = [] if width else [where.rstrip()]
    lead = where if width else " " * (LABEL + 1)
    if place is None:
        return [*lines, f"{lead}{text or 'nothing'}"]
    origin = layout.source(place)
    tail = f"   ({origin})" if origin else ""
    quoted, mark = layout.clip(place, layout.room(place, len(lead)))
    line = f"{lead}{quoted}{paint('dim', tail)}"
    if mark is None:
        return [*lines, line]
    caret = f"{' ' * (len(lead) + mark[0])}{paint('mark', '^' * max(1, mark[1] - mark[0]))}"
    behind = layout.caption(place, text, other, layout.LINE - len(lead) - mark[1] - 1)
    return [*lines, line, f"{caret} {behind}".rstrip()]


def quoted_op(op: TileOp, paint: Painter) -> list[str]:
    """An op as printed in its dump, and a caret below its name."""
    from tileir_diff.match.model import Site
    from tileir_diff.report.quote import place_of

    place = place_of(Site(op, ""))
    assert place is not None  # a site has a place
    text, mark = layout.clip(place)
    if mark is None:
        return [f"  {text}"]
    return [f"  {text}", f"  {' ' * mark[0]}{paint('mark', '^' * (mark[1] - mark[0]))}"]


def _where(result: Result, finding: FindingRecord) -> str:
    return ", ".join(
        layout.location(side, place) for side, place in _places(result, finding) if place is not None
    )


def _waived(result: Result, paint: Painter) -> list[str]:
    items: list[str] = []
    for each in result.waived:
        until = f", until {each.expires}" if each.expires else ""
        where = _where(result, each.finding)
        items.append(
            f"{each.finding.rule}: {each.finding.message}  [{where}]  waived: {printable(each.reason)}{until}"
        )
    return _section("waived", items, paint)


def _semantics(result: Result, paint: Painter) -> list[str]:
    """What running both sides gave, and how to run them again."""
    items: list[str] = []
    told = [finding.evidence for finding in result.findings]
    for each in result.semantics:
        if any(each.detail in evidence for evidence in told):
            word = each.detail.partition(":")[0]
            each = each._replace(detail=f"{word}: see the evidence above")
        first, *rest = _wrapped("", layout.semantics_line(each))
        items += [first[1], *(f"  {line}" for _, line in rest)]
        items += [f"  {command}" for command in each.commands]
    return _section("semantics", items, paint)


def _equivalences(result: Result, listed: bool, paint: Painter) -> list[str]:
    if not result.equivalences:
        return _section("treated as equal", ["none"] if listed else [], paint)
    if not listed:
        number = len(result.equivalences)
        return [
            "",
            f"{number} place{'s' if number > 1 else ''} treated as equal; --equivalences lists why",
        ]
    items: list[str] = []
    for each in result.equivalences:
        reference = layout.location(result.reference, each.reference)
        generated = layout.location(result.generated, each.generated)
        items.append(f"{each.name}: {reference} = {generated}: {each.why}")
    return _section("treated as equal", items, paint)


def _section(title: str, items: list[str], paint: Painter) -> list[str]:
    return ["", paint("bold", title), *(f"  {item}" for item in items)] if items else []


def _stat_line(result: Result, index: int) -> str:
    pair = result.pairs[index]
    places = (pair.reference, pair.generated)
    found = [f for f in result.findings if any(p and p.entry in places for p in (f.reference, f.generated))]
    found = result.findings if len(result.pairs) == 1 else found
    numbers = ", ".join(f"{sum(f.severity == s for f in found)} {s}" for s in ("critical", "warn", "info"))
    return f"{layout.entry_line(result, index)}  {numbers}"


def _verdict_line(result: Result) -> str:
    return f"VERDICT: {result.verdict}"  # never coloured: scripts look for it
