"""Expressions that nest deeply."""

from __future__ import annotations

import sys

import pytest

from tests.match.snippets import HERE, LOAD, STORE, assert_found, compared, kernel
from tileir_diff.errors import InputError
from tileir_diff.match import deep

INT, F, B = "tile<128xi32>", "tile<128xf32>", "tile<128xi1>"


def table(entries: int, wrong: int | None = None) -> str:
    """A table as selections in one another: entry i is (37 i^2 + 11) mod 251; the wrong one is one more."""
    lines = [LOAD, f"%key = ftoi %v signed : {F} -> {INT}", f"%r0 = constant <i32: -1> : {INT}"]
    for number in range(entries):
        value = (37 * number * number + 11) % 251 + (number == wrong)
        mark = f" {HERE}" if number == wrong else ""
        lines += [
            f"%k{number} = constant <i32: {number}> : {INT}",
            f"%w{number} = constant <i32: {value}> : {INT}{mark}",
            f"%c{number} = cmpi equal %key, %k{number}, signed : {INT} -> {B}",
            f"%r{number + 1} = select %c{number}, %w{number}, %r{number} : {B}, {INT}",
        ]
    return kernel("\n".join([*lines, f"%w = itof %r{entries} signed : {INT} -> {F}", STORE]))


def test_a_long_table_is_compared() -> None:
    before = sys.getrecursionlimit()
    assert_found(table(300), table(300, wrong=170), "constant")
    assert sys.getrecursionlimit() == before


def test_a_table_that_is_too_long_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep, "FRAMES", 0)
    with pytest.raises(InputError, match="nests too deeply"):
        compared(table(400), table(400, wrong=170))
