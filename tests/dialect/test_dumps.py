"""Whole dumps: this project's kernels, and other people's where they are at hand."""

import re
import time
from pathlib import Path

import pytest

from tileir_diff.dialect import parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.dialect.printer import print_module


def spelling(text: str) -> str:
    """A dump without comments, locations, and differences of white space."""
    text = re.sub(r" loc\(#\w+\)", "", text)
    text = re.sub(r"(?m)^(?:#|//).*\n?", "", text)
    return re.sub(r"\s+", " ", text).replace(" {", "{").replace(" (", "(").strip()


def check(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    module = parse_text(text, str(path))
    printed = print_module(module)
    assert spelling(printed) == spelling(text)
    assert structurally_equal(module, parse_text(printed))
    assert module.approximations == []


def test_own_kernels_print_as_dumped(kernel_dumps: list[Path]) -> None:
    for path in kernel_dumps:
        check(path)


def test_own_kernels_have_sources(kernel_dumps: list[Path]) -> None:
    located = [path for path in kernel_dumps if path.name.endswith(".g.mlir")]
    assert located
    for path in located:
        module = parse_text(path.read_text(encoding="utf-8"), str(path))
        for entry in module.entries:
            assert entry.source is not None
            sources = [op.source for op in entry.inner()]
            assert sum(source is not None for source in sources) > len(sources) / 2


@pytest.mark.slow
def test_corpus_prints_as_dumped(corpus_files: list[Path]) -> None:
    for path in corpus_files:
        check(path)


@pytest.mark.slow
def test_pairs_print_as_dumped(pair_dirs: list[Path]) -> None:
    for folder in pair_dirs:
        for path in sorted(folder.glob("*.mlir")):
            check(path)


def test_speed(kernel_dumps: list[Path]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in kernel_dumps]
    for text in texts[:2]:
        parse_text(text)
    start = time.process_time()
    for text in texts:
        parse_text(text)
    per_30_kb = (time.process_time() - start) / sum(map(len, texts)) * 30_000
    assert per_30_kb < 0.12, f"{per_30_kb * 1000:.0f} ms for 30 KB"
