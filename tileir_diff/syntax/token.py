"""The leaf of a syntax tree."""

from __future__ import annotations


class Token(str):
    """A piece of a dump: its text, the grammar's name for it, and the offsets where it starts and ends."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int
