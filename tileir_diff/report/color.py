"""ANSI colour, and when to use it.

A flag beats the environment; there NO_COLOR beats CLICOLOR_FORCE, which beats CLICOLOR.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

CODES = {
    "bold": "1",
    "dim": "2",
    "critical": "1;31",
    "warn": "1;33",
    "info": "36",
    "fail": "1;31",
    "pass": "1;32",
    "notes": "1;33",
    "mark": "32",
}


class Stream(Protocol):
    def isatty(self) -> bool: ...


def wants_color(choice: str, stream: Stream, environment: Mapping[str, str]) -> bool:
    """`choice` is auto, always or never."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


class Painter:
    """Wraps text in colour, or leaves it alone."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{CODES[style]}m{text}\x1b[0m" if self._enabled and text else text
