"""What the text and the Markdown report share: how places, arguments and counts read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tileir_diff.errors import printable
from tileir_diff.rules.render import base_name, elide, fitted
from tileir_diff.verdict import severity_of

if TYPE_CHECKING:
    from tileir_diff.report.result import (
        Argument,
        FindingRecord,
        LoweringRecord,
        Place,
        Result,
        SemanticsRecord,
        Side,
        Summary,
    )

LINE = 120
"""Width of a report, in characters: what is quoted is cut to fit."""

WIDTH = 100
"""Longest quoted text, in characters."""

NARROW = 48
"""A quoted text is not cut below this many characters, however long the path before it is."""

BESIDE = 48
"""A longer location stands on a line of its own, above the text that it is about."""

SHORT = 72
"""A longer line is shown without its types, unless they are what matters."""

SYMBOL = 48
"""Longest symbol of an entry; front ends mangle types and constants into it."""

HOW = {"role": "by role", "name": "by name", "use": "by use"}

CAPTION = 60
"""Longest text behind a caret, in characters; the head line of a finding has it too."""

SHORT_CAPTION = 32
"""It is not cut below this many characters, however far right the caret stands."""

NUMBER = re.compile(r"-?(\d|inf$|nan$)")
"""How the name of an argument begins where it is no name but the value that stands for it."""

OBLIGATIONS = "conditions on the host (--launch FILE checks them for one launch)"

ONLY_IF = "holds only if "
"""Before a condition that has a reason: it is one that few launches keep."""

MULTIPLE = re.compile(r"(?:(reference|generated) )?(%?\S+) is a multiple of (\d+)(?: \((.*)\))?")
"""An obligation that often comes in numbers."""

RELATION = re.compile(
    r"(?:(reference|generated) )?(\S+) (=|<|<=) (\S+)( for all blocks launched| \([^()]*\))?"
)
"""One about a size, which often comes for each dimension and each array."""


def location(side: Side, place: Place | None) -> str:
    """`kernels/softmax.mlir:71:5`: the path as given, so that terminals and editors can follow it."""
    if place is None:
        return "-"
    path = printable(side.path)
    return f"{path}:{place.line}:{place.column}" if place.line else path


def source(place: Place | None) -> str:
    """`softmax.py:31`, in a helper `softmax.py:9, called from line 31`; empty without debug locations."""
    if place is None or place.source is None:
        return ""
    called = f", called from line {place.source.called.line}" if place.source.called else ""
    return f"{base_name(place.source.file)}:{place.source.line}{called}"


def clip(place: Place, width: int = WIDTH) -> tuple[str, tuple[int, int] | None]:
    """The op's text in at most `width` characters, the marked part kept, and the mark in it.

    What is cut away before the mark leaves the op's name where there is room for it.
    """
    text, mark = place.text, place.mark
    types = text.rfind(" : ")
    if len(text) > min(SHORT, width) and mark is not None and mark[1] <= types:
        text = text[:types]
    if len(text) <= width:
        return text, mark
    start, end = mark or (0, 0)
    if end < width or start == 0:
        return text[: width - 1] + "…", mark and (start, min(end, width - 1))
    head = _head(text, place.op, start, width - min(end - start, width // 2))
    room = width - len(head)
    first = max(len(head), min(start - (room - (end - start)) // 2, start - 1, len(text) - room))
    shown = f"{head}…{text[first + 1 : first + room - 1]}"
    shown += "…" if first + room < len(text) else text[first + room - 1 : first + room]
    offset = len(head) - first
    return shown, (start + offset, min(end + offset, len(shown)))


def _head(text: str, op: str, start: int, room: int) -> str:
    """The beginning of the text up to the op's name, if that leaves enough room for what is marked."""
    found = text.find(op) if op else -1
    head = text[: found + len(op)] + " "
    return head if found >= 0 and len(head) < start and len(head) <= room * 2 // 3 else ""


def argument_lines(arguments: list[Argument], width: int = WIDTH) -> list[str]:
    """The arguments, grouped by how they were paired: `by role: A.base, A.shape0 = %a, %a_dim_0; n = %m`.

    Those of the generated side have a `%`: what stands without one is the reference's.

    Those of the same name on both sides are only counted; one whose counterpart is a number has a value.
    """
    same = 0
    groups: dict[str, list[str]] = {}
    for argument in arguments:
        title, item = _argument(argument)
        if argument.reference == argument.generated:
            same += 1
        else:
            groups.setdefault(title, []).append(item)
    lines = [_count(same, "argument corresponds", "arguments correspond") + " one to one"] if same else []
    for title in sorted(groups, key=_rank):
        lines += wrapped(f"{title}: ", _fold(groups[title]), width)
    return lines


_LAST = ("reference values", "generated values", "reference only", "generated only")


def _rank(title: str) -> int:
    """How pairs were found comes first, in the order of the pairs; then values, then what has no pair."""
    return _LAST.index(title) + 1 if title in _LAST else 0


def _argument(argument: Argument) -> tuple[str, str]:
    """The group of an argument and how it reads there."""
    reference = ", ".join(argument.reference)
    generated = ", ".join(name if NUMBER.match(name) else f"%{name}" for name in argument.generated)
    if not generated:
        return "reference only", reference
    if not reference:
        return "generated only", generated
    if NUMBER.match(generated):
        return "reference values", f"{reference} = {generated}"
    if NUMBER.match(reference):
        return "generated values", f"{generated} = {reference}"
    return HOW.get(argument.how, argument.how), f"{reference} = {generated}"


def _fold(items: list[str]) -> list[str]:
    """`a = 1; b = 1` becomes `a, b = 1`."""
    names: dict[str, list[str]] = {}
    for item in items:
        name, equals, value = item.rpartition(" = ")
        if equals and NUMBER.match(value):
            names.setdefault(value, []).append(name)
        else:
            names[item] = []
    return [f"{', '.join(each)} = {value}" if each else value for value, each in names.items()]


def wrapped(title: str, items: list[str], width: int = WIDTH) -> list[str]:
    """`title: a; b; c`, in lines of at most `width` characters if the items let it, later ones indented."""
    lines = [f"{title}{items[0]}"]
    for item in items[1:]:
        if len(lines[-1]) + 2 + len(item) <= width:
            lines[-1] += f"; {item}"
        else:
            lines[-1] += ";"
            lines.append(f"{' ' * len(title)}{item}")
    return lines


def obligation_lines(obligations: list[str], width: int = WIDTH) -> list[str]:
    """What the host must guarantee; what is said of several sizes, or of several arguments, shares a line.

    `holds only if reference a.stride0, b.stride0 = 512 (a number in the generated kernel)`,
    `reference a.shape0, b.shape0 = c.shape0`, `block.x < a.shape0, b.shape0 for all blocks launched`,
    `generated: %arg1, %arg3 are multiples of 8; %arg2 is a multiple of 4 (stated by ...)`.
    """
    multiples: dict[tuple[str, str], dict[str, list[str]]] = {}
    relations: dict[tuple[str, str], list[str]] = {}
    for obligation in obligations:
        if found := MULTIPLE.fullmatch(obligation):
            side, name, divisor, reason = found.groups(default="")
            multiples.setdefault((side, reason), {}).setdefault(divisor, []).append(name)
            continue
        found = RELATION.fullmatch(obligation)
        side, left, sign, right, tail = found.groups(default="") if found else ("", obligation, "", "", "")
        head = f"{side} " if side else ""
        if sign in ("<", "<="):
            relations.setdefault((f"{head}{left} {sign} ", tail), []).append(right)
        else:
            head = f"{ONLY_IF}{head}" if tail else head
            relations.setdefault((head, f" = {right}{tail}" if sign else ""), []).append(left)
    lines: list[str] = []
    for (head, tail), names in relations.items():
        if head or tail:
            lines += _listed(head, names, tail, width)
        else:
            lines += names
    for (side, reason), divisors in multiples.items():
        items = [_multiples(names, divisor) for divisor, names in divisors.items()]
        items[-1] += f" ({reason})" if reason else ""
        lines += wrapped(f"{side}: " if side else "", items, width)
    return lines


def _listed(head: str, names: list[str], tail: str, width: int) -> list[str]:
    """`head a, b, c tail`, in lines of at most `width` characters if the names let it."""
    lines = [head]
    items = [*(f"{name}, " for name in names[:-1]), f"{names[-1]}{tail}"]
    for item in items:
        if len(lines[-1]) + len(item.rstrip()) > width and lines[-1].strip() not in ("", head.strip()):
            lines.append(" " * len(head))
        lines[-1] += item
    return [line.rstrip() for line in lines]


def evidence_lines(finding: FindingRecord) -> list[tuple[str, str]]:
    """Where else the same shows, and the evidence, each with its label."""
    also = f"line {', '.join(map(str, finding.also))}" if finding.also else ""
    return [*([("also at", also)] if also else []), ("evidence", finding.evidence)]


def _multiples(names: list[str], divisor: str) -> str:
    what = "is a multiple" if len(names) == 1 else "are multiples"
    return f"{', '.join(names)} {what} of {divisor}"


def entry_line(result: Result, index: int) -> str:
    """`@a = @b (97% alike)`."""
    pair = result.pairs[index]
    if pair.reference is None or pair.generated is None:
        return f"{_symbol(pair.reference)} = {_symbol(pair.generated)}"
    return f"{_symbol(pair.reference)} = {_symbol(pair.generated)} ({pair.similarity:.0%} alike)"


def counts(summary: Summary) -> str:
    """`1 critical, 2 warn, 0 info`, and what was set aside."""
    parts = [f"{summary.critical} critical", f"{summary.warn} warn", f"{summary.info} info"]
    parts += [f"{summary.waived} waived"] if summary.waived else []
    parts += [f"{summary.ignored} ignored"] if summary.ignored else []
    return ", ".join(parts)


def besides(result: Result) -> str:
    """How much a whole report says besides its findings: `2 differences below --fail-on, 1 assumption`."""
    lowered = [
        each for each in result.findings if each.severity == "warn" and severity_of(each.impact) != "warn"
    ]
    parts = [
        (len(lowered), "difference below --fail-on", "differences below --fail-on"),
        (len(result.obligations), "condition on the host", "conditions on the host"),
        (len(result.not_checked), "part not checked", "parts not checked"),
        (len(result.assumptions), "assumption", "assumptions"),
        (len(result.equivalences), "place treated as equal", "places treated as equal"),
    ]
    return ", ".join(_count(*part) for part in parts if part[0])


def versions_line(result: Result) -> str:
    return ", ".join(f"{name} {version}" for name, version in result.versions.items())


def lowering_lines(result: Result) -> list[str]:
    """For each pair and architecture a line of numbers, and one for each operation; `ours | theirs`."""
    lines: list[str] = []
    for each in result.lowering:
        names = " = ".join(dict.fromkeys(_symbol(entry) for entry in each.entries))
        facts = ["not assembled"] if None in (each.reference, each.generated) else _numbers(each)
        lines.append(f"{each.arch} {names}: {', '.join(facts)}")
        for operation in each.operations:
            sides = (result.reference, operation.reference), (result.generated, operation.generated)
            op = operation.generated.op if operation.generated else ""
            said = " | ".join(dict.fromkeys((operation.expected, operation.actual)))
            lines.append(f"  {' = '.join(location(*side) for side in sides)} {op}: {said}")
    return lines


def _numbers(record: LoweringRecord) -> list[str]:
    from tileir_diff.lowering.cubin import MEASURES  # only a report with a lowering needs it

    assert record.reference is not None  # the caller has looked
    assert record.generated is not None
    facts: list[str] = []
    for field, name, unit in MEASURES:
        values = dict.fromkeys(getattr(side, field) for side in (record.reference, record.generated))
        if any(values) and (len(values) > 1 or field not in ("local", "blocks_a_cluster")):
            facts.append(f"{name} {' | '.join(map(str, values))}{unit}")
    if record.same_code:
        facts[-1] += ", the same"
    return facts


def ignored_lines(result: Result) -> list[str]:
    return [f"{rule}: {number} ignored" for rule, number in result.summary.ignored_rules.items()]


def dump_line(side: Side) -> str:
    """`softmax.mlir (tileirdisasm, cutile-python 1.7.0)`."""
    front_end = " ".join(part for part in (side.front_end, side.front_end_version) if part)
    details = ", ".join(part for part in (side.format if side.format != "unknown" else "", front_end) if part)
    path = printable(side.path)
    return f"{path} ({details})" if details else path


def semantics_line(each: SemanticsRecord) -> str:
    """`@a = @b: equal in 24 runs ...`."""
    return f"{_symbol(each.reference)} = {_symbol(each.generated)}: {each.detail}"


def room(place: Place, taken: int) -> int:
    """Characters for the op's text, on a line of which `taken` are used up and its source wants some too."""
    origin = source(place)
    return min(WIDTH, max(NARROW, LINE - taken - (len(origin) + 5 if origin else 0)))


def is_cut(place: Place | None, taken: int) -> bool:
    """Whether more than the types must be left out of the op's text on such a line."""
    return place is not None and "…" in clip(place, room(place, taken))[0]


def caption(place: Place, text: str, other: str, width: int = CAPTION) -> str:
    """What stands behind the caret: `mask: lane < N`. Of a long text, where it differs from `other`."""
    label = f"{place.part}: " if place.part and text and not text.startswith(place.part) else ""
    return label + fitted(text, other, max(SHORT_CAPTION, min(CAPTION, width - len(label))))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _symbol(entry: str | None) -> str:
    if entry is None:
        return "nothing"
    return elide(f"@{entry.removeprefix('@')}", SYMBOL)
