"""Writes docs/rules from the rules: `python -m tileir_diff.rules.docs [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tileir_diff.rules import FAMILIES
from tileir_diff.rules.catalogue import details, page
from tileir_diff.rules.model import IMPACTS

DEFAULT = Path("docs/rules")


def pages() -> dict[str, str]:
    """File name -> text, the index included."""
    files = {f"{name}.md": page(name) or "" for name in FAMILIES}
    files["README.md"] = _index()
    return files


def _index() -> str:
    lines = [
        "# Rules",
        "",
        "One page a family; `tileir-diff explain RULE` prints the same.",
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


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    folder.mkdir(parents=True, exist_ok=True)
    files = pages()
    for stale in sorted(folder.glob("*.md")):
        if stale.name not in files:
            stale.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
