"""Bits of integers by masks, shifts, divisions and conversions: in their spellings, and the wrong one."""

from __future__ import annotations

import pytest

from tests.match.snippets import Pair, assert_equal, found, kernel

V = "tile<128xi32>"
HEAD = "%c: tile<ptr<{0}>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>"
PROLOGUE = """
%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%x1 = reshape %x : tile<i32> -> tile<1xi32>
%bx = broadcast %x1 : tile<1xi32> -> tile<128xi32>
%m1 = reshape %m : tile<i32> -> tile<1xi32>
%mv = broadcast %m1 : tile<1xi32> -> tile<128xi32>
%lane = iota : tile<128xi32>
%b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
%bv = broadcast %b1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
%pb = offset %bv, %lane : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
"""


def splat(name: str, value: int, element: str = "i32") -> str:
    return f"%{name} = constant <{element}: {value}> : tile<128x{element}>\n"


def of_loaded(lines: str, element: str = "i32") -> str:
    """A kernel that stores `%r` (i32), made of the loaded integers `%key`, the block `%bx` and `%lane`."""
    where = f"tile<128xptr<{element}>>"
    return kernel(
        f"%c1 = reshape %c : tile<ptr<{element}>> -> tile<1xptr<{element}>>\n"
        f"%cv = broadcast %c1 : tile<1xptr<{element}>> -> {where}\n"
        f"%pc = offset %cv, %lane : {where}, {V} -> {where}\n"
        f"%key, %kt = load_ptr_tko weak %pc token=%t : {where} -> tile<128x{element}>, token\n{lines}\n"
        "%pi = ptr_to_ptr %pb : tile<128xptr<f32>> -> tile<128xptr<i32>>\n"
        f"%s = store_ptr_tko weak %pi, %r token=%t : tile<128xptr<i32>>, {V} -> token",
        parameters=HEAD.format(element),
        prologue=PROLOGUE,
    )


def told_apart(first: str, second: str) -> None:
    for reference, generated in ((first, second), (second, first)):
        assert any(each.impact in ("logic", "precision") for each in found(reference, generated))


def by(op: str, left: str, right: int, mode: str = "", name: str = "r") -> str:
    """`op left, right` with a constant; each has a name of its own."""
    return f"{splat(f'k{name}', right)}%{name} = {op} %{left}, %k{name} {mode}: {V}\n"


TILE = by("muli", "bx", 128, name="start")
SUM = f"{TILE}%r = addi %start, %lane : {V}"
LOW = by("andi", "lane", 63, name="low")
HIGH = by("andi", "key", -64, name="high")
PLACE = f"%w = muli %bx, %mv : {V}\n"
IN_I32 = [
    Pair("bits that do not meet, by or", SUM, f"{TILE}%r = ori %start, %lane : {V}",
         f"{by('muli', 'bx', 64, name='start')}%r = ori %start, %lane : {V}"),
    Pair("bits that do not meet, by xor", SUM, f"{TILE}%r = xori %lane, %start : {V}",
         f"{TILE}%r = xori %lane, %bx : {V}"),
    Pair("bits that do not meet, of loaded integers", f"{HIGH}{LOW}%r = addi %high, %low : {V}",
         f"{HIGH}{LOW}%r = ori %high, %low : {V}", f"{HIGH}%r = ori %high, %lane : {V}"),
    Pair("bits that do not meet, by and", f"{LOW}{splat('k', 0)}%r = muli %low, %k : {V}",
         f"{HIGH}{LOW}%r = andi %low, %high : {V}", f"{HIGH}%r = andi %lane, %high : {V}"),
    Pair("a mask of all bits that there are", f"{splat('k', 0)}%r = addi %lane, %k : {V}",
         by("andi", "lane", 127), by("andi", "lane", 63)),
    Pair("remainder and mask", by("remi", "key", 8, "unsigned "), by("andi", "key", 7),
         by("remi", "key", 8, "signed ")),
    Pair("remainder and mask of what is not negative", by("remi", "lane", 8, "signed "),
         by("andi", "lane", 7), by("andi", "lane", 8)),
    Pair("remainder and mask of the other bits",
         f"{by('andi', 'key', 7, name='low')}%r = subi %key, %low : {V}", by("andi", "key", -8),
         by("andi", "key", -16)),
    Pair("quotient and shift without a sign", by("divi", "key", 8, "unsigned "),
         by("shri", "key", 3, "unsigned "), by("shri", "key", 3, "signed ")),
    Pair("quotient and shift", by("divi", "key", 8, "signed rounding<negative_inf> "),
         by("shri", "key", 3, "signed "), by("divi", "key", 8, "signed ")),
    Pair("bits out of the middle",
         by("andi", "key", 0xF0, name="u") + by("shri", "u", 4, "signed "),
         by("shri", "key", 4, "signed ", name="u") + by("andi", "u", 15),
         by("shri", "key", 4, "signed ", name="u") + by("andi", "u", 7)),
    Pair("bits out of the middle without a sign",
         by("shri", "key", 4, "unsigned ", name="u") + by("andi", "u", 15),
         by("shri", "key", 4, "signed ", name="u") + by("andi", "u", 15),
         by("shri", "key", 4, "unsigned ", name="u") + by("remi", "u", 16, "signed ", name="v")
         + by("andi", "v", 13)),
    Pair("the upper bits", by("shri", "key", 28, "unsigned "),
         by("shri", "key", 28, "signed ", name="u") + by("andi", "u", 15), by("shri", "key", 28, "signed ")),
    Pair("the lower bits by shifts", by("andi", "key", 0xFFFF),
         by("shli", "key", 16, name="u") + by("shri", "u", 16, "unsigned "),
         by("shli", "key", 16, name="u") + by("shri", "u", 16, "signed ")),
    Pair("the lower bits by shifts, with their sign",
         f"%h = trunci %key : {V} -> tile<128xi16>\n%r = exti %h signed : tile<128xi16> -> {V}",
         by("shli", "key", 16, name="u") + by("shri", "u", 16, "signed "),
         by("shli", "key", 17, name="u") + by("shri", "u", 17, "signed ")),
    Pair("the lowest bit", by("andi", "key", 1),
         by("shli", "key", 31, name="u") + by("shri", "u", 31, "unsigned "),
         by("shli", "key", 31, name="u") + by("shri", "u", 31, "signed ")),
    Pair("the sign as a mask",
         f"{splat('zero', 0)}{splat('ones', -1)}%p = cmpi less_than %key, %zero, signed : {V} -> "
         f"tile<128xi1>\n%r = select %p, %ones, %zero : tile<128xi1>, {V}",
         by("shri", "key", 31, "signed "), by("shri", "key", 31, "unsigned ")),
    Pair("the sign as a bit",
         f"{splat('zero', 0)}%p = cmpi less_than %key, %zero, signed : {V} -> tile<128xi1>\n"
         f"%r = exti %p unsigned : tile<128xi1> -> {V}",
         by("shri", "key", 31, "unsigned "), by("shri", "key", 30, "unsigned ")),
    Pair("the least integer", splat("r", -(1 << 31)), splat("one", 1) + by("shli", "one", 31),
         splat("one", 1) + by("shli", "one", 30)),
    Pair("the size of a number and of its negative", f"%r = absi %key : {V}",
         f"%u = negi %key : {V}\n%r = absi %u : {V}", f"%u = absi %key : {V}\n%r = negi %u : {V}"),
    Pair("the size of a difference", f"%u = subi %key, %mv : {V}\n%r = absi %u : {V}",
         f"%u = subi %mv, %key : {V}\n%r = absi %u : {V}", f"%u = addi %mv, %key : {V}\n%r = absi %u : {V}"),
    *(Pair(f"the size of a distance, by {name}", f"{PLACE}%u = subi %w, %lane : {V}\n%r = absi %u : {V}",
           f"{PLACE}%u = subi %lane, %w : {V}\n{size}", f"{PLACE}%u = addi %lane, %w : {V}\n{size}")
      for name, size in (("absi", f"%r = absi %u : {V}"),
                         ("maxi", f"%less = negi %u : {V}\n%r = maxi %less, %u signed : {V}"))),
    Pair("a mask in fewer bits, then widened", by("andi", "key", 0xFF),
         f"%h = trunci %key : {V} -> tile<128xi8>\n%r = exti %h unsigned : tile<128xi8> -> {V}",
         f"%h = trunci %key : {V} -> tile<128xi8>\n%r = exti %h signed : tile<128xi8> -> {V}"),
]  # fmt: skip


@pytest.mark.parametrize("pair", IN_I32, ids=[pair.name for pair in IN_I32])
def test_bits_of_integers(pair: Pair) -> None:
    reference, generated, wrong = map(of_loaded, pair[1:4])
    assert_equal(reference, generated)
    assert_equal(generated, reference)
    told_apart(reference, wrong)
    told_apart(generated, wrong)


BYTE = "tile<128xi8>"
FLOAT = "tile<128xf32>"
BITS = f"%r = bitcast %f : {FLOAT} -> {V}"


def widened(sign: str, name: str = "r", source: str = "key") -> str:
    return f"%{name} = exti %{source} {sign} : {BYTE} -> {V}\n"


def masked(mask: int) -> tuple[str, str, str]:
    """A mask in i8 and then widened, widened and then the mask, and the same with the sign."""
    narrow = splat("k8", mask - 256 if mask > 127 else mask, "i8")
    return (
        f"{narrow}%u = andi %key, %k8 : {BYTE}\n{widened('unsigned', source='u')}",
        widened("unsigned", "u") + by("andi", "u", mask),
        f"{narrow}%u = andi %key, %k8 : {BYTE}\n{widened('signed', source='u')}",
    )


IN_I8 = [
    Pair("a byte as a number",
         widened("unsigned", "u") + f"%f = itof %u signed : {V} -> {FLOAT}\n{BITS}",
         f"%f = itof %key unsigned : {BYTE} -> {FLOAT}\n{BITS}",
         f"%f = itof %key signed : {BYTE} -> {FLOAT}\n{BITS}"),
    Pair("the upper half of a byte", *masked(0xF0), rules=()),
    Pair("the middle of a byte", masked(0x3C)[0], masked(0x3C)[1], masked(0x7C)[0]),
    Pair("the lower half of a byte", masked(0x0F)[0], masked(0x0F)[1],
         widened("signed", "u") + by("andi", "u", 0x1F)),
    Pair("the upper half of a byte, shifted",
         widened("unsigned", "u") + by("shri", "u", 4, "signed "),
         f"{splat('k8', 4, 'i8')}%u = shri %key, %k8 unsigned : {BYTE}\n{widened('signed', source='u')}",
         f"{splat('k8', 4, 'i8')}%u = shri %key, %k8 signed : {BYTE}\n{widened('unsigned', source='u')}"),
    Pair("a byte without its sign, by a mask", widened("unsigned"),
         widened("signed", "u") + by("andi", "u", 0xFF), widened("signed", "u") + by("andi", "u", 0x1FF)),
]  # fmt: skip


@pytest.mark.parametrize("pair", IN_I8, ids=[pair.name for pair in IN_I8])
def test_bits_of_bytes(pair: Pair) -> None:
    reference, generated, wrong = (of_loaded(lines, "i8") for lines in pair[1:4])
    assert_equal(reference, generated)
    assert_equal(generated, reference)
    told_apart(reference, wrong)
    told_apart(generated, wrong)


def flags(op: str) -> str:
    return of_loaded(
        f"%p = cmpi less_than %key, %mv, signed : {V} -> tile<128xi1>\n"
        f"%q = cmpi less_than %lane, %mv, signed : {V} -> tile<128xi1>\n"
        f"%w = {op} %p, %q : tile<128xi1>\n%r = exti %w unsigned : tile<128xi1> -> {V}"
    )


def test_arithmetic_of_single_bits() -> None:
    """It is modulo 2."""
    for op, same, other in (("addi", "xori", "ori"), ("subi", "xori", "andi"), ("muli", "andi", "xori")):
        assert_equal(flags(op), flags(same))
        assert_equal(flags(same), flags(op))
        told_apart(flags(op), flags(other))
