"""Branches and loops. Blocks that part are run apart, and go on together where they meet again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.dtypes import element
from tileir_diff.equivalence.frames import Frame, Outcome, merge, narrow, positions
from tileir_diff.equivalence.integers import LOWEST, wide, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.equivalence.machine import Handler, Machine


def _split(outcomes: Sequence[Outcome], kind: str) -> tuple[list[Outcome], list[Outcome]]:
    """Those of a kind, and the others."""
    return [each for each in outcomes if each.kind == kind], [each for each in outcomes if each.kind != kind]


def _each(condition: Tensor, count: int) -> Tensor:
    return condition.reshape(-1).expand(count)


def if_(m: Machine, op: TileOp) -> list[Outcome] | None:
    outer = m.frame
    condition = _each(m.get(op.operands[0]), len(outer))
    _check_branch(m, op, outer.doubt(op.operands[0]))
    outcomes: list[Outcome] = []
    for index, taken in enumerate((condition, ~condition)):
        where = torch.nonzero(taken).reshape(-1)
        if not len(where):
            continue
        if index < len(op.regions) and op.regions[index].blocks:
            inner = outer.child() if len(where) == len(outer) else outer.part(where)
            outcomes += m.run(op.regions[index].block, inner)
        else:
            outcomes.append(Outcome("yield", outer.rows[where], (), ()))
    m.frame = outer
    stay, left = _split(outcomes, "yield")
    return _go_on(m, op, stay, left)


def _go_on(m: Machine, op: TileOp, stay: list[Outcome], left: list[Outcome]) -> list[Outcome] | None:
    """Defines the results for the blocks that stay; the others leave the surrounding region too."""
    if left:
        rows = torch.cat([each.rows for each in stay]) if stay else m.frame.rows[:0]
        m.keep(positions(m.frame.rows, torch.sort(rows).values))
    if stay:
        joined = merge(stay)
        for result, value, unknown in zip(op.results, joined.values, joined.unknown, strict=True):
            m.frame.set(result, value, unknown)
    return left or None


def _check_branch(m: Machine, op: TileOp, unknown: Tensor | None) -> None:
    if unknown is not None:
        m.report("undetermined/branch", op, unknown)


# ---- counted loops


class Counter:
    """The loop variable of the blocks that still run: one number for all of them, or one for each.

    Values are in i64, an unsigned i64 with its sign bit turned so that it compares as a signed one.
    """

    def __init__(self, at: Tensor, upper: Tensor, step: Tensor) -> None:
        self.at, self.upper, self.step = at, upper, step
        self.plain: range | None = None
        self.count = 0
        if len(at) == len(upper) == len(step) == 1:
            self.plain = range(int(at), int(upper), int(step))

    def running(self, count: int) -> Tensor | bool:
        """Which of the blocks go on; a bool if all or none do."""
        if self.plain is not None:
            return self.count < len(self.plain)
        running = _each(self.at < self.upper, count)
        if bool(running.all()):
            return True
        return running if bool(running.any()) else False

    def keep(self, where: Tensor) -> None:
        if self.plain is None:
            self.at, self.upper, self.step = (
                narrow(each, where) for each in (self.at, self.upper, self.step)
            )

    def value(self) -> Tensor:
        return self.at if self.plain is None else torch.tensor([self.plain[self.count]])

    def advance(self) -> None:
        self.count += 1
        if self.plain is None:
            self.at = self.at + self.step


def for_(m: Machine, op: TileOp) -> list[Outcome] | None:
    outer = m.frame
    name = element(op.operands[0])
    turned = name == "i64" and bool(op.get("unsigned_cmp"))
    counter = _counter(m, op, name, turned)
    wanted = bool(op.regions[0].block.args[0].uses)
    carried = m.outcome("continue", op.group("inits"))
    done: list[Outcome] = []
    left: list[Outcome] = []
    active = outer
    while True:
        running = counter.running(len(active))
        if running is False:
            done.append(carried)
            break
        if running is not True:
            done.append(_part(carried, active, torch.nonzero(~running).reshape(-1)))
            where = torch.nonzero(running).reshape(-1)
            carried = _part(carried, active, where)
            counter.keep(where)
            active = active.part(where)
        if counter.count >= m.limits.iterations:
            _endless(m, op, active)
            done.append(carried)
            break
        index = None
        if wanted:
            value = counter.value()
            index = wrapped(value ^ LOWEST if turned else value, name)
        outcomes = _body(m, op, active, (index, *carried.values), (None, *carried.unknown))
        more, gone = _split(outcomes, "continue")
        left += gone
        if not more:
            break
        carried = merge(more)
        if gone:
            where = positions(active.rows, carried.rows)
            counter.keep(where)
            active = active.part(where)
        counter.advance()
    m.frame = outer
    return _go_on(m, op, done, left)


def _counter(m: Machine, op: TileOp, name: str, turned: bool) -> Counter:
    signed = not op.get("unsigned_cmp")
    at, upper, step = (wide(m.get(value), name, signed) for value in op.operands[:3])
    for bound in op.operands[:3]:
        _check_branch(m, op, m.frame.doubt(bound))
    if m.report("loop/step", op, step <= 0, {"step": step}):
        upper = torch.where(step <= 0, at, upper)
        step = torch.where(step <= 0, 1, step)
    if turned:
        at, upper = at ^ LOWEST, upper ^ LOWEST
    return Counter(at, upper, step)


def _body(
    m: Machine, op: TileOp, active: Frame, values: Sequence[Any], unknown: Sequence[Tensor | None]
) -> list[Outcome]:
    block = op.regions[0].block
    inner = active.child()
    for argument, value, doubt in zip(block.args, values, unknown, strict=True):
        inner.set(argument, value, doubt)
    return m.run(block, inner)


def _part(outcome: Outcome, frame: Frame, where: Tensor) -> Outcome:
    return Outcome(
        outcome.kind,
        frame.rows[where],
        tuple(narrow(value, where) for value in outcome.values),
        tuple(narrow(doubt, where) for doubt in outcome.unknown),
    )


# ---- loops with a break


def loop(m: Machine, op: TileOp) -> list[Outcome] | None:
    outer = m.frame
    carried = m.outcome("continue", op.group("inits"))
    done: list[Outcome] = []
    left: list[Outcome] = []
    active = outer
    count = 0
    while True:
        count += 1
        if count > m.limits.iterations:
            _endless(m, op, active)
            left.append(Outcome("return", active.rows, (), ()))
            break
        outcomes = _body(m, op, active, carried.values, carried.unknown)
        more, others = _split(outcomes, "continue")
        broken, gone = _split(others, "break")
        done += broken
        left += gone
        if not more:
            break
        carried = merge(more)
        if others:
            active = active.part(positions(active.rows, carried.rows))
    m.frame = outer
    return _go_on(m, op, done, left)


def _endless(m: Machine, op: TileOp, active: Frame) -> None:
    m.frame = active
    message = f"a loop does not end within {m.limits.iterations} iterations"
    m.report("loop/endless", op, torch.ones(1, dtype=torch.bool), None, message)
    m.complete = False


# ---- assertions


def assert_(m: Machine, op: TileOp) -> list[Outcome] | None:
    """Blocks whose assertion fails end here."""
    condition = m.get(op.operands[0])
    failed = ~condition
    message = f"assertion failed: {op.get('message')}"
    if not m.report("assert/failed", op, failed, None, message):
        return None
    m.complete = False
    whole = failed.reshape(failed.shape[0], -1).any(dim=1).expand(len(m.frame))
    left = Outcome("return", m.frame.rows[whole], (), ())
    m.keep(torch.nonzero(~whole).reshape(-1))
    return [left]


HANDLERS: dict[str, Handler] = {"assert": assert_, "for": for_, "if": if_, "loop": loop}
