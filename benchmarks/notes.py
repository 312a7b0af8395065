"""Which rule families support what the notes of a pair say: data, read by hand.

Each entry is a piece of text in a pair's `why` and the families that a finding for it may have.
"""

from __future__ import annotations

ARITHMETIC = ("arithmetic", "constant", "float-mode", "conversion")

SUPPORTED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("div_by<16> asserted on base pointers", ("divisibility",)),
    ("assume div_by<16> on the row pointers", ("divisibility",)),
    ("divf by N then addf eps (py) vs fma with rounded 1/N", ARITHMETIC),
    ("half dim 48 in a 64-wide tile", ("padding", "mask", "bounds", "tile-shape", "addressing")),
    ("K/V views have no padding", ("padding", "bounds", "mask")),
    ("mask by addf of 0/-inf (py) vs select", (*ARITHMETIC, "mask", "control-flow")),
    ("LSE padding -inf (py) vs -1e30", ("padding", "constant", "mask", "arithmetic")),
    (
        "c++ also increments tokens_cnts in memory",
        ("accumulator", "memory-family", "atomic", "addressing", "loop", "control-flow", "arithmetic", "mask",
         "scan", "reduction",
         "bounds", "grid", "constant", "token-order", "tile-shape"),
    ),
    (
        "py overwrites the counts",
        ("accumulator", "memory-family", "atomic", "addressing", "loop", "control-flow", "arithmetic", "mask",
         "reduction", "bounds", "constant", "token-order", "tile-shape"),
    ),
    ("weight+shift added in f16", ("conversion", "arithmetic", "element-type", "constant")),
    ("whole formula in bf16 (py) vs f32", (*ARITHMETIC, "element-type")),
    ("whole formula in f16 (py) vs f32", (*ARITHMETIC, "element-type")),
    ("2*sigmoid(2u)-1 by exp/divf", ARITHMETIC),
    ("exp rounding<approx> (py) vs exp (c++)", ("float-mode", "arithmetic")),
    (
        "3-pass max/sum/write with reciprocal*mulf",
        (*ARITHMETIC, "loop", "memory-family", "reduction", "addressing", "control-flow", "padding", "mask"),
    ),
    ("tanh form / association of the derivative", ARITHMETIC),
    ("tanh vs exp/divf form, association", ARITHMETIC),
    ("not the same job", ()),
)  # fmt: skip
"""An empty tuple supports any family."""


def supported(why: list[str]) -> tuple[set[str] | None, list[str]]:
    """Families that the notes of a pair support (None: any), and the notes that the table does not know."""
    families: set[str] = set()
    unknown: list[str] = []
    anything = False
    for note in why:
        known = [entry for text, entry in SUPPORTED if text in note]
        if not known:
            unknown.append(note)
        for entry in known:
            anything = anything or not entry
            families |= set(entry)
    return (None if anything else families), unknown
