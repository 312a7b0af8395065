"""The whole picture of one dump as plain data: what `--format json` prints and what the text is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.lints import lint_entry, skipped
from tileir_diff.lints.facts import EntryFacts
from tileir_diff.show import counts, structure
from tileir_diff.show.memory import memory_operations
from tileir_diff.show.naming import Names, name_parameters

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp, TileOp

Json = dict[str, Any]

SCHEMA = "tileir-show/1"

SOURCE_SEARCH = 64
"""How many ops of an entry are looked at for a debug location that names a file."""


def summarise(
    module: ModuleOp, path: str, text: str = "", *, entry: str | None = None, lint: bool = True
) -> Json:
    """The kernels of a parsed and verified module as `tileir-show/1` (see `tileir_diff.show`).

    `text` is the dump's text, looked at for a producer line only. `entry` leaves the other kernels out; a
    name that does not occur gives an empty list.
    """
    wanted = None if entry is None else entry.removeprefix("@")
    entries = [each for each in module.entries if wanted in (None, symbol(each))]
    return {
        "schema": SCHEMA,
        "path": path,
        "format": module.format,
        "front_end": front_end(module, text),
        "approximations": list(module.approximations),
        "kernels": [summarise_entry(each, lint=lint) for each in entries],
    }


def summarise_entry(entry: TileOp, *, lint: bool = True) -> Json:
    """One kernel."""
    facts = EntryFacts(entry)
    names = name_parameters(facts)
    notes: list[str] = []
    if facts.kernel is None:
        notes.append(
            f"no normal form ({facts.failure}): addresses and masks are shown by their names in the dump"
        )
    else:
        notes += list(facts.kernel.assumptions)
        notes += [f"line {op.span.line}: {op.short} is not modelled" for op in facts.kernel.not_modelled]
    result: Json = {
        "entry": facts.name,
        "line": entry.span.line,
        "hints": entry.get("hints") or {},
        "arguments": _arguments(names),
        "arrays": [
            {
                "name": array.name,
                "argument": array.parameter,
                "element": array.element,
                "shape": array.shape,
                "strides": array.strides,
                "use": array.use,
            }
            for array in names.arrays
        ],
        "grid": structure.grid(facts),
        "memory": memory_operations(facts, names),
        "reductions": structure.reductions(facts),
        "mma": structure.matrix_products(facts),
        "loops": structure.loops(facts, names),
        "branches": structure.branches(facts, names),
        "conversions": counts.conversions(facts),
        "float_modes": counts.float_modes(facts),
        "constants": counts.constants(facts),
        "promises": counts.promises(facts, names),
        "checks": structure.checks(facts, names),
        "ops": len(facts.ops),
        "dead_code": counts.dead_code(facts),
        "normal_form": facts.kernel is not None,
        "notes": notes,
        "lints": _lints(entry, facts) if lint else [],
        "lints_skipped": skipped(facts) if lint else [],
    }
    return result


def symbol(entry: TileOp) -> str:
    return entry.symbol


def front_end(module: ModuleOp, text: str) -> str:
    """Which front end made the dump, as far as it tells; empty if it does not."""
    from tileir_diff.ingest.formats import producer_line
    from tileir_diff.verdict.front_ends import recognise

    files: list[str] = []
    for entry in module.entries:
        for index, op in enumerate(entry.inner()):
            place = op.source
            if place is not None:
                files.append(place.file)
            if place is not None or index >= SOURCE_SEARCH:
                break
    producer = str(module.get("producer") or "") or producer_line(text)
    found = recognise(producer, [symbol(entry) for entry in module.entries], files)
    return f"{found.name} {found.version}".strip()


def _arguments(names: Names) -> list[Json]:
    parameters = names.facts.entry.regions[0].block.args
    return [
        {
            "index": index,
            "name": f"%{parameter.name_hint}" if parameter.name_hint else "",
            "type": str(parameter.type),
            "roles": names.roles[index],
        }
        for index, parameter in enumerate(parameters)
    ]


def _lints(entry: TileOp, facts: EntryFacts) -> list[Json]:
    return [
        {
            "rule": finding.rule,
            "severity": finding.severity,
            "line": finding.line,
            "column": finding.column,
            "op": finding.op.short,
            "message": finding.message,
            "fix": finding.fix,
        }
        for finding in lint_entry(entry, facts)
    ]
