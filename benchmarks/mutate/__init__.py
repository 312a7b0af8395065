"""Mutations of real dumps: single defects, changed cost hints, harmless rewrites.

    for mutant in mutants(text, path, per_kind=2, seed=1):
        ...

A mutant is an edit of the dump's own text, so that all other lines stay what they are. It parses and
verifies;
what does neither is dropped, and counted in `Rejects`.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
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

    from benchmarks.execute.screen import Screen

__all__ = [
    "DEFECT",
    "HARMLESS",
    "HINT",
    "KINDS",
    "Context",
    "Mutant",
    "Rejects",
    "broken",
    "mutants",
    "screened",
]

# Importing a module puts its kinds into the table.
_TABLES = (
    memory, views, arithmetic, modes, control, promises, entry_hints, harmless, harmless_forms,
)  # fmt: skip


TRIES = 4
"""Doubtful mutants of a kind that are tried before one is taken."""

UNSEEN = frozenset(
    {
        "div-by.stronger", "div-by.add", "bounded.stronger", "overflow.add", "memory.order", "memory.scope",
        "token.drop", "nan.toggle", "cmp.ordering", "saturate.toggle", "arguments.swap", "padding.add",
        "assert.drop",
        "assert.condition",
    }
)  # fmt: skip
"""Kinds that a run cannot show, or that it shows where they mean nothing."""

MODES = frozenset({"ftz.add", "ftz.drop", "ftof.rounding", "mma.fast-acc", "rounding.add", "rounding.drop"})
"""Kinds that runs show wherever the op is live."""

PROMISES = frozenset({"div-by.stronger", "div-by.add", "bounded.stronger"})
"""Kinds of UNSEEN that a recorded launch proves or breaks."""


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
    screen: Screen | None = None,
) -> Iterator[Mutant]:
    """A sample of the mutants of one dump, the same for the same arguments.

    At most `per_kind` of each kind and `per_file` in all. With a `screen`, defects that no run shows count as
    doubtful, doubtful
    ones that a run shows do not, and a harmless rewrite that a run shows is refused.
    Raises InputError for text that does not parse.
    """
    context = Context(text, path)
    # Where the data lies must not decide which mutants are taken; the last folder is a pair's name.
    name = "/".join(path.split("/")[-2:])
    found: list[Mutant] = []
    chosen = [kind for kind in KINDS.values() if kind.cls in classes and (not kinds or kind.name in kinds)]
    if per_file is not None:
        # Making and running mutants costs more than comparing them: only as many as are asked for.
        random.Random(f"{seed}/{name}").shuffle(chosen)
    for kind in chosen:
        if per_file is not None and len(found) >= per_file:
            break
        # Seeded by name and path: adding a kind or a file leaves the samples of the others as they are.
        rng = random.Random(f"{seed}/{kind.name}/{name}")
        changes = list(kind.changes(context))
        rng.shuffle(changes)
        # Sure mutants first: doubtful ones only where there is nothing else.
        changes.sort(key=lambda change: bool(change.doubt))
        taken = 0
        spare: list[Mutant] = []
        for change in changes:
            if taken == per_kind or len(spare) == TRIES:
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
            if screen is not None:
                mutant, why = screened(mutant, screen)
                if why:
                    if rejects is not None:
                        rejects.add(mutant, why)
                    continue
            if mutant.doubt:
                spare.append(mutant)
                continue
            taken += 1
            found.append(mutant)
        found += spare[: per_kind - taken]
    if per_file is not None:
        del found[per_file:]
    yield from found


def screened(mutant: Mutant, screen: Screen) -> tuple[Mutant, str]:
    """The mutant with what its runs tell about it, and why it must be dropped, if it must."""
    promise = mutant.kind in PROMISES and screen.recorded and not promises_pointer(mutant)
    if mutant.cls == HINT or (mutant.kind in UNSEEN and not promise):
        return mutant, ""
    verdict, runs = screen.judge(mutant.text)
    if promise:
        # Broken promises are told apart by a run. One that the launch proves is no defect of that launch.
        return (replace(mutant, doubt="true at this launch") if verdict == "same" else mutant), ""
    if mutant.cls == HARMLESS:
        return mutant, f"a run of {runs} differs" if verdict == "differs" else ""
    if verdict == "differs":
        # A mode that is live always shows: a doubt whether it matters stays.
        return (mutant if mutant.kind in MODES else replace(mutant, doubt="")), ""
    if verdict == "same":
        return replace(
            mutant, doubt=f"the same in {runs} runs" + (f"; {mutant.doubt}" if mutant.doubt else "")
        ), ""
    return mutant, ""


def promises_pointer(mutant: Mutant) -> bool:
    """Whether a promise is about a pointer: launches do not tell how it is aligned."""
    lines = mutant.text.splitlines()
    return any("assume" in lines[number - 1] and "ptr<" in lines[number - 1] for number in mutant.lines)


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
