"""What `tileir-diff explain` says of an equivalence: what it means, an example, and what to do about it."""

from __future__ import annotations

from typing import NamedTuple

from tileir_diff.match.bound_values import HOST_VALUES
from tileir_diff.match.equivalences import equivalences
from tileir_diff.match.obligations import HOST_BOUNDS


class Equivalence(NamedTuple):
    """The parts of a page, below what is treated as equal."""

    means: str
    example: str
    todo: str


SIGNS = """\
Nothing, unless the sign of a zero reaches a result: 1/x, copysign, atan2, or a bit pattern that
is compared. Then switch it off, and write the port as the reference is written."""

NOTHING = "Nothing. It is listed so that nobody looks for why the texts differ."

PAGES = {
    "additive-zero": Equivalence(
        """\
x + 0 differs from x for x = -0 only, and 0 - x from -x for x = 0 only: in the sign of the zero
that comes out. Front ends leave out a sum with a constant zero, and write a negation as a
subtraction.""",
        """\
`%y = subf %zero, %x` in the reference, `%y = negf %x` in the generated kernel.""",
        SIGNS,
    ),
    "fma-zero": Equivalence(
        """\
fma(a, b, 0) rounds once, as a * b does. They differ where the product is -0 only: -0 + 0 is 0.""",
        """\
`%y = fma %a, %b, %zero` in the reference, `%y = mulf %a, %b` in the generated kernel.""",
        SIGNS,
    ),
    "power-of-two-scale": Equivalence(
        """\
Multiplying by a power of two changes the exponent only, so it makes no difference where in an
f32 product, quotient or fma it is done: before or after the other factor, or joined with
another such factor. It does where something leaves the range of normal numbers on the way.""",
        """\
`(q * 0.125) * k` in the reference, `(q * k) * 0.125` in the generated kernel: they differ where
q * k overflows, or q * 0.125 is subnormal.""",
        """\
Nothing for values of ordinary size. Where they come near 1e38 or 1e-38, switch it off, and
scale at the same place as the reference.""",
    ),
    "flush-with-normal": Equivalence(
        """\
`flush_to_zero` on a sum makes subnormal operands and results zero. With a constant of normal
size that is far larger than any subnormal, the sum rounds to the same number either way.""",
        """\
`addf %x, %one flush_to_zero` in the reference, `addf %x, %one` in the generated kernel.""",
        NOTHING,
    ),
    "double": Equivalence(
        """\
Doubling is exact in each floating point format: x + x and 2 * x are the same number, or both overflow.""",
        """`%y = addf %x, %x` in the reference, `%y = mulf %x, %two` in the generated kernel.""",
        NOTHING,
    ),
    "narrow-arithmetic": Equivalence(
        """\
f32 has more than twice the digits of f16 and bf16. So one sum, product, quotient or root of such
numbers that is computed in f32, and rounded to their type, is the correctly rounded result, as the
op of their type gives it. That does not hold for an `fma`, nor for two ops with one rounding.""",
        """\
`addf %a, %b : tile<64xf16>` in the reference; `ftof` of both to f32, `addf`, and `ftof` back to f16
in the generated kernel.""",
        NOTHING,
    ),
    HOST_BOUNDS: Equivalence(
        """\
One side tests what the other leaves to the launch: that a block's index, or an element, lies
inside an array. Both compute the same in each launch in which the test holds for all blocks.
Between different front ends, and where the grid is not known, such a test is no finding: it is
printed under `conditions on the host`, and makes the verdict PASS_WITH_NOTES.""",
        """\
The reference has one block a row, and masks its accesses with `block.x < arg0.shape0`. The port
has no such mask, and its host launches as many blocks as there are rows. The report says

    conditions on the host (--launch FILE checks them for one launch)
      block.x < arg0.shape0 for all blocks launched""",
        """\
Look at the grid that the host computes. If no block lies outside (one block a row, one a tile),
nothing is to be done, and `--launch FILE` checks it for one launch. If the grid is rounded up,
has a fixed size, or is shared with another kernel, the blocks outside read or write past the
end of the array: add the test to the port.""",
    ),
    HOST_VALUES: Equivalence(
        """\
One side has a number where the other takes an argument, or one value where the other takes two
strides. Both compute the same in each launch in which the argument has this value. A port may be
made for such launches only, or the wrong value stands in it: nothing in the two kernels tells.""",
        """\
The reference reads rows of x `arg0.stride0` apart, and writes rows of y `arg8.stride0` apart. The
port takes one stride for both. The report says

    conditions on the host (--launch FILE checks them for one launch)
      holds only if reference arg8.stride0 = arg0.stride0 (one value in the generated kernel)""",
        """\
Ask of each line whether all launches keep it, and give one with `--launch FILE`. Where a launch may
break it, the port lacks an argument, or uses another one.""",
    ),
}


def page(name: str) -> str | None:
    """The page of an equivalence; None if there is no such."""
    known = equivalences()
    if name not in known:
        return None
    means, example, todo = PAGES[name]
    switch = f"`--no-equivalence {name}` makes it a difference; `--equivalences` lists where it was used."
    sections = (
        f"# {name}\n\nTreated as equal: {known[name]}.",
        f"## What it means\n\n{means}",
        f"## Example\n\n{example}",
        f"## What to do\n\n{todo}\n{switch}",
    )
    return "\n\n".join(sections) + "\n"
