"""Human words for tokens, for error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


NAMES = {
    "ANGLE": "'<...>'",
    "ANGLED": "a type or attribute",
    "ARROW": "'->'",
    "BANG": "a type or attribute",
    "CARET": "a block label",
    "DICT": "an attribute dictionary",
    "DIMS": "a shape",
    "ELSE": "'else'",
    "HASH": "an attribute alias",
    "ITER_VALUES": "'iter_values'",
    "LINE_WORD": "an op",
    "LOC": "a location",
    "NEG_WORD": "a number",
    "NUMBER": "a number",
    "RESULTS": "an op",
    "SSA": "a value",
    "STRING": "a string",
    "SYMBOL": "a symbol name",
    "WORD": "a name",
    "COLON": "':'",
    "COMMA": "','",
    "EQUAL": "'='",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "QMARK": "'?'",
    "$END": "the end of the input",
}
# What comes first when a state accepts many tokens: punctuation says more than "a name".
ORDER = (
    "RPAR",
    "RSQB",
    "RBRACE",
    "EQUAL",
    "COLON",
    "COMMA",
    "ARROW",
    "LPAR",
    "LBRACE",
    "SSA",
    "ANGLED",
    "RESULTS",
    "NUMBER",
)
# Where a new op may start and nothing else goes on, these are the ways to start one.
STARTS_OP = {"RESULTS", "LINE_WORD", "SSA", "WORD", "STRING", "HASH", "BANG"}
LIMIT = 4
EXCERPT = 40


def describe_expected(expected: Iterable[str]) -> str:
    """`expected ':', ',' or a value`: at most four alternatives, the most telling first."""
    names = set(expected)
    if names >= STARTS_OP and "LPAR" not in names:
        names -= STARTS_OP - {"RESULTS"}
    ranked = sorted(names, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    words: list[str] = []
    for name in ranked:
        word = NAMES.get(name, f"'{name.lower()}'")
        if word not in words:
            words.append(word)
    if len(words) > LIMIT:
        words = words[:LIMIT]
    if not words:
        return "expected nothing more"
    return "expected " + (words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1])


def describe_found(token: str) -> str:
    """The token as text, shortened."""
    text = " ".join(str(token).split())
    return f"'{text if len(text) <= EXCERPT else text[:EXCERPT] + '…'}'"


def explain_characters(text: str, offset: int) -> str:
    """Why no token starts here: an unclosed bracket or string, or a stray character."""
    char = text[offset]
    if char == '"':
        return "string is not closed"
    if char in "<{(":
        return f"'{char}' is not closed, or nested too deeply"
    if char.isdigit():
        return "malformed number"
    return f"unexpected character {char!a}"
