"""The glossary has every phrase that the comparison can say beside a finding, and below all findings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tileir_diff.report.glossary import PHRASES, is_phrase, page

PACKAGE = Path(__file__).parents[2] / "tileir_diff"
FOLDERS = ("match", "graph")
LISTS = ("assumptions", "not_checked", "obligations")
MADE_OF_OTHERS = ("…", "… and …", "…: …")
"""What only joins sentences that are met by themselves."""


def said() -> Iterator[tuple[str, str]]:
    """Place and text of every sentence given as a note, as an assumption, or as what is not checked."""
    for folder in FOLDERS:
        for path in sorted((PACKAGE / folder).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            constants = {
                target.id: node.value
                for node in tree.body
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for node in ast.walk(tree):
                for value in _given(node):
                    for text in _texts(value, constants):
                        if text not in MADE_OF_OTHERS:
                            yield f"{path.name}:{node.lineno if isinstance(node, ast.expr) else 0}", text


def _given(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a call, or of an assignment, that are sentences of a report."""
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "note" for t in node.targets):
        yield node.value
    if not isinstance(node, ast.Call):
        return
    yield from (keyword.value for keyword in node.keywords if keyword.arg == "note")
    function = node.func
    if isinstance(function, ast.Name) and function.id == "Reformulation":
        yield from node.args[1:]
    if isinstance(function, ast.Attribute) and function.attr == "assume":
        yield from node.args
    if isinstance(function, ast.Attribute) and function.attr in ("append", "extend"):
        owner = function.value
        if isinstance(owner, ast.Attribute) and owner.attr in LISTS:
            yield from node.args


def _texts(value: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    """What an expression can say, `…` for what is filled in; nothing where another function says it."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield from filter(None, [value.value])
    elif isinstance(value, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "…" for part in value.values
        ).replace("……", "…")
    elif isinstance(value, ast.IfExp):
        yield from _texts(value.body, constants)
        yield from _texts(value.orelse, constants)
    elif isinstance(value, ast.BinOp):
        yield from _texts(value.left, constants)
        yield from _texts(value.right, constants)
    elif isinstance(value, ast.Name) and value.id in constants:
        yield from _texts(constants[value.id], constants)
    elif isinstance(value, ast.GeneratorExp):
        yield from _texts(value.elt, constants)


SAID = sorted(set(said()))


def test_sentences_are_found() -> None:
    assert len(SAID) > 25


@pytest.mark.parametrize(("place", "text"), SAID, ids=lambda value: value)
def test_the_glossary_has_it(place: str, text: str) -> None:
    sentence = text.removeprefix("; ")
    told = sentence, f"reference: {sentence}"  # what a side takes for granted is told with its name
    assert any(is_phrase(phrase, each) for phrase in PHRASES for each in told), place


def test_a_phrase_stands_for_sentences() -> None:
    assert is_phrase("… is a multiple of …", "generated %arg3 is a multiple of 8 (stated by the launcher)")
    assert not is_phrase("… is a multiple of …", "is a multiple of 8")
    assert not is_phrase("by role", "not by role")


def test_a_word_is_found_without_what_follows_it() -> None:
    assert page("holds only if")
    assert page("holds only if") == page("holds only if …")
