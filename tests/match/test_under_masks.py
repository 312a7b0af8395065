"""What a mask makes superfluous: a clamp of the address beside it, and a selection by it once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.match.snippets import PROLOGUE, assert_equal, compared, found, kernel

F, M, INT = "tile<128xf32>", "tile<128xi1>", "tile<128xi32>"
MASKED = f"token=%t : tile<128xptr<f32>>, {M}, {F} -> {F}, token"
SUM = (
    f"%sum = reduce %w dim=0 identities=[0.0 : f32] : {F} -> tile<f32> (%p: tile<f32>, %q: tile<f32>) {{\n"
    "%e = addf %p, %q : tile<f32>\nyield %e : tile<f32>\n}\n"
    f"%sum1 = reshape %sum : tile<f32> -> tile<1xf32>\n%sums = broadcast %sum1 : tile<1xf32> -> {F}\n"
    f"%r = divf %w, %sums : {F}\n"
)
"""Every lane counts, those of the padding too."""


def told_apart(first: str, second: str) -> None:
    for reference, generated in ((first, second), (second, first)):
        assert any(each.impact in ("logic", "bounds", "edge") for each in found(reference, generated))


# ---- clamped addresses -----------------------------------------------------------------------------------


def clamped(*steps: str, index: str = "%l", load: bool = True, store: bool = True) -> str:
    """`a[index] + 1` to `b[index]`, masked or not; without `steps` the index is `%o`, below n by the mask."""
    pointers = "tile<128xptr<f32>>"
    read = f"%in, %zero {MASKED}" if load else f"token=%t : {pointers} -> {F}, token"
    write = f"%in token=%t : {pointers}, {F}, {M}" if store else f"token=%t : {pointers}, {F}"
    lines = "\n".join(f"{step} signed : {INT}" for step in steps)
    return kernel(
        f"%k1 = constant <i32: 1> : {INT}\n%k0 = constant <i32: 0> : {INT}\n"
        f"%last = subi %nv, %k1 : {INT}\n%last2 = subi %last, %k1 : {INT}\n{lines}\n"
        f"%qa = offset %av, {index} : {pointers}, {INT} -> {pointers}\n"
        f"%qb = offset %bv, {index} : {pointers}, {INT} -> {pointers}\n"
        f"%v, %vt = load_ptr_tko weak %qa{', ' * load}{' ' * (not load)}{read}\n%w = addf %v, %one : {F}\n"
        f"%st = store_ptr_tko weak %qb, %w{', ' * store}{' ' * (not store)}{write} -> token"
    )


PLAIN = clamped(index="%o")


@pytest.mark.parametrize(
    "steps",
    [
        ["%l = mini %o, %last"],
        ["%l = mini %last, %o"],
        ["%u = maxi %o, %k0", "%l = mini %u, %last"],
        ["%u = mini %o, %last", "%l = maxi %u, %k0"],
    ],
)
def test_a_clamp_that_the_mask_makes_superfluous(steps: list[str]) -> None:
    assert_equal(PLAIN, clamped(*steps))
    assert_equal(clamped(*steps), PLAIN)


@pytest.mark.parametrize("steps", [["%l = mini %o, %last2"], ["%l = maxi %o, %last"], ["%l = maxi %o, %k1"]])
def test_a_clamp_that_moves_an_access_under_the_mask(steps: list[str]) -> None:
    told_apart(PLAIN, clamped(*steps))


def test_a_clamp_that_no_mask_makes_superfluous() -> None:
    """The store is masked, the load is not: only the clamp keeps what it reads inside of the array.

    The host must then see to it that the array has an element to read.
    """
    clamp = "%l = mini %o, %last"
    told = {each.impact for each in found(clamped(clamp, load=False), clamped(index="%o", load=False))}
    assert told == {"bounds"}
    assert_equal(clamped(index="%o", load=False), clamped(clamp, load=False))
    assert_equal(PLAIN, clamped(clamp, load=False))
    assert any("0 < " in each for each in compared(PLAIN, clamped(clamp, load=False)).obligations)
    told_apart(clamped(clamp, store=False), clamped(index="%o", store=False))


# ---- selections ------------------------------------------------------------------------------------------

INFINITE = PROLOGUE + f"%low = constant <f32: 0xFF800000> : {F}\n"
COLUMNS = f"%few = cmpi less_than %lane, %nv, signed : {INT} -> {M}\n"
ROWS = f"%row = cmpi less_than %o, %mv, signed : {INT} -> {M}\n%both = andi %row, %few : {M}\n"


def padded(mask: str, select: str = "") -> str:
    """Loaded under a mask with -inf elsewhere, and selected once more; then a sum that sees all lanes."""
    chosen = f"%w = {select} : {M}, {F}" if select else f"%w = addf %x9, %zero : {F}"
    return kernel(
        f"{COLUMNS}{ROWS}%x9, %vt = load_ptr_tko weak %pa, {mask}, %low {MASKED}\n{chosen}\n{SUM}"
        f"%st = store_ptr_tko weak %pb, %r token=%t : tile<128xptr<f32>>, {F} -> token",
        prologue=INFINITE,
    )


def test_a_selection_by_the_mask_of_the_load() -> None:
    for mask in ("%few", "%both"):
        assert_equal(padded(mask), padded(mask, "select %few, %x9, %low"))
        assert_equal(padded(mask, "select %few, %x9, %low"), padded(mask))
    told_apart(padded("%few"), padded("%few", "select %few, %x9, %zero"))
    told_apart(padded("%few"), padded("%few", "select %both, %x9, %low"))
    told_apart(padded("%both"), padded("%both", "select %few, %x9, %zero"))


def test_the_arms_of_a_selection_the_other_way_round() -> None:
    """`a >= n ? -inf : x`, as a mask by what is left out."""
    out = f"%out = cmpi greater_than_or_equal %lane, %nv, signed : {INT} -> {M}\n"

    def left_out(mask: str, first: str, second: str) -> str:
        return padded(mask, f"select %out, {first}, {second}").replace(COLUMNS, COLUMNS + out)

    for mask in ("%few", "%both"):
        assert_equal(padded(mask), left_out(mask, "%low", "%x9"))
        told_apart(padded(mask), left_out(mask, "%x9", "%low"))


# ---- masks that exclude each other -----------------------------------------------------------------------


@pytest.mark.parametrize("predicate", ["greater_than", "greater_than_or_equal", "equal", "not_equal"])
@pytest.mark.parametrize("side", ["cpp", "rs"])
def test_a_comparison_turned_around_is_one_finding(predicate: str, side: str) -> None:
    """Without a launch, where each array of the reference has a size of its own."""
    folder = Path(__file__).parents[2] / "fixtures" / "kernels" / "vector_add"
    reference, generated = ((folder / f"{name}.mlir").read_text("utf-8") for name in ("py", side))
    (only,) = (
        each
        for each in found(reference, generated.replace("cmpi less_than", f"cmpi {predicate}"))
        if each.impact != "hint"
    )
    assert only.rule == "mask/changed"
