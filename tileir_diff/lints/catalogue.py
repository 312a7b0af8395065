"""The lints as a list and as pages, all from the modules' docstrings."""

from __future__ import annotations

from inspect import cleandoc

from tileir_diff.lints import LINTS, lint_of
from tileir_diff.lints.model import PREFIX

HEADINGS = ("## What it does", "## Why it matters", "## Example", "## Known problems")
"""Every lint's docstring has these, in this order, below its first line."""


def rows() -> list[tuple[str, str, str]]:
    """Rule, usual severity, and the first line of its page, sorted by rule."""
    result: list[tuple[str, str, str]] = []
    for name in LINTS:
        lint = lint_of(name)
        assert lint is not None  # the name comes from the table
        result.append((PREFIX + name, lint.SEVERITY, (lint.__doc__ or "").partition("\n")[0]))
    return result


def page(rule: str) -> str | None:
    """The page of a lint, named with or without `lint/`; `lint` alone lists all. None if there is none."""
    if rule == PREFIX.rstrip("/"):
        return index()
    lint = lint_of(rule)
    if lint is None:
        return None
    summary, _, body = (lint.__doc__ or "").partition("\n")
    name = rule.removeprefix(PREFIX)
    severity = f"- severity: {lint.SEVERITY}, unless said otherwise below"
    return f"# {PREFIX}{name}\n\n{summary}\n\n{severity}\n\n{cleandoc(body)}\n"


def index() -> str:
    """All lints as a table in Markdown."""
    lines = ["# lint", "", "Lints look at one dump alone.", "", "| lint | severity | what |", "|---|---|---|"]
    lines += [f"| `{rule}` | {severity} | {summary} |" for rule, severity, summary in rows()]
    return "\n".join(lines) + "\n"
