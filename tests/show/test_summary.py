"""The data behind `show`: what it says about small kernels whose meaning is plain."""

from __future__ import annotations

from typing import Any

import pytest

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.verifier import verify
from tileir_diff.show.naming import readable
from tileir_diff.show.summary import summarise

from .kernels import GROUPED, MASKED, PRODUCT, ROWS


def kernel(text: str, **options: Any) -> dict[str, Any]:
    module = parse_text(text, "k.mlir")
    assert not verify(module), verify(module)
    (only,) = summarise(module, "k.mlir", text, **options)["kernels"]
    return only


def roles(summary: dict[str, Any]) -> dict[str, list[str]]:
    return {argument["name"]: argument["roles"] for argument in summary["arguments"]}


def test_arguments_and_arrays() -> None:
    summary = kernel(ROWS)
    assert roles(summary) == {
        "%a": ["A.base"],
        "%m": ["A.shape0", "B.shape0"],
        "%n": ["A.shape1"],
        "%s": ["A.stride0"],
        "%b": ["B.base"],
        "%scale": ["value"],
        "%no": ["unused"],
    }
    first, second = summary["arrays"]
    assert first == {
        "name": "A",
        "argument": 0,
        "element": "f32",
        "shape": ["A.shape0", "A.shape1"],
        "strides": ["A.stride0", 1],
        "use": "read",
    }
    assert (second["use"], second["shape"], second["argument"]) == ("write", ["A.shape0"], 4)


def test_grid_and_persistent_loop() -> None:
    summary = kernel(ROWS)
    assert summary["grid"] == {"block_id": ["x"], "num_tile_blocks": ["x"]}
    (loop,) = summary["loops"]
    assert loop["persistent"] is True
    assert (loop["name"], loop["lower"], loop["upper"], loop["step"]) == (
        "it0",
        "block.x",
        "A.shape0",
        "grid.x",
    )


def test_view_accesses_are_shown_by_tile_index() -> None:
    load, store = kernel(ROWS)["memory"]
    assert (load["family"], load["array"], load["at"]) == ("partition", "A", "[it0, 0]")
    assert (load["tile"], load["element"], load["padding"]) == ([1, 64], "f32", "zero")
    assert load["bounds"] == "i1 < A.shape1"
    assert load["hints"] == {"default": {"allow_tma": False}}
    assert (store["kind"], store["array"], store["at"], store["bounds"]) == ("store", "B", "[it0]", None)
    assert store["loops"] == [kernel(ROWS)["loops"][0]["line"]]


def test_reduction_modes_and_dead_code() -> None:
    summary = kernel(ROWS)
    (reduction,) = summary["reductions"]
    assert (reduction["axis"], reduction["extent"], reduction["combiner"]) == (1, 64, "sum")
    assert reduction["identities"] == ["0"]
    modes = {record["op"]: record["modes"] for record in summary["float_modes"]}
    assert modes == {"addf": [], "mulf": ["zero", "flush_to_zero"]}
    assert summary["dead_code"] == {"count": 1, "ops": {"addf": 1}}
    assert summary["hints"] == {"sm_100": {"occupancy": 4}}


def test_promises_are_named_once() -> None:
    promises = {record["value"]: record["promises"] for record in kernel(ROWS)["promises"]}
    assert promises == {"A": ["div_by<16>"], "A.shape0": ["bounded<0, ?>"]}


def test_pointer_accesses_with_masks_and_guards() -> None:
    summary = kernel(MASKED)
    load, store = summary["memory"]
    assert (load["family"], load["at"], load["mask"]) == ("pointer", "%stride*block.x + i0", "i0 < %n")
    assert (load["padding"], load["ordering"], load["scope"]) == ("1.5", "acquire", "device")
    assert (store["array"], store["mask"], store["guard"]) == ("B", "i0 < %n", "65 <= %n")
    assert roles(summary)["%stride"] == ["stride of A", "stride of B"]
    assert roles(summary)["%n"][0] == "bound of the mask on A, B"
    assert [array["shape"] for array in summary["arrays"]] == [[], []]
    assert [(check["op"], check["text"]) for check in summary["checks"]] == [
        ("assert", 'rows "too" short'),
        ("print_tko", "%d"),
    ]
    assert [branch["condition"] for branch in summary["branches"]] == ["65 <= %n"]
    assert summary["conversions"] == [{"op": "ftof", "from": "f16", "to": "f32", "count": 1}]


def test_product_and_constant_trip_count() -> None:
    summary = kernel(PRODUCT)
    (product,) = summary["mma"]
    assert (product["lhs"], product["rhs"], product["accumulator"]) == ([16, 16], [16, 16], "f32")
    assert product["element"] == ["f16", "f16"]
    (loop,) = summary["loops"]
    assert (loop["trips"], loop["carried"]) == (3, ["tile<16x16xf32>"])
    assert summary["memory"][0]["at"] == "[0, it0]"
    assert summary["memory"][0]["bounds"] is None
    assert {"value": "3", "element": "i32", "count": 1} in summary["constants"]
    assert summary["arrays"][0]["use"] == "read, write"


@pytest.mark.parametrize("text", [ROWS, MASKED, PRODUCT])
def test_without_normal_form_the_rest_is_still_shown(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tileir_diff.graph.evaluate import Evaluator

    full = kernel(text)

    def fail(self: Evaluator) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(Evaluator, "run", fail)
    summary = kernel(text)
    assert not summary["normal_form"]
    assert "RecursionError: too deep" in summary["notes"][0]
    assert summary["lints_skipped"]
    for key in ("arrays", "reductions", "mma", "conversions", "float_modes", "dead_code"):
        assert summary[key] == full[key]
    for record, known in zip(summary["memory"], full["memory"], strict=True):
        for key in ("line", "family", "array", "tile", "padding"):
            assert record[key] == known[key]
    assert any("%" in record["at"] for record in summary["memory"])


def test_indices_read_as_they_were_written() -> None:
    """Loop indices and remainders, where the normal form has iteration numbers and quotients."""
    summary = kernel(GROUPED)
    assert [record["at"] for record in summary["memory"]] == ["[block.x % 8, it0]"] * 2
    (loop,) = summary["loops"]
    assert (loop["lower"], loop["upper"], loop["step"]) == ("floor(block.x / 8)", "A.shape1", "4")


def test_a_remainder_that_is_a_factor_has_parentheses() -> None:
    assert readable("16*block.x % 8") == "16*(block.x % 8)"
    assert readable("16*floor(block.x / 8)") == "16*floor(block.x / 8)"


def test_entry_selects_one_kernel() -> None:
    module = parse_text(ROWS + MASKED)
    assert [each["entry"] for each in summarise(module, "k")["kernels"]] == ["rows", "masked"]
    assert [each["entry"] for each in summarise(module, "k", entry="@masked")["kernels"]] == ["masked"]
    assert summarise(module, "k", entry="none")["kernels"] == []


def test_lints_can_be_left_out() -> None:
    text = ROWS.replace("dim=1 identities=[0.0", "dim=1 identities=[1.0")
    assert "lint/identity-not-neutral" in [record["rule"] for record in kernel(text)["lints"]]
    assert kernel(text, lint=False)["lints"] == []
