"""The search: chunks of places, large ones first, again and again until nothing can go."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.printer import print_module
from tileir_diff.dialect.verifier import verify
from tileir_diff.errors import InputError
from tileir_diff.reduce.edits import EDITS, extents, halved

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp
    from tileir_diff.reduce.edits import Edit

Fails = Callable[["Candidate"], bool]
Progress = Callable[["Reduction"], None]


class Candidate(NamedTuple):
    """A valid module and its text, which reads back as it."""

    module: ModuleOp
    text: str

    @property
    def size(self) -> int:
        """Number of ops, without the module itself."""
        return sum(1 for _ in self.module.walk()) - 1


class Reduction(NamedTuple):
    """How far it came. `finished`: nothing more can go; else it was stopped."""

    smallest: Candidate
    before: int
    tried: int
    """Candidates that were put to the test."""
    refused: int
    """Candidates that the verifier did not pass."""
    finished: bool


def candidate(module: ModuleOp) -> Candidate | None:
    """The module as it reads back from its own text; None when it is not valid."""
    try:
        text = print_module(module)
        parsed = parse_text(text)
    except (InputError, ValueError, KeyError, AttributeError, IndexError, AssertionError):
        return None  # an edit left something that has no text
    return Candidate(parsed, text) if parsed.entries and not verify(parsed) else None


def reduce(start: Candidate, fails: Fails, *, seconds: float | None, progress: Progress) -> Reduction:
    """The smallest module found that still `fails`. The same input and test give the same result.

    `seconds` bounds the time; None: until nothing can go. An interrupt ends it as the time does.
    """
    return _Search(start, fails, seconds, progress).run()


class _Search:
    def __init__(self, start: Candidate, fails: Fails, seconds: float | None, progress: Progress) -> None:
        self.best = start
        self.before = start.size
        self.fails = fails
        self.until = None if seconds is None else time.monotonic() + seconds
        self.progress = progress
        self.known: dict[str, bool] = {start.text: True}
        self.tried = 0
        self.refused = 0

    def run(self) -> Reduction:
        try:
            self.shrink()
        except KeyboardInterrupt:
            return self.state()
        return self.state(finished=not self.late())

    def shrink(self) -> None:
        smaller = True
        while smaller and not self.late():
            text = self.best.text
            for edit in EDITS:
                self.chunks(edit)
            self.shapes()
            smaller = self.best.text != text

    def late(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def state(self, *, finished: bool = False) -> Reduction:
        return Reduction(self.best, self.before, self.tried, self.refused, finished)

    def chunks(self, edit: Edit) -> None:
        """Applies an edit to halves, quarters, .. of its places, from the last to the first."""
        size = max(1, len(edit.places(self.best.module)))
        while size >= 1:
            end = len(edit.places(self.best.module))
            while end > 0 and not self.late():
                places = edit.places(self.best.module)
                end = min(end, len(places))
                chosen = places[max(0, end - size) : end]
                if chosen:
                    self.accept(edit.apply(self.best.module, chosen))
                end -= size
            size //= 2

    def shapes(self) -> None:
        """Halves extents, the largest first, each as often as it goes."""
        for extent in extents(self.best.module):
            while extent > 1 and extent % 2 == 0 and not self.late():
                smaller = halved(self.best.module, extent)
                if smaller is None or not self.accept(smaller):
                    break
                extent //= 2

    def accept(self, module: ModuleOp) -> bool:
        """Takes a module that is valid, new and still fails."""
        made = candidate(module)
        if made is None:
            self.refused += 1
            return False
        if made.text not in self.known:
            self.tried += 1
            self.known[made.text] = self.fails(made)
            self.progress(self.state())
        if not self.known[made.text] or made.text == self.best.text:
            return False
        self.best = made
        return True
