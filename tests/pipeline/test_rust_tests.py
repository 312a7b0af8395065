"""Tests that stand in kernel.rs are run by the kernel's gate, and count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.real import lay, port_of, source
from tileir_diff.pipeline.artifacts import GateVerdict
from tileir_diff.pipeline.gates.kernel import judge

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cargo")]
WHAT = "tests in kernel.rs"


def verdict(folder: Path, tests: str) -> GateVerdict:
    """The gate's verdict on a right kernel with these tests beside it."""
    given = port_of(folder, "vector_add")
    lay(folder, {"kernel.rs": source("vector_add") + tests})
    return judge(given).verdict


def said(made: GateVerdict) -> list[tuple[str, str]]:
    return [(each.result, each.detail) for each in made.checks if each.name == WHAT]


def test_tests_that_pass_are_counted(tmp_path: Path) -> None:
    made = verdict(
        tmp_path,
        "#[test]\nfn one() {}\n#[cfg(test)]\nmod tests {\n  #[test]\n  fn two() { assert_eq!(1 + 1, 2); }\n"
        "  #[test]\n  #[ignore]\n  fn three() { panic!(); }\n}\n",
    )
    assert made.outcome == "PASS"
    assert said(made) == [("open", "marked as ignored, and not run: 1"), ("pass", "2 passed")]


def test_a_test_in_a_module_of_kernels_that_fails_refuses(tmp_path: Path) -> None:
    text = source("vector_add")
    at = text.rindex("}")
    given = port_of(tmp_path, "vector_add")
    test = '    #[test]\n    fn sums() { assert_eq!(1 + 1, 3, "they differ"); }\n'
    lay(tmp_path, {"kernel.rs": text[:at] + test + text[at:]})
    made = judge(given).verdict
    assert made.outcome == "FAIL"
    [(result, detail)] = said(made)
    assert result == "fail"
    assert "::sums; kernel.rs:" in detail
    assert "they differ" in detail
    assert judge(given).verdict == made  # nothing of when or where it ran is in it


@pytest.mark.parametrize("tests", ["", "// a #[test]\n", "#[test]\n#[ignore]\nfn later() {}\n"])
def test_a_kernel_without_a_test_that_runs_is_told(tests: str, tmp_path: Path) -> None:
    made = verdict(tmp_path, tests)
    assert made.outcome == "PASS"
    assert said(made)[-1] == ("open", "there is none that runs")


def test_tests_that_do_not_build_are_the_writers(tmp_path: Path) -> None:
    made = verdict(tmp_path, "#[test]\nfn one() { let x: i32 = true; }\n")
    assert made.outcome == "NO_BUILD"
    assert "mismatched types" in said(made)[0][1]


@pytest.mark.parametrize(
    ("body", "why"), [("loop {}", "did not end"), ("fn f() { f() } f()", "before all had run")]
)
def test_tests_that_do_not_end_fail(
    body: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tileir_diff.pipeline.gates.rust_tests.SECONDS", 2.0)
    made = verdict(tmp_path, f"#[test]\nfn one() {{ {body} }}\n")
    assert made.outcome == "FAIL"
    assert why in said(made)[0][1]
