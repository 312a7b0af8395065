"""An analysis without a model: what the dumps and their launches say, and nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

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

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MANGLED: Final = re.compile(r"_A(\d)")
"""How cuTile Python writes the rank of an array in an entry's name, parameter by parameter."""
Json = dict[str, Any]


def analyse(folder: Path, operator: str) -> Analysis:
    """The analysis of all references in a port's folder. Raises InputError where a launch is not known."""
    variants = [_variant(folder, path.stem) for path in sorted((folder / "reference").glob("*.mlir"))]
    return Analysis(
        operator=operator,
        variants=variants,
        baseline=_baseline(Given(folder, {}), [each.name for each in variants]),
    )


def _baseline(given: Given, variants: list[str]) -> Baseline:
    """The fastest where it was measured."""
    measured = given.read(Baselines, BASELINES) if given.has(BASELINES) else None
    fastest = measured.fastest(variants) if measured is not None else None
    if measured is None or fastest is None:
        return Baseline(backend="cutile", why="the front end that the reference dumps are from")
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
    arrays = dict(facts.arrays) or _arrays(facts, kernel, path)
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


def _arrays(facts: Reference, kernel: Json, path: str) -> dict[str, Array]:
    """Arrays by the values that follow their pointers: extents, then strides, as cuTile Python does."""
    assert facts.arguments is not None
    values = facts.arguments
    ranks = [int(digit) for digit in MANGLED.findall(facts.entry)]
    pointers = [at for at, value in enumerate(values) if "ptr" in value]
    if len(ranks) != len(pointers):
        raise InputError("shapes of its arrays are not known: give a table, or a dump of cuTile Python", path)
    found: dict[str, Array] = {}
    for rank, at in zip(ranks, pointers, strict=True):
        numbers = [next(iter(value.values())) for value in values[at + 1 : at + 1 + 2 * rank]]
        shape, strides = _numbers(numbers[:rank]), _numbers(numbers[rank:])
        element = str(kernel["arguments"][at]["type"]).removeprefix("tile<ptr<").removesuffix(">>")
        found[str(values[at]["ptr"])] = Array(dtype=element.lower(), shape=shape, strides=strides)
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
