"""When colour is used."""

from __future__ import annotations

import pytest

from tileir_diff.report.color import Painter, wants_color


class Terminal:
    def __init__(self, tty: bool) -> None:
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.mark.parametrize(
    ("choice", "tty", "environment", "wanted"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"CLICOLOR_FORCE": "1"}, False),
        ("auto", True, {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", False, {"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, True),
        ("auto", False, {"CLICOLOR_FORCE": "0"}, False),
        ("auto", True, {"CLICOLOR": "0"}, False),
        ("auto", True, {"TERM": "dumb"}, False),
    ],
)
def test_a_flag_beats_the_environment(
    choice: str, tty: bool, environment: dict[str, str], wanted: bool
) -> None:
    assert wants_color(choice, Terminal(tty), environment) is wanted


def test_nothing_is_painted_when_off_or_empty() -> None:
    assert Painter(False)("bold", "x") == "x"
    assert Painter(True)("bold", "") == ""
    assert Painter(True)("bold", "x") == "\x1b[1mx\x1b[0m"
