"""Writes the LALR tables of the grammar: `python -m tileir_diff.syntax.generate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from tileir_diff.syntax.parser import OPTIONS, TABLES

PACKAGED = Path(__file__).with_name("tileir.lark")
CHECKOUT = Path(__file__).parents[2] / "grammars" / "tileir.lark"


def grammar_path() -> Path:
    """The grammar file: inside an installed package, else at the top of a checkout."""
    return PACKAGED if PACKAGED.exists() else CHECKOUT


def tables(grammar: str) -> str:
    """The parser for a grammar text, serialised as JSON; equal text gives equal bytes."""
    parser: Any = Lark(grammar, **OPTIONS)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    return json.dumps({"data": data, "memo": memo}, separators=(",", ":"), sort_keys=True) + "\n"


if __name__ == "__main__":
    TABLES.write_text(tables(grammar_path().read_text(encoding="utf-8")), encoding="utf-8")
