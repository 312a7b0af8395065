"""The rules as a list and as pages, all from the modules' docstrings and tables."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING

from tileir_diff.rules import FAMILIES, family

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tileir_diff.rules.model import Detail, Family

HEADINGS = ("## What it does", "## Why it matters", "## Example", "## Known problems")
"""Every family's docstring has these, in this order, below its first line."""


def details() -> list[tuple[str, Detail]]:
    """All `family/detail` with their records, sorted."""
    return [
        (f"{name}/{detail}", record)
        for name in FAMILIES
        for detail, record in sorted(_module(name).DETAILS.items())
    ]


def as_text(lints: Mapping[str, tuple[str, str]]) -> str:
    """One line a rule: name, impact, message. `lints` gives severity and first line of each lint."""
    rows = [(name, record.impact, record.message) for name, record in details()]
    rows += [(name, severity, title) for name, (severity, title) in lints.items()]
    width = max(len(name) for name, _, _ in rows)
    return "".join(f"{name:<{width}}  {level:<9}  {text}\n" for name, level, text in rows)


def as_json(lints: Mapping[str, tuple[str, str]]) -> str:
    """The same with effects and fixes."""
    import json

    rules = [
        {
            "rule": name,
            "impact": record.impact,
            "message": record.message,
            "effect": record.effect,
            "fix": record.fix,
        }
        for name, record in details()
    ]
    listed = [
        {"rule": name, "severity": severity, "title": title} for name, (severity, title) in lints.items()
    ]
    return json.dumps({"schema": "tileir-rules/1", "rules": rules, "lints": listed}, indent=2) + "\n"


def page(rule: str) -> str | None:
    """The page of a family, or of one detail; None if there is no such rule."""
    name, slash, detail = rule.partition("/")
    if name not in FAMILIES:
        return None
    module = _module(name)
    if slash and detail not in module.DETAILS:
        return None
    shown = {detail: module.DETAILS[detail]} if slash else module.DETAILS
    parts = [f"# {rule}", "", _summary(module), "", _body(module)]
    for key in sorted(shown):
        parts += ["", *_detail(f"{name}/{key}", shown[key])]
    return "\n".join(parts) + "\n"


def closest(rule: str, also: Iterable[str] = ()) -> list[str]:
    """Rules with a similar name; ``also``: more names that may be meant."""
    from difflib import get_close_matches

    known = {name.lower(): name for name in (*also, *(name for name, _ in details()), *FAMILIES)}
    return [known[close] for close in get_close_matches(rule.lower(), known, n=2)]


def unknown_rule(pattern: str) -> str:
    """What is wrong with a pattern that fits no rule, with the rules that may be meant; "" if it fits one."""
    from fnmatch import fnmatchcase

    name = pattern.partition("/")[0]
    known = [f"{name}/{detail}" for detail in _module(name).DETAILS] if name in FAMILIES else []
    if any(fnmatchcase(each, pattern) for each in known):
        return ""
    if any(fnmatchcase(each, pattern) for each, _ in details()):
        return ""
    close = [f"{name}/*"] if pattern.rstrip("/") in FAMILIES else closest(pattern)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `tileir-diff rules` lists them"
    return f"no rule '{pattern}'{hint}"


def _detail(rule: str, record: Detail) -> list[str]:
    lines = [f"## `{rule}`", "", f"- impact: {record.impact}", f"- message: {record.message}"]
    lines += [f"- effect: {record.effect}", f"- fix: {_plain(record.fix)}"]
    return lines + [f"- fix in {front_end}: {_plain(fix)}" for front_end, fix in sorted(record.fixes.items())]


def _plain(template: str) -> str:
    """A fix without the place, which only a finding has."""
    return template.replace("{at}", "")


def _summary(module: Family) -> str:
    return (module.__doc__ or "").partition("\n")[0]


def _body(module: Family) -> str:
    return cleandoc((module.__doc__ or "").partition("\n")[2])


def _module(name: str) -> Family:
    module = family(name)
    assert module is not None  # names come from the table
    return module
