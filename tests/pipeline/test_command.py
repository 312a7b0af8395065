"""Workers that are programs: what they are told, what they see, and what ends them."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.pipeline.fakes import Script, begun
from tileir_diff.errors import InputError
from tileir_diff.pipeline import sandbox
from tileir_diff.pipeline.log import Answered, Judged
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


def test_it_neither_sees_the_run_nor_its_key(tmp_path: Path) -> None:
    if sandbox.sandbox() != sandbox.NAMESPACE:
        pytest.skip("this system has no mount namespaces for users")
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
    if sandbox.sandbox() == sandbox.COPY:
        return
    port.go()  # the shell in the namespace says so: an attempt that failed
    assert {each.outcome for each in port.log.entries if isinstance(each, Judged)} == {"CRASHED"}


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


@pytest.mark.parametrize("text", ["", "{}", '[{"stage": "none"}]', '[{"stage": "host", "files": 1}]'])
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
