"""Addresses that never meet, against all values of their symbols."""

from __future__ import annotations

from itertools import product

from hypothesis import example, given
from hypothesis import strategies as st

from tileir_diff.graph.terms import Terms
from tileir_diff.graph.writes import apart

FACTORS = st.sampled_from([-24, -8, -3, -1, 1, 2, 3, 4, 6, 8, 12, 24])


@given(
    st.lists(st.tuples(FACTORS, st.integers(2, 4)), min_size=1, max_size=3),
    st.lists(st.tuples(FACTORS, st.integers(1, 4)), min_size=1, max_size=2),
    st.integers(-40, 40),
)
@example([(24, 4)], [(1, 4)], 4)
@example([(24, 4), (8, 3)], [(1, 4)], 4)
@example([(6, 3)], [(1, 4)], 3)
def test_what_is_apart_never_meets(
    blocks: list[tuple[int, int]], lanes: list[tuple[int, int]], offset: int
) -> None:
    """Both are sums over the same blocks and lanes; the second is further by an offset."""
    terms = Terms()
    first, second = terms.const(0), terms.const(offset)
    for index, (factor, size) in enumerate(blocks):
        for side in (0, 1):
            leaf = terms.leaf("block", index, side)
            terms.set_range(leaf, (0, size - 1))
            step = terms.scale(terms.atom(leaf), factor)
            first, second = (terms.add(first, step), second) if side else (first, terms.add(second, step))
    for index, (factor, size) in enumerate(lanes):
        lane = terms.scale(terms.lane(index, size), factor)
        first, second = terms.add(first, lane), terms.add(second, lane)
    sizes = [(factor, size) for factor, size in (*blocks, *lanes)]
    reached = {
        sum(factor * at for (factor, _), at in zip(sizes, place, strict=True))
        for place in product(*(range(size) for _, size in sizes))
    }
    if apart(terms, first, second):
        assert reached.isdisjoint({place + offset for place in reached})


def test_rows_that_are_far_apart_and_parts_of_them() -> None:
    """Of rows of 128, the columns from 0 and from 32, each 32; and those from 31, or of 97."""
    terms = Terms()

    def address(row: int, column: int, columns: int) -> int:
        place = terms.add(terms.scale(terms.lane(0, 64), 128), terms.lane(1, columns))
        leaf = terms.leaf("block", 0)
        terms.set_range(leaf, (0, 1 << 20))
        return terms.add(
            place, terms.add(terms.scale(terms.atom(leaf), 8192), terms.const(128 * row + column))
        )

    assert apart(terms, address(0, 0, 32), address(0, 32, 32))
    assert apart(terms, address(0, 0, 32), address(5, 64, 32))
    assert not apart(terms, address(0, 0, 32), address(0, 31, 32))
    assert not apart(terms, address(0, 0, 97), address(0, 32, 97))
