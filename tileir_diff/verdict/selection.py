"""`--select` and `--ignore`: which rules count, by prefix. The longer prefix wins, a tie ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL = "ALL"


class Selection(NamedTuple):
    """Prefixes of `family/detail`. An empty `select` selects everything."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def includes(self, rule: str) -> bool:
        selected = _longest(self.select or (ALL,), rule)
        return selected >= 0 and selected > _longest(self.ignore, rule)

    def unknown(self, families: Iterable[str]) -> list[str]:
        """The prefixes that can match no rule: a mistyped one must not silently select nothing."""
        names = list(families)
        return [prefix for prefix in (*self.select, *self.ignore) if not _possible(prefix, names)]


def _longest(prefixes: tuple[str, ...], rule: str) -> int:
    """Length of the longest prefix that fits, 0 for ALL, -1 if none does."""
    return max(
        (0 if each == ALL else len(each) for each in prefixes if each == ALL or rule.startswith(each)),
        default=-1,
    )


def _possible(prefix: str, families: list[str]) -> bool:
    family, slash, _ = prefix.partition("/")
    if prefix == ALL:
        return True
    return family in families if slash else bool(prefix) and any(name.startswith(prefix) for name in families)
