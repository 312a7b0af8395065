"""An analysis without a model: what the dumps and their launches say, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tileir_diff.api import load
from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import (
    Access,
    Analysis,
    Array,
    Baseline,
    Baselines,
    Reference,
    Target,
    Variant,
)
from tileir_diff.pipeline.gates.analyst import shown
from tileir_diff.pipeline.gates.common import BASELINES, Given
from tileir_diff.pipeline.references import promised
from tileir_diff.pipeline.workers.names import python_ranks

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tileir_diff.dialect.ir import TileOp

Json = dict[str, Any]


def analyse(folder: Path, operator: str) -> Analysis:
    """The analysis of all references in a port's folder. Raises InputError where a launch is not known."""
    variants = [_variant(folder, path.stem) for path in sorted((folder / "reference").glob("*.mlir"))]
    return Analysis(
        operator=operator,
        variants=variants,
        baseline=_baseline(Given(folder, {}), variants),
    )


def _baseline(given: Given, variants: list[Variant]) -> Baseline:
    """The fastest where it was measured, else the front end that made the dumps."""
    measured = given.read(Baselines, BASELINES) if given.has(BASELINES) else None
    fastest = measured.fastest([each.name for each in variants]) if measured is not None else None
    if measured is None or fastest is None:
        made_by = {
            load(str(given.folder / each.reference), "reference")[1].front_end.name for each in variants
        }
        backend = ", ".join(sorted(made_by)).replace("cutile-python", "cutile")
        return Baseline(backend=backend, why="the front end that the reference dumps are from")
    return Baseline(backend=fastest, evidence="gpu", why=f"the least geometric mean on {measured.device}")


def _variant(folder: Path, name: str) -> Variant:
    path = f"reference/{name}.mlir"
    facts = Given(folder, {}).read(Reference, f"reference/{name}.json")
    kernel = shown(Given(folder, {}), path, facts.entry)
    if kernel is None or facts.arguments is None or facts.grid is None:
        raise InputError("entry, grid and values of its parameters must be known", path)
    passed: list[dict[str, Any]] = list(facts.arguments)
    places: list[int] = [each["argument"] for each in kernel["arrays"]]
    names = {at: str(passed[at]["ptr"]) for at in places}
    uses = {names[each["argument"]]: str(each["use"]) for each in kernel["arrays"]}
    known = dict(facts.arrays)
    if not set(names.values()) <= set(known):
        ranks = python_ranks(facts.entry)
        module, _ = load(str(folder / path), "reference")
        entry = next(each for each in module.entries if each.symbol == kernel["entry"])
        is_python = len(ranks) == sum("ptr" in each for each in passed)
        found = (
            _arrays(passed, kernel, ranks, entry)
            if is_python
            else _viewed(passed, kernel, entry, path, set(known))
        )
        known = {**found, **known}
    order = dict.fromkeys(str(each["ptr"]) for each in passed if "ptr" in each)
    arrays = {each: known[each] for each in (*order, *known) if each in known}
    return Variant(
        name=name,
        dispatch="; ".join(f"{each}: {array.dtype}{array.shape}" for each, array in arrays.items()),
        reference=path,
        entry=facts.entry,
        arch=facts.arch,
        grid=facts.grid,
        arguments=facts.arguments,
        arrays={each: array.model_copy(update={"use": uses.get(each, "")}) for each, array in arrays.items()},
        memory=_memory(kernel, {each["name"]: names[each["argument"]] for each in kernel["arrays"]}),
        target=Target(),
    )


def _arrays(values: list[dict[str, Any]], kernel: Json, ranks: list[int], entry: TileOp) -> dict[str, Array]:
    """Arrays by the values that follow their pointers: extents, then strides, as cuTile Python does."""
    pointers = [at for at, value in enumerate(values) if "ptr" in value]
    found: dict[str, Array] = {}
    for rank, at in zip(ranks, pointers, strict=True):
        numbers = [next(iter(value.values())) for value in values[at + 1 : at + 1 + 2 * rank]]
        shape, strides = _numbers(numbers[:rank]), _numbers(numbers[rank:])
        element = str(kernel["arguments"][at]["type"]).removeprefix("tile<ptr<").removesuffix(">>")
        name = str(values[at]["ptr"])
        align = promised(entry, name, values)
        found[name] = Array(dtype=element.lower(), shape=shape, strides=strides, align=align)
    return found


def _viewed(
    values: list[dict[str, Any]], kernel: Json, entry: TileOp, path: str, known: set[str]
) -> dict[str, Array]:
    """Arrays by the views that a dump makes of them, with the launch's values, but for known ones.

    Raises InputError where there is none, or its sizes are not known.
    """
    roles: dict[str, object] = {
        role: next(iter(value.values()))
        for parameter, value in zip(kernel["arguments"], values, strict=False)
        for role in parameter["roles"]
    }

    def number(stated: object) -> object:
        told = roles.get(stated, stated) if isinstance(stated, str) else stated
        return int(told) if isinstance(told, str) and told.isdecimal() else told

    found: dict[str, Array] = {}
    for each in kernel["arrays"]:
        at: int = each["argument"]
        name = str(values[at]["ptr"])
        stated = cast("list[object]", each["shape"] or []), cast("list[object]", each["strides"] or [])
        shape, strides = (_numbers([number(one) for one in numbers]) for numbers in stated)
        if name not in known and not len(shape) == len(strides) == len(stated[0]) > 0:
            advice = f'the launch file says them: "arrays": {{"{name}": {{"shape": [4, 5]}}}}'
            raise InputError(f"the dump does not tell the shape of {name}: {advice}", path)
        if name not in known:
            align = promised(entry, name, values)
            found[name] = Array(dtype=str(each["element"]).lower(), shape=shape, strides=strides, align=align)
    return found


def _numbers(values: Iterable[object]) -> list[int]:
    return [value for value in values if isinstance(value, int)]


def _memory(kernel: Json, names: dict[str, str]) -> list[Access]:
    found: dict[tuple[str, str], set[str]] = {}
    for access in kernel["memory"]:
        found.setdefault((names[access["array"]], access["kind"]), set()).add(access["family"])
    return [
        Access.model_validate({"array": array, "kind": kind, "families": sorted(families)})
        for (array, kind), families in sorted(found.items())
    ]
