"""Workers that are programs: what they are told, what they see, and what ends them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.pipeline.fakes import Script, begun
from tileir_diff.errors import InputError
from tileir_diff.pipeline import sandbox
from tileir_diff.pipeline.agents import cards
from tileir_diff.pipeline.engine import Port
from tileir_diff.pipeline.log import Answered
from tileir_diff.pipeline.machine import Limits
from tileir_diff.pipeline.workers.command import read_command
from tileir_diff.pipeline.workers.recorded import read_replay

PASS = (("analyst", "PASS"),)


def template(folder: Path, code: str, more: str = "") -> Path:
    """A template that runs Python code with the prompt, the folder and the stage as arguments."""
    (folder / "agent.py").write_text(code)
    command = [sys.executable, str(folder / "agent.py"), "{prompt}", "{folder}", "{writes}", "{tokens}"]
    path = folder / "agent.toml"
    path.write_text(f"[worker]\ncommand = {command!r}\n{more}".replace("'", '"'))
    return path


def answered(folder: Path, code: str, more: str = "", limits: Limits | None = None) -> tuple[Answered, str]:
    """How the first attempt of such a worker ended, and what it printed."""
    worker = read_command(str(template(folder, code, more)))
    port = begun(folder / "run", worker, Script([]).gates(), limits or Limits(per_stage=1))
    with suppress(IndexError):  # the script has no verdict for it: the answer is what counts here
        port.go()
    first = next(each for each in port.log.entries if isinstance(each, Answered))
    port.log.close()
    return first, port.log.store.get(first.said).decode()


def test_it_gets_the_card_and_writes_its_file(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, json\n"
        "prompt, folder, writes, tokens = sys.argv[1:]\n"
        "print(pathlib.Path(prompt).read_text(), writes, tokens)\n"
        "pathlib.Path('analysis.json').write_text('{}')\n"
        "pathlib.Path('scratch/usage.json').write_text(json.dumps({'tokens': 77}))\n"
    )
    answer, said = answered(tmp_path, code)
    assert (answer.status, list(answer.outputs), answer.refused, answer.tokens) == (
        "ok",
        ["analysis.json"],
        [],
        77,
    )
    assert "# analyst" in said
    assert "- reference/a.mlir" in said
    assert said.strip().endswith("analysis.json 2000000")


def test_what_its_card_names_is_there_and_so_is_the_command(tmp_path: Path) -> None:
    code = (
        "import pathlib, re, shutil, subprocess, sys\n"
        "named = re.findall(r'`(agents/[^`]+)`', pathlib.Path(sys.argv[1]).read_text())\n"
        "print(named, all(pathlib.Path(path).is_file() for path in named))\n"
        "print(shutil.which('tileir-diff') is not None)\n"
    )
    worker = read_command(str(template(tmp_path, code)))
    port = Port(tmp_path / "run", worker, Script([]).gates(), cards())
    port.begin("add", Limits(per_stage=1), {}, {})
    with suppress(IndexError):
        port.go()
    first = next(each for each in port.log.entries if isinstance(each, Answered))
    port.log.close()
    assert port.log.store.get(first.said).decode() == "['agents/schemas/analysis.json'] True\nTrue\n"
    assert (first.status, first.refused) == ("ok", [])


def test_it_neither_sees_the_run_nor_its_key(tmp_path: Path) -> None:
    needs_namespaces()
    code = f"import os; print(sorted(os.listdir({str(tmp_path / 'run')!r})))\n"
    answer, said = answered(tmp_path, code)
    assert (said, answer.sandbox) == ("[]\n", "namespace")
    assert (tmp_path / "run" / "key").exists()


def test_it_gets_only_what_the_template_names_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "1")
    monkeypatch.setenv("AGENT_NAME", "2")
    code = "import os; print('SECRET_OF_MINE' in os.environ, os.environ.get('AGENT_NAME'))\n"
    assert answered(tmp_path, code, 'environment = ["AGENT_NAME"]\n')[1] == "False 2\n"


@pytest.mark.parametrize(
    ("code", "more", "status"),
    [
        ("raise SystemExit(3)", "", "failed"),
        ("import time; time.sleep(60)", "timeout = 0.5\n", "timeout"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "", "failed"),
    ],
)
def test_a_program_that_fails_has_crashed(code: str, more: str, status: str, tmp_path: Path) -> None:
    answer, _ = answered(tmp_path, code, more)
    assert (answer.status, answer.outputs) == (status, {})


def test_what_it_leaves_running_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "print(subprocess.Popen(sleep, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)\n"
    )
    ran = sandbox.run([sys.executable, "-c", code], tmp_path, 60.0)
    assert ran.status == 0
    pid = int(ran.said)
    deadline = time.monotonic() + 10
    while _alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _alive(pid)


LEAVES = (
    "import os, sys, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        print(os.getpid(), flush=True)\n"
    "        time.sleep(600)\n"
    "    os._exit(0)\n"
    "time.sleep({seconds})\n"
)
"""Leaves a process in a session of its own that holds what it prints to."""


@pytest.mark.parametrize("seconds", [0.5, 600])
def test_one_who_leaves_the_session_holds_nobody_up(seconds: float, tmp_path: Path) -> None:
    start = time.monotonic()
    code = LEAVES.format(seconds=seconds)
    ran = sandbox.run([sys.executable, "-c", code], tmp_path, 3.0)
    assert time.monotonic() - start < 30
    assert ran.how == ("ended" if seconds < 1 else "timeout")


def test_no_process_is_left_that_could_write_later(tmp_path: Path) -> None:
    needs_namespaces()
    marker = f"tileir-{os.getpid()}-{tmp_path.name}"
    code = LEAVES.format(seconds=0.5)
    sandbox.run([sys.executable, "-c", code, marker], tmp_path, 60.0)
    assert not _running(marker)


def needs_namespaces() -> None:
    """Skips where a program gets none."""
    if sandbox.sandbox() != sandbox.NAMESPACE:
        pytest.skip("this system has no mount namespaces for users")


def test_a_worker_ends_with_a_run_that_is_killed(tmp_path: Path) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("nothing here ends a program with the one that started it")
    inner = (
        f"import pathlib, time; pathlib.Path({str(tmp_path / 'own' / 'begun')!r}).touch(); time.sleep(600)"
    )
    (tmp_path / "own").mkdir()
    code = (
        "import pathlib, sys\nfrom tileir_diff.pipeline import sandbox\n"
        f"sandbox.run([sys.executable, '-c', {inner!r}, 'tileir-killed-{os.getpid()}'], "
        f"pathlib.Path({str(tmp_path / 'own')!r}), 600.0)\n"
    )
    own = {**os.environ, "TMPDIR": str(tmp_path)}  # for what it leaves
    with subprocess.Popen([sys.executable, "-c", code], env=own) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "own" / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
    deadline = time.monotonic() + 10
    while (left := _running(f"tileir-killed-{os.getpid()}")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _running(marker: str) -> list[bytes]:
    """Command lines with a word, of programs and not of what starts them."""
    found: list[bytes] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if marker.encode() in words and _alive(int(path.parent.name)):
                found.append(b" ".join(words))
    return found


@pytest.mark.parametrize(
    "attempt",
    [
        "umount {hidden}", "unshare -Urm umount {hidden}", "mount -o remount,bind,rw /",
        "unshare -Urm mount -o remount,bind,rw /", "nsenter -t 1 -m cat {hidden}/key",
        "cat /proc/1/root{hidden}/key", "cat /proc/{parent}/root{hidden}/key",
    ],
)  # fmt: skip
def test_what_is_hidden_stays_hidden(attempt: str, tmp_path: Path) -> None:
    needs_namespaces()
    folder, hidden = tmp_path / "own", tmp_path / "hidden"
    for each in (folder, hidden):
        each.mkdir()
    (hidden / "key").write_text("a secret")
    command = attempt.format(hidden=hidden, parent=os.getpid())
    script = f"{command}; cat {hidden}/key; echo forged > {hidden}/key; echo > {tmp_path}/beside"
    ran = sandbox.run(["sh", "-c", script], folder, 30.0, hide=(hidden,))
    assert b"a secret" not in ran.said
    assert (hidden / "key").read_text() == "a secret"
    assert not (tmp_path / "beside").exists()


def test_it_keeps_what_it_writes_only_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_namespaces()
    home, own, named, beside = (tmp_path / name for name in ("home", "own", "named", "beside"))
    for each in (home, own, named, beside):
        each.mkdir()
        (each / "old").write_text("old\n")
    monkeypatch.setenv("HOME", str(home))
    script = "".join(f"echo new > {each}/old; cat {each}/old;" for each in (home, own, named, beside))
    ran = sandbox.run(["sh", "-c", f"exec 2> /dev/null; {script} mktemp"], own, 30.0, writable=(named,))
    *told, temporary = ran.said.decode().split()
    assert told == ["new", "new", "new", "old"]  # HOME takes it, and forgets it
    assert [(each / "old").read_text().strip() for each in (home, own, named, beside)] == [
        "old",
        "new",
        "new",
        "old",
    ]
    assert temporary.startswith(f"{own}/scratch/")


def test_of_much_that_is_printed_the_end_is_kept(tmp_path: Path) -> None:
    code = "import sys\nfor _ in range(64): sys.stdout.write('x' * (1 << 20))\nprint('end')"
    ran = sandbox.run([sys.executable, "-c", code], tmp_path, 60.0)
    assert (len(ran.said), ran.said[-4:]) == (sandbox.MOST, b"end\n")


def test_it_is_stopped_when_it_says_that_its_tokens_are_used_up(tmp_path: Path) -> None:
    code = (
        "import json, pathlib, time\n"
        "pathlib.Path('analysis.json').write_text('{}')\n"
        "pathlib.Path('scratch/usage.json').write_text(json.dumps({'tokens': 500}))\n"
        "time.sleep(600)\n"
    )
    answer, _ = answered(tmp_path, code, limits=Limits(tokens=400))
    assert (answer.status, answer.tokens, answer.outputs) == ("stopped", 500, {})


@pytest.mark.parametrize(
    "make",
    [
        "os.mkfifo(path)", "os.symlink('/dev/zero', path)", "os.mkdir(path)", "os.symlink(path, path)",
        "open(path, 'w').write('[' * 4000)", "open(path, 'w').write('9' * 100000)",
        "open(path, 'wb').write(b'\\xff')",
        "open(path, 'w').write('{\"tokens\": -5}')", "open(path, 'w').write('{\"tokens\": NaN}')",
    ],
)  # fmt: skip
def test_what_says_no_tokens_counts_none(make: str, tmp_path: Path) -> None:
    answer, said = answered(tmp_path, f"import os\npath = 'scratch/usage.json'\n{make}\n")
    assert (answer.status, answer.tokens) == ("ok", 0), said


@pytest.mark.parametrize(
    "make",
    [
        "os.mkfifo('kernel.rs')", "os.symlink('/etc/passwd', 'kernel.rs')",
        "os.mkdir('kernel.rs'); open('kernel.rs/x', 'w')",
        "open(b'\\xff\\xfe', 'w')", "open('a\\nb', 'w')",
        "os.truncate(os.open('analysis.json', 66), 1 << 40)",
        "os.link('analysis.json', 'kernel.rs')", "os.rename('reference', 'elsewhere')",
        "[open(f'{at}.txt', 'w') for at in range(11000)]",
        "[os.truncate(os.open(f'{at}.txt', 66), 1 << 30) for at in range(60)]",
        "import shutil; shutil.rmtree('reference'); os.symlink('/', 'reference')",
    ],
)  # fmt: skip
def test_whatever_lies_there_is_refused_and_the_run_goes_on(make: str, tmp_path: Path) -> None:
    before = "import os\nopen('analysis.json', 'w').write('{}')\n"
    answer, said = answered(tmp_path, f"{before}{make}\n")
    assert answer.status == "ok", said
    assert answer.refused
    assert answer.outputs == {}


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_program_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text('[worker]\ncommand = ["/none/such"]\n')
    with pytest.raises(InputError, match="cannot be run"):
        sandbox.run(["/none/such"], tmp_path, 1.0)
    port = begun(tmp_path / "run", read_command(str(path)), Script([]).gates())
    with pytest.raises(InputError, match="cannot be run"):
        port.go()
    assert not any(isinstance(each, Answered) for each in port.log.entries)  # no attempt of anybody


@pytest.mark.parametrize(
    "text",
    [
        "", "x = 1", "[worker]\n", "[worker]\ncommand = []\n", "[worker]\ncommand = [1]\n", "[worker",
        '[worker]\ncommand = ["a"]\ntimeout = 0\n', '[worker]\ncommand = ["a"]\ntimeout = true\n',
        '[worker]\ncommand = ["a"]\nshell = true\n', '[worker]\ncommand = ["a"]\n[other]\n',
    ],
)  # fmt: skip
def test_what_is_no_template_is_bad_input(text: str, tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(text)
    with pytest.raises(InputError):
        read_command(str(path))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '[{"stage": "none"}]',
        '[{"stage": "host", "files": 1}]',
        '[{"stage": "host", "files": {"../x": "text"}}]',
        '[{"stage": "host", "files": {"/tmp/x": null}}]',
    ],
)
def test_what_are_no_recorded_answers_is_bad_input(text: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read_replay(str(path))


def test_recorded_answers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text('[{"stage": "kernel", "files": {"kernel.rs": "x", "old": null}, "tokens": 3}]')
    [answer] = read_replay(str(path)).answers
    assert (answer.stage, answer.files["old"], os.fspath(path) in read_replay(str(path)).path) == (
        "kernel",
        None,
        True,
    )
