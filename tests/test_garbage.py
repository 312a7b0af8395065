"""Fewer searches for garbage while dumps are compared; before and after, as many as the program wants."""

import gc
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest

import tileir_diff
from tileir_diff.garbage import NEW_OBJECTS, rare_searches

KERNEL = Path(__file__).parents[1] / "fixtures" / "kernels" / "softmax" / "py.mlir"


@pytest.fixture(autouse=True)
def threshold() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(700, 9, 8)
    yield (700, 9, 8)
    gc.set_threshold(*before)


def test_nested(threshold: tuple[int, int, int]) -> None:
    with rare_searches():
        with rare_searches():
            assert gc.get_threshold() == (NEW_OBJECTS, 9, 8)
        assert gc.get_threshold() == (NEW_OBJECTS, 9, 8)
    assert gc.get_threshold() == threshold


def test_after_an_error(threshold: tuple[int, int, int]) -> None:
    with pytest.raises(KeyError), rare_searches():
        raise KeyError
    assert gc.get_threshold() == threshold


@pytest.mark.parametrize("chosen", [0, NEW_OBJECTS + 1])
def test_rarer_searches_stay(chosen: int) -> None:
    gc.set_threshold(chosen)
    with rare_searches():
        assert gc.get_threshold()[0] == chosen
    assert gc.get_threshold()[0] == chosen


def test_threads_that_overlap(threshold: tuple[int, int, int]) -> None:
    """The first to enter leaves first: the other still has it, and what was before comes back after it."""
    both, left = Barrier(2), Barrier(2)
    seen: list[tuple[int, int, int]] = []

    def first() -> None:
        with rare_searches():
            both.wait(10)
        left.wait(10)

    def second() -> None:
        with rare_searches():
            both.wait(10)
            left.wait(10)
            seen.append(gc.get_threshold())

    threads = [Thread(target=first), Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert seen == [(NEW_OBJECTS, 9, 8)]
    assert gc.get_threshold() == threshold


def test_a_comparison_leaves_no_trace(threshold: tuple[int, int, int]) -> None:
    tileir_diff.diff(KERNEL, KERNEL)
    assert gc.get_threshold() == threshold
