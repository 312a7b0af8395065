"""Fills a rule's templates with the values of one difference."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from tileir_diff.excerpt import cut
from tileir_diff.rules.model import MESSAGE_LIMIT
from tileir_diff.shorten import balanced, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.match.model import Difference, Site

ELLIPSIS = "…"

VALUE_LIMIT = 100
"""Longest value in an effect or a fix, in characters; the finding has the values in full."""

SHORTEST = 8
"""No value of a message is cut below this many characters."""

LEAD = 6
"""Characters kept before the first one in which two long values differ, and after it."""

FORMULA_LIMIT = 40
"""A formula up to so many characters is told in a fix."""

LAUNCHED = frozenset({"addressing", "control-flow", "grid", "loop", "mask", "stride"})
"""Families whose values may be a launch's sizes."""

WORD = 12
"""A longer word may be cut in two."""


_FORMULA = re.compile(r"\b[ik]\d\b|\bblock\.|\biteration|load\[|carried value|loop result|…")
_NAME = re.compile(r"(?<![\w.%])[A-Za-z_]\w*(?:\.(?:shape|stride)\d+)?(?![\w(\[])")
_NUMBER = re.compile(r"\b\d{2,}\b")


class _Values(dict[str, object]):
    """A template may name a value that this difference lacks; it then reads as "?", not as a crash."""

    def __missing__(self, key: str) -> str:
        return "?"


def message(template: str, difference: Difference) -> str:
    """The template in at most MESSAGE_LIMIT characters; long values are cut to where they differ."""
    values = _values(difference)
    text = _fill(template, values)
    if len(text) <= MESSAGE_LIMIT:
        return text
    used = [key for key in values if f"{{{key}}}" in template]
    bare = _fill(template, _Values({**values, **dict.fromkeys(used, "x")}))
    room = MESSAGE_LIMIT - len(bare) + sum(template.count(f"{{{key}}}") for key in used)
    _share(values, used, room)
    return elide(_fill(template, values), MESSAGE_LIMIT)


def sentence(template: str, difference: Difference) -> str:
    """The template as one line, for effects and fixes."""
    values = _values(difference)
    full = {key: str(values[key]) for key in ("expected", "actual")}
    for key, value in values.items():
        other = full["actual" if key == "expected" else "expected"]
        text = str(value)
        values[key] = fitted(text, other, VALUE_LIMIT) if key in full else elide(text, VALUE_LIMIT)
    return _fill(template, values)


def instruction(template: str, difference: Difference) -> str:
    """The template as one line that tells what to do.

    A long formula over lanes and blocks is nothing that one writes: it is told by the place in the reference
    that has it. A value that the launch given makes is told as one.
    """
    if sizes := difference.detail.get("sizes"):
        return _of_sizes(template, difference, cast("tuple[str, str, str]", sizes))
    difference, remark = _in_own_names(difference)
    expected = difference.expected
    place = _of_reference(difference.reference)
    if place and len(expected) > FORMULA_LIMIT and _FORMULA.search(expected):
        template = template.replace(": {expected}", f" ({place})").replace("{at}", "")
        there = replace(difference, expected=f"the formula at {place}")
        here = str(_values(there).get("at", "")).strip()  # first, beside another place
        return f"{here}, {sentence(template, there)}" if here else sentence(template, there)
    family = difference.rule.partition("/")[0]
    if difference.detail.get("launch") and family in LAUNCHED and _NUMBER.search(expected):
        return f"{sentence(template, difference)} (for this launch)"
    return sentence(template, difference) + (remark if "{expected}" in template else "")


def _of_sizes(template: str, difference: Difference, sizes: tuple[str, str, str]) -> str:
    """Which argument to compare with, in place of one that has another value at the launch given."""
    used, wanted, right = sizes
    which = f"{right}, the reference's {wanted}" if right else f"the reference's {wanted}"
    at = _values(difference)["at"] if "{at}" in template else ""
    return f"compare with {which}, not with {used}{at}"


def _in_own_names(difference: Difference) -> tuple[Difference, str]:
    """The difference with the reference's arguments as the generated kernel calls them, and a remark.

    Where it may lack one, the remark says what the names are.
    """
    names = cast("Mapping[str, str]", difference.detail.get("names") or {})
    likely = cast("Mapping[str, tuple[str, str]]", difference.detail.get("likely") or {})
    used = [name for name in dict.fromkeys(_NAME.findall(difference.expected)) if name in names]
    lacking = [name for name in used if not names[name]]
    if not all(name in likely for name in lacking):
        known = [f"its {name} is {names[name]}" for name in used if names[name]]
        return difference, f" (in the names of the reference{''.join(f'; {each}' for each in known)})"
    own = {**names, **{name: likely[name][0] for name in lacking}}
    said = _NAME.sub(lambda found: own.get(found[0], found[0]), difference.expected)
    taken = [f"{own[name]} is its {likely[name][1]}" for name in lacking]
    remark = f" ({', '.join(lacking)} of the reference; {'; '.join(taken)})" if lacking else ""
    return replace(difference, expected=said), remark


def _of_reference(site: Site | None) -> str:
    if site is None:
        return ""
    source = site.op.source
    where = f"{base_name(source.file)}:{source.line}" if source else f"line {site.op.span.line}"
    return f"{where} of the reference"


def elide(text: str, width: int) -> str:
    """`text` in at most `width` characters, its middle cut out."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    start = len(text) - (width - 1 - head)
    if head <= 2 * WORD:
        return text[:head] + ELLIPSIS + text[start:]
    end = next((at for at in range(start, start + WORD) if not _in_word(text[at - 1])), start)
    return _word_end(text, 0, head) + ELLIPSIS + text[end:]


def fitted(text: str, other: str, width: int) -> str:
    """`text` in at most `width` characters: without what `other` has too, else around where they differ."""
    if len(text) <= width:
        return text
    short = shortened(text, other, width)
    if short is not None:
        return short
    for less in range(width, SHORTEST, -1):
        short = balanced(focus(text, other, less))
        if len(short) <= width and short != balanced(focus(other, text, less)):
            return short
    return cut_whole(text, width)


def cut_whole(text: str, width: int) -> str:
    """The beginning of the text, with whole brackets."""
    lines = (balanced(cut(text, less)) for less in range(width, 1, -1))
    return next((line for line in lines if len(line) <= width), ELLIPSIS)


def focus(text: str, other: str, width: int) -> str:
    """`text` in at most `width` characters, around the first one in which it differs from `other`."""
    if len(text) <= width:
        return text
    same = next(
        (i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other))
    )
    start = _word_start(text, same - LEAD)
    if start <= 1:
        return _word_end(text, same, width - 1).rstrip(ELLIPSIS) + ELLIPSIS
    if len(text) - start < width:
        return ELLIPSIS + text[len(text) - width + 1 :]
    return ELLIPSIS + _word_end(text[start:], same - start, width - 2).rstrip(ELLIPSIS) + ELLIPSIS


def _word_start(text: str, position: int) -> int:
    """The beginning of the word at `position`, unless it is far away."""
    start = position
    while start > 0 and position - start < WORD and _in_word(text[start]) and _in_word(text[start - 1]):
        start -= 1
    return start if start <= 0 or not _in_word(text[start - 1]) else position


def _word_end(text: str, kept: int, width: int) -> str:
    """The first `width` characters without half a word at the end; what stands at `kept` is not cut off."""
    end = width
    while end > max(kept + LEAD, width - WORD) and _in_word(text[end]) and _in_word(text[end - 1]):
        end -= 1
    return text[: width if _in_word(text[end]) and _in_word(text[end - 1]) else end]


def _in_word(char: str) -> bool:
    return char.isalnum() or char in "._"


def base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _share(values: _Values, used: list[str], room: int) -> None:
    """Cuts the values so that together they fit: the short ones stay, the long ones share the rest."""
    full = {key: str(values[key]) for key in ("expected", "actual")}
    for position, key in enumerate(sorted(used, key=lambda each: len(str(values[each])))):
        part = max(SHORTEST, room // (len(used) - position))
        text = str(values[key])
        other = full["actual" if key == "expected" else "expected"]
        values[key] = fitted(text, other, part) if key in full else elide(text, part)
        room -= len(str(values[key]))


def _fill(template: str, values: _Values) -> str:
    return " ".join(template.format_map(values).split())


def _values(difference: Difference) -> _Values:
    site = difference.generated or difference.reference
    values = _Values(
        expected=difference.expected or "nothing",
        actual=difference.actual or "nothing",
        op=_op_name(site),
        entry=site.entry if site else "?",
        part=_part(difference),
        at=_place(difference.generated),
        of="",
    )
    values.update(difference.detail)
    return values


def _op_name(site: Site | None) -> str:
    return site.op.short if site else "the kernel"


def _part(difference: Difference) -> str:
    for site in (difference.generated, difference.reference):
        if site is not None and site.part:
            return site.part
    return difference.rule.partition("/")[2]


def _place(site: Site | None) -> str:
    """Where the fix goes: " at softmax.rs:58", or in a dump without locations " at line 71 of the dump"."""
    if site is None:
        return ""
    source = site.op.source
    if source:
        return f" at {base_name(source.file)}:{source.line}"
    return f" at line {site.op.span.line} of the dump" if site.op.span.line else ""
