"""Runs the command in a folder with a few dumps."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tileir_diff.cli.app import app
from tileir_diff.dialect.ir import ModuleOp
from tileir_diff.match.model import CompareOptions, Comparison, Difference, Site

KERNEL = """\
entry @k_entry(%arg0: tile<ptr<f32>>) {
  %0 = constant <f32: 1.000000e+00> : tile<f32>
  %1 = store_ptr_tko weak %arg0, %0 : tile<ptr<f32>>, tile<f32> -> token
  return
}
"""

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ref.mlir").write_text(KERNEL)
    (tmp_path / "gen.mlir").write_text(KERNEL)
    (tmp_path / "broken.mlir").write_text("entry @k() {\n  %0 = frobnicate : tile<f32>\n}\n")
    (tmp_path / "empty.mlir").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    def call(*args: str, stdin: str | None = None, **environment: str) -> Result:
        return CliRunner().invoke(app, list(args), input=stdin, env=environment, prog_name="tileir-diff")

    return call


@pytest.fixture
def rules_found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[CompareOptions]]:
    """Makes the comparison return these rules; gives the options of each call.

    The command is tested here, not the matcher: what it finds is the business of its own tests.
    """

    def install(*rules: str, obligations: tuple[str, ...] = ()) -> list[CompareOptions]:
        seen: list[CompareOptions] = []

        def compare(reference: ModuleOp, generated: ModuleOp, options: CompareOptions) -> Comparison:
            seen.append(options)
            sites = [Site(list(module.entries[0].inner())[1], "k_entry") for module in (reference, generated)]
            reference_site, generated_site = sites
            differences = [Difference(rule, reference_site, generated_site, "this", "that") for rule in rules]
            return Comparison([("k_entry", "k_entry", 1.0)], [], differences, [], list(obligations), [], [])

        monkeypatch.setattr(import_module("tileir_diff.rules.root_cause"), "compare", compare)
        return seen

    return install
