"""Mutations of real dumps: single defects, changed cost hints, harmless rewrites.

    for mutant in mutants(text, path, per_kind=2, seed=1):
        ...

A mutant is an edit of the dump's own text, so that all other lines stay what they are. It parses and verifies;
what does neither is dropped, and counted in `Rejects`.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.mutate import (
    arithmetic,
    control,
    entry_hints,
    harmless,
    harmless_forms,
    memory,
    modes,
    promises,
    views,
)
from benchmarks.mutate.context import Context
from benchmarks.mutate.model import DEFECT, HARMLESS, HINT, Mutant, make_mutant
from benchmarks.mutate.registry import KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["DEFECT", "HARMLESS", "HINT", "KINDS", "Context", "Mutant", "Rejects", "broken", "mutants"]

# Importing a module puts its kinds into the table.
_TABLES = (
    memory, views, arithmetic, modes, control, promises, entry_hints, harmless, harmless_forms,
)  # fmt: skip


class Rejects:
    """Mutants that were dropped because they are no valid dumps, by kind, with one example each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    def add(self, mutant: Mutant, why: str) -> None:
        self.counts[mutant.kind] += 1
        self.examples.setdefault(mutant.kind, f"{mutant.path}: {mutant.what}: {why}")


def mutants(
    text: str,
    path: str = "<text>",
    *,
    per_kind: int = 1,
    seed: int = 0,
    classes: Collection[str] = (DEFECT, HINT, HARMLESS),
    kinds: Collection[str] = (),
    per_file: int | None = None,
    rejects: Rejects | None = None,
) -> Iterator[Mutant]:
    """A sample of the mutants of one dump, the same for the same arguments.

    At most `per_kind` of each kind and `per_file` in all. Raises InputError for text that does not parse.
    """
    context = Context(text, path)
    found: list[Mutant] = []
    for kind in KINDS.values():
        if kind.cls not in classes or (kinds and kind.name not in kinds):
            continue
        # Seeded by name and path: adding a kind or a file leaves the samples of the others as they are.
        rng = random.Random(f"{seed}/{kind.name}/{path.rsplit('/', 1)[-1]}")
        changes = list(kind.changes(context))
        rng.shuffle(changes)
        # Sure mutants first: doubtful ones only where there is nothing else.
        changes.sort(key=lambda change: bool(change.doubt))
        taken = 0
        for change in changes:
            if taken == per_kind:
                break
            try:
                mutant = make_mutant(kind.name, kind.cls, path, text, change)
            except ValueError:
                continue
            why = broken(mutant.text)
            if why:
                if rejects is not None:
                    rejects.add(mutant, why)
                continue
            taken += 1
            found.append(mutant)
    if per_file is not None and len(found) > per_file:
        rng = random.Random(f"{seed}/{path.rsplit('/', 1)[-1]}")
        keep = sorted(rng.sample(range(len(found)), per_file))
        found = [found[index] for index in keep]
    yield from found


def broken(text: str) -> str:
    """Why a text is no valid dump; empty if it is one."""
    from tileir_diff.dialect import parse_text
    from tileir_diff.dialect.verifier import verify
    from tileir_diff.errors import InputError

    try:
        errors = verify(parse_text(text))
    except InputError as error:
        return str(error).splitlines()[0]
    return f"{errors[0].rule}: {errors[0].message}" if errors else ""
