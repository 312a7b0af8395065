"""The engine: every route, what a worker may not do, and what is kept of it all."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest

from tests.pipeline.fakes import CARDS, HAPPY, LIMITS, OWN, Script, Writer, begun
from tileir_diff.errors import InputError, MissingToolError
from tileir_diff.pipeline.artifacts import GateVerdict
from tileir_diff.pipeline.engine import Port
from tileir_diff.pipeline.gates.common import Gate, Given, Ruled, Ruling
from tileir_diff.pipeline.log import NAME, Answered, Attempted, Judged, read_log
from tileir_diff.pipeline.machine import Limits
from tileir_diff.pipeline.show import status_text
from tileir_diff.pipeline.sign import KEY
from tileir_diff.pipeline.stages import BROKEN, STAGES, Outcome, Stage
from tileir_diff.pipeline.state import replayed
from tileir_diff.pipeline.workers.model import Answer, Task
from tileir_diff.pipeline.workers.recorded import Recorded, Replay

Told = tuple[tuple[Stage, Outcome], ...]


def ended(folder: Path, told: Told, limits: Limits = LIMITS) -> tuple[str, list[Stage]]:
    """How a run on these verdicts ends, and which stages it did."""
    script = Script(told)
    port = begun(folder, Writer(), script.gates(), limits)
    run = port.go()
    port.log.close()
    assert not script.left
    return run.state.end, script.calls


A: tuple[Stage, Outcome] = ("analyst", "PASS")
K: tuple[Stage, Outcome] = ("kernel", "PASS")
H: tuple[Stage, Outcome] = ("host", "ALL_PASS")
ROUTES: dict[str, tuple[Told, str]] = {
    "all pass": ((A, K, H, ("performance", "PASS")), "COMPLETE"),
    "no measurement": (HAPPY, "COMPLETE: unmeasured"),
    "analysis wrong": ((("analyst", "FAIL"), *HAPPY), "COMPLETE: unmeasured"),
    "analysis malformed": ((("analyst", "MALFORMED"), *HAPPY), "COMPLETE: unmeasured"),
    "no build": ((A, ("kernel", "NO_BUILD"), *HAPPY[1:]), "COMPLETE: unmeasured"),
    "kernel differs": ((A, ("kernel", "FAIL"), ("diff", "TO_KERNEL"), *HAPPY[1:]), "COMPLETE: unmeasured"),
    "kernel differs, host is blamed": (
        (A, ("kernel", "FAIL"), ("diff", "TO_HOST"), *HAPPY[1:]), "COMPLETE: unmeasured",
    ),
    "compiler's bug": ((A, ("kernel", "FAIL"), ("diff", "UPSTREAM")), "BLOCKED: upstream"),
    "nobody's": ((A, ("kernel", "FAIL"), ("diff", "UNDIAGNOSED")), "BLOCKED: undiagnosed"),
    "report malformed": (
        (A, ("kernel", "FAIL"), ("diff", "MALFORMED"), ("diff", "UPSTREAM")), "BLOCKED: upstream",
    ),
    "host does not build": ((A, K, ("host", "NO_BUILD"), *HAPPY[2:]), "COMPLETE: unmeasured"),
    "host wrong": ((A, K, ("host", "FAIL"), ("diff", "TO_HOST"), *HAPPY[2:]), "COMPLETE: unmeasured"),
    "kernel wrong after all": (
        (A, K, ("host", "FAIL"), ("diff", "TO_KERNEL"), *HAPPY[1:]), "COMPLETE: unmeasured",
    ),
    "wrong on the GPU": (
        (A, K, H, ("performance", "FAIL"), ("diff", "UNDIAGNOSED")), "BLOCKED: undiagnosed",
    ),
    "numbers malformed": ((A, K, H, ("performance", "MALFORMED"), HAPPY[3]), "COMPLETE: unmeasured"),
    "slow": ((A, K, H, ("performance", "SLOW"), ("investigator", "EXPLAINED")), "COMPLETE: slow"),
    "slow, badly explained": (
        (A, K, H, ("performance", "SLOW"), ("investigator", "FAIL"), ("investigator", "EXPLAINED")),
        "COMPLETE: slow",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROUTES)
def test_every_route_leads_where_it_should(name: str, tmp_path: Path) -> None:
    told, end = ROUTES[name]
    assert ended(tmp_path / "run", told) == (end, [stage for stage, _ in told])


@pytest.mark.parametrize(
    ("limits", "told", "what"),
    [
        (Limits(per_stage=2), (A, ("kernel", "NO_BUILD"), ("kernel", "NO_BUILD")), "kernel: 2 attempts"),
        (Limits(spawns=2), (A, K), "2 attempts in all"),
        (Limits(tokens=15), (A, K), "15 tokens"),
        (Limits(seconds=1e-9), (A,), "1e-09 s"),
    ],
)
def test_running_out_is_a_verdict(limits: Limits, told: Told, what: str, tmp_path: Path) -> None:
    assert ended(tmp_path / "run", told, limits)[0] == f"BLOCKED: budget ({what})"


def spoil(path: str, text: str | None) -> Writer:
    """A worker that also does this to a file, at its first attempt as kernel writer."""
    seen: list[int] = []

    def change(task: Task) -> None:
        if task.stage != "kernel" or seen:
            return
        seen.append(1)
        place = task.folder / path
        if text is None:
            place.unlink()
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            place.chmod(0o644)
        place.write_text(text)

    return Writer(change)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("analysis.json", "{}"),
        ("reference/a.mlir", "// easier"),
        ("reference/b.mlir", "// one more"),
        ("reference/a.mlir", None),
        ("given/waivers.toml", '[[waivers]]\nrule = "*"\nreason = "no"\n'),
        ("gates/kernel.json", '{"outcome": "PASS"}'),
        ("gates/analyst.json", "{}"),
        ("generated/x.mlir", "forged"),
        ("ffi.rs", "// not yours"),
        ("notes.txt", "hello"),
    ],
)
def test_what_is_not_the_stages_own_is_refused_and_nothing_taken(
    path: str, text: str | None, tmp_path: Path
) -> None:
    script = Script([A, *HAPPY[1:]])
    port = begun(tmp_path / "run", spoil(path, text), script.gates())
    run = port.go()
    assert run.state.end == "COMPLETE: unmeasured"
    answers = [each for each in port.log.entries if isinstance(each, Answered)]
    assert [each.refused for each in answers] == [[], [path], [], [], []]
    assert answers[1].outputs == {}
    verdicts = [each.outcome for each in port.log.entries if isinstance(each, Judged)]
    assert verdicts == ["PASS", "REFUSED", "PASS", "ALL_PASS", "UNMEASURED"]
    # no gate was asked about it
    assert script.calls == ["analyst", "kernel", "host", "performance"]
    assert port.log.store.get(run.files["reference/a.mlir"]) == b"a\n"


def test_a_link_is_no_file(tmp_path: Path) -> None:
    def link(task: Task) -> None:
        if task.attempt == 1:
            (task.folder / "analysis.json").unlink()
            (task.folder / "analysis.json").symlink_to("/etc/hostname")

    port = begun(tmp_path / "run", Writer(link), Script(HAPPY).gates())
    port.go()
    assert next(each.outcome for each in port.log.entries if isinstance(each, Judged)) == "REFUSED"


@pytest.mark.parametrize("status", ["failed", "timeout"])
def test_a_worker_that_fails_leaves_nothing(status: str, tmp_path: Path) -> None:
    def fail(task: Task) -> Answer | None:
        return _failed(status) if task.attempt == 1 else None

    port = begun(tmp_path / "run", Writer(fail), Script(HAPPY).gates())
    run = port.go()
    first = next(each for each in port.log.entries if isinstance(each, Judged))
    assert first.outcome == "CRASHED"
    assert "it broke" in port.log.store.get(first.verdict).decode()
    assert run.state.end == "COMPLETE: unmeasured"


def _failed(status: str) -> Answer:
    return Answer("failed" if status == "failed" else "timeout", b"it broke\n")


def test_notes_in_scratch_are_nobodys_business(tmp_path: Path) -> None:
    def note(task: Task) -> None:
        (task.folder / "scratch" / "log.txt").write_text("thinking")

    port = begun(tmp_path / "run", Writer(note), Script(HAPPY).gates())
    run = port.go()
    assert run.state.end == "COMPLETE: unmeasured"
    assert not [path for path in run.files if path.startswith("scratch")]


def test_what_rests_on_a_changed_file_is_dropped(tmp_path: Path) -> None:
    told: Told = (A, K, ("host", "FAIL"), ("diff", "TO_KERNEL"), K)
    port = begun(tmp_path / "run", Writer(), Script(told).gates(), Limits(spawns=5))
    run = port.go()
    # the host's verdict was about the kernel of before, and so was the diagnosis
    assert "gates/host.json" not in run.files
    assert "launched/x.mlir" not in run.files
    assert "diff_report.json" not in run.files
    assert "ffi.rs" in run.files
    assert {"gates/kernel.json", "generated/x.mlir", "gates/analyst.json"} <= set(run.files)


def test_a_worker_sees_the_verdict_of_before_and_not_the_key(tmp_path: Path) -> None:
    seen: list[tuple[str, bool]] = []

    def look(task: Task) -> None:
        verdict = task.folder / f"gates/{task.stage}.json"
        seen.append((verdict.read_text() if verdict.exists() else "", any(task.folder.rglob(KEY))))

    told: Told = (A, ("kernel", "NO_BUILD"), K, H, HAPPY[3])
    port = begun(tmp_path / "run", Writer(look), Script(told).gates())
    port.go()
    assert [bool(text) for text, _ in seen] == [False, False, True, False, False]
    assert json.loads(seen[2][0])["outcome"] == "NO_BUILD"
    assert not any(key for _, key in seen)


def test_attempts_are_compared_and_the_difference_told(tmp_path: Path) -> None:
    pytest.importorskip("deepdiff")
    told: Told = (A, ("kernel", "NO_BUILD"), K, H, HAPPY[3])
    port = begun(tmp_path / "run", Writer(), Script(told).gates())
    port.go()
    kernel = [each for each in port.log.entries if isinstance(each, Judged) and each.stage == "kernel"]
    assert kernel[0].changed == []
    assert '[\'outcome\']: "NO_BUILD" -> "PASS"' in kernel[1].changed


def test_a_run_that_was_stopped_anywhere_goes_on_and_does_nothing_twice(tmp_path: Path) -> None:
    script, worker = Script(HAPPY), Writer()
    whole = begun(tmp_path / "whole", worker, script.gates())
    whole.go()
    whole.log.close()
    lines = (tmp_path / "whole" / "log.jsonl").read_bytes().splitlines(keepends=True)
    for kept in range(1, len(lines)):
        folder = tmp_path / f"cut{kept}"
        folder.mkdir()
        (folder / "log.jsonl").write_bytes(b"".join(lines[:kept]) + b'{"before": "')
        (folder / "objects").symlink_to(tmp_path / "whole" / "objects")
        judged = [json.loads(line) for line in lines[:kept] if b'"judged"' in line]
        answered = [line for line in lines[:kept] if b'"answered"' in line]
        again, rest = Writer(), Script(HAPPY[len(judged) :])
        port = Port(folder, again, rest.gates(), CARDS)
        run = port.go()
        port.log.close()
        assert run.state.end == "COMPLETE: unmeasured"
        assert len(rest.calls) == len(HAPPY) - len(judged)
        assert len(again.tasks) == len(HAPPY) - len(answered)
        attempts = [each.attempt for each in port.log.entries if isinstance(each, Attempted)]
        assert attempts == [1, 2, 3, 4]


def test_more_is_supplied_after_an_end_without_a_measurement(tmp_path: Path) -> None:
    script = Script((*HAPPY, ("performance", "PASS")))
    port = begun(tmp_path / "run", Writer(), script.gates())
    port.go()
    port.supply({"given/results.json": b"{}"})
    assert port.go().state.end == "COMPLETE"
    port.supply({"given/results.json": b"{}"})  # nothing new
    assert port.go().state.end == "COMPLETE"


def test_results_that_used_up_the_attempts_do_not_block_a_run_for_good(tmp_path: Path) -> None:
    broken: tuple[Stage, Outcome] = ("performance", "MALFORMED")
    script = Script((*HAPPY, broken, broken, ("performance", "PASS")))
    port = begun(tmp_path / "run", Writer(), script.gates(), Limits(per_stage=2))
    port.go()
    port.supply({"given/results.json": b"{}"})
    assert port.go().end == "BLOCKED: budget (performance: 2 attempts)"
    port.supply({"given/results.json": b"[]"})
    assert port.go().end == "COMPLETE"
    assert replayed(read_log(tmp_path / "run" / NAME)).end == "COMPLETE"


AGAIN: dict[str, tuple[Told, Stage]] = {
    **{f"analyst {outcome}": ((("analyst", outcome),), "analyst") for outcome in (*BROKEN, "FAIL")},
    **{f"kernel {outcome}": ((A, ("kernel", outcome)), "kernel") for outcome in (*BROKEN, "NO_BUILD")},
    **{f"host {outcome}": ((A, K, ("host", outcome)), "host") for outcome in (*BROKEN, "NO_BUILD")},
    **{f"performance {outcome}": ((A, K, H, ("performance", outcome)), "performance") for outcome in BROKEN},
    "report": ((A, ("kernel", "FAIL"), ("diff", "MALFORMED")), "diff"),
    "kernel differs": ((A, ("kernel", "FAIL"), ("diff", "TO_KERNEL")), "kernel"),
    "kernel differs after all": ((A, K, ("host", "FAIL"), ("diff", "TO_KERNEL")), "kernel"),
    "host differs": ((A, K, ("host", "FAIL"), ("diff", "TO_HOST")), "host"),
    "wrong on the GPU": ((A, K, H, ("performance", "FAIL"), ("diff", "TO_HOST")), "host"),
    "badly explained": ((A, K, H, ("performance", "SLOW"), ("investigator", "FAIL")), "investigator"),
}  # fmt: skip


@pytest.mark.parametrize("name", AGAIN)
def test_a_worker_that_would_answer_the_same_is_asked_once(name: str, tmp_path: Path) -> None:
    told, stage = AGAIN[name]
    end = f"BLOCKED: worker ({STAGES[stage].title}: writer would answer the same again)"
    folder = tmp_path / "run"
    port = begun(folder, same_each_time(), Script(told).gates())
    assert port.go().end == end
    port.log.close()
    entries = read_log(folder / NAME)
    assert status_text(entries, folder).endswith(f"VERDICT: {end}\n")


def same_each_time() -> Writer:
    def answer(task: Task) -> None:
        (task.folder / OWN[task.stage]).write_text(task.stage)

    return Writer(answer, same=True)


@pytest.mark.parametrize("worker", [same_each_time(), Writer()])
def test_the_user_may_go_on_where_a_worker_would_answer_the_same(worker: Writer, tmp_path: Path) -> None:
    port = begun(tmp_path / "run", same_each_time(), Script((A, ("kernel", "NO_BUILD"))).gates())
    port.go()
    port.log.close()
    port = Port(tmp_path / "run", worker, Script(HAPPY[1:]).gates(), CARDS)
    assert port.go().end == "COMPLETE: unmeasured"
    assert replayed(read_log(tmp_path / "run" / NAME)).end == "COMPLETE: unmeasured"


def test_a_worker_that_answers_the_same_is_asked_again_about_other_files(tmp_path: Path) -> None:
    def break_off(task: Task) -> None:
        if task.stage == "host":
            raise InputError("the machine was needed")

    first = Writer(break_off)
    first.name = "another"
    port = begun(tmp_path / "run", first, Script((A, K)).gates())
    with pytest.raises(InputError):
        port.go()
    port.log.close()
    # the first kernel was of another worker, the second is its own
    script = Script((("host", "FAIL"), ("diff", "TO_KERNEL"), *HAPPY[1:]))
    port = Port(tmp_path / "run", same_each_time(), script.gates(), CARDS)
    assert port.go().end == "COMPLETE: unmeasured"


@pytest.mark.parametrize("name", ROUTES)
def test_how_it_ended_comes_with_what_the_last_gate_refused(name: str, tmp_path: Path) -> None:
    told, end = ROUTES[name]
    port = begun(tmp_path / "run", Writer(), Script(told).gates())
    port.go()
    *_, why, empty, verdict = status_text(port.log.entries, tmp_path / "run").splitlines()
    assert (empty, verdict) == ("", f"VERDICT: {end}")
    newest = dict(told)
    refused = [each for each in newest.items() if each[1] not in STAGES[each[0]].passes]
    if end == "COMPLETE":
        assert not refused
        assert why.endswith(" s")
        return
    found = re.fullmatch(r"(.+/tree/gates/(\w+)\.json): told: (\w+)", why)
    assert found is not None
    assert Path(found[1]).is_file()
    assert (found[2], found[3]) in refused


def test_a_folder_has_one_run(tmp_path: Path) -> None:
    port = begun(tmp_path / "run", Writer(), Script(HAPPY).gates())
    with pytest.raises(InputError, match="--resume"):
        port.begin("k", Limits(), {}, {})


def test_what_is_laid_out_is_what_the_log_has(tmp_path: Path) -> None:
    port = begun(tmp_path / "run", Writer(), Script(HAPPY).gates())
    run = port.go()
    tree = tmp_path / "run" / "tree"
    assert {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()} == set(run.files)
    verdict = GateVerdict.read((tree / "gates" / "kernel.json").read_text(), "kernel")
    assert verdict.mac


def test_recorded_answers_are_said_again(tmp_path: Path) -> None:
    answers = [Recorded(stage=stage, files={OWN[stage]: "x"}, tokens=3) for stage, _ in HAPPY]
    port = begun(tmp_path / "run", Replay("r.json", answers), Script(HAPPY).gates())
    assert port.go().state.tokens == 12


def test_a_recorded_answer_of_another_stage_is_none(tmp_path: Path) -> None:
    answers = [Recorded(stage="host", files={})]
    port = begun(tmp_path / "run", Replay("r.json", answers), Script(()).gates(), Limits(per_stage=2))
    assert port.go().state.end.startswith("BLOCKED: budget")


def test_every_stage_has_a_file_of_its_own() -> None:
    assert {stage: info.writes[0] for stage, info in STAGES.items()} == OWN


@pytest.mark.parametrize(
    "fault", [ValueError("x"), RecursionError(), MemoryError(), KeyError("x"), OSError(2, "x")]
)
def test_a_gate_that_fails_is_no_pass_and_no_end(fault: Exception, tmp_path: Path) -> None:
    def judge(given: Given) -> Ruled:
        raise fault

    gates: dict[Stage, Gate] = {**Script(()).gates(), "analyst": judge}
    port = begun(tmp_path / "run", Writer(), gates, Limits(per_stage=2))
    assert port.go().state.end == "BLOCKED: budget (analyst: 2 attempts)"
    assert {each.outcome for each in port.log.entries if isinstance(each, Judged)} == {"MALFORMED"}


@pytest.mark.parametrize("path", ["analysis.json", "reference/a.mlir"])
def test_what_changes_while_it_is_judged_does_not_pass(path: str, tmp_path: Path) -> None:
    def judge(given: Given) -> Ruled:
        (given.folder / path).write_text("other")
        return Ruling("analyst", given).rule("PASS")

    gates: dict[Stage, Gate] = {**Script(()).gates(), "analyst": judge}
    port = begun(tmp_path / "run", Writer(), gates, Limits(per_stage=1))
    port.go()
    assert [each.outcome for each in port.log.entries if isinstance(each, Judged)] == ["MALFORMED"]


@pytest.mark.parametrize(
    "fault", [OSError(errno.ENOSPC, "No space left on device"), MissingToolError("no cargo on PATH")]
)
def test_what_the_system_lacks_is_nobodys_answer(fault: Exception, tmp_path: Path) -> None:
    def judge(given: Given) -> Ruled:
        raise fault

    gates: dict[Stage, Gate] = {**Script(()).gates(), "analyst": judge}
    port = begun(tmp_path / "run", Writer(same=True), gates)
    with pytest.raises(InputError, match=r"No space left|no cargo"):
        port.go()
    assert not any(isinstance(each, Judged) for each in port.log.entries)
    port.gates = Script(HAPPY).gates()
    assert port.go().end == "COMPLETE: unmeasured"


def test_what_changes_between_attempts_is_told(tmp_path: Path) -> None:
    pytest.importorskip("deepdiff")

    def number(task: Task) -> None:
        (task.folder / OWN[task.stage]).write_text(f'{{"at": {task.attempt}, "same": 1}}')

    port = begun(tmp_path / "run", Writer(number), Script((("analyst", "FAIL"), *HAPPY)).gates())
    port.go()
    changed = [each.changed for each in port.log.entries if isinstance(each, Judged)]
    assert "analysis.json['at']: 1 -> 2" in changed[1]
    assert not any("same" in each for each in changed[1])
