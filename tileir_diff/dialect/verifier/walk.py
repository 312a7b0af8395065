"""The verifier's one walk over a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import ops_of, types_of
from tileir_diff.dialect.ops import OPS
from tileir_diff.dialect.verifier import (
    atomics,
    control_flow,
    conversion,
    debug,
    elementwise,
    float_modes,
    integer,
    memory,
    mma,
    reduction,
    shape,
    signature,
    ssa,
    symbols,
    tokens,
    types,
    views,
)
from tileir_diff.dialect.verifier.broken import Broken, CheckError, Constraint, Rules, first_broken
from tileir_diff.dialect.verifier.locate import locate

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tileir_diff.dialect.ir import TileOp

# In the order in which constraints of one op are tried.
_AREAS = (
    reduction,
    atomics,
    views,
    memory,
    elementwise,
    float_modes,
    integer,
    conversion,
    shape,
    mma,
    control_flow,
    tokens,
    symbols,
)
_ISOLATED = frozenset(("module", "entry", "testing$func"))


def _merged_rules() -> Rules:
    rules: Rules = {}
    for area in (types, signature, ssa, debug, *_AREAS):
        rules.update(area.RULES)
    return rules


def _merged_constraints() -> dict[str, tuple[Constraint, ...]]:
    table: dict[str, tuple[Constraint, ...]] = {}
    for name in signature.KINDS:
        found = [constraint for area in _AREAS for constraint in area.CONSTRAINTS.get(name, ())]
        table[name] = (*found, control_flow.terminated) if OPS[name].regions else tuple(found)
    return table


RULES: Rules = _merged_rules()
_CONSTRAINTS = _merged_constraints()


class Verifier:
    """Collects the errors of one module; use a new one for each."""

    def __init__(self) -> None:
        self.errors: list[CheckError] = []
        self._scopes = ssa.Scopes()
        self._symbols: list[dict[str, TileOp]] = [{}]
        # Types are looked up by identity, as hashing a nested view costs more than most constraints do.
        self._types: dict[int, Broken | None] = {}
        self._reported: set[Any] = set()
        self._debug: debug.Scopes | None = None
        self._kernel: TileOp | None = None

    def run(self, module: Operation) -> None:
        """Visit `module` and every op below it, in the order of the text."""
        dump = getattr(module, "dump", None)
        if dump is not None and debug.has_scopes(dump.text.text):
            self._debug = debug.Scopes(dump.text.text)
        # An explicit stack, last in first out: nesting may be deeper than Python's own stack.
        stack: list[tuple[str, Any]] = [("ops", iter((module,)))]
        while stack:
            event, item = stack.pop()
            if event == "ops":
                for op in item:
                    self._visit(op)
                    if op.regions:
                        stack.append((event, item))  # what comes after the op, once its regions are done
                        self._push(op, stack)
                        break
            elif event == "arguments":
                self._scopes.define(item.args)
            elif event == "enter":
                self._scopes.enter(isolated=_is_isolated(item))
                self._symbols.append(symbols.symbols_of(item) if _is_module(item) else self._symbols[-1])
                if getattr(item, "short", None) in control_flow.FUNCTIONS:
                    self._kernel = item
            else:
                self._scopes.leave()
                self._symbols.pop()
                if item is self._kernel:
                    self._kernel = None

    def _push(self, op: Operation, stack: list[tuple[str, Any]]) -> None:
        for region in reversed(op.regions):
            stack.append(("leave", op))
            for block in reversed(region.blocks):
                stack.append(("ops", iter(ops_of(block))))
                stack.append(("arguments", block))
            stack.append(("enter", op))

    def _visit(self, op: Any) -> None:
        if not hasattr(op, "short"):
            return
        broken = self._first_broken(op)
        if broken is not None:
            self._report(op, broken)
        self._scopes.define(op.results)

    def _first_broken(self, op: TileOp) -> Broken | None:
        broken = self._scopes.check(op)
        if broken is not None:
            return broken
        if not signature.is_known(op):
            broken = signature.check_counts(op)
            if broken is not None:
                return broken
            broken, usable = self._check_types(op)
            if broken is not None or not usable:
                return broken
            broken = signature.check_operands(op) or signature.check_results(op)
            if broken is not None:
                return broken
            signature.keep(op)
        if op.short in symbols.NAMING:
            broken = symbols.check_symbol(op, self._symbols[-1])
            if broken is not None:
                return broken
        return first_broken(op, _CONSTRAINTS.get(op.short, ())) or (
            self._check_debug(op) if self._debug is not None else None
        )

    def _check_debug(self, op: TileOp) -> Broken | None:
        """The debug scope of `op`; each location is blamed once."""
        if self._debug is None or op.location_text is None or op.location_text in self._reported:
            return None
        if op.short in control_flow.FUNCTIONS:
            broken = debug.check_kernel(op, self._debug)
        elif self._kernel is not None:
            broken = debug.check_op(op, self._kernel, self._debug)
        else:
            broken = debug.check_global(op, self._debug) if op.short == "global" else None
        if broken is not None:
            self._reported.add(op.location_text)
        return broken

    def _check_types(self, op: TileOp) -> tuple[Broken | None, bool]:
        """The constraint that a type of `op` breaks, once per type; and whether all its types hold."""
        named: list[Any] = types_of(op.results)
        for region in op.regions:
            for block in region.blocks:
                named += types_of(block.args)
        named += types_of(op.inputs)
        if op.short == "global":
            named.append(symbols.global_tile(op))
        for type_ in named:
            broken = self._type_broken(type_)
            if broken is None:
                continue
            if type_ in self._reported:
                return None, False
            self._reported.add(type_)
            return broken._replace(part=f"type:{type_}"), False
        return None, True

    def _type_broken(self, type_: Any) -> Broken | None:
        key = id(type_)
        if key not in self._types:
            self._types[key] = types.check_type(type_)
        return self._types[key]

    def _report(self, op: TileOp, broken: Broken) -> None:
        self.errors.append(CheckError(broken.rule, broken.message, *locate(op, broken.part)))


def _is_module(op: Any) -> bool:
    return getattr(op, "short", "module") == "module"


def _is_isolated(op: Any) -> bool:
    return getattr(op, "short", "module") in _ISOLATED
