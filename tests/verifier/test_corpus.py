"""Every real dump at hand verifies, and so do mutants of some of them for their own reason only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.check import check_files

from .test_mutants import check_mutants

if TYPE_CHECKING:
    from pathlib import Path

# Mutating every file of the corpus takes minutes; each n-th is enough to see every op of it.
STEP = 40


def test_corpus_is_valid(corpus_files: list[Path]) -> None:
    results = check_files([str(path) for path in corpus_files])
    assert [(result.path, result.errors) for result in results if not result.ok] == []


def test_pairs_are_valid(pair_dirs: list[Path]) -> None:
    paths = [str(folder / name) for folder in pair_dirs for name in ("ref.mlir", "gen.mlir")]
    assert [(result.path, result.errors) for result in check_files(paths) if not result.ok] == []


def test_kernels_are_valid(kernel_dumps: list[Path]) -> None:
    results = check_files([str(path) for path in kernel_dumps])
    assert [(result.path, result.errors) for result in results if not result.ok] == []
    assert len(results) >= 20


def test_corpus_mutants(corpus_files: list[Path]) -> None:
    assert sum(check_mutants(path) for path in corpus_files[::STEP]) > 500
