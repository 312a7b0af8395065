"""Tiny kernels around a few integer ops, and what a proof about two of them says."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

from tileir_diff import diff
from tileir_diff.dialect import parse_text
from tileir_diff.report.model import Finding, Report

PARAMETERS = (
    "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>, %q: tile<ptr<i32>>, %w: tile<i64>"
)
PROLOGUE = """
%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%gx, %gy, %gz = get_num_tile_blocks : tile<i32>
%i0 = constant <i32: 0> : tile<i32>
%i1 = constant <i32: 1> : tile<i32>
%i127 = constant <i32: 127> : tile<i32>
%i128 = constant <i32: 128> : tile<i32>
%one = constant <f32: 1.0> : tile<f32>
"""
N = "tile<i32>"
B = "tile<i1>"
P = "tile<ptr<f32>>"


def entry(body: str, name: str = "k") -> str:
    return f"entry @{name}({PARAMETERS}) {{\n{PROLOGUE}{body}\nreturn\n}}\n"


def store_at(body: str, kind: str = "i32") -> str:
    """A kernel that stores to the element `%s` of `%b`."""
    return entry(f"""{body}
%p = offset %b, %s : {P}, tile<{kind}> -> {P}
%st = store_ptr_tko weak %p, %one token=%t : {P}, tile<f32> -> token""")


def store_if(body: str) -> str:
    """A kernel that stores where `%c` holds."""
    return entry(f"""{body}
%p = offset %b, %x : {P}, {N} -> {P}
%st = store_ptr_tko weak %p, %one, %c token=%t : {P}, tile<f32>, {B} -> token""")


def compared(reference: str, generated: str, *, seconds: float = 20, launch: str | None = None) -> Report:
    """The report with proofs; much time, so that a slow machine decides what a fast one does."""
    modules = parse_text(reference, "ref.mlir"), parse_text(generated, "gen.mlir")
    return diff(*modules, prove=seconds, launch=launch)


def proven(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.status == "SEMANTIC_EQUIV"]


def assert_proven(reference: str, generated: str, *facts: str) -> Report:
    """Another form, which is equal under these facts, each named in the evidence."""
    without = diff(parse_text(reference, "ref.mlir"), parse_text(generated, "gen.mlir"))
    assert not without.ok, "the normal form settles it: nothing is proven here"
    report = compared(reference, generated)
    assert report.ok, report.findings
    found = proven(report)
    assert found
    for finding in found:
        assert (finding.severity, finding.impact, finding.cause) == ("info", "none", "equivalent")
        assert finding.evidence.startswith("proven equal by z3")
        for fact in facts:
            assert fact in finding.evidence
    return report


def assert_refuted(reference: str, generated: str, *words: str) -> Report:
    """A difference that stays one, with an input that shows it."""
    report = compared(reference, generated)
    assert not report.ok
    assert not proven(report)
    evidence = " ".join(finding.evidence for finding in report.findings)
    assert "differs for: " in evidence
    for word in words:
        assert word in evidence
    return report


def assert_open(reference: str, generated: str, why: str) -> Report:
    """A difference of which it is not known whether it matters; the evidence says why."""
    report = compared(reference, generated)
    assert not report.ok
    evidence = " ".join(finding.evidence for finding in report.findings)
    assert "differs for" not in evidence
    assert why in evidence
    return report
