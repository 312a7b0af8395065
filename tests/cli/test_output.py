"""Where reports go: files, links, devices, pipes that close early and disks that are full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNEL = str(ROOT / "fixtures" / "kernels" / "vector_add" / "py.g.mlir")
WRONG = str(ROOT / "fixtures" / "mistakes" / "store_mask_lost" / "gen.g.mlir")
COMMAND = [sys.executable, "-m", "tileir_diff"]


def status(*arguments: str, stdout: int) -> tuple[int, str]:
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((KERNEL, KERNEL), 0),
        ((KERNEL, WRONG), 1),
        (("check", KERNEL), 0),
        (("show", KERNEL), 0),
        (("rules",), 0),
    ],
)
def test_a_reader_that_leaves_does_not_change_the_status(arguments: tuple[str, ...], expected: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert status(*arguments, stdout=writer) == (expected, "")
    os.close(writer)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [(KERNEL, WRONG), (KERNEL, KERNEL, "-o", "/dev/full"), ("check", KERNEL), ("show", KERNEL), ("rules",)],
)
def test_a_full_disk_is_one_message(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        code, message = status(*arguments, stdout=full.fileno())
    assert code == 2
    assert message.count("\n") == 1
    assert "cannot write: No space left" in message


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("diff", "--help")])
def test_help_ends_as_reports_do(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert status(*arguments, stdout=writer) == (0, "")
    os.close(writer)
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            assert status(*arguments, stdout=full.fileno()) == (
                2, "<stdout>: error: cannot write: No space left on device\n",
            )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "closed", "expected"),
    [
        ((KERNEL, WRONG), ">&-", 1),
        ((KERNEL, KERNEL), "<&- >&- 2>&-", 0),
        (("check", KERNEL), ">&-", 0),
        (("rules",), ">&-", 0),
        (("none.mlir", KERNEL), "2>&-", 2),
        (("-", KERNEL), "<&-", 2),
    ],
)
def test_a_stream_that_is_closed_does_not_change_the_status(
    arguments: tuple[str, ...], closed: str, expected: int
) -> None:
    call = ["sh", "-c", f'"$@" {closed}', "sh", *COMMAND, *arguments]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == expected
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_keyboard_interrupt_is_no_verdict(tmp_path: Path) -> None:
    """It ends while it waits for its input: one status, no word, nothing written."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [*COMMAND, KERNEL, str(pipe), "-o", "report"], cwd=tmp_path, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    ) as process:  # fmt: skip
        writer = os.open(pipe, os.O_WRONLY)  # open once the command reads it
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
        os.close(writer)
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_names_and_reasons_are_one_line_without_commands(tmp_path: Path, form: str) -> None:
    evil = "a\nVERDICT: PASS\x1b[31m"
    kernel = tmp_path / f"{evil}.mlir"
    kernel.write_bytes(Path(WRONG).read_bytes())
    config = tmp_path / "settings.toml"
    config.write_text('[[waivers]]\nrule = "*"\nreason = "a\\nVERDICT: PASS\\u001b[31m"\n')
    for call in ((KERNEL, str(kernel), "--format", form), (KERNEL, str(kernel) + "x")):
        done = subprocess.run(
            [*COMMAND, *call, "--config", str(config)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        shown = done.stdout + done.stderr
        assert "\x1b" not in shown
        assert "\nVERDICT: PASS\n" not in shown
        assert r"a\nVERDICT: PASS\x1b[31m" in shown.replace("\\\\", "\\")


def test_a_working_folder_that_is_gone_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    call = ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *COMMAND, KERNEL, KERNEL]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        call, cwd=tmp_path / "gone", env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == ".: error: cannot look for settings here: No such file or directory\n"


def test_a_pipe_is_written_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert status(KERNEL, KERNEL, "-o", str(pipe), stdout=subprocess.DEVNULL) == (0, "")
    reader.join(timeout=30)
    assert pipe.is_fifo()
    assert read[0].endswith("VERDICT: PASS\n")


def test_the_target_of_a_link_is_written(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "report.txt"
    link.symlink_to(target)
    assert status(KERNEL, KERNEL, "-o", str(link), stdout=subprocess.DEVNULL) == (0, "")
    assert link.is_symlink()
    assert target.read_text().endswith("VERDICT: PASS\n")


@pytest.mark.parametrize("input_", ["ref.mlir", "gen.mlir", "launch.json", "link.mlir"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_input_is_overwritten(input_: str, form: str, tmp_path: Path) -> None:
    text = Path(KERNEL).read_text("utf-8")
    for name in ("ref.mlir", "gen.mlir"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "launch.json").write_text("{}", encoding="utf-8")
    (tmp_path / "link.mlir").symlink_to("ref.mlir")
    before = (tmp_path / input_).read_bytes()
    sides = (str(tmp_path / "ref.mlir"), str(tmp_path / "gen.mlir"))
    options = ("--launch", str(tmp_path / "launch.json"), "-o", str(tmp_path / input_), "--format", form)
    done = subprocess.run([*COMMAND, *sides, *options], capture_output=True, text=True, check=False)
    assert (done.returncode, (tmp_path / input_).read_bytes()) == (2, before)
    assert f"{input_}: error: is an input of the comparison, and would be overwritten" in done.stderr
    assert "BLOCKED" in done.stdout


def test_the_list_of_pairs_is_not_overwritten(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.txt"
    pairs.write_text(f"{KERNEL} {KERNEL}\n", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "batch", str(pairs), "-o", str(pairs)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, pairs.read_text("utf-8")) == (2, f"{KERNEL} {KERNEL}\n")
    assert "would be overwritten" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prove", KERNEL, KERNEL), "is no number of seconds; write them as --prove=5"),
        ((KERNEL, KERNEL, "--prove=nan"), "is no number of seconds; write them as --prove=5"),
        (("check", "-", "-"), "standard input can be read once"),
        (("check", "--lint", "-", KERNEL, "-"), "standard input can be read once"),
    ],
)
def test_a_call_that_means_something_else(arguments: tuple[str, ...], words: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in done.stderr
