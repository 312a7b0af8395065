"""Memory that is read or written as another type of as many bits."""

from __future__ import annotations

import pytest

from tests.match.snippets import (
    LOAD,
    PARAMETERS,
    PROLOGUE,
    STORE,
    assert_equal,
    assert_found,
    found,
    kernel,
    with_value,
)

FLOAT, WORD = "tile<128xf32>", "tile<128xi32>"
WORDS = PARAMETERS.replace("%a: tile<ptr<f32>>", "%a: tile<ptr<i32>>")
"""The array that is read is one of i32."""
ADDRESSES = PROLOGUE.split("%a1 =")[0] + "\n".join(
    line.replace("ptr<f32>", "ptr<i32>") if line.startswith(("%a1", "%av", "%pa")) else line
    for line in ("%a1 =" + PROLOGUE.split("%a1 =")[1]).split("\n")
)
CAST = "%pf = ptr_to_ptr %pa : tile<128xptr<i32>> -> tile<128xptr<f32>>\n"
FLOATS = LOAD.replace("%v,", "%w,")
THROUGH_CAST = CAST + FLOATS.replace("%pa", "%pf")
UNPADDED = (
    "%w, %vt = load_ptr_tko weak %pf, %in token=%t : tile<128xptr<f32>>, tile<128xi1> -> tile<128xf32>, token"
)


def words(after: str = "bitcast %q", padding: str = "0", where: str = "%pa") -> str:
    """i32 that are loaded and then turned to f32."""
    return (
        f"%zi = constant <i32: {padding}> : {WORD}\n"
        f"%q, %vt = load_ptr_tko weak {where}, %in, %zi token=%t : tile<128xptr<i32>>, tile<128xi1>, {WORD} "
        f"-> {WORD}, token\n%w = {after} : {WORD} -> {FLOAT}"
    )


MOVED = (
    f"%o1 = addi %o, %lane : {WORD}\n"
    f"%p1 = offset %av, %o1 : tile<128xptr<i32>>, {WORD} -> tile<128xptr<i32>>\n" + words(where="%p1")
)


def of_words(body: str) -> str:
    return kernel(f"{body}\n{TOTAL}\n{STORE.replace('%w', '%r')}", parameters=WORDS, prologue=ADDRESSES)


TOTAL = (
    f"%sum = reduce %w dim=0 identities=[0.0 : f32] : {FLOAT} -> tile<f32>\n"
    "(%l: tile<f32>, %m1x: tile<f32>) {\n%s = addf %l, %m1x : tile<f32>\nyield %s : tile<f32>\n}\n"
    f"%sum1 = reshape %sum : tile<f32> -> tile<1xf32>\n%sums = broadcast %sum1 : tile<1xf32> -> {FLOAT}\n"
    f"%r = divf %w, %sums : {FLOAT}"
)
"""Every lane counts, those of the padding too."""


def test_bits_are_the_same_read_as_either_type() -> None:
    cast = of_words(THROUGH_CAST)
    assert_equal(of_words(words()), cast)
    assert_equal(cast, of_words(words()))
    floats = kernel(f"{FLOATS}\n{TOTAL}\n{STORE.replace('%w', '%r')}")
    assert_equal(of_words(words()), floats)
    assert_equal(floats, cast)


@pytest.mark.parametrize(
    ("wrong", "rules"),
    [
        (words("itof %q signed"), ("arithmetic", "conversion")),
        (words(padding="1"), ("padding", "constant")),
        (CAST + UNPADDED, ("padding",)),
        (MOVED, ("addressing",)),
    ],
    ids=["conversion", "padding", "no padding", "address"],
)
def test_what_is_read_still_counts(wrong: str, rules: tuple[str, ...]) -> None:
    assert assert_found(of_words(THROUGH_CAST), of_words(wrong), *rules).impact in ("logic", "bounds")


def test_elements_of_another_size_are_at_other_addresses() -> None:
    halves = (
        "%ph = ptr_to_ptr %pa : tile<128xptr<i32>> -> tile<128xptr<f16>>\n%zh = constant <f16: 0.0> : "
        "tile<128xf16>\n%h, %vt = load_ptr_tko weak %ph, %in, %zh token=%t : tile<128xptr<f16>>, "
        f"tile<128xi1>, tile<128xf16> -> tile<128xf16>, token\n%w = ftof %h : tile<128xf16> -> {FLOAT}"
    )
    assert "logic" in {each.impact for each in found(of_words(THROUGH_CAST), of_words(halves))}


def test_bits_are_the_same_stored_as_either_type() -> None:
    head = f"{LOAD}\n%neg = negf %v : {FLOAT}\n"
    as_words = (
        "%w = {0} : {1} -> {2}\n%pi = ptr_to_ptr %pb : tile<128xptr<f32>> -> tile<128xptr<i32>>\n"
        "%st = store_ptr_tko weak %pi, %w, %in token=%t : tile<128xptr<i32>>, tile<128xi32>, tile<128xi1> -> "
        "token"
    )
    floats = kernel(head + STORE.replace("%w", "%neg"))
    assert_equal(floats, kernel(head + as_words.format("bitcast %neg", FLOAT, WORD)))
    assert_equal(kernel(head + as_words.format("bitcast %neg", FLOAT, WORD)), floats)
    rounded = kernel(head + as_words.format("ftoi %neg signed", FLOAT, WORD))
    assert assert_found(floats, rounded, "conversion", "element-type", "arithmetic")


def test_a_shift_by_more_than_all_bits_is_no_crash() -> None:
    """Its result is undefined, and nothing is known of its range."""
    text = with_value(
        "%i = ftoi %v signed rounding<nearest_int_to_zero> : tile<128xf32> -> tile<128xi32>\n"
        "%far = constant <i32: 40> : tile<128xi32>\n"
        "%s = shri %i, %far unsigned : tile<128xi32>\n"
        "%w = itof %s signed rounding<nearest_even> : tile<128xi32> -> tile<128xf32>"
    )
    assert found(text, text) == []


@pytest.mark.parametrize(
    ("element", "bits", "number"),
    [("f8E4M3FN", 69, "0x45"), ("f8E5M2", 66, "0x42"), ("f8E8M0FNU", -128, "0x80"), ("f16", 15360, "0x3C00")],
)
def test_a_constant_is_its_bits_also_of_eight(element: str, bits: int, number: str) -> None:
    width = 16 if element == "f16" else 8
    tile, integers = f"tile<128x{element}>", f"tile<128xi{width}>"
    head = f"%c = ptr_to_ptr %pb : tile<128xptr<f32>> -> tile<128xptr<{element}>>\n"
    store = f"%s = store_ptr_tko weak %c, %k token=%t : tile<128xptr<{element}>>, {tile} -> token"

    def stored(*lines: str) -> str:
        return kernel("\n".join((head, *lines, store)))

    written = stored(f"%k = constant <{element}: {number}> : {tile}")
    by_bits = f"%i = constant <i{width}: {{}}> : {integers}\n%k = bitcast %i : {integers} -> {tile}"
    assert_equal(written, stored(by_bits.format(bits)))
    assert found(written, stored(by_bits.format(bits + 1)))
