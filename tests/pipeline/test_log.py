"""The log survives what happens to files: torn lines, changed lines, two processes."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.crash import ROUTE
from tests.pipeline.fakes import Script, Writer, begun
from tileir_diff.errors import InputError
from tileir_diff.pipeline.log import (
    NAME,
    Answered,
    Attempted,
    Begun,
    Ended,
    Entry,
    Judged,
    Log,
    Store,
    Supplied,
    parse,
    read_log,
    sha256,
    write_whole,
)  # fmt: skip
from tileir_diff.pipeline.state import replayed

ZERO = "0" * 64
ENTRIES: list[Entry] = [
    Begun(operator="k", worker="w", limits={}, settings={}, files={"a": sha256(b"a")}, versions={}),
    Attempted(attempt=1, stage="analyst", inputs={}, card=ZERO),
    Ended(end="über"),
]


def written(folder: Path) -> bytes:
    log = Log(folder)
    for entry in ENTRIES:
        log.append(entry)
    log.close()
    return (folder / NAME).read_bytes()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written(tmp_path)
    assert read_log(tmp_path / NAME) == ENTRIES


def test_a_torn_last_line_is_cut_off_wherever_it_is_torn(tmp_path: Path) -> None:
    whole = written(tmp_path)
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        (tmp_path / NAME).write_bytes(whole[:size])
        log = Log(tmp_path)
        kept = sum(end <= size for end in ends)
        assert log.entries == ENTRIES[:kept]
        for entry in ENTRIES[kept:]:
            log.append(entry)
        log.close()
        assert (tmp_path / NAME).read_bytes() == whole


def test_a_changed_line_is_told(tmp_path: Path) -> None:
    whole = written(tmp_path)
    (tmp_path / NAME).write_bytes(whole.replace(b'"attempt": 1', b'"attempt": 2'))
    with pytest.raises(InputError, match="does not follow") as caught:
        read_log(tmp_path / NAME)
    assert caught.value.line == 3


def test_a_line_that_was_taken_out_is_told() -> None:
    log = written_lines()
    with pytest.raises(InputError, match="does not follow"):
        parse(log[0] + log[2], "log")


def written_lines() -> list[bytes]:
    lines: list[bytes] = []
    last = ZERO
    for entry in ENTRIES:
        line = (
            json.dumps({"before": last, **entry.model_dump(mode="json")}, ensure_ascii=False) + "\n"
        ).encode()
        lines.append(line)
        last = sha256(line)
    return lines


@pytest.mark.parametrize("line", [b"{}\n", b"[]\n", b"\n", b"\xff\n", b'{"before": "x", "kind": "none"}\n'])
def test_what_is_no_entry_is_told(line: bytes) -> None:
    with pytest.raises(InputError, match="no entry"):
        parse(line, "log")


@given(st.binary(max_size=200))
def test_no_bytes_are_a_traceback(data: bytes) -> None:
    try:
        entries, whole, _ = parse(data, "log")
    except InputError:
        return
    assert whole <= len(data)
    assert not entries


def test_two_processes_cannot_hold_it(tmp_path: Path) -> None:
    first = Log(tmp_path)
    with pytest.raises(InputError, match="another process"):
        Log(tmp_path)
    first.close()
    Log(tmp_path).close()


def test_contents_are_checked_when_they_are_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.put(b"text")
    assert store.put(b"text") == name
    assert store.get(name) == b"text"
    (tmp_path / name[:2] / name).write_bytes(b"other")
    with pytest.raises(InputError, match="damaged"):
        store.get(name)
    with pytest.raises(InputError, match="cannot read"):
        store.get(ZERO)
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> list[Entry]:
    """The entries of a run that took every kind of turn."""
    port = begun(tmp_path_factory.mktemp("run"), Writer(), Script(ROUTE).gates())
    port.go()
    port.log.close()
    return port.log.entries


def test_a_run_makes_sense_up_to_every_entry(run: list[Entry]) -> None:
    for at in range(1, len(run) + 1):
        replayed(run[:at])


def test_an_entry_taken_out_does_not_even_where_all_hashes_are_made_anew(run: list[Entry]) -> None:
    for at in range(1, len(run) - 1):
        with pytest.raises(InputError, match="changed or taken out"):
            replayed([*run[:at], *run[at + 1 :]])


def test_nor_do_two_that_are_swapped_or_one_twice(run: list[Entry]) -> None:
    for first in range(1, len(run)):
        with pytest.raises(InputError, match="changed or taken out"):
            replayed([*run[: first + 1], run[first] if not isinstance(run[first], Ended) else run[0]])
        for second in range(first + 1, len(run)):
            swapped = [*run]
            swapped[first], swapped[second] = run[second], run[first]
            with pytest.raises(InputError, match="changed or taken out"):
                replayed(swapped)


def test_nor_does_one_that_says_other_things(run: list[Entry]) -> None:
    foreign = {"kernel.rs": ZERO, "gates/kernel.json": ZERO, "reference/a.mlir": ZERO}
    for at, entry in enumerate(run[1:], 1):
        others: list[Entry] = []
        if isinstance(entry, Attempted):
            others += [entry.model_copy(update={"inputs": foreign}), entry.model_copy(update={"attempt": 9})]
            others += [entry.model_copy(update={"stage": "investigator"})]
        elif isinstance(entry, (Answered, Judged)):
            others += [entry.model_copy(update={"outputs": foreign}), entry.model_copy(update={"attempt": 9})]
        elif isinstance(entry, Ended):
            others = [Ended(end="COMPLETE"), Supplied(files=foreign)]
        for other in others:
            with pytest.raises(InputError, match="changed or taken out"):
                replayed([*run[:at], other])


@pytest.mark.parametrize(
    "limits", [{}, {"per_stage": 1.0}, {"per_stage": 1, "spawns": 1, "tokens": 1, "more": 1}]
)
def test_limits_that_are_none_are_told(limits: dict[str, float], run: list[Entry]) -> None:
    with pytest.raises(InputError, match="limits are"):
        replayed([run[0].model_copy(update={"limits": limits})])


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", "a\nb"])
def test_a_log_names_no_file_outside(path: str) -> None:
    line = {"before": ZERO, **ENTRIES[0].model_dump(mode="json"), "files": {path: ZERO}}
    with pytest.raises(InputError, match="stays in it"):
        parse(json.dumps(line).encode() + b"\n", "log")


def test_what_cannot_be_written_whole_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    with pytest.raises(OSError, match="place"):
        write_whole(tmp_path / "place", b"x")
    assert not list(tmp_path.glob("*.tmp"))


def test_a_full_disk_is_told_and_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = written(tmp_path)
    log = Log(tmp_path)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        log.append(ENTRIES[1])
    log.close()
    assert (tmp_path / NAME).read_bytes() == before
