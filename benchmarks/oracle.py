"""The verifier against the disassembler, which verifies too: each should reject what the other rejects.

    python -m benchmarks.oracle [FOLDER...] --count 10000 --text 2000 --seed 1

Random changes are made in the typed IR of dumps (most break a constraint), and the mutants of `mutate` are
made in their text (few do). Each is verified here, and written as bytecode without a look at its validity and
given to `tileirdisasm`. Told is every disagreement, once for each kind of op, change and message.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.breakage import change
from benchmarks.combinations import combinations
from benchmarks.data import ROOT, default_folder, dumps
from benchmarks.mutate import KINDS, Context
from benchmarks.mutate.model import make_mutant
from tests.bytecode.kernels import kernel
from tests.dialect.snippets import BLOCKS, LINES
from tileir_diff.bytecode.module import write_module
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.verifier import verify
from tileir_diff.errors import InputError
from tileir_diff.toolchain import disassemble, find_tool, tool_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import ModuleOp

LARGEST = 12_000
"""Bytes of a dump; larger ones hold the same ops and take longer."""
LARGEST_LOCATED = 30_000
PER_DUMP = 25
KNOWN = {
    "reduce/yield": "the disassembler looks at the element type of what a region yields, not at its rank",
}
"""Rules that are stricter here, and why they stay so."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.oracle", description=__doc__)
    parser.add_argument(
        "folders", nargs="*", help="folders or files; corpus, pairs and own kernels by default"
    )
    parser.add_argument("--count", type=int, default=10_000, help="changes of the typed IR")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--text", type=int, default=2_000, help="mutants of the text")
    parser.add_argument("--every", type=int, default=1, help="each so many-th op with each type; 0: none")
    options = parser.parse_args(arguments)
    if find_tool("tileirdisasm") is None:
        print("tileirdisasm was not found: nothing measured")
        return 0
    start, tally = perf_counter(), Tally()
    rng = random.Random(options.seed)
    texts = seeds([Path(name) for name in options.folders])
    while tally.total < options.count:
        typed(
            rng, parse_text(rng.choice(rng.choice(texts))), tally, min(PER_DUMP, options.count - tally.total)
        )
    print(f"{tally.total} changes of the typed IR ({perf_counter() - start:.0f} s)")
    tally.show()
    start, written = perf_counter(), Tally()
    while written.total < options.text:
        textual(rng, rng.choice(texts[0]), written, min(PER_DUMP, options.text - written.total))
    print(f"{written.total} mutants of texts ({perf_counter() - start:.0f} s)")
    written.show()
    start, table = perf_counter(), Tally()
    for shown, text in list(combinations())[:: options.every] if options.every else ():
        combination(shown, text, table)
    print(f"{table.total} ops with each type and mode ({perf_counter() - start:.0f} s)")
    table.show()
    return 1 if tally.differences or written.differences or table.differences else 0


def seeds(folders: list[Path]) -> list[list[str]]:
    """Valid texts: real dumps, and short kernels of one op each, so that rare ops are changed as well."""
    own = ROOT / "fixtures" / "kernels"
    paths = dumps(folders or [default_folder("corpus"), default_folder("pairs"), own])
    read = [path.read_text(encoding="utf-8") for path in paths if path.stat().st_size <= LARGEST_LOCATED]
    plain = [text for text in read if len(text) <= LARGEST and "loc(" not in text]
    located = [text for text in read if "loc(" in text]
    made = [kernel(snippet) for snippet in (*LINES, *BLOCKS)]
    valid = [text for text in made if not verify(parse_text(text))]
    return [texts for texts in (plain, located, valid) if texts]


class Tally:
    """Who accepts what."""

    def __init__(self) -> None:
        self.total = 0
        self.counts: Counter[str] = Counter()
        self.differences: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], str] = {}

    def add(self, ours: str, theirs: str, op: str, told: str) -> None:
        """`ours` and `theirs` say why it is refused; empty if it is not."""
        self.total += 1
        self.counts[f"{'refused' if ours else 'accepted'} by both" if bool(ours) == bool(theirs) else (
            "refused here only" if ours else "refused by the disassembler only"
        )] += 1  # fmt: skip
        if bool(ours) == bool(theirs):
            return
        if not theirs and ours.partition(":")[0] in KNOWN:
            self.counts[f"(of which known: {ours.partition(':')[0]})"] += 1
            return
        key = (op, f"here: {ours}" if ours else f"disassembler: {_stable(theirs)}")
        self.differences[key] += 1
        self.examples.setdefault(key, f"{told}" + (f"\n      {theirs[:300]}" if theirs else ""))

    def show(self) -> None:
        print(f"  tileirdisasm {tool_version('tileirdisasm')}")
        for name, number in sorted(self.counts.items()):
            print(f"{number:8} {name}")
        for (op, why), number in sorted(self.differences.items(), key=lambda item: (-item[1], item[0])):
            print(f"{number:8} {op}: {why}\n      {self.examples[op, why]}")


def _stable(message: str) -> str:
    """A message without its numbers and types, so that its like can be counted."""
    first = re.sub(r"error at offset \d+: ?", "", message).partition("; ")[0].partition(", has")[0]
    return re.sub(r"'[^']*<[^']*'|\d+", "#", first)[:140]


def typed(rng: random.Random, module: ModuleOp, tally: Tally, count: int) -> None:
    """`count` changes of one module, each undone before the next."""
    for _ in range(count):
        found = change(rng, module)
        if found is None:
            continue
        op, told, undo = found
        ours = _ours(module)
        theirs = _theirs(module)
        undo()
        if theirs is None:
            tally.total += 1
            tally.counts["no bytecode"] += 1
        else:
            tally.add(ours, theirs, op.short, told)


def combination(shown: str, text: str, tally: Tally) -> None:
    """One op in one text."""
    try:
        module = parse_text(text)
    except InputError:
        tally.total += 1
        tally.counts["no text that can be read"] += 1
        return
    theirs = _theirs(module)
    if theirs is None:
        tally.total += 1
        tally.counts["no bytecode"] += 1
        return
    tally.add(_ours(module), theirs, shown.partition(" ")[0], shown)


def _ours(module: ModuleOp) -> str:
    errors = verify(module)
    return f"{errors[0].rule}: {errors[0].message}" if errors else ""


def _theirs(module: ModuleOp) -> str | None:
    """Why the disassembler refuses; empty if it does not, None where there is no bytecode to ask about."""
    try:
        written = write_module(module, "13.4")
    except InputError:
        return None
    try:
        disassemble(written.data, "k.tirbc", locations=False)
    except InputError as error:
        return error.message.removeprefix("tileirdisasm refuses this bytecode: ")
    return ""


def textual(rng: random.Random, text: str, tally: Tally, count: int) -> None:
    """Mutants of one text, of kinds taken at random; what does not parse has no bytecode."""
    context = Context(text)
    for kind in rng.sample(sorted(KINDS), len(KINDS)):
        changes = list(KINDS[kind].changes(context))
        if not changes or count <= 0:
            continue
        count -= 1
        try:
            mutant = make_mutant(kind, KINDS[kind].cls, "<text>", text, rng.choice(changes))
            module = parse_text(mutant.text)
        except (InputError, ValueError):
            tally.total += 1
            tally.counts["no text that can be read"] += 1
            continue
        theirs = _theirs(module)
        if theirs is not None:
            tally.add(_ours(module), theirs, kind, mutant.what)


if __name__ == "__main__":
    sys.exit(main())
