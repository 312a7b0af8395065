"""Tiny kernels around a few ops, and what comparing two of them must give.

The line that a finding must point at ends in `// here`, in the generated snippet, or in the reference where
the generated one lacks it.
"""

from __future__ import annotations

from typing import NamedTuple

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.ir import ModuleOp
from tileir_diff.match.compare import compare
from tileir_diff.match.model import CompareOptions, Comparison
from tileir_diff.rules import finding
from tileir_diff.rules.model import Finding

HERE = "// here"

PARAMETERS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>"

PROLOGUE = """
%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%N = assume bounded<0, ?>, %n : tile<i32>
%i0 = constant <i32: 0> : tile<i32>
%i1 = constant <i32: 1> : tile<i32>
%i4 = constant <i32: 4> : tile<i32>
%i128 = constant <i32: 128> : tile<i32>
%start = muli %x, %i128 : tile<i32>
%start1 = reshape %start : tile<i32> -> tile<1xi32>
%starts = broadcast %start1 : tile<1xi32> -> tile<128xi32>
%lane = iota : tile<128xi32>
%o = addi %starts, %lane : tile<128xi32>
%n1 = reshape %N : tile<i32> -> tile<1xi32>
%nv = broadcast %n1 : tile<1xi32> -> tile<128xi32>
%m1 = reshape %m : tile<i32> -> tile<1xi32>
%mv = broadcast %m1 : tile<1xi32> -> tile<128xi32>
%in = cmpi less_than %o, %nv, signed : tile<128xi32> -> tile<128xi1>
%a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
%av = broadcast %a1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
%pa = offset %av, %o : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
%b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
%bv = broadcast %b1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
%pb = offset %bv, %o : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
%zero = constant <f32: 0.0> : tile<128xf32>
%one = constant <f32: 1.0> : tile<128xf32>
"""
"""Offsets `%o` of a block of 128 lanes, their mask `%in`, and the addresses `%pa` and `%pb`."""

LOAD = (
    "%v, %vt = load_ptr_tko weak %pa, %in, %zero token=%t : "
    "tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token"
)
STORE = (
    "%st = store_ptr_tko weak %pb, %w, %in token=%t : tile<128xptr<f32>>, tile<128xf32>, "
    "tile<128xi1> -> token"
)


class Pair(NamedTuple):
    """Two spellings of the same, and a generated snippet that is close to them and wrong."""

    name: str
    reference: str
    generated: str
    wrong: str = ""
    rules: tuple[str, ...] = ()
    """Rules, or families, that may name the defect of `wrong`."""


def kernel(
    body: str, *, parameters: str = PARAMETERS, prologue: str = PROLOGUE, name: str = "k", head: str = ""
) -> str:
    """A module with one entry around `body`."""
    return f"entry @{name}({parameters}) {head}{{\n{prologue}\n{body}\nreturn\n}}\n"


def with_value(body: str) -> str:
    """A kernel that loads `%v`, computes `%w` in `body`, and stores it."""
    return kernel(f"{LOAD}\n{body}\n{STORE}")


def parsed(text: str) -> ModuleOp:
    return parse_text(text)


def compared(reference: str, generated: str, options: CompareOptions = CompareOptions()) -> Comparison:
    return compare(parsed(reference), parsed(generated), options)


def found(reference: str, generated: str, options: CompareOptions = CompareOptions()) -> list[Finding]:
    """Findings that can matter."""
    every = [finding(difference) for difference in compared(reference, generated, options).differences]
    return [each for each in every if each.impact != "none"]


def assert_equal(reference: str, generated: str, options: CompareOptions = CompareOptions()) -> None:
    result = found(reference, generated, options)
    assert [(each.rule, each.expected, each.actual) for each in result] == []


def assert_found(
    reference: str, generated: str, *rules: str, options: CompareOptions = CompareOptions()
) -> Finding:
    """The first finding: of one of the rules or families, on the line marked `// here`. Returns it."""
    result = found(reference, generated, options)
    assert result, "nothing found"
    first = result[0]
    named = [(each.rule, each.expected, each.actual) for each in result]
    assert any(first.rule == rule or first.rule.startswith(f"{rule}/") for rule in rules), named
    for text, site in ((generated, first.generated), (reference, first.reference)):
        marked = [number for number, line in enumerate(text.split("\n"), 1) if line.endswith(HERE)]
        if marked:
            assert site is not None, named
            assert site.op.span.line in marked, (site.op.span.line, marked, named)
    return first
