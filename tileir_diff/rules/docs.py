"""Writes docs/rules from the rules, and docs/rules/lint from the lints.

`python -m tileir_diff.rules.docs [FOLDER]`
"""

from __future__ import annotations

import sys
from pathlib import Path

from tileir_diff.rules import FAMILIES
from tileir_diff.rules.catalogue import details, page
from tileir_diff.rules.model import IMPACTS

DEFAULT = Path("docs/rules")
LINTS = "lint"
"""Folder of the lints' pages, below that of the rules."""


def pages() -> dict[str, str]:
    """File name -> text of the rules' pages, the index included."""
    files = {f"{name}.md": page(name) or "" for name in FAMILIES}
    files["README.md"] = _index()
    return files


def lint_pages() -> dict[str, str]:
    """File name -> text of the lints' pages, the index included."""
    from tileir_diff.lints.catalogue import page as lint_page
    from tileir_diff.lints.catalogue import rows

    names = [rule.removeprefix(f"{LINTS}/") for rule, _, _ in rows()]
    files = {f"{name}.md": lint_page(name) or "" for name in names}
    files["README.md"] = _lint_index(rows())
    return files


def _index() -> str:
    lines = [
        "# Rules",
        "",
        "One page a family; `tileir-diff explain RULE` prints the same.",
        "Lints, which look at one dump alone, have [pages of their own](lint/README.md).",
        "In messages and fixes, `{expected}` and `{actual}` stand for how the two kernels read.",
        f"The impact is what a difference can do at worst: {', '.join(IMPACTS)}.",
        "",
        "| rule | impact | message |",
        "|---|---|---|",
    ]
    for name, record in details():
        family = name.partition("/")[0]
        lines.append(f"| [`{name}`]({family}.md) | {record.impact} | {record.message} |")
    return "\n".join(lines) + "\n"


def _lint_index(rows: list[tuple[str, str, str]]) -> str:
    lines = [
        "# Lints",
        "",
        "Lints look at one dump alone, for what is legal and has bitten people.",
        "`tileir-diff check --lint FILE` runs them; `tileir-diff explain lint/NAME` prints a page.",
        "",
        "| lint | severity | what |",
        "|---|---|---|",
    ]
    for rule, severity, summary in rows:
        lines.append(f"| [`{rule}`]({rule.removeprefix(f'{LINTS}/')}.md) | {severity} | {summary} |")
    return "\n".join(lines) + "\n"


def write(folder: Path, files: dict[str, str]) -> None:
    """Writes the pages, and removes pages that have no source any more."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in sorted(folder.glob("*.md")):
        if stale.name not in files:
            stale.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    write(folder, pages())
    write(folder / LINTS, lint_pages())


if __name__ == "__main__":
    main()
