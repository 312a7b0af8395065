"""The log survives what happens to files: torn lines, changed lines, two processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir_diff.errors import InputError
from tileir_diff.pipeline.log import NAME, Attempted, Begun, Ended, Entry, Log, Store, parse, read_log, sha256

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
