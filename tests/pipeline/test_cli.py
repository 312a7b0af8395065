"""The commands `port` and `gate`: what they say of bad input, and how they exit."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.pipeline.fakes import CARDS, HAPPY, LIMITS, OWN, Script, Writer, begun
from tests.pipeline.real import KERNELS, ROOT, lay, port_of, source, spec
from tests.pipeline.test_measured import results
from tileir_diff.cli.app import app
from tileir_diff.pipeline.artifacts import GateVerdict
from tileir_diff.pipeline.engine import Port, replay
from tileir_diff.pipeline.log import Judged
from tileir_diff.pipeline.sign import make_key, signed
from tileir_diff.pipeline.stages import Outcome, Stage
from tileir_diff.pipeline.workers.model import Task

Told = tuple[tuple[Stage, Outcome], ...]


def ask(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("port", "k"), "no reference"),
        (("port", "k", "--reference", "x.mlir"), "has no launch"),
        (("port", "k", "--reference", "none.toml"), "none.toml"),
        (("port", "k", "--worker", "magic"), "is no worker"),
        (("port", "k", "--worker", "command:none.toml"), "none.toml"),
        (("port", "k", "--worker", "replay:none.json"), "none.json"),
        (("port", "k", "--waivers", "none.toml"), "none.toml"),
        (("port", "k", "--results", "none.json"), "none.json"),
        (("port", "k", "--status"), "no port has begun here"),
        (("port", "k", "--resume"), "no port has begun here"),
        (("port", "replay"), "replay LOG"),
        (("port", "replay", "none"), "none"),
        (("port", "a", "b"), "give one operator"),
        *(
            (("port", name, "--reference", spec("softmax")), "is a name")
            for name in ("", "../x", "a b", "1a", "\xfc")
        ),
        (("gate",), "give --analysis"),
        (("gate", "--analysis", "none.json", "--kernel", "k.rs"), "none.json"),
        (("gate", "--verify", "none.json"), "none.json"),
        (("mcp", "--root", "none"), "none"),
    ],
)
def test_bad_input_is_one_message_and_status_2(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = ask(*words)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


def test_a_run_is_shown_and_not_begun_again(tmp_path: Path) -> None:
    port = begun(tmp_path / "run", Writer(), Script(HAPPY).gates())
    port.go()
    port.log.close()
    shown = ask("port", "k", "--workdir", tmp_path / "run", "--status")
    assert shown.exit_code == 1  # unmeasured is no pass
    assert shown.output.splitlines()[0] == "k, by writer"
    assert shown.output.endswith("VERDICT: COMPLETE: unmeasured\n")
    again = ask("port", "k", "--workdir", tmp_path / "run", "--reference", spec("softmax"))
    assert (again.exit_code, "--resume" in again.output) == (2, True)
    for words in (("--reference", spec("softmax")), ("--attempts", 9), ("--seconds", 5), ("--waivers", "x")):
        other = ask("port", "k", "--workdir", tmp_path / "run", "--resume", *words)
        assert (other.exit_code, f"{words[0]}: error: only for the begin" in other.output) == (2, True)
    for words in ("--resume", "--status"):
        other = ask("port", "l", "--workdir", tmp_path / "run", words)
        assert (other.exit_code, "this is a port of k" in other.output) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_asked_to_end_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    command = 'command = ["sh", "-c", "touch analysis.json; sleep 60"]'
    lay(tmp_path, {"agent.toml": f"[worker]\n{command}\n", "tmp/.keep": ""})
    call = [sys.executable, "-m", "tileir_diff", "port", "k", "--workdir", str(tmp_path / "run")]
    call += ["--worker", f"command:{tmp_path / 'agent.toml'}", "--reference", spec("softmax")]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(call, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not list((tmp_path / "tmp").glob("*/port/analysis.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(number)
    assert running.wait(timeout=30) == 128 + number
    assert [each.name for each in (tmp_path / "tmp").iterdir()] == [".keep"]
    shown = ask("port", "k", "--workdir", tmp_path / "run", "--status")
    assert shown.output.endswith("VERDICT: at work: analyst\n")


def test_a_run_at_work_says_where_it_is(tmp_path: Path) -> None:
    begun(tmp_path / "run", Writer(), Script(HAPPY).gates()).log.close()
    assert ask("port", "k", "--workdir", tmp_path / "run", "--status").output.endswith(
        "VERDICT: at work: analyst\n"
    )


def test_a_damaged_log_is_told_with_its_line(tmp_path: Path) -> None:
    port = begun(tmp_path / "run", Writer(), Script(HAPPY).gates())
    port.go()
    port.log.close()
    path = tmp_path / "run" / "log.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"outcome": "UNMEASURED"', b'"outcome": "PASS"'))
    for words in (("--status",), ("--resume",)):
        result = ask("port", "k", "--workdir", tmp_path / "run", *words)
        assert (result.exit_code, "log.jsonl:14" in result.output) == (2, True), result.output


def test_a_replay_tells_a_verdict_that_was_raised(tmp_path: Path) -> None:
    told: Told = (HAPPY[0], ("kernel", "NO_BUILD"), *HAPPY[1:])
    port = begun(tmp_path / "run", Writer(), Script(told).gates())
    port.go()
    entries = port.log.entries
    same = replay(tmp_path / "run", Script(told).gates(), entries, port.log.store)
    assert [wrong for _, wrong in same] == [""] * 5
    raised = Script((*HAPPY[:2], *HAPPY[1:]))
    other = replay(tmp_path / "run", raised.gates(), entries, port.log.store)
    assert [wrong for _, wrong in other] == ["", "NO_BUILD in the log, PASS now", "", "", ""]
    # somebody writes another verdict into the store, and its hash into the log
    at = next(
        index for index, each in enumerate(entries) if isinstance(each, Judged) and each.stage == "kernel"
    )
    verdict = GateVerdict.read(port.log.store.get(entries[at].verdict).decode(), "")  # pyright: ignore
    forged = verdict.model_copy(update={"outcome": "PASS"})
    name = port.log.store.put(forged.to_json().encode())
    changed = [*entries]
    changed[at] = entries[at].model_copy(update={"verdict": name})
    found = replay(tmp_path / "run", Script(told).gates(), changed[: at + 1], port.log.store)
    assert found[1][1] == "the verdict in the log was altered"


def test_a_log_that_is_cut_off_is_no_end(tmp_path: Path) -> None:
    port = begun(tmp_path / "run", Writer(), Script(HAPPY).gates())
    port.log.close()
    assert ask("port", "replay", tmp_path / "run").output.endswith(
        "0 of them differ; the run has not ended\n"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("--reference", "x.mlir"),
        ("--reference", f"{KERNELS}/matmul/py.g.mlir,{KERNELS}/softmax/launch.json"),
        ("--reference", "none.toml"),
        ("--reference", spec("softmax"), "--worker", "magic"),
        ("--reference", spec("softmax"), "--results", f"{KERNELS}/softmax/launch.json"),
        ("--reference", spec("softmax"), "--waivers", "none.toml"),
        ("--reference", spec("softmax"), "--baselines", f"{KERNELS}/softmax/launch.json"),
        ("--resume",),
    ],
)
def test_a_begin_that_fails_leaves_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "port" / "run"
    for _ in range(2):
        result = ask("port", "k", "--workdir", folder, *words)
        assert (result.exit_code, "there is a run" in result.output) == (2, False)
        assert not folder.parent.exists()


def test_a_begin_that_was_torn_is_none(tmp_path: Path) -> None:
    lay(tmp_path, {"run/log.jsonl": '{"before": "'})
    call = ("port", "k", "--workdir", tmp_path / "run", "--worker", f"replay:{tmp_path / 'none.json'}")
    lay(tmp_path, {"none.json": "[]"})
    for words, said in (((), "no reference"), (("--resume",), "no port has begun")):
        assert said in ask(*call, *words).output
    made = ask(*call, "--reference", spec("softmax"), "--attempts", "1", "--layout", "tilegym")
    assert "\nVERDICT: BLOCKED: budget (analyst: 1 attempts)\n" in made.output


def test_a_launch_of_another_kernel_says_what_each_names() -> None:
    words = f"{KERNELS}/matmul/py.g.mlir,{KERNELS}/softmax/launch.json"
    said = ask("port", "k", "--reference", words).output
    assert re.search(r"the launch names 'softmax_\w+', the entries of \S+matmul/py.g.mlir are matmul_", said)


def test_only_results_of_this_kernel_take_an_attempt(tmp_path: Path) -> None:
    given = port_of(tmp_path / "given", "softmax")
    own = {"analyst": given.text("analysis.json"), "kernel": "k", "host": "f"}

    def write(task: Task) -> None:
        (task.folder / OWN[task.stage]).write_text(own.get(task.stage, "{}"))

    port = begun(tmp_path / "run", Writer(write), Script(HAPPY).gates())
    port.go()
    port.log.close()
    log = tmp_path / "run" / "log.jsonl"
    before = log.read_bytes()
    times = {"softmax": (10.0, 10.0)}
    path = tmp_path / "results.json"
    refusals: list[tuple[object, str]] = [
        ([], "no results of a GPU"),
        ({**results(times), "schema": "other"}, "no results of a GPU"),
        (results(times, sources={}), "`sources` of softmax"),
        (results(times, benchmark=None), "no benchmark"),
        (results({"other": (1.0, 1.0)}), "softmax are missing"),
    ]
    for data, said in refusals:
        path.write_text(json.dumps(data))
        for _ in range(5):
            refused = ask("port", "k", "--workdir", tmp_path / "run", "--resume", "--results", path)
            assert (refused.exit_code, said in refused.output) == (2, True), refused.output
            assert refused.output.startswith(f"{path}: error: ")
        assert log.read_bytes() == before
    path.write_text(json.dumps(results(times)))
    good = ask("port", "k", "--workdir", tmp_path / "run", "--resume", "--results", path)
    assert (good.exit_code, good.stdout.splitlines()[-1]) == (0, "VERDICT: COMPLETE"), good.output


def test_without_cargo_nothing_is_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tileir_diff.transpile")
    monkeypatch.setenv("PATH", str(tmp_path))
    call = ("port", "k", "--workdir", tmp_path / "run")
    for words in (("--reference", spec("softmax")), ("--resume",), ("--resume",)):
        result = ask(*call, *words)
        assert (result.exit_code, "no cargo on PATH" in result.output) == (2, True), result.output
    shown = ask(*call, "--status").output
    assert shown.endswith("VERDICT: at work: kernel writer\n")
    assert "\n1 of 16 attempts" in shown


def test_what_a_verdict_is_worth(tmp_path: Path) -> None:
    lay(tmp_path, {"kernel.rs": "k"})
    from tileir_diff.pipeline.log import sha256

    verdict = GateVerdict(
        stage="kernel", outcome="PASS", evidence="static", checks=[], versions={},
        saw={"kernel.rs": sha256(b"k")},
    )  # fmt: skip
    lay(tmp_path, {"gates/kernel.json": signed(verdict, make_key(tmp_path)).to_json()})
    call = ("gate", "--verify", tmp_path / "gates" / "kernel.json")
    assert ask(*call, "--key", tmp_path / "key").output.startswith("kernel PASS: true")
    assert ask(*call).exit_code == 1
    lay(tmp_path, {"gates/kernel.json": verdict.to_json()})
    assert ask(*call, "--key", tmp_path / "key").output.startswith("kernel PASS: altered")
    lay(tmp_path, {"gates/kernel.json": signed(verdict, b"o" * 32).to_json()})
    assert ask(*call, "--key", tmp_path / "key").output.startswith("kernel PASS: forged")
    assert "this verdict has not seen analysis.json" in ask(*call, "--analysis", "analysis.json").output
    blind = verdict.model_copy(update={"saw": {}})
    lay(tmp_path, {"gates/kernel.json": signed(blind, None).to_json()})
    assert "it has not seen analysis.json" in ask(*call, "--recompute").output
    lay(tmp_path, {"gates/kernel.json": signed(verdict, b"o" * 32).to_json(), "kernel.rs": "other"})
    assert ask(*call, "--key", tmp_path / "key").output.startswith("kernel PASS: stale")


def test_the_gate_refuses_host_code_before_it_builds_anything(tmp_path: Path) -> None:
    port_of(tmp_path, "softmax")
    lay(tmp_path, {"kernel.rs": source("softmax") + "\nfn main() {}\n"})
    call = ("gate", "--analysis", tmp_path / "analysis.json", "--kernel", tmp_path / "kernel.rs")
    result = ask(*call, "-o", tmp_path / "verdict.json")
    assert result.exit_code == 1
    assert "only #[cutile::module] modules" in result.output
    assert result.output.endswith("VERDICT: FAIL\n")
    written = json.loads((tmp_path / "verdict.json").read_text())
    assert (written["outcome"], written["mac"], len(written["content"])) == ("FAIL", "", 64)


def test_a_plain_diff_loads_nothing_of_it() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from tileir_diff.cli.app import app\n"
        "try: app(['fixtures/kernels/softmax/py.mlir', 'fixtures/kernels/softmax/rs.mlir'])\n"
        "except SystemExit: pass\n"
        "heavy = ('tileir_diff.pipeline', 'mcp', 'rich', 'deepdiff')\n"
        "print([name for name in sys.modules if name.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_live_view_shows_the_run(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    from rich.console import Console

    from tileir_diff.pipeline.live import go

    port = Port(tmp_path / "run", Writer(), Script(HAPPY).gates(), CARDS)
    port.begin("k", LIMITS, {}, {})
    screen = io.StringIO()
    go(port, Console(file=screen, force_terminal=True, width=100))
    assert "COMPLETE: unmeasured" in screen.getvalue()
    assert "kernel writer" in screen.getvalue()
