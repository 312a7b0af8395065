"""What `make demo` shows: each comparison ends as the Makefile says, and fits one screen."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from tests.docs.console import FIXTURES, ROOT
from tileir_diff.cli.app import app

LINES, COLUMNS = 40, 132
CALL = re.compile(r"\$\(call show,(\d),([^,]+),([^)]+)\)\n")


def shown() -> list[tuple[int, list[str]]]:
    """Exit status and arguments of each command of the demo."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ").replace("$(comma)", " ")
    return [(int(status), shlex.split(arguments)) for status, _, arguments in CALL.findall(text)]


def test_one_faithful_port_and_three_broken_ones_are_shown() -> None:
    assert [status for status, _ in shown()] == [0, 1, 1, 1]


@pytest.mark.parametrize(("status", "arguments"), shown(), ids=lambda value: str(value))
def test_it_ends_as_expected_and_fits_one_screen(
    status: int, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES)
    result = CliRunner().invoke(app, arguments, prog_name="tileir-diff")
    assert result.exit_code == status
    lines = result.stdout.splitlines()
    assert lines[-1] == f"VERDICT: {'FAIL_FIXABLE' if status else 'PASS'}"
    assert len(lines) <= LINES
    assert max(map(len, lines[1:])) <= COLUMNS  # the first line has its message in full, for logs
