"""Random straight-line integer kernels: the address of every lane is what an interpreter computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph.expressions import truncated
from tileir_diff.dialect import parse_text
from tileir_diff.graph.evaluate import Evaluator
from tileir_diff.graph.terms import Term, Terms

LANES = 8
V = f"tile<{LANES}xi32>"
B = f"tile<{LANES}xi1>"
SMALL = 1 << 18
"""Values stay below this, so that nothing wraps: wrapping has tests of its own."""
Binary = Callable[[int, int], int]
ROUNDINGS: dict[str, Binary] = {
    "zero": truncated,
    "negative_inf": lambda a, b: a // b,
    "positive_inf": lambda a, b: -(-a // b),
}
LINEAR: tuple[tuple[str, Binary], ...] = (
    ("addi", lambda a, b: a + b),
    ("subi", lambda a, b: a - b),
    ("muli", lambda a, b: a * b),
)
BITWISE: tuple[tuple[str, Binary], ...] = (
    ("andi", lambda a, b: a & b),
    ("ori", lambda a, b: a | b),
    ("xori", lambda a, b: a ^ b),
)
PREDICATES: dict[str, Callable[[int, int], bool]] = {
    "less_than": lambda a, b: a < b,
    "less_than_or_equal": lambda a, b: a <= b,
    "greater_than": lambda a, b: a > b,
    "greater_than_or_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
}
Pick = Callable[[int, int], int]


def unsigned(value: int) -> int:
    return value & 0xFFFFFFFF


def signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


@dataclass
class Program:
    """Lines of a kernel, and the lanes of each of its values."""

    lines: list[str] = field(default_factory=lambda: list[str]())
    integers: dict[str, list[int]] = field(default_factory=lambda: dict[str, list[int]]())
    flags: dict[str, list[int]] = field(default_factory=lambda: dict[str, list[int]]())

    def put(self, text: str, lanes: list[int], flags: bool = False) -> None:
        """Keep a value if it stays small; else leave its op out."""
        if any(abs(lane) >= SMALL for lane in lanes):
            return
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        (self.flags if flags else self.integers)[name] = lanes

    def constant(self, value: int) -> str:
        name = f"%k{len(self.lines)}"
        self.lines.append(f"{name} = constant <i32: {value}> : {V}")
        return name

    def line(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name


def step(program: Program, pick: Pick) -> None:
    """Append one random op."""
    names = list(program.integers)
    a, b = (names[pick(0, len(names) - 1)] for _ in range(2))
    x, y = program.integers[a], program.integers[b]
    kind = pick(0, 18)
    if kind <= 2:
        op, apply = LINEAR[kind]
        program.put(f"{op} {a}, {b} : {V}", [apply(p, q) for p, q in zip(x, y, strict=True)])
    elif kind <= 4:
        divisor = (1, 2, 3, 4, 5, 8, 16)[pick(0, 6)]
        rounding = tuple(ROUNDINGS)[pick(0, 2)]
        mode = f"rounding<{rounding}> " if rounding != "zero" else ""
        text = f"divi {a}, {program.constant(divisor)} signed {mode}: {V}"
        program.put(text, [ROUNDINGS[rounding](p, divisor) for p in x])
    elif kind == 5:
        divisor = (1, 2, 3, 8, 16)[pick(0, 4)]
        text = f"remi {a}, {program.constant(divisor)} signed : {V}"
        program.put(text, [p - divisor * truncated(p, divisor) for p in x])
    elif kind == 6:
        divisor = (2, 3, 16)[pick(0, 2)]
        rest = pick(0, 1)
        text = f"{'remi' if rest else 'divi'} {a}, {program.constant(divisor)} unsigned : {V}"
        program.put(text, [signed(unsigned(p) % divisor if rest else unsigned(p) // divisor) for p in x])
    elif kind == 7:
        amount = pick(0, 5)
        program.put(f"shli {a}, {program.constant(amount)} : {V}", [p << amount for p in x])
    elif kind == 8:
        amount = pick(0, 6)
        sign = ("signed", "unsigned")[pick(0, 1)]
        lanes = [(p >> amount) if sign == "signed" else signed(unsigned(p) >> amount) for p in x]
        program.put(f"shri {a}, {program.constant(amount)} {sign} : {V}", lanes)
    elif kind == 9:
        op, apply = BITWISE[pick(0, 2)]
        if pick(0, 1):
            mask = (0, 1, 3, 7, 31, -1, 6, 5, 24, -8)[pick(0, 9)]
            b, y = program.constant(mask), [mask] * LANES
        program.put(f"{op} {a}, {b} : {V}", [apply(p, q) for p, q in zip(x, y, strict=True)])
    elif kind == 10:
        least, sign = pick(0, 1), ("signed", "unsigned")[pick(0, 1)]
        key = unsigned if sign == "unsigned" else int
        lanes = [(min if least else max)(p, q, key=key) for p, q in zip(x, y, strict=True)]
        program.put(f"{'mini' if least else 'maxi'} {a}, {b} {sign} : {V}", lanes)
    elif kind <= 12:
        predicate = tuple(PREDICATES)[pick(0, 5)]
        sign = ("signed", "unsigned")[pick(0, 1)]
        read = unsigned if sign == "unsigned" else int
        lanes = [int(PREDICATES[predicate](read(p), read(q))) for p, q in zip(x, y, strict=True)]
        program.put(f"cmpi {predicate} {a}, {b}, {sign} : {V} -> {B}", lanes, flags=True)
    elif kind == 13 and program.flags:
        flag = list(program.flags)[pick(0, len(program.flags) - 1)]
        chosen = [p if f else q for f, p, q in zip(program.flags[flag], x, y, strict=True)]
        program.put(f"select {flag}, {a}, {b} : {B}, {V}", chosen)
    elif kind == 14 and program.flags:
        flag = list(program.flags)[pick(0, len(program.flags) - 1)]
        other = list(program.flags)[pick(0, len(program.flags) - 1)]
        op, apply = BITWISE[pick(0, 2)]
        lanes = [apply(p, q) for p, q in zip(program.flags[flag], program.flags[other], strict=True)]
        program.put(f"{op} {flag}, {other} : {B}", lanes, flags=True)
    elif kind == 15 and program.flags:
        flag = list(program.flags)[pick(0, len(program.flags) - 1)]
        sign = pick(0, 1)
        lanes = [-f if sign else f for f in program.flags[flag]]
        program.put(f"exti {flag} {'signed' if sign else 'unsigned'} : {B} -> {V}", lanes)
    elif kind == 16:
        amount, sign = pick(14, 31), ("signed", "unsigned")[pick(0, 1)]
        by = program.constant(amount)
        there = program.line(f"shli {a}, {by} : {V}")
        lanes = [
            signed(p << amount) >> amount if sign == "signed" else unsigned(p << amount) >> amount for p in x
        ]
        program.put(f"shri {there}, {by} {sign} : {V}", lanes)
    elif kind == 17:
        square = program.line(f"reshape {a} : {V} -> tile<2x4xi32>")
        turned = program.line(f"permute {square} [1, 0] : tile<2x4xi32> -> tile<4x2xi32>")
        lanes = [x[4 * row + column] for column in range(4) for row in range(2)]
        program.put(f"reshape {turned} : tile<4x2xi32> -> {V}", lanes)
    else:
        half = f"tile<{LANES // 2}xi32>"
        low = program.line(f"extract {a}[%i0] : {V} -> {half}")
        high = program.line(f"extract {b}[%i1] : {V} -> {half}")
        lanes = [*y[LANES // 2 :], *x[: LANES // 2]]
        program.put(f"cat {high}, {low} dim = 0 : {half}, {half} -> {V}", lanes)


HEAD = f"""entry @k(%b: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i32>) {{
%t = make_token : token
%x, %y, %z = get_tile_block_id : tile<i32>
%N = assume bounded<0, ?>, %n : tile<i32>
%i0 = constant <i32: 0> : tile<i32>
%i1 = constant <i32: 1> : tile<i32>
%one = constant <f32: 1.0> : tile<{LANES}xf32>
%lane = iota : {V}
%b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
%bv = broadcast %b1 : tile<1xptr<f32>> -> tile<{LANES}xptr<f32>>
"""


def splat(name: str, scalar: str) -> str:
    return (
        f"%{name}1 = reshape %{scalar} : tile<i32> -> tile<1xi32>\n%{name} = broadcast %{name}1 : "
        f"tile<1xi32> -> {V}\n"
    )


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[int], tuple[int, int, int]]:
    """The text of a kernel, the offset of each lane, and the values of n, m and the block index."""

    def pick(low: int, high: int) -> int:
        return draw(st.integers(low, high))

    n, m, block = pick(0, 40), pick(-30, 30), pick(0, 9)
    program = Program()
    program.integers.update(
        {"%lane": list(range(LANES)), "%nv": [n] * LANES, "%mv": [m] * LANES, "%xv": [block] * LANES}
    )
    for _ in range(pick(3, 14)):
        step(program, pick)
    name, lanes = list(program.integers.items())[-1]
    text = (
        HEAD
        + splat("nv", "N")
        + splat("mv", "m")
        + splat("xv", "x")
        + "\n".join(program.lines)
        + f"\n%q = offset %bv, {name} : tile<{LANES}xptr<f32>>, {V} -> tile<{LANES}xptr<f32>>\n"
        f"%s = store_ptr_tko weak %q, %one token=%t : tile<{LANES}xptr<f32>>, tile<{LANES}xf32> -> "
        f"token\nreturn\n}}\n"
    )
    return text, lanes, (n, m, block)


def number(terms: Terms, term: Term, leaves: dict[Term, int]) -> int:
    """The value of an integer term, with the ops that the normal form leaves as they are."""
    memo = dict(leaves)

    def visit(node: Term) -> int:
        if node not in memo:
            memo[node] = compute(node)
        return memo[node]

    def compute(node: Term) -> int:
        kind, args = terms.kind[node], terms.args[node]
        if kind == "poly":
            total = 0
            for mono, coefficient in terms.attr[node]:
                for atom in mono:
                    coefficient *= visit(atom)
                total += coefficient
            return total
        values = [visit(arg) for arg in args] if kind != "ite" else []
        match kind:
            case "true" | "false":
                return int(kind == "true")
            case "div":
                return values[0] // values[1]
            case "tdiv":
                return truncated(values[0], values[1])
            case "min" | "max":
                return (min if kind == "min" else max)(values)
            case "b2i":
                return values[0]
            case "le":
                return int(values[0] <= 0)
            case "eq":
                return int(values[0] == 0)
            case "not":
                return 1 - values[0]
            case "and":
                return int(all(values))
            case "or":
                return int(any(values))
            case "xor":
                return values[0] ^ values[1]
            case "ult":
                return int(unsigned(values[0]) < unsigned(values[1]))
            case "ite":
                return visit(args[1] if visit(args[0]) else args[2])
            case "iop":
                return kept(terms.attr[node], values)
            case "wrap":
                half = 1 << (terms.attr[node][0] - 1)
                return (values[0] + half) % (2 * half) - half
            case "zext":
                return values[0] % (1 << terms.attr[node][0])
            case _:
                raise AssertionError(f"no meaning given to {kind}")

    return visit(term)


def kept(attr: tuple[Any, ...], values: list[int]) -> int:
    """An op without a normal form."""
    _, name, *mods = attr
    named: dict[str, Any] = dict(mods)
    a, b = values
    if named.get("signed") == "unsigned":
        a, b = unsigned(a), unsigned(b)
    match name:
        case "andi":
            return a & b
        case "ori":
            return a | b
        case "xori":
            return a ^ b
        case "shli":
            return signed(a << b)
        case "shri":
            return signed(a >> b)
        case "divi":
            return signed(ROUNDINGS[str(named.get("rounding", "zero"))](a, b))
        case "remi":
            return signed(a - b * truncated(a, b))
        case "mini":
            return signed(min(a, b))
        case "maxi":
            return signed(max(a, b))
        case _:
            raise AssertionError(name)


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=SLOW, database=None)
@given(programs())
def test_every_lane_goes_where_the_ops_say(program: tuple[str, list[int], tuple[int, int, int]]) -> None:
    text, lanes, (n, m, block) = program
    (entry,) = parse_text(text).entries
    terms = Terms()
    kernel = Evaluator(entry, terms, 0).run()
    (effect,) = kernel.effects
    assert effect.pointer is not None
    leaves = {terms.single(term): value for term, value in zip(kernel.arguments, (0, n, m), strict=True)}
    leaves[terms.leaf("block", 0)] = block
    for lane, wanted in enumerate(lanes):
        at = {leaf: value for leaf, value in leaves.items() if leaf is not None}
        at[terms.leaf("lane", 0, LANES)] = lane
        assert number(terms, effect.pointer, at) == wanted, lane
