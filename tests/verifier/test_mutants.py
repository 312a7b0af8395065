"""Real dumps verify; with one defect put in, the rule that it breaks is named, at its op."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tileir_diff.dialect import parse_file
from tileir_diff.dialect.verifier import verify

from .mutations import Mutant, mutants

ROOT = Path(__file__).parents[2]
DUMPS = sorted((ROOT / "fixtures" / "kernels").glob("*/*.mlir"))
# How often one kind of defect is tried in one dump; all would take minutes and show nothing new.
PER_KIND = 2


def few(found: list[Mutant]) -> list[Mutant]:
    """The first `PER_KIND` defects of each op and rule."""
    seen: Counter[tuple[str, str]] = Counter()
    kept: list[Mutant] = []
    for mutant in found:
        key = (mutant.op.short, mutant.rule)
        if seen[key] < PER_KIND:
            kept.append(mutant)
        seen[key] += 1
    return kept


def check_mutants(path: Path) -> int:
    """Every kept mutant of one dump is refused for its reason; the number of mutants."""
    module = parse_file(str(path))
    assert verify(module) == []
    kept = few(list(mutants(module)))
    for mutant in kept:
        undo = mutant.apply()
        errors = verify(module)
        undo()
        line = mutant.op.span.line
        named = [error.rule for error in errors if error.line == line]
        assert mutant.rule in named, (mutant.name, line, errors[:3])
        assert not mutant.only or len(errors) == 1, (mutant.name, line, errors[:3])
    assert verify(module) == []
    return len(kept)


@pytest.mark.parametrize("path", DUMPS, ids=[f"{path.parent.name}-{path.stem}" for path in DUMPS])
def test_fixture_mutants(path: Path) -> None:
    assert check_mutants(path) >= 30


def test_fixtures_are_found() -> None:
    assert len(DUMPS) >= 20
