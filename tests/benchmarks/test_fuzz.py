"""The fuzzer finds what it must, and mutates the same way every time."""

from __future__ import annotations

import random

import click
import pytest

from benchmarks import fuzz
from benchmarks.mutate import broken
from benchmarks.speed import synthetic
from tests.benchmarks.kernels import KERNEL

SEED = KERNEL.encode()


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> fuzz.Target:
    # The target sets this for the whole process; it must not outlive the test.
    monkeypatch.setenv("TILEIR_DIFF_DEBUG", "1")
    return fuzz.Target(SEED)


def replace_app(target: fuzz.Target, function: object) -> None:
    target._app = click.Command("app", callback=function, params=[click.Argument(["rest"], nargs=-1)])  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [SEED, b"", b"\x00\xff", SEED[:300], b"tile<" * 2000])
def test_answers(target: fuzz.Target, data: bytes) -> None:
    assert target(data) == ""


def test_a_crash_is_found_and_made_smaller(target: fuzz.Target) -> None:
    def crash(rest: tuple[str, ...]) -> None:
        with open(rest[-1], "rb") as file:
            if b"mulf" in file.read():
                raise KeyError("x")

    replace_app(target, crash)
    wrong = target(SEED)
    assert wrong.startswith("check: KeyError at test_fuzz.py")
    assert len(fuzz.shrink(target, SEED, wrong)) < 40
    assert target(b"nothing") == ""


def test_a_hang_is_found(target: fuzz.Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "LIMIT_S", 0.1)

    def wait(rest: tuple[str, ...]) -> None:
        while True:
            pass

    replace_app(target, wait)
    assert "no answer" in target(SEED)


def test_another_exit_status_is_found(target: fuzz.Target) -> None:
    def leave(rest: tuple[str, ...]) -> None:
        raise SystemExit(3)

    replace_app(target, leave)
    assert target(SEED) == "check: exit status 3"


def test_mutations_are_the_same_every_time() -> None:
    def some(seed: int) -> list[bytes]:
        rng = random.Random(seed)
        return [mutation(rng, SEED, [SEED]) for mutation in fuzz.MUTATIONS for _ in range(5)]

    assert some(1) == some(1)
    assert some(1) != some(2)
    assert sum(data != SEED for data in some(1)) > 40


@pytest.mark.parametrize("size", [100, 1000])
def test_synthetic_kernels_are_valid(size: int) -> None:
    text = synthetic(size)
    assert broken(text) == ""
