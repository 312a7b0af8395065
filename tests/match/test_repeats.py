"""How often an effect takes place over all blocks: loops that blocks share, and axes that nothing uses."""

from __future__ import annotations

import pytest

from tests.match.snippets import LOAD, STORE, assert_equal, assert_found, compared, found, kernel, parsed
from tileir_diff.graph.terms import Terms
from tileir_diff.match.grids import grid_sizes
from tileir_diff.match.launch import ArgValue, Launch, SideLaunch
from tileir_diff.match.model import CompareOptions, Difference
from tileir_diff.match.search import search

F, P = "tile<128xf32>", "tile<128xptr<f32>>"
GRID = "%gx, %gy, %gz = get_num_tile_blocks : tile<i32>"
BY_X, BY_Y, WHOLE = "%x to %m, step %gx", "%y to %m, step %gy", "%i0 to %m, step %i1"
PLACE = f"""
  %s = muli %i, %i128 : tile<i32>
  %s1 = reshape %s : tile<i32> -> tile<1xi32>
  %sv = broadcast %s1 : tile<1xi32> -> tile<128xi32>
  %l = addi %sv, %lane : tile<128xi32>
  %pl = offset %bv, %l : {P}, tile<128xi32> -> {P}
"""
FILL = f"%st = store_ptr_tko weak %pl, %one token=%t : {P}, {F} -> token"
UPDATE = f"""
  %v, %vt = load_ptr_tko weak %pl token=%t : {P} -> {F}, token
  %w = addf %v, %one : {F}
  %st = store_ptr_tko weak %pl, %w token=%vt : {P}, {F} -> token
"""


def atomic(mode: str, value: str = "%one", kind: str = F) -> str:
    types = f"{P}, {kind} -> {kind}, token"
    return f"%r, %rt = atomic_rmw_tko relaxed device %pl, {mode}, {value} token=%t : {types}"


ADD, EXCHANGE = atomic("addf"), atomic("xchg")


def looping(bounds: str, body: str) -> str:
    return kernel(f"{GRID}\nfor %i in ({bounds}) : tile<i32> {{ // here\n{PLACE}\n{body}\n}}")


@pytest.mark.parametrize("body", [ADD, EXCHANGE, UPDATE])
@pytest.mark.parametrize(("reference", "generated"), [(BY_X, WHOLE), (WHOLE, BY_X), (BY_X, BY_Y)])
def test_an_update_that_every_block_makes(reference: str, generated: str, body: str) -> None:
    first = assert_found(looping(reference, body), looping(generated, body), "loop/step", "loop/bounds")
    assert first.impact == "logic"


@pytest.mark.parametrize(("reference", "generated"), [(BY_X, WHOLE), (WHOLE, BY_X), (BY_X, BY_Y)])
def test_a_store_that_every_block_makes_costs_only(reference: str, generated: str) -> None:
    (only,) = found(looping(reference, FILL), looping(generated, FILL))
    assert (only.rule, only.impact) == ("loop/step", "hint")


@pytest.mark.parametrize("body", [ADD, UPDATE, FILL])
@pytest.mark.parametrize("bounds", [BY_X, BY_Y, WHOLE])
def test_loops_that_the_blocks_share_alike(bounds: str, body: str) -> None:
    assert_equal(looping(bounds, body), looping(bounds, body))


def test_an_end_that_depends_on_the_block_is_not_shared() -> None:
    end = "%e = addi %x, %m : tile<i32>\nfor %i in"
    sides = (looping(bounds.replace("%m", "%e"), ADD).replace("for %i in", end) for bounds in (BY_X, WHOLE))
    assert_found(*sides, "loop/bounds")


# ---- iterations that meet ----------------------------------------------------------------------------

SIDES = [(BY_X, WHOLE), (WHOLE, BY_X), (BY_X, BY_Y)]
NUMBER = f"""
  %n1_ = reshape %i : tile<i32> -> tile<1xi32>
  %n2_ = broadcast %n1_ : tile<1xi32> -> tile<128xi32>
  %w = itof %n2_ signed : tile<128xi32> -> {F}
"""
"""The number of the tile, which tells what one iteration stores from what another does."""


def put(index: str, *, length: int = 128, value: str = "%w", name: str = "q", token: str = "%t") -> str:
    """Store 128 elements, from `length` times the index."""
    return f"""
  %{name}l = constant <i32: {length}> : tile<i32>
  %{name}s = muli {index}, %{name}l : tile<i32>
  %{name}1 = reshape %{name}s : tile<i32> -> tile<1xi32>
  %{name}2 = broadcast %{name}1 : tile<1xi32> -> tile<128xi32>
  %{name}o = addi %{name}2, %lane : tile<128xi32>
  %{name}p = offset %bv, %{name}o : {P}, tile<128xi32> -> {P}
  %{name}t = store_ptr_tko weak %{name}p, {value} token={token} : {P}, {F} -> token
"""


def by(op: str, divisor: int) -> str:
    return f"%d = constant <i32: {divisor}> : tile<i32>\n%k = {op} %i, %d signed : tile<i32>{put('%k')}"


NEXT = "%k = addi %i, %i1 : tile<i32>"
SCATTER = f"""
  %ip = ptr_to_ptr %av : {P} -> tile<128xptr<i32>>
  %il = offset %ip, %l : tile<128xptr<i32>>, tile<128xi32> -> tile<128xptr<i32>>
  %ix, %it = load_ptr_tko weak %il token=%t : tile<128xptr<i32>> -> tile<128xi32>, token
  %q = offset %bv, %ix : {P}, tile<128xi32> -> {P}
  %qt = store_ptr_tko weak %q, %w token=%t : {P}, {F} -> token
"""
MEETING = {
    "scattered": SCATTER,
    "overlapping": put("%i", length=64),
    "remainder": by("remi", 7),
    "long remainder": by("remi", 40),
    "quotient": by("divi", 2),
    "one place": put("%i4"),
    "cleared by the next": f"{NEXT}{put('%i')}{put('%k', value='%zero', name='r', token='%qt')}",
    "tiles that a loop around moves": "for %j in (%i0 to %n, step %i1) : tile<i32> {\n"
    f"%k = addi %i, %j : tile<i32>{put('%k')}}}",
}
APART = {
    "tiles": put("%i"),
    "with gaps": put("%i", length=129),
    "the same in all": put("%i", length=64, value="%one"),
    "twice the same tile": put("%i") + put("%i", value="%zero", name="r", token="%qt"),
    "the same tiles of another loop": f"for %j in (%i0 to %n, step %i1) : tile<i32> {{\n{put('%i')}}}",
}


@pytest.mark.parametrize("body", MEETING.values(), ids=MEETING)
@pytest.mark.parametrize(("reference", "generated"), SIDES)
def test_iterations_that_may_write_the_same_elements(reference: str, generated: str, body: str) -> None:
    """One block runs them in order, so the last one counts; several blocks do not."""
    (only,) = found(looping(reference, NUMBER + body), looping(generated, NUMBER + body))
    assert (only.rule, only.impact) == ("loop/step", "logic")
    assert "in another iteration" in only.evidence


@pytest.mark.parametrize("body", APART.values(), ids=APART)
@pytest.mark.parametrize(("reference", "generated"), SIDES)
def test_iterations_that_write_different_elements_cost_only(
    reference: str, generated: str, body: str
) -> None:
    (only,) = found(looping(reference, NUMBER + body), looping(generated, NUMBER + body))
    assert (only.rule, only.impact) == ("loop/step", "hint")


OF_A = f"{PLACE}\n%pk = offset %av, %l : {P}, tile<128xi32> -> {P}\n"
FILL_A = OF_A + FILL.replace("%pl", "%pk")
FROM_A = f"""{OF_A}
  %v, %vt = load_ptr_tko weak %pk token=%t : {P} -> {F}, token
  %w = exp %v : {F}
  %st = store_ptr_tko weak %pl, %w token=%t : {P}, {F} -> token
"""


@pytest.mark.parametrize("generated", [WHOLE, BY_Y])
@pytest.mark.parametrize(("filled", "impact"), [(BY_X, "logic"), (WHOLE, "hint")])
def test_a_loop_over_what_other_blocks_have_written(filled: str, generated: str, impact: str) -> None:
    """What a block has written all by itself it may read in whole, too."""
    first = f"{GRID}\nfor %i in ({filled}) : tile<i32> {{\n{FILL_A}\n}}\n"
    reference, other = (
        kernel(f"{first}for %i in ({bounds}) : tile<i32> {{\n{FROM_A}\n}}") for bounds in (BY_X, generated)
    )
    (only,) = found(reference, other)
    assert (only.rule, only.impact) == ("loop/step", impact)


@pytest.mark.parametrize("body", MEETING.values(), ids=MEETING)
def test_loops_that_meet_alike(body: str) -> None:
    for bounds in (BY_X, WHOLE):
        assert_equal(looping(bounds, NUMBER + body), looping(bounds, NUMBER + body))


@pytest.mark.parametrize("before", [True, False])
def test_a_store_outside_the_loop_to_what_it_writes(before: bool) -> None:
    """One block may clear what another has written."""
    clear = put("%i4", value="%zero", name="r")

    def cleared(bounds: str) -> str:
        loop = f"for %i in ({bounds}) : tile<i32> {{\n{NUMBER}{put('%i')}}}"
        return kernel(f"{GRID}\n{clear}{loop}" if before else f"{GRID}\n{loop}\n{clear}")

    (only,) = found(cleared(BY_X), cleared(WHOLE))
    assert (only.rule, only.impact) == ("loop/step", "logic")
    assert "outside the loop" in only.evidence


TENSOR = "tensor_view<?x1024xf32, strides=[1024,1]>"
TILES = f"partition_view<tile=(1x128), {TENSOR}>"
VIEW = f"""
  %tv = make_tensor_view %b, shape = [%m, 1024], strides = [1024, 1] : tile<i32> -> {TENSOR}
  %pv = make_partition_view %tv : {TILES}
  %ws = reshape %w : {F} -> tile<1x128xf32>
  %qt = store_view_tko weak %ws, %pv[INDEX] token=%t : tile<1x128xf32>, {TILES}, tile<i32> -> token
"""


@pytest.mark.parametrize(
    ("index", "impact"), [("%i, %y", "hint"), ("%y, %i", "hint"), ("%i1, %i4", "logic"), ("%i, %i", "hint")]
)
def test_tiles_of_a_view(index: str, impact: str) -> None:
    body = NUMBER + VIEW.replace("INDEX", index)
    (only,) = found(looping(BY_X, body), looping(WHOLE, body))
    assert (only.rule, only.impact) == ("loop/step", impact)


# ---- launches ----------------------------------------------------------------------------------------

COPY = f"%w, %vt = load_ptr_tko weak %pa token=%t : {P} -> {F}, token\n{STORE}"
ONCE = ADD.replace("%pl", "%pb")
IN_PLACE = UPDATE.replace("%pl", "%pb")
FIRST = "%pl = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>\n%v = constant <f32: 1.0> : tile<1xf32>\n" + (
    atomic("addf", "%v", "tile<1xf32>").replace(P, "tile<1xptr<f32>>")
)


def side(grid: tuple[int, int, int]) -> SideLaunch:
    args = ArgValue("ptr", "a"), ArgValue("ptr", "b"), ArgValue("i32", 1024), ArgValue("i32", 8)
    return SideLaunch(None, grid, args)


def at_grids(text: str, reference: tuple[int, int, int], generated: tuple[int, int, int]) -> list[str]:
    options = CompareOptions(launch=Launch(side(reference), side(generated), "launch.json"))
    return [difference.rule for difference in compared(text, text, options).differences]


@pytest.mark.parametrize("body", [ONCE, IN_PLACE])
@pytest.mark.parametrize("more", [(8, 3, 1), (8, 1, 2)])
def test_more_blocks_along_an_axis_that_nothing_uses(more: tuple[int, int, int], body: str) -> None:
    for grids in (((8, 1, 1), more), (more, (8, 1, 1)), (more, (8, 4, 4))):
        assert set(at_grids(kernel(body), *grids)) == {"grid/size"}
    assert at_grids(kernel(COPY), (8, 1, 1), more) == []
    assert at_grids(kernel(body), more, more) == []


def test_one_place_that_each_block_adds_to() -> None:
    assert at_grids(kernel(FIRST), (4, 1, 1), (8, 1, 1)) == ["grid/size"]


@pytest.mark.parametrize("grid", [2, 3])
def test_a_shared_loop_adds_the_same_in_every_grid(grid: int) -> None:
    assert at_grids(looping(BY_X, ADD), (3, 1, 1), (grid, 1, 1)) == []


def test_one_block_shares_with_nobody() -> None:
    options = CompareOptions(launch=Launch(side((3, 1, 1)), side((1, 1, 1)), "launch.json"))
    assert_equal(looping(BY_X, ADD), looping(WHOLE, ADD), options)


@pytest.mark.parametrize("grids", [(3, 1), (1, 3), (1, 1), (3, 2)])
def test_one_block_runs_in_order_what_several_do_not(grids: tuple[int, int]) -> None:
    reference, generated = (side((size, 1, 1)) for size in grids)
    options = CompareOptions(launch=Launch(reference, generated, "launch.json"))
    meeting, apart = (looping(BY_X, NUMBER + body) for body in (put("%i", length=64), put("%i")))
    assert_equal(apart, apart, options)
    told = [(each.rule, each.impact) for each in found(meeting, meeting, options)]
    assert told == ([("loop/step", "logic")] if 1 in grids and grids != (1, 1) else [])


def test_atomics_that_settle() -> None:
    settle = (
        looping(BY_X, atomic("max").replace("f32", "i32").replace("%pl", "%pi"))
        .replace(
            "%r, %rt",
            "%c1 = constant <i32: 1> : tile<128xi32>\n"
            "%pi = ptr_to_ptr %pl : tile<128xptr<f32>> -> tile<128xptr<i32>>\n%r, %rt",
        )
        .replace("%one token", "%c1 token")
    )
    (only,) = found(settle, settle.replace(BY_X, WHOLE))
    assert only.impact == "hint"


def test_a_grid_is_not_told_beside_another_array() -> None:
    """Iterations that meet in the wrong array are not shared by the blocks: that follows from it."""
    terms = Terms()
    entry = parsed(kernel(f"{LOAD}\n%w = exp %v : tile<128xf32>\n{STORE}")).entries[0]
    attempt = search(terms, entry, entry, CompareOptions())
    other = Difference("addressing/base", None, None, "a", "b")
    assert [each.rule for each in grid_sizes(attempt, (4, 1, 1), (3, 1, 1), [])] == ["grid/size"]
    assert list(grid_sizes(attempt, (4, 1, 1), (3, 1, 1), [other])) == []


# ---- spellings of a loop over all tiles ------------------------------------------------------------------

COUNT = "%k = divi %N, %i128 signed rounding<positive_inf> : tile<i32>\n"


def shared(bounds: str, index: str = "", update: str = FILL) -> str:
    """A `for` over the tiles of `%N` elements, `index` computing `%i` from `%j`."""
    counter = "%j" if index else "%i"
    body = f"{index}\n{PLACE}\n{update}"
    return kernel(
        f"{GRID}\n{COUNT}{bounds}for {counter} in (%lo to %hi, step %by) : tile<i32> {{\n{body}\n}}"
    )


def bounds(lower: str, upper: str, step: str) -> str:
    lines = zip(("lo", "hi", "by"), (lower, upper, step), strict=True)
    return "".join(f"%{name} = assume bounded<?, ?>, {value} : tile<i32>\n" for name, value in lines)


def left_at(test: str, step: str = "%gx") -> str:
    return kernel(
        f"{GRID}\n{COUNT}loop iter_values(%i = %x) : tile<i32> {{\n{test}\nif %out {{\nbreak\n}}\n"
        f"{PLACE}\n{FILL}\n"
        f"%next = addi %i, {step} : tile<i32>\ncontinue %next : tile<i32>\n}}"
    )


def count_from(first: str, more: str) -> str:
    """Counted from 0 in steps of one; tile `%j * grid + first` is done."""
    head = (
        f"%left = subi %k, {first} : tile<i32>\n"
        f"%count = divi %left, %gx signed rounding<positive_inf> : tile<i32>\n"
    )
    index = f"%jg = muli %j, %gx : tile<i32>\n%i = addi %jg, {more} : tile<i32>"
    return shared(head + bounds("%i0", "%count", "%i1"), index)


SHARED = shared(bounds("%x", "%k", "%gx"))
OUT = "%out = cmpi {} %i, %k, signed : tile<i32> -> tile<i1>"
IN_ELEMENTS = f"%ie = muli %i, %i128 : tile<i32>\n{OUT.format('greater_than_or_equal')}".replace(
    "%i, %k", "%ie, %N"
)
ONE_ON = "%kn = addi %k, %i1 : tile<i32>\n%xn = addi %x, %i1 : tile<i32>\n" + bounds("%xn", "%kn", "%gx")


@pytest.mark.parametrize(
    ("generated", "wrong"),
    [
        (left_at(OUT.format("greater_than_or_equal")), left_at(OUT.format("greater_than"))),
        (left_at(IN_ELEMENTS), left_at(IN_ELEMENTS, "%gy")),
        (count_from("%x", "%x"), count_from("%x", "%y")),
        (
            shared(ONE_ON, "%i = subi %j, %i1 : tile<i32>"),
            shared(ONE_ON, "%i = addi %j, %i0 : tile<i32>"),
        ),
    ],
)
def test_a_loop_that_goes_over_all_tiles_in_other_words(generated: str, wrong: str) -> None:
    assert_equal(SHARED, generated)
    assert_equal(generated, SHARED)
    for reference, other in ((SHARED, wrong), (wrong, SHARED)):
        assert any(each.impact == "logic" for each in found(reference, other))


def test_a_promise_in_a_loop_that_blocks_share_is_the_other_sides() -> None:
    head = "%i8 = constant <i32: 8> : tile<i32>\n%i256 = constant <i32: 256> : tile<i32>\n"
    reference, generated = (
        shared(head + bounds("%x", "%k", "%gx"), f"%i = {times} overflow<no_signed_wrap> : tile<i32>")
        for times in ("muli %j, %i256", "shli %j, %i8")
    )
    assert_equal(reference, generated)
    assert_found(reference.replace(" overflow<no_signed_wrap>", ""), generated, "integer-mode/overflow")


# ---- iterations in which nothing is done -----------------------------------------------------------------

IN = (
    "%ilv = cmpi less_than %l, %nv, signed : tile<128xi32> -> tile<128xi1>\n"
    "%st = store_ptr_tko weak %pl, %one, %ilv token=%t : "
    f"{P}, {F}, tile<128xi1> -> token"
)
MORE = "%more = addi %k, %i1 : tile<i32>\n"
DOWN = "%less = divi %N, %i128 signed : tile<i32>\n%more = addi %less, %i1 : tile<i32>\n"


@pytest.mark.parametrize(("lower", "step"), [("%x", "%gx"), ("%i0", "%i1")])
@pytest.mark.parametrize("more", [MORE, DOWN])
def test_a_trip_more_that_the_mask_leaves_nothing_of(more: str, lower: str, step: str) -> None:
    reference = shared(bounds(lower, "%k", step), update=IN)
    generated = shared(more + bounds(lower, "%more", step), update=IN)
    assert_equal(reference, generated)
    assert_equal(generated, reference)
    unmasked = shared(more + bounds(lower, "%more", step))
    assert found(shared(bounds(lower, "%k", step)), unmasked)
    assert found(reference, unmasked)
    fewer = shared(more.replace("addi", "subi") + bounds(lower, "%more", step), update=IN)
    assert found(reference, fewer)
    sums = looped_sum("%k", lower, step), looped_sum("%more", lower, step, more)
    assert found(*sums) or sums[0] == sums[1]


def copied(mask: str = "") -> str:
    """Store where the mask says what is loaded of the other array, under ``mask`` or everywhere."""
    types = f"tile<128xi1>, {F} -> {F}, token" if mask else f"-> {F}, token"
    load = f"%v, %vt = load_ptr_tko weak %pla{mask} token=%t : {P}{', ' if mask else ' '}{types}\n"
    mine = "%pla = offset %av, %l : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>\n"
    test, store = IN.split("\n")
    return f"{test}\n{mine}{load}{store.replace('%one', '%v')}"


@pytest.mark.parametrize(("lower", "step"), [("%x", "%gx"), ("%i0", "%i1")])
def test_a_trip_more_that_reads_past_the_end(lower: str, step: str) -> None:
    masked, bare = copied(", %ilv, %zero"), copied()
    exact = {body: shared(bounds(lower, "%k", step), update=body) for body in (masked, bare)}
    longer = {body: shared(MORE + bounds(lower, "%more", step), update=body) for body in (masked, bare)}
    assert_equal(exact[masked], longer[masked])
    for reference in exact.values():
        assert found(reference, longer[bare])
    assert_equal(longer[bare], exact[bare])


def looped_sum(end: str, lower: str, step: str, more: str = "") -> str:
    """How many trips a loop makes shows in what it counts."""
    body = f"{PLACE}\n{IN}\n%next = addf %c, %one : {F}\ncontinue %next : {F}"
    return kernel(
        f"{GRID}\n{COUNT}{more}%sum = for %i in ({lower} to {end}, step {step}) : tile<i32> "
        f"iter_values(%c = %zero) -> ({F}) {{\n{body}\n}}\n"
        f"%all = store_ptr_tko weak %pa, %sum token=%t : {P}, {F} -> token"
    )
