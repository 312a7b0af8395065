"""The name that was probably meant by one that means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'check'?`, or nothing if no known name is close."""
    from difflib import get_close_matches  # only a mistake needs it

    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def is_close(option: str, known: str) -> bool:
    """Whether an option may be a slip of the pen for another: their names are, without the dashes."""
    from difflib import get_close_matches

    name, wanted = option.strip("-"), known.strip("-")
    return wanted.startswith(name) or bool(get_close_matches(name, [wanted], n=1))
