"""The fast loop over Lark's tables takes what Lark takes, and builds the same."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from lark import Token as LarkToken
from lark import Tree
from lark.exceptions import UnexpectedInput

from tileir_diff.syntax.drive import Driver
from tileir_diff.syntax.generate import lark
from tileir_diff.syntax.parser import TABLES
from tileir_diff.syntax.token import Token

KERNELS = Path(__file__).parents[2] / "fixtures" / "kernels"
DUMPS = sorted(KERNELS.glob("*/*.mlir"))


class Trees:
    """Actions that keep the name of the rule and what it consists of."""

    def __getattr__(self, rule: str) -> Any:
        return lambda children: [rule, *children]  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]


LARK = lark()
DRIVER = Driver(json.loads(TABLES.read_text(encoding="utf-8")), Trees())


def plain(node: Any) -> Any:
    """A tree as nested lists, its leaves with their kind and place."""
    if isinstance(node, (LarkToken, Token)):
        return [node.type, str(node), node.start_pos, node.end_pos]
    if isinstance(node, Tree):
        return [node.data, *map(plain, node.children)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    return [node[0], *map(plain, node[1:])]


def by_lark(text: str) -> Any:
    try:
        return plain(LARK.parse(text, start="file"))
    except UnexpectedInput:
        return None


def by_driver(text: str) -> Any:
    parsed = DRIVER.parse(text, "file")
    return None if parsed is None else plain(parsed)


def test_there_are_dumps() -> None:
    assert len(DUMPS) > 30


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_same_trees(path: Path) -> None:
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


BLANKS = ["", " ", "\t", "  \t ", "\r", "\f", "\u00a0", "\u2003 "]
LINES = ["\n", "\r\n", " \n", "\t\r\n", "\n\n  ", " // a comment\n", "// %a = b", " \n \r\n\t"]
OPS = (
    "{0}{1}%c{1}={1}constant{1}<i1: 1>{1}:{1}tile<i1>{1}{0}{1}if{1}%c{1}{{{0}}}{1}else{1}{{{0}{1}}}{1}"
    "{0}{1}elsewhere{1}%c{1}{0}{1}return{1}"
)


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("line", LINES)
def test_blanks_are_read_as_lark_reads_them(blank: str, line: str) -> None:
    """Before tokens, the ends of lines and of the text, comments, and where a terminal begins with them."""
    ops = OPS.format(line, blank)
    assert by_driver(ops) == by_lark(ops) is not None
    for text in (f"entry @a(){blank}{{{ops}{line}}}{line}{blank}", f"{blank}{ops}{line}{blank}", f"{ops}x"):
        assert by_driver(text) == by_lark(text)
