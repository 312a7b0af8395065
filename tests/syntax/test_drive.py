"""The fast loop over Lark's tables takes what Lark takes, and builds the same."""

import random
from pathlib import Path
from typing import Any

import pytest
from lark import Token
from lark.exceptions import UnexpectedInput

from tileir_diff.syntax import parser as syntax
from tileir_diff.syntax.actions import MisplacedToken

KERNELS = Path(__file__).parents[2] / "fixtures" / "kernels"
DUMPS = sorted(KERNELS.glob("*/*.mlir"))


def plain(node: Any) -> Any:
    """A syntax node as nested lists: tokens with their type and place, nodes with their fields."""
    if isinstance(node, Token):
        return [node.type, str(node), node.start_pos, node.end_pos]
    if isinstance(node, (list, tuple)):
        items: list[Any] = list(node)  # pyright: ignore[reportUnknownArgumentType]
        return [plain(item) for item in items]
    kind: Any = type(node)  # pyright: ignore[reportUnknownVariableType]
    names = getattr(kind, "__slots__", None)
    return node if names is None else [kind.__name__, [plain(getattr(node, name)) for name in names]]


def by_lark(text: str) -> Any:
    lark, _, actions = syntax.engine()
    actions.aliases = {}
    try:
        return plain(lark.parse(text, start="file"))
    except (UnexpectedInput, MisplacedToken):
        return None


def by_driver(text: str) -> Any:
    _, driver, actions = syntax.engine()
    actions.aliases = {}
    try:
        parsed = driver.parse(text, "file")
    except MisplacedToken:
        return None
    return None if parsed is None else plain(parsed)


def test_there_are_dumps() -> None:
    assert len(DUMPS) > 30


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_same_nodes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = by_lark(text)
    assert expected is not None
    assert by_driver(text) == expected


@pytest.mark.parametrize("seed", range(60))
def test_the_same_texts_are_refused(seed: int) -> None:
    rng = random.Random(seed)
    text = rng.choice(DUMPS).read_text(encoding="utf-8")
    start = rng.randrange(len(text))
    piece = text[start : start + rng.randint(1, 40)]
    for changed in (
        text[:start] + text[start + len(piece) :],
        text[:start] + piece + text[start:],
        text[:start] + rng.choice('"<>{}()[]:=,%#!@\n /') + text[start + 1 :],
        text[:start],
    ):
        assert by_driver(changed) == by_lark(changed)
