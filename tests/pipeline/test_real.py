"""Whole ports with the real gates: kernels that build, a library that records launches, the interpreter."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.pipeline.fakes import CARDS
from tests.pipeline.real import LIKES, ROOT, lay, short_spec, source, spec
from tests.pipeline.test_measured import results
from tileir_diff.cli.app import app
from tileir_diff.errors import InputError
from tileir_diff.pipeline import sandbox
from tileir_diff.pipeline.artifacts import Correctness, DiffReport, GateVerdict
from tileir_diff.pipeline.engine import Port, replay
from tileir_diff.pipeline.gates.table import gates
from tileir_diff.pipeline.log import Judged, Store
from tileir_diff.pipeline.machine import Limits
from tileir_diff.pipeline.references import prepare
from tileir_diff.pipeline.stages import Stage
from tileir_diff.pipeline.workers.model import Answer, Task
from tileir_diff.pipeline.workers.template import Template

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cargo")]
Edit = Callable[[Task], None]
NONE = Limits(spawns=12)
TWICE = "    library.port_softmax(tensors, numbers, device, None)\n    return library"


class Writer:
    """Fixture kernels, hosts of the mechanical worker; `edits` spoil a stage's first attempt."""

    name = "fixtures"
    same = False

    def __init__(self, names: tuple[str, ...], edits: dict[Stage, Edit] | None = None) -> None:
        self._names = names
        self._edits = dict(edits or {})

    def work(self, task: Task) -> Answer:
        answer = Template().work(task) if task.stage != "kernel" else Answer()
        if task.stage == "analyst":
            _with_likes(task.folder / "analysis.json")
        if task.stage == "kernel":
            (task.folder / "kernel.rs").write_text("\n".join(_source(name) for name in self._names))
        edit = self._edits.pop(task.stage, None)
        if edit is not None:
            edit(task)
        return answer


def _source(name: str) -> str:
    return source(name).replace("//!", "//")


def _with_likes(path: Path) -> None:
    data = json.loads(path.read_text())
    for variant in data["variants"]:
        variant["target"]["like"] = LIKES[variant["name"]]
    path.write_text(json.dumps(data))


def swap(path: str, old: str, new: str) -> Edit:
    """Replaces text in a file."""

    def edit(task: Task) -> None:
        text = (task.folder / path).read_text()
        assert old in text, old
        (task.folder / path).write_text(text.replace(old, new))

    return edit


def ported(
    folder: Path, names: tuple[str, ...], edits: dict[Stage, Edit] | None = None, more: tuple[str, ...] = ()
) -> Port:
    port = Port(folder, Writer(names, edits), gates(), CARDS)
    port.begin(names[0], NONE, {"run_seconds": "60"}, prepare([*(spec(name) for name in names), *more]))
    port.go()
    port.log.close()
    return port


def told(port: Port) -> list[tuple[Stage, str]]:
    return [(each.stage, each.outcome) for each in port.log.entries if isinstance(each, Judged)]


def verdict(port: Port, stage: Stage, at: int = 0) -> GateVerdict:
    found = [each for each in port.log.entries if isinstance(each, Judged) and each.stage == stage]
    return GateVerdict.read(port.log.store.get(found[at].verdict).decode(), stage)


END = [("analyst", "PASS"), ("kernel", "PASS"), ("host", "ALL_PASS"), ("performance", "UNMEASURED")]


def test_two_variants_are_ported_measured_replayed_and_laid_out(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    port = ported(folder, ("softmax",), more=(short_spec(tmp_path),))
    assert told(port) == END
    assert port.run.state.end == "COMPLETE: unmeasured"
    tree = folder / "tree"
    correct = Correctness.read((tree / "correctness.json").read_text(), "")
    assert [(each.variant, each.outcome) for each in correct.compared] == [
        ("short", "equal"),
        ("softmax", "equal"),
    ]
    assert correct.evidence == verdict(port, "host").evidence == "interpreter"
    # again, in another folder and without the worker: the same verdicts and files
    again = tmp_path / "moved"
    shutil.copytree(folder, again)
    verdicts = replay(again, gates(), port.log.entries, Store(again / "objects"))
    assert [wrong for _, wrong in verdicts] == ["", "", "", ""]
    # what a gate wrote is true, and no longer when its kernel changes
    call = ["gate", "--verify", str(tree / "gates" / "kernel.json")]
    signed = CliRunner().invoke(app, [*call, "--key", str(folder / "key")])
    assert (signed.exit_code, "true" in signed.output) == (0, True)
    assert "unsigned" in CliRunner().invoke(app, call).output
    recomputed = CliRunner().invoke(app, [*call, "--recompute"])
    assert (recomputed.exit_code, "decided again: the same" in recomputed.output) == (0, True)
    # a measurement of these files, and the run completes
    now = {path: (tree / path).read_text() for path in ("kernel.rs", "ffi.rs")}
    from tests.pipeline import test_measured

    data = results({"softmax": (1.0, 1.0), "short": (1.0, 1.0)})
    data["sources"] = {"k": {path: test_measured.sha256(text.encode()) for path, text in now.items()}}
    (tmp_path / "results.json").write_text(json.dumps(data))
    more = CliRunner().invoke(
        app,
        ["port", "softmax", "--workdir", str(folder), "--resume", "--results", str(tmp_path / "results.json"),
         "--layout", "tilegym"],
    )  # fmt: skip
    assert more.exit_code == 0, more.output
    assert more.stdout.endswith("VERDICT: COMPLETE\n")
    laid = folder / "tilegym" / "softmax"
    assert (laid / "reports" / "performance.md").read_text().startswith("VERDICT: DONE\n")
    assert "interpreter" in (laid / "reports" / "correctness.md").read_text()
    lay(tree, {"kernel.rs": "changed"})
    assert "stale" in CliRunner().invoke(app, call).output


def test_a_wrong_axis_goes_back_to_the_kernel_writer_with_its_line(tmp_path: Path) -> None:
    port = ported(
        tmp_path / "run", ("softmax",), {"kernel": swap("kernel.rs", "(values, 1i32)", "(values, 0i32)")}
    )
    assert told(port) == [END[0], ("kernel", "FAIL"), ("diff", "TO_KERNEL"), *END[1:]]
    found = verdict(port, "kernel").findings
    assert found[0].rule == "reduction/axis"
    assert found[0].generated.startswith("kernel.rs:")


def test_a_kernel_that_does_not_build_goes_back_with_what_rustc_says(tmp_path: Path) -> None:
    port = ported(
        tmp_path / "run", ("softmax",), {"kernel": swap("kernel.rs", "let token: Token", "let token: Tokn")}
    )
    assert told(port) == [END[0], ("kernel", "NO_BUILD"), *END[1:]]
    detail = verdict(port, "kernel").checks[-1].detail
    assert detail.startswith("kernel.rs:")
    assert str(tmp_path) not in detail


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("on_grid([4, 1, 1])", "on_grid([3, 1, 1])", "runs"),
        ("Generic::Number(64), Generic::Number(64)", "Generic::Number(64), Generic::Number(128)", "same as"),
        (".view(&t0).view(&t1)", ".view(&t1).view(&t0)", "same as"),
    ],
)
def test_a_host_that_launches_otherwise_goes_back_to_the_host_builder(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    port = ported(tmp_path / "run", ("softmax",), {"host": swap("ffi.rs", old, new)})
    assert told(port) == [*END[:2], ("host", "FAIL"), ("diff", "TO_HOST"), *END[2:]]
    failed = [each.name for each in verdict(port, "host").checks if each.result == "fail"]
    assert any(said in name for name in failed), failed
    report = DiffReport.read(port.log.store.get(_report(port)).decode(), "")
    assert (report.failed, report.owner, report.route) == ("host", "host", "host")


def _report(port: Port) -> str:
    from tileir_diff.pipeline.log import Answered

    return next(
        each.outputs["diff_report.json"]
        for each in port.log.entries
        if isinstance(each, Answered) and each.stage == "diff"
    )


def test_a_host_that_does_not_build_goes_back(tmp_path: Path) -> None:
    port = ported(tmp_path / "run", ("softmax",), {"host": swap("ffi.rs", "Err(Failure", "Error(Failure")})
    assert told(port) == [*END[:2], ("host", "NO_BUILD"), *END[2:]]
    assert verdict(port, "host").checks[-1].detail.startswith("ffi.rs:")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    return library", TWICE, "2 launches"),
        ("    return library", "    return 0\n    return library", "0 launches"),
        ("    return library", "    raise SystemExit(7)\n    return library", "status 7"),
        ('"f16": 1', '"f16": 2', "no variant takes"),
    ],
)  # fmt: skip
def test_a_wrapper_that_launches_not_once_fails(old: str, new: str, said: str, tmp_path: Path) -> None:
    port = ported(tmp_path / "run", ("softmax",), {"host": swap("wrapper.py", old, new)})
    assert told(port)[2:4] == [("host", "FAIL"), ("diff", "TO_HOST")]
    assert said in next(each.detail for each in verdict(port, "host").checks if each.result == "fail")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("wrapper.py", "import ctypes\n", "import ctypes\nimport torch\n"),
        ("ffi.rs", "use std::ffi::c_void;", "use std::ffi::c_void;\nuse std::fs as files;"),
    ],
)
def test_a_host_that_is_more_than_a_launch_fails_before_it_runs(
    path: str, old: str, new: str, tmp_path: Path
) -> None:
    port = ported(tmp_path / "run", ("softmax",), {"host": swap(path, old, new)})
    assert told(port)[2:4] == [("host", "FAIL"), ("diff", "TO_HOST")]
    failed = [each.detail for each in verdict(port, "host").checks if each.result == "fail"]
    assert [each.partition(":")[0] for each in failed] == [path]


def _nothing(text: str) -> None:
    del text


FORGES = """
import pathlib
here = pathlib.Path(__file__).parent
for path in here.glob("reference/*.mlir"):
    path.chmod(0o644)
    path.write_text("forged")
(here / "given").mkdir(exist_ok=True)
(here / "given" / "waivers.toml").write_text('[[waivers]]\\nrule = "*"\\nreason = "mine"\\n')
"""


@pytest.mark.parametrize("where", [sandbox.NAMESPACE, sandbox.COPY])
def test_a_wrapper_changes_nothing_of_what_it_is_judged_by(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that the gate has not seen through."""
    if where == sandbox.NAMESPACE and sandbox.sandbox() != where:
        pytest.skip("this system has no mount namespaces for users")
    monkeypatch.setattr(sandbox, "sandbox", lambda: where)
    monkeypatch.setattr("tileir_diff.pipeline.gates.host.foreign_python", _nothing)
    edits: dict[Stage, Edit] = {"host": swap("wrapper.py", "import ctypes\n", f"import ctypes\n{FORGES}")}
    port = ported(tmp_path / "run", ("softmax",), edits)
    if where == sandbox.NAMESPACE:  # what it has written is gone, and counts for nothing
        assert told(port) == END
        return
    assert told(port)[2:] == [("host", "MALFORMED"), *END[2:]]
    assert "was changed while it was judged" in verdict(port, "host").checks[0].detail


@pytest.mark.parametrize("where", [sandbox.NAMESPACE, sandbox.COPY])
def test_a_wrapper_does_not_change_the_library_for_the_next_call(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == sandbox.NAMESPACE and sandbox.sandbox() != where:
        pytest.skip("this system has no mount namespaces for users")
    monkeypatch.setattr(sandbox, "sandbox", lambda: where)
    monkeypatch.setattr("tileir_diff.pipeline.gates.host.foreign_python", _nothing)
    code = "import sys\nopen(sys.argv[1], 'ab').write(b'forged')\n"
    edits: dict[Stage, Edit] = {"host": swap("wrapper.py", "import ctypes\n", f"import ctypes\n{code}")}
    port = ported(tmp_path / "run", ("softmax",), edits)
    assert told(port)[2] == ("host", "FAIL")
    wanted = "Read-only" if where == sandbox.NAMESPACE else "the library was changed"
    assert any(wanted in each.detail for each in verdict(port, "host").checks if each.result == "fail")


def test_a_report_that_blames_another_is_malformed(tmp_path: Path) -> None:
    edits: dict[Stage, Edit] = {
        "kernel": swap("kernel.rs", "(values, 1i32)", "(values, 0i32)"),
        "diff": swap("diff_report.json", '"route": "kernel"', '"route": "upstream"'),
    }
    port = ported(tmp_path / "run", ("softmax",), edits)
    assert told(port) == [END[0], ("kernel", "FAIL"), ("diff", "MALFORMED"), ("diff", "TO_KERNEL"), *END[1:]]


def test_waivers_are_the_users_and_count(tmp_path: Path) -> None:
    def occupancy(task: Task) -> None:
        swap("kernel.rs", "occupancy = 4", "occupancy = 2")(task)

    waivers = b'[[waivers]]\nrule = "entry-hint/*"\nreason = "tuned"\n'
    port = Port(tmp_path / "run", Writer(("softmax",), {"kernel": occupancy}), gates(), CARDS)
    files = prepare([spec("softmax")]) | {"given/waivers.toml": waivers}
    port.begin("softmax", NONE, {"today": "2026-01-01"}, files)
    port.go()
    assert told(port) == END
    without = ported(tmp_path / "other", ("softmax",), {"kernel": occupancy})
    assert told(without)[1:3] == [("kernel", "FAIL"), ("diff", "TO_KERNEL")]


def test_the_gate_alone_says_the_same(tmp_path: Path) -> None:
    lay(tmp_path, prepare([spec("softmax")]))
    Template().work(Task("analyst", "softmax", 1, tmp_path, "", 1, 1.0))
    _with_likes(tmp_path / "analysis.json")
    call = ["gate", "--analysis", str(tmp_path / "analysis.json"), "--kernel", str(tmp_path / "kernel.rs")]
    lay(tmp_path, {"kernel.rs": source("softmax")})
    assert CliRunner().invoke(app, call).exit_code == 0
    lay(tmp_path, {"kernel.rs": source("softmax").replace("(values, 1i32)", "(values, 0i32)")})
    made = CliRunner().invoke(app, [*call, "--format", "json"])
    assert made.exit_code == 1
    assert json.loads(made.output)["outcome"] == "FAIL"
    lay(tmp_path, {"analysis.json": "{}"})
    assert CliRunner().invoke(app, call).exit_code == 2


def test_a_broken_reference_is_told() -> None:
    with pytest.raises(InputError):
        prepare(["none.toml"])


AGENT = """
import sys
from pathlib import Path
from tests.pipeline.test_real import Writer
from tileir_diff.pipeline.workers.model import Task

stage, folder, tokens, prompt = sys.argv[1:]
assert "## This attempt" in Path(prompt).read_text()
answer = Writer(("softmax",)).work(Task(stage, "softmax", 1, Path(folder), "", int(tokens), 60.0))
sys.stdout.buffer.write(answer.said)
sys.exit(answer.status != "ok")
"""


def test_an_agents_command_line_ports_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    command = [sys.executable, str(tmp_path / "agent.py"), "{stage}", "{folder}", "{tokens}", "{prompt}"]
    (tmp_path / "agent.toml").write_text(
        f'[worker]\ncommand = {json.dumps(command)}\nenvironment = ["PYTHONPATH", "TILEIR_TOOLCHAIN"]\n'
    )
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = ["port", "softmax", "--workdir", str(tmp_path / "run"), "--reference", spec("softmax")]
    made = CliRunner().invoke(
        app, [*words, "--worker", f"command:{tmp_path / 'agent.toml'}", "--attempts", "1"]
    )
    assert made.stdout.endswith("VERDICT: COMPLETE: unmeasured\n"), made.output
    from tileir_diff.pipeline.log import Answered, read_log

    answers = [each for each in read_log(tmp_path / "run" / "log.jsonl") if isinstance(each, Answered)]
    assert [each.status for each in answers] == ["ok"] * 4
    assert {each.sandbox for each in answers} == {sandbox.sandbox()}
