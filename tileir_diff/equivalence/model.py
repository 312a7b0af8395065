"""What a run found: plain records, independent of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import TileOp

ERROR: Final = "error"
NOTE: Final = "note"

RULES: Final[dict[str, tuple[str, str]]] = {
    "assert/failed": (ERROR, "an assertion is false"),
    "assume/false": (ERROR, "what is promised to the compiler does not hold"),
    "bounds/extract": (ERROR, "a slice number is outside the tile"),
    "bounds/inbounds": (ERROR, "a tile promised to be in bounds overhangs its array"),
    "bounds/index-space": (ERROR, "a tile index is outside the view's index space"),
    "bounds/pointer": (ERROR, "memory outside every array is accessed"),
    "bounds/offset": (ERROR, "pointer arithmetic overflows"),
    "conversion/range": (ERROR, "a number has no value in the integer type"),
    "integer/division-by-zero": (ERROR, "an integer is divided by zero"),
    "integer/division-overflow": (ERROR, "the quotient of the smallest integer and -1 has no value"),
    "integer/overflow": (ERROR, "arithmetic wraps that is promised not to"),
    "integer/shift": (ERROR, "a shift amount is not below the width of the type"),
    "loop/step": (ERROR, "the step of a loop is not positive"),
    "loop/endless": (ERROR, "a loop does not end within the limit"),
    "memory/misaligned": (ERROR, "an address is not a multiple of the element's size"),
    "memory/unwritten": (ERROR, "memory is read that nobody wrote"),
    "memory/constant": (ERROR, "a constant global is written"),
    "race/atomic": (ERROR, "one block accesses plainly what another one accesses atomically"),
    "race/lanes": (ERROR, "lanes of one store write different values to one address"),
    "race/same-value": (NOTE, "two blocks write the same value to one address"),
    "race/read-write": (ERROR, "a block reads what another one writes, with nothing that orders them"),
    "race/write-write": (ERROR, "two blocks write one address"),
    "fold/associative": (ERROR, "the body of a reduction or scan is not associative"),
    "fold/identity": (ERROR, "the identity of a reduction or scan is not neutral"),
    "undetermined/address": (ERROR, "an address or a mask is undetermined"),
    "undetermined/branch": (ERROR, "a branch or a loop bound is undetermined"),
    "undetermined/store": (ERROR, "a lane is stored whose value is undetermined"),
    "order/blocks": (NOTE, "blocks depend on each other: they were run in order"),
    "order/atomic": (NOTE, "the result of an atomic depends on the order of blocks and lanes"),
    "order/stuck": (ERROR, "blocks wait for each other and none goes on"),
}
"""Severity and meaning of each kind of finding."""


class Finding(NamedTuple):
    """One thing that went wrong at one op.

    `block` and `lane` are the first place where it happened, () where there is none; `times` says at how
    many it did. `values` are the operands there, by name.
    """

    rule: str
    message: str
    op: TileOp | None
    entry: str
    block: tuple[int, ...]
    lane: tuple[int, ...]
    values: dict[str, Any]
    times: int

    @property
    def severity(self) -> str:
        return RULES[self.rule][0]

    @property
    def line(self) -> int:
        """1-based line in the dump; 0 without one."""
        return self.op.span.line if self.op is not None else 0

    @property
    def column(self) -> int:
        return self.op.span.column if self.op is not None else 0

    @property
    def text(self) -> str:
        return self.op.text if self.op is not None else ""


class Freedom(NamedTuple):
    """An op whose result the hardware may choose within a bound."""

    op: TileOp
    what: str
    bound: str

    @property
    def line(self) -> int:
        return self.op.span.line


class Traced(NamedTuple):
    """The value of a result at one execution of its op in one block."""

    op: TileOp
    name: str
    block: tuple[int, ...]
    value: Any


class Printed(NamedTuple):
    """What a block printed."""

    op: TileOp
    block: tuple[int, ...]
    text: str


class Run(NamedTuple):
    """The result of running one kernel; the arrays passed in are changed in place.

    `changed` names the array parameters whose memory differs from before. `how` says how blocks were run:
    "together" or "in order". `complete` is False where blocks were stopped: by an assertion, a limit, or
    because they wait for each other; `spent`: by the limit of seconds. `undetermined` has, for each array
    parameter with undetermined content, a tensor that says for each byte from the pointer on whether it is.
    """

    entry: str
    grid: tuple[int, int, int]
    findings: list[Finding]
    freedoms: list[Freedom]
    traced: list[Traced]
    printed: list[Printed]
    changed: list[str]
    undetermined: dict[str, Any]
    how: str
    complete: bool
    spent: bool
    approximations: list[str]

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == ERROR]


class Limits(NamedTuple):
    """Bounds of a run.

    `memory`: bytes that the values of one chunk of blocks may take; `iterations`: of one loop in one block;
    `seconds`: of the whole run, None for no limit.
    """

    memory: int = 64 << 20
    iterations: int = 10_000_000
    seconds: float | None = None
