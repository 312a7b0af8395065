"""Terms as a person writes them: ``128*bx + i0 < arg1``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.excerpt import cut
from tileir_diff.graph import floats
from tileir_diff.shorten import balanced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.graph.terms import Term, Terms

NOTATION = {
    "block.x, grid.x": "the index of the block, and the number of blocks, along an axis of the grid",
    "i0, i1": "the lane along dimension 0, 1 of the tile that the op makes or accesses",
    "k1, k2": "the index that a reduction, scan or matrix product runs over; k2 around one over k1",
    "iteration, iteration2": "the iteration, from 0, of a loop around; of the second from outside",
    "x.shape0, x.stride1": "the size and the stride of the array behind the argument x, by dimension",
    "generated.arg3": "an argument of the generated kernel alone; other names are those of the reference",
    "load[x + 4]": "what memory holds 4 elements on from where x points",
    "floor(a / b)": "the quotient rounded down",
    "trunc(a / b)": "the quotient rounded towards zero",
    "i32(a), u8(a)": "the lowest 32 bits of a, read as a signed number; 8 bits, read as an unsigned one",
    "a < b (unsigned)": "compared as unsigned numbers; one that may be negative is large then",
    "[c]": "1 where c holds, else 0",
    "c ? a : b": "a where c holds, else b",
    "undetermined": "any value: of a lane that a load leaves out and does not pad",
    "carried value, loop result": "what one iteration hands to the next, and the loop to what follows it",
    "by role": "arguments paired as the same base, size or stride of arrays that correspond",
    "by use": "arguments paired since both kernels do the same with them",
    "…": "something that is left out, so that the line fits",
    "97% alike": "the share of the ops of two entries that have a like one on the other side",
}
"""How terms are written in reports."""

DEPTH = 5
SHALLOW = 3
"""A long term is shown at least so deep."""
WIDTH = 96
DEEPEST, LONGEST, TOO_LONG = 12, 400, 4000
"""Two terms whose difference lies deep inside are shown so deep, in so many characters, at the most."""


def show(terms: Terms, term: Term, names: Mapping[Term, str] | None = None) -> str:
    """One line of at most ``WIDTH`` characters; ``names`` gives the entry's parameters.

    Where it is too long, what is inside is left out, and only at the last its end.
    """
    return balanced(_cut(terms, term, names))


def _cut(terms: Terms, term: Term, names: Mapping[Term, str] | None) -> str:
    line = ""
    for depth in range(DEPTH, SHALLOW - 1, -1):
        line = _show(terms, term, names or {}, depth)
        if len(line) <= WIDTH:
            return line
    return cut(line, WIDTH)


def show_both(terms: Terms, a: Term, b: Term, names: Mapping[Term, str] | None = None) -> tuple[str, str]:
    """Two unequal terms; deeper, and as long as they are, where that alone shows how they differ."""
    first, second = _cut(terms, a, names), _cut(terms, b, names)
    for depth in range(DEPTH, DEEPEST + 1):
        unlike = first != second and not (first.endswith("…") and second.endswith("…"))
        if unlike or len(first) + len(second) > TOO_LONG:
            break
        first, second = (_show(terms, term, names or {}, depth) for term in (a, b))
    return balanced(cut(first, LONGEST)), balanced(cut(second, LONGEST))


def _show(terms: Terms, term: Term, names: Mapping[Term, str], depth: int) -> str:
    kind, attr, args = terms.kind[term], terms.attr[term], terms.args[term]
    if term in names:
        return names[term]
    if depth < 0:
        return "…"

    def sub(arg: Term) -> str:
        return _show(terms, arg, names, depth - 1)

    def call(name: str) -> str:
        return f"{name}({', '.join(sub(arg) for arg in args)})"

    match kind:
        case "poly":
            return _poly(terms, term, names, depth)
        case "true" | "false":
            return kind
        case "bound":
            return f"k{attr[0]}"
        case "lane" | "carry_lane":
            return f"i{attr[0]}"
        case "block":
            return f"block.{'xyz'[attr[0]]}"
        case "grid":
            return f"grid.{'xyz'[attr[0]]}"
        case "it" if attr[0] < 0:
            return "iteration" if attr[0] == -1 else f"iteration{-attr[0]}"
        case "it" | "iter":
            return "iteration"
        case "arg":
            return f"arg{attr[1]}" if attr[0] != "array" else str(attr[1])
        case "fc":
            return floats.show(*attr)
        case "le":
            return _inequality(terms, args[0], names, depth)
        case "eq":
            return f"{sub(args[0])} == 0"
        case "not":
            return f"not ({sub(args[0])})"
        case "and" | "or":
            return f" {kind} ".join(sub(arg) for arg in args)
        case "div":
            return f"floor({_quotient(sub(args[0]), sub(args[1]))})"
        case "tdiv":
            return f"trunc({_quotient(sub(args[0]), sub(args[1]))})"
        case "ult":
            return f"{sub(args[0])} < {sub(args[1])} (unsigned)"
        case "min" | "max":
            return call(kind)
        case "ite":
            return f"({sub(args[0])} ? {sub(args[1])} : {sub(args[2])})"
        case "mem":
            return f"load[{sub(args[0])}]"
        case "undefined":
            return "undetermined"
        case "f":
            modes = [mode for mode in attr[2] if mode != floats.SIGNED_ZERO]
            mods = "".join(f" {value if value is not True else key}" for key, value in modes)
            return call(f"{attr[0]}{mods}")
        case "b2i":
            return f"[{sub(args[0])}]"
        case "reduce":
            first_body = int(attr[4])
            return f"{attr[0]}({sub(args[first_body])})"
        case "mma":
            return call(attr[0])
        case "loop_result":
            return "loop result"
        case "at" | "carry" | "cp":
            return "carried value"
        case "iop":
            return call(attr[1])
        case "wrap":
            return f"i{attr[0]}({sub(args[0])})"
        case "zext":
            return f"u{attr[0]}({sub(args[0])})"
        case _:
            return call(kind) if args else kind


def _quotient(dividend: str, divisor: str) -> str:
    """`(a + b) / c`: whatever holds an operator of its own outside of brackets is put in brackets."""
    return " / ".join(text if _is_whole(text) else f"({text})" for text in (dividend, divisor))


def _is_whole(text: str) -> bool:
    """Whether no operator stands in it outside of brackets, so that it can be an operand."""
    depth = 0
    for char in text.removeprefix("-"):
        depth += (char in "([") - (char in ")]")
        if depth == 0 and char in " *":
            return False
    return True


def _poly(terms: Terms, term: Term, names: Mapping[Term, str], depth: int) -> str:
    parts: list[str] = []
    for mono, coef in terms.attr[term]:
        factors = [_show(terms, atom, names, depth - 1) for atom in mono]
        body = "*".join(factors)
        size = abs(coef)
        text = str(size) if not body else body if size == 1 else f"{size}*{body}"
        if not parts:
            parts.append(f"-{text}" if coef < 0 else text)
        else:
            parts.append(f"- {text}" if coef < 0 else f"+ {text}")
    # constants last reads better than the order of the store
    if parts and terms.attr[term][0][0] == () and len(parts) > 1:
        first = parts.pop(0)
        parts[0] = (
            parts[0].removeprefix("+ ") if parts[0].startswith("+ ") else "-" + parts[0].removeprefix("- ")
        )
        parts.append(f"- {first[1:]}" if first.startswith("-") else f"+ {first}")
    return " ".join(parts) or "0"


def _inequality(terms: Terms, poly: Term, names: Mapping[Term, str], depth: int) -> str:
    """``a - b + 1 <= 0`` as ``a < b``."""
    left: dict[tuple[Term, ...], int] = {}
    right: dict[tuple[Term, ...], int] = {}
    const = 0
    for mono, coef in terms.attr[poly]:
        if mono == ():
            const = coef
        elif coef > 0:
            left[mono] = coef
        else:
            right[mono] = -coef
    sign = "<="
    if const == 1:
        sign, const = "<", 0
    if const > 0:
        left[()] = const
    elif const < 0:
        right[()] = -const

    def side(items: dict[tuple[Term, ...], int]) -> str:
        total = terms.sum((terms.product(mono), coef) for mono, coef in items.items())
        return _show(terms, total, names, depth - 1)

    return f"{side(left)} {sign} {side(right)}"
