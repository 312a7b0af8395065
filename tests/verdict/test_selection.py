"""Which rules count."""

from __future__ import annotations

import pytest

from tileir_diff.rules import FAMILIES
from tileir_diff.verdict import Selection


@pytest.mark.parametrize(
    ("select", "ignore", "rule", "included"),
    [
        ((), (), "mask/missing", True),
        (("mask",), (), "mask/missing", True),
        (("mask",), (), "padding/missing", False),
        (("mask/missing",), (), "mask/extra", False),
        ((), ("mask",), "mask/missing", False),
        (("mask/missing",), ("mask",), "mask/missing", True),
        (("mask",), ("mask/missing",), "mask/missing", False),
        (("mask",), ("mask",), "mask/missing", False),
        (("ALL",), ("ALL",), "mask/missing", False),
        (("mask",), ("ALL",), "mask/missing", True),
        (("m",), ("mask",), "mma/scale", True),
    ],
)
def test_the_longer_prefix_wins(
    select: tuple[str, ...], ignore: tuple[str, ...], rule: str, included: bool
) -> None:
    assert Selection(select, ignore).includes(rule) is included


@pytest.mark.parametrize("prefix", ["", "masks", "mask-", "unheard-of/mask", "al"])
def test_a_prefix_that_can_match_nothing_is_unknown(prefix: str) -> None:
    assert Selection(select=(prefix,)).unknown(FAMILIES) == [prefix]


@pytest.mark.parametrize("prefix", ["ALL", "m", "mask", "mask/", "mask/missing"])
def test_a_prefix_that_can_match_is_known(prefix: str) -> None:
    assert Selection(ignore=(prefix,)).unknown(FAMILIES) == []
