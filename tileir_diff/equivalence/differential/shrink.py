"""Makes an input that shows a difference small: fewer elements that are not zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tileir_diff.equivalence.backend import Tensor, torch
from tileir_diff.equivalence.clock import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.equivalence.differential.compare import Mismatch

    Check = Callable[[list[Tensor]], Mismatch | None]
    """The difference that arrays with this content show; None: none, or the input is not usable."""

PIECES: Final = 3
SETTLED: Final = 12
"""Parts that an array is cut into, at first and at last."""


def shrink(
    contents: list[Tensor], found: Mismatch, check: Check, seconds: float
) -> tuple[list[Tensor], Mismatch]:
    """Arrays with fewer elements that are not zero, and the difference of the same kind that they show."""
    watch = Stopwatch()
    best, shown = list(contents), found

    def attempt(at: int, data: Tensor) -> bool:
        nonlocal shown
        if watch.beyond(seconds):
            return False
        trial = [*best[:at], data, *best[at + 1 :]]
        result = check(trial)
        if result is None or result.kind() != found.kind():
            return False
        best[at], shown = data, result
        return True

    for at, data in enumerate(best):
        if not _nonzero(data).numel():
            continue
        if attempt(at, torch.zeros_like(data)):
            continue
        _halve(at, best, attempt)
    return best, shown


def _nonzero(data: Tensor) -> Tensor:
    return torch.nonzero(data if data.dtype == torch.bool else data != 0)[:, 0]


def _halve(at: int, best: list[Tensor], attempt: Callable[[int, Tensor], bool]) -> None:
    """Keeps a part of an array, or clears one, as long as that works; then element by element."""
    pieces = PIECES
    while True:
        places = _nonzero(best[at])
        if len(places) <= 1:
            return
        parts = torch.chunk(places, min(pieces, len(places)))
        if not _keep_one(at, best, parts, attempt) and not _clear_some(at, best, parts, attempt):
            if pieces >= min(len(places), SETTLED):
                return
            pieces = SETTLED


def _keep_one(
    at: int, best: list[Tensor], parts: tuple[Tensor, ...], attempt: Callable[[int, Tensor], bool]
) -> bool:
    for part in parts:
        data = torch.zeros_like(best[at])
        data[part] = best[at][part]
        if attempt(at, data):
            return True
    return False


def _clear_some(
    at: int, best: list[Tensor], parts: tuple[Tensor, ...], attempt: Callable[[int, Tensor], bool]
) -> bool:
    smaller = False
    for part in parts:
        data = best[at].clone()
        data[part] = 0
        smaller = attempt(at, data) or smaller
    return smaller
