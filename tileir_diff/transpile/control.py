"""Loops and branches. What a loop carries is a mutable variable; what a branch yields is its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.dialect.ir import TileOp, ops_of
from tileir_diff.dialect.types import Ptr, Tile, Token
from tileir_diff.graph.values import element_name, operand
from tileir_diff.transpile.layout import WIDTH
from tileir_diff.transpile.refusal import refuse
from tileir_diff.transpile.writer import OTHER, SCALAR, TILE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.ir import Block, SSAValue

    from tileir_diff.transpile.layout import Text
    from tileir_diff.transpile.writer import Writer

    Body = Callable[[Writer, Sequence[TileOp]], None]

SINGLE_LINE: Final = 50
"""rustfmt writes an `if` with values on one line up to this length."""
INVERTED: Final = {
    "equal": "!=", "not_equal": "==", "less_than": ">=", "less_than_or_equal": ">", "greater_than": "<=",
    "greater_than_or_equal": "<",
}  # fmt: skip


def form_of(value: SSAValue) -> str:
    """The form of a variable: of rank 0 a scalar."""
    type_ = value.type
    if isinstance(type_, Token) or not isinstance(type_, Tile) or isinstance(type_.element, Ptr):
        return OTHER
    return TILE if type_.shape else SCALAR


class Control:
    """Writes the blocks of an entry. `targets` are the variables of the loops around, innermost last."""

    def __init__(self, w: Writer, write: Callable[[TileOp], None]) -> None:
        self.w = w
        self.write = write
        self.targets: list[list[tuple[str, str]]] = []

    def block(self, block: Block) -> None:
        self._ops(_ops_of(block))

    def _ops(self, ops: Sequence[TileOp]) -> None:
        for index, op in enumerate(ops):
            if not self.w.plan.live(op):
                continue
            if op.short == "if" and _ends(op, "return"):
                return self._guard(op, ops[index + 1 :])
            match op.short:
                case "for":
                    self._for(op)
                case "loop":
                    self._loop(op)
                case "if":
                    self._if(op)
                case "continue":
                    self._hand_on(op)
                    if isinstance(parent := op.parent_op(), TileOp) and parent.short == "if":
                        self.w.line("continue;")
                case "break":
                    self._hand_on(op)
                    self.w.line("break;")
                case "yield" | "return":
                    pass
                case _:
                    self.write(op)
        return None

    # ---- loops

    def _for(self, op: TileOp) -> None:
        w = self.w
        counter = op.regions[0].block.args[0]
        if element_name(counter) != "i32":
            raise refuse(op, "a `for` of cuTile Rust counts in 32 bits")
        if op.get("unsigned_cmp"):
            raise refuse(op, "a `for` of cuTile Rust is signed")
        lower, upper, step = (operand(op, name) for name in ("lower", "upper", "step"))
        start, end = w.operand(lower, SCALAR, 9), w.operand(upper, SCALAR, 9)
        constant = w.plan.constant(step)
        by = str(constant.ints()[0]) if constant is not None else f"{w.name(step, SCALAR)} as usize"
        carried = self._variables(op)
        name = w.fresh("step" if not w.plan.uses[counter] else "index")
        shown = name if w.plan.uses[counter] else f"_{name}"
        bounds = f"{start}..{end}" if by == "1" else f"({start}..{end}).step_by({by})"
        w.line(f"for {shown} in {bounds} {{")
        w.enter()
        w.bind(counter, SCALAR, shown)
        self._body(op, 1, carried)
        self._results(op, carried)

    def _loop(self, op: TileOp) -> None:
        w = self.w
        inits = op.group("inits")
        if [each.type for each in op.results] != [each.type for each in inits]:
            raise refuse(op, "a loop that ends with other values than it carries is not covered")
        carried = self._variables(op)
        w.line("loop {")
        w.enter()
        self._body(op, 0, carried)
        self._results(op, carried)

    def _variables(self, op: TileOp) -> list[tuple[str, str]]:
        """A mutable variable for each carried value."""
        w = self.w
        carried: list[tuple[str, str]] = []
        for init, result in zip(op.group("inits"), op.results, strict=True):
            form = form_of(result)
            start = w.start(init, form)
            called = isinstance(start, str) and start.isidentifier() and start not in ("true", "false")
            stem = start.rstrip("_0123456789") if called and isinstance(start, str) else "carried"
            name = w.fresh("ordered" if stem == "token" else stem)
            w.let(name, w.form_type(result, form), start, mutable=True)
            carried.append((name, form))
        return carried

    def _body(self, op: TileOp, first: int, carried: list[tuple[str, str]]) -> None:
        w = self.w
        block = op.regions[0].block
        for argument, (name, form) in zip(list(block.args)[first:], carried, strict=True):
            w.bind(argument, form, name)
        self.targets.append(carried)
        self.block(block)
        self.targets.pop()
        w.leave()
        w.line("}")

    def _results(self, op: TileOp, carried: list[tuple[str, str]]) -> None:
        for result, (name, form) in zip(op.results, carried, strict=True):
            self.w.bind(result, form, name)

    def _hand_on(self, op: TileOp) -> None:
        """Assigns what the next iteration gets, all at once: none may see another's new value."""
        w = self.w
        targets = self.targets[-1]
        if len(op.inputs) != len(targets):
            raise refuse(op, "it hands on another number of values than the loop carries")
        pairs = [
            (target, w.assigned(value, target[1]), value)
            for value, target in zip(op.inputs, targets, strict=True)
        ]  # fmt: skip
        pairs = [each for each in pairs if each[1] != each[0][0]]
        kept: list[tuple[str, Text]] = []
        for index, ((name, form), made, value) in enumerate(pairs):
            text = made if isinstance(made, str) else made.text
            if {each[0][0] for each in pairs[:index]} & _words(text):
                kept_name = w.fresh(f"next_{name}")
                w.let(kept_name, w.form_type(value, form), made)
                made = kept_name
            kept.append((name, made))
        for name, made in kept:
            w.assign(name, made)

    # ---- branches

    def _if(self, op: TileOp) -> None:
        w = self.w
        then, other = op.regions[0].block, op.regions[1].block if len(op.regions) > 1 else None
        empty_then = not _written(w, then)
        empty_else = other is None or not _written(w, other)
        if op.results:
            return self._value(op, then, other)
        if empty_then and empty_else:
            return None
        if empty_then and other is not None:
            w.line(f"if {self._inverted(op)} {{")
            return self._arm(other, "}")
        w.line(f"if {w.scalar(operand(op, 'condition'))} {{")
        if empty_else or other is None:
            return self._arm(then, "}")
        self._arm(then, "} else {")
        return self._arm(other, "}")

    def _arm(self, block: Block, end: str) -> None:
        self.w.enter()
        self.block(block)
        self.w.leave()
        self.w.line(end)

    def _inverted(self, op: TileOp) -> str:
        """The condition's opposite."""
        w = self.w
        condition = w.plan.of(operand(op, "condition"))
        made = condition.owner
        if isinstance(made, TileOp) and made.short == "cmpi" and w.waits(condition):
            text = w.scalar(condition)
            for word in ("==", "!=", "<=", ">=", "<", ">"):
                left, found, right = text.partition(f" {word} ")
                if found:
                    return f"{left} {INVERTED[made.get('predicate')]} {right}"
        return f"{w.operand(condition, SCALAR, 1)} == false"

    def _value(self, op: TileOp, then: Block, other: Block | None) -> None:
        """`let NAME: TYPE = if CONDITION { .. } else { .. };`, or variables where there are several."""
        w = self.w
        assert other is not None  # a branch with values has both arms
        used = [index for index, each in enumerate(op.results) if w.plan.uses[each]]
        if len(used) != 1 or any(_last(block).short != "yield" for block in (then, other)):
            return self._assigned(op, (then, other), used)
        [index] = used
        form = form_of(op.results[index])
        name = w.fresh("chosen")
        condition = w.scalar(operand(op, "condition"))
        type_ = w.form_type(op.results[index], form)
        self._choice(f"let {name}: {type_} =", condition, (then, other), index, form)
        return w.bind(op.results[index], form, name)

    def _assigned(self, op: TileOp, arms: tuple[Block, Block], used: list[int]) -> None:
        """A variable for each value: it begins as what one arm yields, where that is there before."""
        w = self.w
        condition = w.scalar(operand(op, "condition"))
        names: dict[int, tuple[str, str, str]] = {}
        for index in used:
            result = op.results[index]
            form = form_of(result)
            start = self._before(op, arms, index, form)
            name = w.fresh("chosen")
            w.let(name, w.form_type(result, form), start, mutable=True)
            names[index] = (name, form, start if isinstance(start, str) else "")
        w.line(f"if {condition} {{")
        for block, end in zip(arms, ("} else {", "}"), strict=True):
            w.enter()
            self.block(block)
            last = _last(block)
            if last.short == "yield":
                found = [(name, w.take(last.inputs[index], form).text, start)
                         for index, (name, form, start) in names.items()]  # fmt: skip
                for name, text, start in found:
                    if text != start:
                        w.assign(name, text)
            w.leave()
            w.line(end)
        if w.lines[-2].strip() == "} else {":  # the other arm leaves all as it was
            del w.lines[-2]
        for index, (name, form, _) in names.items():
            w.bind(op.results[index], form, name)

    def _before(self, op: TileOp, arms: tuple[Block, Block], index: int, form: str) -> Text:
        """What a variable is before the branch: a value of an arm that is there already, else any."""
        w = self.w
        for block in arms:
            last = _last(block)
            if last.short == "yield" and (there := w.there(last.inputs[index], form)) is not None:
                return there
        start = w.any_value(op.results[index], form)
        if start is None:
            raise refuse(op, f"a branch with a value of type {op.results[index].type} is not covered")
        return start

    def _choice(self, head: str, condition: str, arms: tuple[Block, Block], index: int, form: str) -> None:
        w = self.w
        texts: list[str] = []
        start = len(w.lines)
        w.line(f"{head} if {condition} {{")
        simple = True
        for block, end in zip(arms, ("} else {", "};"), strict=True):
            before = len(w.lines)
            w.enter()
            self.block(block)
            texts.append(w.name(_last(block).inputs[index], form))
            simple = simple and len(w.lines) == before
            w.line(texts[-1])
            w.leave()
            w.line(end)
        whole = f"if {condition} {{ {texts[0]} }} else {{ {texts[1]} }}"
        line = f"{w.indent}{head} {whole};"
        if simple and len(whole) <= SINGLE_LINE and len(line) <= WIDTH:
            w.lines[start:] = [line]

    def _guard(self, op: TileOp, rest: Sequence[TileOp]) -> None:
        """`if c { return }` and more: cuTile Rust cannot leave early, so the rest stands in the other arm."""
        w = self.w
        then = op.regions[0].block
        other = op.regions[1].block if len(op.regions) > 1 else None
        if op.parent is not w.plan.body or op.results or (other is not None and _written(w, other)):
            raise refuse(op, "a return from inside is only covered as `if c { return }` of the entry")
        if any(each.short != "return" for each in _ops_of(then)):
            raise refuse(op, "what happens before a return from inside is not covered")
        w.line(f"if {self._inverted(op)} {{")
        w.enter()
        self._ops(rest)
        w.leave()
        w.line("}")


def _words(text: str) -> set[str]:
    """The names in an expression."""
    return set("".join(char if char.isalnum() or char == "_" else " " for char in text).split())


def _last(block: Block) -> TileOp:
    last = block.last_op
    assert isinstance(last, TileOp)
    return last


def _ends(op: TileOp, short: str) -> bool:
    """Whether an arm of a branch ends so."""
    return any(
        isinstance(last := region.block.last_op, TileOp) and last.short == short
        for region in op.regions if region.blocks
    )  # fmt: skip


def _written(w: Writer, block: Block) -> bool:
    """Whether anything of a block has to be written."""
    return any(w.plan.live(op) and op.short != "yield" for op in _ops_of(block))


def _ops_of(block: Block) -> list[TileOp]:
    return ops_of(block)  # pyright: ignore[reportReturnType]
