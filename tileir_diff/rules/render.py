"""Fills a rule's templates with the values of one difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import MESSAGE_LIMIT

if TYPE_CHECKING:
    from tileir_diff.match.model import Difference, Site

ELLIPSIS = "…"
SHORTEST = 8
"""No value of a message is cut below this many characters."""


class _Values(dict[str, object]):
    """A template may name a value that this difference lacks; it then reads as "?", not as a crash."""

    def __missing__(self, key: str) -> str:
        return "?"


def render(template: str, difference: Difference, *, limit: bool = False) -> str:
    """The template with the difference's values, with `limit` in at most MESSAGE_LIMIT characters."""
    values = _values(difference)
    text = _fill(template, values)
    if not limit or len(text) <= MESSAGE_LIMIT:
        return text
    used = [key for key in values if f"{{{key}}}" in template]
    bare = _fill(template, _Values({**values, **dict.fromkeys(used, "x")}))
    room = MESSAGE_LIMIT - len(bare) + sum(template.count(f"{{{key}}}") for key in used)
    _share(values, used, room)
    return elide(_fill(template, values), MESSAGE_LIMIT)


def _share(values: _Values, used: list[str], room: int) -> None:
    """Cuts the values so that together they fit: the short ones stay, the long ones share the rest."""
    for position, key in enumerate(sorted(used, key=lambda each: len(str(values[each])))):
        part = max(SHORTEST, room // (len(used) - position))
        values[key] = elide(str(values[key]), part)
        room -= len(str(values[key]))


def elide(text: str, width: int) -> str:
    """`text` in at most `width` characters, its middle cut out."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - (width - 1 - head) :]


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
    """Where in the kernel's source the fix goes, if the dump says so: " at softmax.rs:58"."""
    source = site.op.source if site else None
    return f" at {base_name(source.file)}:{source.line}" if source else ""


def base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
