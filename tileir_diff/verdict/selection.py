"""`--select` and `--ignore`: which rules count, by prefix. The longer prefix wins, a tie ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL = "ALL"


def prefixes(given: str | Iterable[str]) -> tuple[str, ...]:
    """`["a,b", "c/*"]` is a, b, c/: what a user wrote, separated by commas or not, with a star or without."""
    texts = (given,) if isinstance(given, str) else given
    words = (word.strip() for text in texts for word in text.split(","))
    return tuple(word.removesuffix("*") or ALL for word in words if word)


class Selection(NamedTuple):
    """Prefixes of `family/detail`. An empty `select` selects everything."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def includes(self, rule: str) -> bool:
        selected = _longest(self.select or (ALL,), rule)
        return selected >= 0 and selected > _longest(self.ignore, rule)

    def unknown(self, known: Iterable[str]) -> list[str]:
        """The prefixes that can match no rule: a mistyped one must not silently select nothing.

        `known` holds families, and where details matter also `family/detail`.
        """
        names = list(known)
        return [prefix for prefix in (*self.select, *self.ignore) if not _possible(prefix, names)]


def _longest(prefixes: tuple[str, ...], rule: str) -> int:
    """Length of the longest prefix that fits, 0 for ALL, -1 if none does."""
    return max(
        (0 if each == ALL else len(each) for each in prefixes if each == ALL or rule.startswith(each)),
        default=-1,
    )


def _possible(prefix: str, names: list[str]) -> bool:
    family, slash, detail = prefix.partition("/")
    if prefix == ALL:
        return True
    if not slash:
        return bool(prefix) and any(name.startswith(prefix) for name in names)
    listed = [name for name in names if name.startswith(f"{family}/")]
    if detail and listed:
        return any(name.startswith(prefix) for name in listed)
    return family in names
