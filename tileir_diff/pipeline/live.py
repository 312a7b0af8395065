"""A live view of a run in the terminal, with rich."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from tileir_diff.pipeline.show import HEADS, end_text, rows, spent_text

if TYPE_CHECKING:
    from tileir_diff.pipeline.engine import Port
    from tileir_diff.pipeline.state import Run


class _View:
    """What is shown: it is drawn anew several times a second."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self._since = monotonic()
        self._what = ""
        self._spinner = Spinner("dots")

    def told(self, run: Run, what: str) -> None:
        del run
        self._what, self._since = what, monotonic()

    def __rich__(self) -> Group:
        entries = list(self._port.log.entries)
        table = Table(box=None, pad_edge=False)
        for head in HEADS:
            table.add_column(head, justify="right" if head in ("attempts", "seconds", "tokens") else "left")
        for row in rows(entries):
            table.add_row(*row)
        run = self._port.run
        if run.end:
            return Group(table, Text(spent_text(entries)), Text(end_text(run), style="bold"))
        self._spinner.update(text=f"{self._what}, {monotonic() - self._since:.0f} s")
        return Group(table, Text(spent_text(entries)), self._spinner)


def go(port: Port, console: Console | None = None) -> None:
    """Runs a port to its end, and shows it on standard error, or on a console of rich."""
    view = _View(port)
    shown = console or Console(stderr=True)
    with Live(view, console=shown, refresh_per_second=8, transient=True):
        port.go(view.told)
