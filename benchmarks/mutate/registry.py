"""The table of mutation kinds. Modules of kinds add to it when `benchmarks.mutate` is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.mutate.context import Context
    from benchmarks.mutate.model import Change, Class
    from tileir_diff.dialect.ir import TileOp

    OpChanges = Callable[[Context, TileOp], Iterable[Change]]
    DumpChanges = Callable[[Context], Iterable[Change]]


@dataclass(frozen=True)
class Kind:
    """One kind of mutation: `changes` gives all of them in a dump, in the order of the text."""

    name: str
    cls: Class
    changes: DumpChanges


KINDS: dict[str, Kind] = {}


def per_op(name: str, cls: Class, *ops: str) -> Callable[[OpChanges], OpChanges]:
    """Registers a kind that looks at each live op (of the given names, if any)."""

    def register(function: OpChanges) -> OpChanges:
        def changes(context: Context) -> Iterable[Change]:
            for op in context.live_ops():
                if not ops or op.short in ops:
                    yield from function(context, op)

        KINDS[name] = Kind(name, cls, changes)
        return function

    return register


def per_dump(name: str, cls: Class) -> Callable[[DumpChanges], DumpChanges]:
    """Registers a kind that looks at a whole dump."""

    def register(function: DumpChanges) -> DumpChanges:
        KINDS[name] = Kind(name, cls, function)
        return function

    return register
