"""`tileir-diff REF GEN`: options, outputs, exit status."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import Result

from tileir_diff.graph.floats import EQUIVALENCES
from tileir_diff.match.launch import ArgValue
from tileir_diff.match.model import CompareOptions
from tileir_diff.report.model import Report

Run = Callable[..., Result]
RulesFound = Callable[..., list[CompareOptions]]
PAIR = ("ref.mlir", "gen.mlir")


@pytest.mark.parametrize(
    ("rules", "flags", "verdict", "status"),
    [
        ((), (), "PASS", 0),
        (("latency-hint/missing",), (), "PASS_WITH_NOTES", 0),
        (("latency-hint/missing",), ("--strict",), "FAIL_FIXABLE", 1),
        (("latency-hint/missing",), ("--fail-on", "hint"), "FAIL_FIXABLE", 1),
        (("mask/missing",), (), "FAIL_FIXABLE", 1),
        (("mask/missing",), ("--fail-on", "logic"), "PASS_WITH_NOTES", 0),
        (("mask/missing",), ("--ignore", "mask"), "PASS_WITH_NOTES", 0),
        (("mask/missing",), ("--select", "padding,scan"), "PASS_WITH_NOTES", 0),
        (("scan/identity",), (), "FAIL_COMPILER_BUG", 1),
        (("scan/identity",), ("--front-end", "tile-cpp"), "FAIL_FIXABLE", 1),
    ],
)
def test_exit_status_follows_the_verdict(
    run: Run,
    rules_found: RulesFound,
    rules: tuple[str, ...],
    flags: tuple[str, ...],
    verdict: str,
    status: int,
) -> None:
    rules_found(*rules)
    result = run(*PAIR, *flags)
    assert result.stdout.splitlines()[-1] == f"VERDICT: {verdict}"
    assert result.exit_code == status
    assert result.stderr == ""


@pytest.mark.parametrize("pattern", ["mask/*", "mask*", "mask/miss*", "*", "padding,mask/*"])
def test_a_star_at_the_end_of_a_prefix(run: Run, rules_found: RulesFound, pattern: str) -> None:
    rules_found("mask/missing")
    assert "VERDICT: PASS_WITH_NOTES" in run(*PAIR, "--ignore", pattern).stdout


@pytest.mark.parametrize("line", ["fail-on = 'precison'", "ignore = ['masks']", "select = ['masks']"])
def test_what_is_wrong_in_a_settings_file_names_the_file(
    run: Run, rules_found: RulesFound, folder: Path, line: str
) -> None:
    rules_found()
    (folder / "tileir-diff.toml").write_text(line)
    result = run(*PAIR)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"{folder / 'tileir-diff.toml'}: error: ")


def test_stat_says_why(run: Run, rules_found: RulesFound) -> None:
    rules_found(obligations=("n = 3",))
    lines = run(*PAIR, "--stat", "--strict").stdout.splitlines()
    assert lines[-2:] == ["with --strict these fail: 1 condition on the host", "VERDICT: FAIL_FIXABLE"]


def test_stat_counts_what_the_report_says_besides(run: Run, rules_found: RulesFound, folder: Path) -> None:
    (folder / "tileir-diff.toml").write_text('fail-on = "logic"\n')
    rules_found("mask/missing", "mask/missing", "latency-hint/changed", obligations=("n = 3",))
    lines = run(*PAIR, "--stat").stdout.splitlines()
    assert "also in the report: 2 differences below --fail-on, 1 condition on the host" in lines
    assert f"notice: settings of {folder / 'tileir-diff.toml'}: fail-on = logic" in lines


def test_equivalences_may_be_none(run: Run, rules_found: RulesFound) -> None:
    rules_found()
    assert "treated as equal\n  none\n" in run(*PAIR, "--equivalences").stdout
    assert "treated as equal" not in run(*PAIR).stdout


def test_a_report_that_cannot_be_written_ends_with_a_verdict(run: Run, rules_found: RulesFound) -> None:
    rules_found()
    result = run(*PAIR, "-o", "nowhere/report")
    assert (result.exit_code, result.stdout) == (2, "VERDICT: BLOCKED\n")
    assert run(*PAIR, "-o", "nowhere/report", "--format", "json").stdout == ""


def test_equivalences_are_separated_as_rules_are(run: Run, rules_found: RulesFound) -> None:
    rules_found()
    assert run(*PAIR, "--no-equivalence", "double,fma-zero").exit_code == 0
    assert "no equivalence 'duble'" in run(*PAIR, "--no-equivalence", "double,duble").stderr


def test_diff_may_be_named(run: Run, rules_found: RulesFound) -> None:
    rules_found()
    assert run("diff", *PAIR).stdout == run(*PAIR).stdout == run("--color", "never", *PAIR).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.mlir", "gen.mlir"), "none.mlir: error: "),
        (("broken.mlir", "gen.mlir"), "broken.mlir:2:"),
        (("ref.mlir", "broken.mlir"), "broken.mlir:2:"),
        (("empty.mlir", "gen.mlir"), "empty.mlir"),
        (("-", "-"), "both sides cannot be standard input"),
        ((*PAIR, "--entry", "nothing"), "no entry '@nothing' on either side; there are @k_entry"),
        ((*PAIR, "--launch", "n=many"), "'n=many' is no launch fact"),
        ((*PAIR, "--launch", "none.json"), "none.json: error: cannot read"),
        ((*PAIR, "--args", "none.json"), "none.json: error: cannot read"),
        ((*PAIR, "--config", "none.toml"), "none.toml: error: cannot read"),
        ((*PAIR, "--launch", "grid.q=3"), "no grid axis 'grid.q'; there are grid.x, grid.y, grid.z"),
        ((*PAIR, "--launch", "generated.grid=3"), "no grid axis 'grid'"),
        ((*PAIR, "--launch", "generated.n"), "a fact reads generated.n=VALUE"),
        ((*PAIR, "--runs", "3"), "--runs: error: says something only with --exec"),
        ((*PAIR, "--lower", ""), "--lower: error: names no architecture"),
        ((*PAIR, "--no-cache"), "--no-cache: error: says something only with --lower"),
        ((*PAIR, "--select", "maks/missing"), "'maks/missing'; did you mean 'mask/missing'?"),
        ((*PAIR, "--select", "masks"), "no rule begins with 'masks'; did you mean 'mask'?"),
        ((*PAIR, "--ignore", "mask/mising"), "'mask/mising'; did you mean 'mask/missing'?"),
        ((*PAIR, "--ignore", "zzz"), "--ignore: error: no rule begins with 'zzz'; `tileir-diff rules` lists"),
        ((*PAIR, "--select", "mask", "--ignore", "mask/mis*g"), "--ignore: error: no rule begins with"),
        ((*PAIR, "--front-end", "triton@abc"), "'abc' is no version; write triton@0.5.0"),
        ((*PAIR, "--no-equivalence", "fma-zeros"), "'fma-zeros'; did you mean 'fma-zero'?"),
        ((*PAIR, "--no-equivalence", "xyz"), "no equivalence 'xyz'; there are additive-zero, "),
        ((*PAIR, "--front-end", "other=x"), "'other' is no side"),
    ],
)
def test_bad_input_is_one_message_and_status_2(
    run: Run, rules_found: RulesFound, arguments: tuple[str, ...], message: str
) -> None:
    rules_found()
    result = run(*arguments, stdin="")
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == "VERDICT: BLOCKED\n"


def test_a_blocked_comparison_is_still_a_json_report(run: Run) -> None:
    result = run("broken.mlir", "gen.mlir", "--format", "json")
    assert result.exit_code == 2
    report = Report.model_validate_json(result.stdout)
    assert report.verdict == "BLOCKED"
    assert report.error is not None
    assert (report.error.path, report.error.line) == ("broken.mlir", 2)


def test_a_fault_of_ours_is_one_line_and_no_verdict_that_passes(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("too\ndeep")

    monkeypatch.setattr(import_module("tileir_diff.rules.root_cause"), "compare", broken)
    result = run(*PAIR, TILEIR_DIFF_DEBUG="")
    assert result.exit_code == 2
    assert result.stdout == "VERDICT: BLOCKED\n"
    assert "internal error, RecursionError: too deep; set TILEIR_DIFF_DEBUG=1" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert isinstance(run(*PAIR, TILEIR_DIFF_DEBUG="1").exception, RecursionError)


@pytest.mark.parametrize(("side", "owner"), [("ref.mlir", None), ("gen.mlir", "frontend")])
def test_what_breaks_a_constraint_is_not_compared(
    run: Run, rules_found: RulesFound, folder: Path, side: str, owner: str | None
) -> None:
    seen = rules_found()
    text = "entry @k_entry(%arg0: tile<f32>) {\n  %0 = sqrt %arg0 rounding<full> : tile<f32>\n  return\n}\n"
    (folder / side).write_text(text)
    result = run(*PAIR, "--format", "json")
    assert result.exit_code == 2
    report = Report.model_validate_json(result.stdout)
    assert report.owner == owner
    assert report.error is not None
    assert (report.error.path, report.error.line) == (side, 2)
    assert report.error.rule
    assert seen == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("ref.mlir",),
        ("a", "b", "c"),
        (*PAIR, "--format", "html"),
        (*PAIR, "--fail-on", "none"),
        ("--no",),
        (*PAIR, "--budget", "nan"),
        (*PAIR, "--budget", "inf"),
    ],
)
def test_a_wrong_call_is_status_2(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr


@pytest.mark.parametrize("format_", ["json", "markdown"])
def test_stat_is_a_form_of_the_text_report(run: Run, rules_found: RulesFound, format_: str) -> None:
    rules_found()
    result = run("ref.mlir", "gen.mlir", "--stat", "--format", format_)
    assert result.exit_code == 2
    assert "BLOCKED" in result.stdout
    assert f"--stat: error: is a form of the text report; {format_} has the whole report" in result.stderr


WRONG = [("--fail-on", "foo"), ("--bogus",), ("--runs", "3"), ("--select", "nope"), ("--launch", "grid.x")]


@pytest.mark.parametrize("wrong", WRONG, ids=" ".join)
def test_a_wrong_call_is_blocked_whoever_refuses_it(
    run: Run, rules_found: RulesFound, wrong: tuple[str, ...]
) -> None:
    """Click, or the check of what the options say: one message, and the verdict in the form asked for."""
    rules_found()
    text = run("ref.mlir", "gen.mlir", *wrong)
    assert (text.exit_code, text.stdout) == (2, "VERDICT: BLOCKED\n")
    assert "rror: " in text.stderr
    data = run("ref.mlir", "gen.mlir", "--format", "json", *wrong)
    assert data.exit_code == 2
    report = json.loads(data.stdout)
    assert report["verdict"] == "BLOCKED"
    assert report["error"]["message"]
    # in that pipeline 2 would say that the kernels pass with notes
    assert run("ref.mlir", "gen.mlir", "--exit-style", "tilegym", *wrong).exit_code == 1


@pytest.mark.parametrize(
    ("option", "hint"),
    [("--bogus", ""), ("--lunch", "--launch"), ("--equivalence", "--equivalences"), ("--selekt", "--select")],
)
def test_only_a_close_option_is_proposed(run: Run, option: str, hint: str) -> None:
    said = run("ref.mlir", "gen.mlir", option).stderr
    assert f"No such option '{option}'" in said
    assert ("Did you mean" in said) == bool(hint)
    assert hint in said


def test_a_file_without_permission_is_told_like_any_other(
    run: Run, rules_found: RulesFound, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> bool:
        return False

    rules_found()
    monkeypatch.setattr(os, "access", denied)  # who runs the tests may be allowed everything
    assert run("ref.mlir", "gen.mlir").exit_code == 0
    assert run("show", "none.mlir").stderr.startswith("none.mlir: error: cannot read")


def test_every_known_equivalence_can_be_switched_off(run: Run, rules_found: RulesFound) -> None:
    seen = rules_found()
    for name in (*EQUIVALENCES, "host-bounds"):
        assert run(*PAIR, "--no-equivalence", name).exit_code == 0
        assert seen[-1].disabled_equivalences == frozenset({name})


def test_unknown_rules_of_the_settings_are_refused_too(
    run: Run, rules_found: RulesFound, folder: Path
) -> None:
    rules_found()
    (folder / "tileir-diff.toml").write_text('ignore = ["paddings"]')
    result = run(*PAIR)
    assert result.exit_code == 2
    assert "did you mean 'padding'?" in result.stderr


@pytest.mark.parametrize("sides", [("-", "gen.mlir"), ("-", "broken.mlir"), ("-", "-")])
def test_standard_input_has_one_name(run: Run, rules_found: RulesFound, sides: tuple[str, str]) -> None:
    rules_found()
    result = run(*sides, "--format", "json", stdin="entry @k() {\n  return\n}\n")
    assert json.loads(result.stdout)["reference"]["path"] == "<stdin>"


def test_reads_one_side_from_standard_input(run: Run, rules_found: RulesFound, folder: Path) -> None:
    rules_found()
    text = (folder / "gen.mlir").read_text()
    assert run("ref.mlir", "-", stdin=text).exit_code == 0
    assert run("-", "gen.mlir", stdin=text).exit_code == 0


def test_json_goes_to_a_file_that_is_complete(run: Run, rules_found: RulesFound, folder: Path) -> None:
    rules_found("mask/missing")
    printed = run(*PAIR, "--format", "json").stdout
    result = run(*PAIR, "--format", "json", "-o", "report.json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (folder / "report.json").read_text() == printed
    assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []


def test_a_file_that_cannot_be_written_is_an_error(run: Run, rules_found: RulesFound) -> None:
    rules_found()
    result = run(*PAIR, "-o", "no/such/folder/report.txt")
    assert result.exit_code == 2
    assert "cannot write" in result.stderr


def test_reports_are_reproducible_unless_timing_is_asked_for(run: Run, rules_found: RulesFound) -> None:
    rules_found("mask/missing")
    assert run(*PAIR, "--format", "json").stdout == run(*PAIR, "--format", "json").stdout
    timing = json.loads(run(*PAIR, "--format", "json", "--timing").stdout)["timing"]
    assert list(timing) == ["read", "compare", "judge"]


def test_options_reach_the_comparison(run: Run, rules_found: RulesFound, folder: Path) -> None:
    seen = rules_found()
    (folder / "map.json").write_text('{"%arg0": "a", "1": null}')
    flags = (
        "--launch",
        "grid.x=7",
        "--entry",
        "@k_entry",
        "--no-equivalence",
        "fma-zero",
        "--args",
        "map.json",
    )
    assert run(*PAIR, *flags).exit_code == 0
    options = seen[0]
    assert options.launch is not None
    assert options.launch.generated.grid == (7, None, None)
    assert options.entry == "@k_entry"
    assert options.disabled_equivalences == frozenset({"fma-zero"})
    assert options.args is not None
    assert options.args.pairs == (("arg0", "a"), ("1", None))


def test_a_launch_file_reaches_the_comparison(run: Run, rules_found: RulesFound, folder: Path) -> None:
    seen = rules_found()
    side = {"entry": "k_entry", "grid": [3, 1, 1], "args": [{"ptr": "a"}]}
    (folder / "launch.json").write_text(json.dumps({"reference": side, "generated": side}))
    assert run(*PAIR, "--launch", "launch.json").exit_code == 0
    assert seen[0].launch is not None
    assert seen[0].launch.reference.args == (ArgValue("ptr", "a"),)


def test_settings_are_found_and_the_command_line_wins(
    run: Run, rules_found: RulesFound, folder: Path
) -> None:
    rules_found("mask/missing")
    (folder / "tileir-diff.toml").write_text('fail-on = "logic"')
    result = run(*PAIR)
    assert result.exit_code == 0
    told = f"settings of {folder / 'tileir-diff.toml'}: fail-on = logic"
    assert told in result.stdout
    result = run(*PAIR, "--fail-on", "edge")
    assert result.exit_code == 1
    assert told not in result.stdout
    (folder / "other.toml").write_text('[[waivers]]\nrule = "mask/*"\nreason = "padded by the host"\n')
    result = run(*PAIR, "--config", "other.toml")
    assert result.exit_code == 0
    assert "waived: padded by the host" in result.stdout


def test_colour_only_when_asked_for_or_on_a_terminal(run: Run, rules_found: RulesFound, folder: Path) -> None:
    rules_found("mask/missing")
    assert "\x1b[" not in run(*PAIR).stdout
    assert "\x1b[" in run(*PAIR, "--color", "always").stdout
    assert "\x1b[" in run(*PAIR, CLICOLOR_FORCE="1").stdout
    run(*PAIR, "-o", "report.txt", CLICOLOR_FORCE="1")
    assert "\x1b[" not in (folder / "report.txt").read_text()


def test_the_short_forms(run: Run, rules_found: RulesFound) -> None:
    rules_found("mask/missing", "latency-hint/missing")
    lines = run(*PAIR, "--stat").stdout.splitlines()
    assert lines == [
        "@k_entry = @k_entry (100% alike)  1 critical, 1 warn, 0 info",
        "1 critical, 1 warn, 0 info",
        "mask/missing: the store_ptr_tko is not masked; in the reference it is (this)",
        "VERDICT: FAIL_FIXABLE",
    ]


def test_markdown(run: Run, rules_found: RulesFound) -> None:
    rules_found("mask/missing")
    result = run(*PAIR, "--format", "markdown")
    assert result.stdout.startswith("## FAIL_FIXABLE: `ref.mlir` and `gen.mlir`\n")
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("rules", "status", "closing"),
    [
        ((), 0, ["VERDICT: PASS"]),
        (
            ("latency-hint/missing",),
            2,
            [
                "VERDICT: PASS_WITH_NOTES (0 workaround op(s), 1 note(s))",
                "WARN: latency-hint/missing: the store_ptr_tko lacks the hint this",
            ],
        ),
        (
            ("mask/missing",),
            1,
            [
                "VERDICT: FAIL_FIXABLE (1 critical diff(s))",
                "CRITICAL: mask/missing: the store_ptr_tko is not masked; in the reference it is (this)",
            ],
        ),
    ],
)
def test_drop_in_for_tilegym(
    run: Run, rules_found: RulesFound, rules: tuple[str, ...], status: int, closing: list[str]
) -> None:
    rules_found(*rules)
    result = run(*PAIR, "--exit-style", "tilegym")
    assert result.exit_code == status
    assert result.stdout.splitlines()[-len(closing) :] == closing
    assert result.stdout.count("VERDICT:") == 1


def test_in_that_style_a_missing_file_does_not_look_like_a_pass(run: Run) -> None:
    result = run("none.mlir", "gen.mlir", "--exit-style", "tilegym")
    assert result.exit_code == 1
    assert result.stdout == "VERDICT: BLOCKED\n"
