"""Text that is cut to fit a line."""

from __future__ import annotations


def cut(text: str, width: int) -> str:
    """The text in at most ``width`` characters; what is cut off ends at the end of a word."""
    if len(text) <= width:
        return text
    end = width - 1
    while end > width // 3 and _in_word(text[end]) and _in_word(text[end - 1]):
        end -= 1
    return text[: end if end > width // 3 else width - 1].rstrip() + "…"


def _in_word(char: str) -> bool:
    return char.isalnum() or char in "._"
