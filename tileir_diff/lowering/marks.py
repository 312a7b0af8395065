"""A copy of a module in which each op's debug location is its number, so that remarks name ops.

Debug locations do not reach the machine code, and a dump of text has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.dialect.ir import Dump, TileOp
from tileir_diff.dialect.locations import Locations
from tileir_diff.dialect.printer import quote
from tileir_diff.syntax.source import SourceText
from tileir_diff.syntax.token import Token

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp

FILE: Final = {
    "#file": '#cuda_tile.di_file<"ops" in "">',
    "#unit": "#cuda_tile.di_compile_unit<file = #file>",
}
SCOPE: Final = (
    "#cuda_tile.di_subprogram<file = #file, line = 1, name = {name}, linkageName = {name}, "
    "compileUnit = #unit, scopeLine = 1>"
)


def marked(module: ModuleOp, order: dict[int, int]) -> ModuleOp:
    """The copy, in which the line of an op is its number in `order`, by `id`; 0 for one that has none."""
    copy = module.clone()
    places = dict(FILE)
    text = module.dump.text if module.dump is not None else SourceText("")
    dump = Dump(text, None)
    given: dict[int, int] = {}
    for op, own in zip(copy.walk(), module.walk(), strict=True):
        given[id(op)] = order.get(id(own), 0)
        if isinstance(op, TileOp):
            op.dump = dump
            op.location_text = None
    for index, entry in enumerate(copy.entries):
        places[f"#scope{index}"] = SCOPE.format(name=quote(str(entry.get("sym_name")).removeprefix("@")))
        for op in entry.walk():
            if isinstance(op, TileOp):
                name = f"#op{given[id(op)]}.{index}"
                places[name] = f'#cuda_tile.di_loc<loc("ops":{given[id(op)]}:0) in #scope{index}>'
                op.location_text = f"loc({name})"
    dump.locations = Locations({name: Token(place) for name, place in places.items()})
    return copy


def numbers(module: ModuleOp) -> dict[int, int]:
    """The number of each op from 1, in the order of `module.walk()`, by `id(op)`."""
    return {id(op): number for number, op in enumerate(module.walk(), 1)}
