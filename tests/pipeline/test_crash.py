"""kill -9 at any point: nothing is lost, and what was finished is not done again."""

from __future__ import annotations

import random
import signal
import time
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.pipeline.crash import ROUTE, main
from tileir_diff.pipeline.log import NAME, OBJECTS, Answered, Attempted, Ended, Entry, Judged, Store, read_log

KILLS = 100
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["tests.pipeline.crash"])


def start(folder: Path, notes: Path) -> ForkServerProcess:
    """A process that has begun to work."""
    ready = FORKS.Event()
    process = FORKS.Process(target=main, args=(folder, notes, ready))
    process.start()
    assert ready.wait(60)
    return process


def known(folder: Path) -> list[Entry]:
    return read_log(folder / NAME) if (folder / NAME).exists() else []


def test_a_hundred_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    whole = start(tmp_path / "whole", tmp_path / "notes")
    begin = time.monotonic()
    whole.join()
    takes = time.monotonic() - begin
    assert whole.exitcode == 0
    dice = random.Random(0)
    kills = runs = 0
    while kills < KILLS:
        folder, notes = tmp_path / f"run{runs}", tmp_path / f"notes{runs}"
        tries = 0
        while not any(isinstance(entry, Ended) for entry in known(folder)):
            tries += 1
            before = known(folder)
            process = start(folder, notes)
            process.join(dice.uniform(0, takes * tries / 8))  # ever longer, so that each run ends
            process.kill()
            process.join()
            kills += process.exitcode == -signal.SIGKILL
            assert process.pid is not None
            _nothing_twice(before, notes, process.pid)
        _whole(folder)
        runs += 1
    assert kills >= KILLS
    assert runs > 1


def _nothing_twice(before: list[Entry], notes: Path, pid: int) -> None:
    """What a process did is not among what the log had as finished when it began."""
    answered = {each.attempt for each in before if isinstance(each, Answered)}
    judged = {each.attempt for each in before if isinstance(each, Judged)}
    lines = notes.read_text().splitlines() if notes.exists() else []
    for line in lines:
        who, what, attempt = line.split()
        if int(who) == pid:
            assert int(attempt) not in (answered if what == "work" else judged)


def _whole(folder: Path) -> None:
    """The log is that of a run that nobody disturbed, and all contents are there."""
    entries = known(folder)
    told = [(each.stage, each.outcome) for each in entries if isinstance(each, Judged)]
    assert told == list(ROUTE)
    assert [each.attempt for each in entries if isinstance(each, Attempted)] == list(range(1, len(ROUTE) + 1))
    store = Store(folder / OBJECTS)
    for entry in entries:
        if isinstance(entry, Judged):
            store.get(entry.verdict)
        if isinstance(entry, (Judged, Answered)):
            for name in entry.outputs.values():
                store.get(name)
