"""The comparison on real dumps: ports pass, harmless edits are silent, every mistake is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.match.fixtures import (
    LAUNCHES,
    ROOT,
    Edit,
    compare_edit,
    compare_files,
    dump,
    edits,
    findings,
    kernels,
    launch_of,
)
from tileir_diff.api import diff
from tileir_diff.rules.model import Finding

MISTAKES = edits("mistakes")
HARMLESS = edits("harmless")

KNOWN: dict[str, str] = {
    # name of a mistake: what is found in place of what should be, as `rule impact`, the first two
}
"""Mistakes that are not found as they should be, exactly. One that starts to be must leave this table."""

ELSEWHERE = {
    "abs_lost", "carry_replaced", "clamp_high", "cpp_alignment_missing", "cpp_extents_swapped",
    "cpp_steps_floor", "cpp_transpose_lost", "diagonal_tile_lost", "dim_map_lost", "extra_cast",
    "gate_for_up", "group_swapped", "head_stride_lost", "last_group_full", "length_of_tile",
    "load_index_swapped", "mean_overwritten", "min_for_max", "occupancy_changed", "padded_length",
    "padding_lost", "padding_of_k", "padding_zero", "position_for_id", "py_clusters", "py_key_order",
    "py_variance_unmasked", "quotient_in_half", "row_padding", "rstd_not_stored", "scale_forgotten",
    "scale_not_stored", "sigmoid_reformulated", "source_overwritten", "static_rows", "store_to_input",
    "stride_of_input", "sum_across_tiles", "table_stride", "total_not_carried", "value_padding",
    "variance_unmasked", "weight_for_bias", "weight_of_row", "wrong_extent", "wrong_mask_operand",
}  # fmt: skip
"""Mistakes that are found on another line than the edit's. One that is found on it must leave this table."""

PORTS = [
    (kernel, other)
    for kernel in kernels()
    for other in ("rust", "cpp")
    if (ROOT / "kernels" / kernel / {"rust": "rs.mlir", "cpp": "cpp.mlir"}[other]).exists()
]
PLAIN = sorted((ROOT / "kernels").glob("*/*.mlir"))


def accepted(edit: Edit) -> list[str]:
    return [edit.record["rule"], *edit.record.get("alternatives", [])]


def shortfall(edit: Edit, found: list[Finding]) -> str | None:
    """None where the rule and the impact of the mistake are found; else the first findings in words."""
    if any(each.rule in accepted(edit) and each.impact == edit.record["impact"] for each in found):
        return None
    return ", ".join(f"{each.rule} {each.impact}" for each in found[:2])


def is_on_the_line(edit: Edit, found: list[Finding]) -> bool:
    """Whether the mistake is found on the very line of the edit."""
    sites = [each.generated for each in found if each.rule in accepted(edit)]
    sources = [site.op.source for site in sites if site is not None]
    return any(source is not None and source.line == edit.line() for source in sources)


@pytest.mark.parametrize("edit", MISTAKES, ids=[edit.name for edit in MISTAKES])
def test_a_mistake_is_found(edit: Edit) -> None:
    found = findings(compare_edit(edit))
    assert shortfall(edit, found) == KNOWN.get(edit.name)
    if edit.line() is not None:
        assert is_on_the_line(edit, found) == (edit.name not in ELSEWHERE)


def test_known_shortfalls_are_mistakes() -> None:
    assert set(KNOWN) | ELSEWHERE <= {edit.name for edit in MISTAKES}


@pytest.mark.parametrize("edit", HARMLESS, ids=[edit.name for edit in HARMLESS])
def test_a_harmless_edit_is_silent(edit: Edit) -> None:
    assert [each.rule for each in findings(compare_edit(edit))] == []


@pytest.mark.parametrize(("kernel", "other"), PORTS, ids=[f"{kernel}-{other}" for kernel, other in PORTS])
def test_a_faithful_port_passes(kernel: str, other: str) -> None:
    folder = ROOT / "kernels" / kernel
    generated = folder / {"rust": "rs.mlir", "cpp": "cpp.mlir"}[other]
    facts = launch_of(folder / LAUNCHES[other])
    assert facts is not None
    report = diff(folder / "py.mlir", generated, launch=facts)
    assert report.verdict in ("PASS", "PASS_WITH_NOTES")
    assert [each.rule for each in report.findings if each.severity == "critical"] == []


@pytest.mark.parametrize("path", PLAIN, ids=[f"{path.parent.name}-{path.stem}" for path in PLAIN])
def test_a_dump_equals_itself(path: Path) -> None:
    result = compare_files(path, path, None)
    assert [difference.rule for difference in result.differences] == []
    assert result.not_checked == []
    assert [similarity for _, _, similarity in result.pairs] == [1.0]


@pytest.mark.parametrize("name", ["softmax", "matmul", "locked_sum"])
def test_source_locations_make_no_difference(name: str) -> None:
    folder = ROOT / "kernels" / name
    assert findings(compare_files(folder / "rs.mlir", folder / "rs.g.mlir", None)) == []


@pytest.mark.parametrize("other", ["vector_add", "transpose"])
def test_different_kernels_differ(other: str) -> None:
    """The tool is no rubber stamp: softmax is not vector_add."""
    reference = ROOT / "kernels" / "softmax" / "rs.mlir"
    generated = ROOT / "kernels" / other / "rs.mlir"
    assert any(each.impact == "logic" for each in findings(compare_files(reference, generated, None)))


def test_comparing_leaves_the_modules_alone() -> None:
    """One parsed dump serves many comparisons: the result does not depend on those before."""
    folder = ROOT / "kernels" / "matmul"
    first, second = folder / "py.mlir", folder / "rs.mlir"
    dump.cache_clear()
    fresh = compare_files(first, second, None)
    compare_files(first, folder / "cpp.mlir", None)
    again = compare_files(first, second, None)
    assert [(d.rule, d.expected, d.actual) for d in fresh.differences] == [
        (d.rule, d.expected, d.actual) for d in again.differences
    ]
