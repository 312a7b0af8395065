"""The folder `agents`: role cards, coding rules, schemas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.pipeline.stages import Stage

CARDS: Final[dict[Stage, str]] = {
    "analyst": "cards/analyst.md",
    "kernel": "cards/kernel-writer.md",
    "host": "cards/host-builder.md",
    "performance": "cards/performance-validator.md",
    "diff": "cards/ir-diff-analyst.md",
    "investigator": "cards/performance-investigator.md",
}

NAMED: Final = re.compile(r"`(agents/[\w./-]+)`")
"""A file of this folder, as a card names it."""


def agents_folder() -> Path:
    """At the top of the repository, or in an installed package. Raises InputError where there is none."""
    for place in (Path(__file__).parents[2] / "agents", Path(__file__).parents[1] / "agents"):
        if (place / "cards").is_dir():
            return place
    raise InputError(
        "the folder agents is not there: is the package complete?", str(Path(__file__).parents[1])
    )


def cards() -> dict[Stage, str]:
    """The role card of each stage. Raises InputError where one is missing."""
    folder = agents_folder()
    try:
        return {stage: (folder / path).read_text("utf-8") for stage, path in CARDS.items()}
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", str(error.filename)) from None


def attached(card: str) -> dict[str, bytes]:
    """The files of this folder that a card names, by the path that it has for them. Raises InputError."""
    folder = agents_folder().parent
    try:
        return {path: (folder / path).read_bytes() for path in dict.fromkeys(NAMED.findall(card))}
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", str(error.filename)) from None
