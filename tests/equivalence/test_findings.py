"""Each thing that a run checks: found where it happens, silent where it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.equivalence.support import rules, run

HEAD = """entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %n: tile<i32>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %i = iota : tile<4xi32>
  %pr = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
  %pb = broadcast %pr : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %qr = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
  %qb = broadcast %qr : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %nr = reshape %n : tile<i32> -> tile<1xi32>
  %nb = broadcast %nr : tile<1xi32> -> tile<4xi32>
  %m = cmpi less_than %i, %nb, signed : tile<4xi32> -> tile<4xi1>
  %c4 = constant <i32: 4> : tile<i32>
  %x4 = muli %x, %c4 : tile<i32>
  %xr = reshape %x4 : tile<i32> -> tile<1xi32>
  %xb = broadcast %xr : tile<1xi32> -> tile<4xi32>
  %xi = addi %xb, %i : tile<4xi32>
  %po = offset %pb, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %px = offset %pb, %xi : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %qo = offset %qb, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %qx = offset %qb, %xi : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
"""
LINE = "tensor_view<?xi32, strides=[1]>"
MASKED = "%v, %t = load_ptr_tko weak %po, %m : tile<4xptr<i32>>, tile<4xi1> -> tile<4xi32>, token\n"
PLAIN = "%v, %t = load_ptr_tko weak %po : tile<4xptr<i32>> -> tile<4xi32>, token\n"
LOAD_OWN = "%v, %t = load_ptr_tko weak %px : tile<4xptr<i32>> -> tile<4xi32>, token\n"
STORE = "%w = store_ptr_tko weak %qx, %v : tile<4xptr<i32>>, tile<4xi32> -> token\n"


def found(body: str, n: int = 4, blocks: int = 1, size: int = 8, **arrays: Any) -> Any:
    p = arrays.get("p", np.arange(size, dtype=np.int32))
    q = arrays.get("q", np.zeros(4 * blocks, np.int32))
    return run(HEAD + body + "  return\n}", [p, q, n], grid=blocks)


@pytest.mark.parametrize(
    ("promise", "good", "bad"),
    [("div_by<4>", 8, 6), ("bounded<0, 9>", 9, 10), ("bounded<0, ?>", 0, -1), ("bounded<?, 3>", -9, 4)],
)
def test_promises_about_numbers(promise: str, good: int, bad: int) -> None:
    body = f"%a = assume {promise}, %n : tile<i32>\n"
    assert found(body, good).findings == []
    done = found(body, bad)
    assert rules(done) == ["assume/false"]
    assert done.findings[0].values == {"value": bad}
    assert done.findings[0].line == HEAD.count("\n") + 1


def test_promises_about_tiles() -> None:
    for promise, holds in (
        ("div_by<4, every 4 along 0>", True),
        ("div_by<4, every 2 along 0>", False),
        ("div_by<1>", True),
        ("same_elements<[1]>", True),
        ("same_elements<[2]>", False),
    ):
        assert (found(f"%a = assume {promise}, %i : tile<4xi32>\n").findings == []) == holds, promise


def test_promises_about_pointers() -> None:
    body = """%o = offset %p, %n : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %a = assume div_by<16>, %o : tile<ptr<i32>>
"""
    assert found(body, 4).findings == []
    assert rules(found(body, 2)) == ["assume/false"]


def test_pointers_out_of_bounds() -> None:
    done = found(PLAIN + STORE, size=3)
    assert rules(done) == ["bounds/pointer", "undetermined/store"]
    finding = done.findings[0]
    assert (finding.block, finding.lane, finding.times) == ((0, 0, 0), (3,), 1)
    assert "byte 12 of %p (12 bytes)" in finding.message
    assert found(PLAIN + STORE, size=4).findings == []


def test_masked_lanes_are_not_accessed() -> None:
    padded = MASKED.replace("%m :", "%m, %i :").replace("tile<4xi1> ->", "tile<4xi1>, tile<4xi32> ->")
    assert found(padded + STORE, n=3, size=3).findings == []


def test_undetermined_lanes_that_are_stored() -> None:
    done = found(MASKED + STORE, n=3)
    assert rules(done) == ["undetermined/store"]
    assert done.findings[0].lane == (3,)
    assert list(done.undetermined) == ["q"]
    assert done.undetermined["q"].tolist() == [False] * 12 + [True] * 4


def test_undetermined_lanes_that_are_selected_away() -> None:
    body = "%s = select %m, %u, %i : tile<4xi1>, tile<4xi32>\n  %v = addi %s, %i : tile<4xi32>\n"
    assert found(MASKED.replace("%v", "%u") + body + STORE, n=3).findings == []
    mixed = body.replace("%m, %u, %i", "%m, %i, %u")
    assert rules(found(MASKED.replace("%v", "%u") + mixed + STORE, n=3)) == ["undetermined/store"]


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        ("%v = divi %i, %u signed", "integer/division-by-zero"),
        ("%v = remi %i, %u unsigned", "integer/division-by-zero"),
        ("%v = assume bounded<1, ?>, %u", "assume/false"),
    ],
)
def test_the_value_of_an_undetermined_lane_is_no_evidence(op: str, rule: str) -> None:
    masked = STORE.replace("%v :", "%v, %m :").replace("tile<4xi32> ->", "tile<4xi32>, tile<4xi1> ->")
    body = MASKED.replace("%v", "%u") + f"  {op} : tile<4xi32>\n"
    numbers = np.arange(1, 9, dtype=np.int32)
    assert found(body + masked, n=3, p=numbers).findings == []
    assert rules(found(body + STORE, n=3, p=numbers)) == ["undetermined/store"]
    assert rule in rules(found(body + masked, n=3, p=np.zeros(8, np.int32)))


@pytest.mark.parametrize(
    ("op", "stays"),
    [
        ("atomic_rmw_tko relaxed device %qx, add, %i : tile<4xptr<i32>>, tile<4xi32>", True),
        ("atomic_cas_tko relaxed device %qx, %i, %i : tile<4xptr<i32>>, tile<4xi32>", True),
        ("atomic_rmw_tko relaxed device %qx, xchg, %i : tile<4xptr<i32>>, tile<4xi32>", False),
    ],
)
def test_undetermined_memory_stays_so_until_it_is_replaced(op: str, stays: bool) -> None:
    done = found(MASKED + STORE + f"  %o, %g = {op} -> tile<4xi32>, token\n", n=3)
    assert rules(done) == ["undetermined/store"]
    assert list(done.undetermined) == (["q"] if stays else [])


def test_undetermined_lanes_travel_through_reductions_and_memory() -> None:
    fold = """%r = reduce %u dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32>
  (%l: tile<i32>, %o: tile<i32>) {
    %h = addi %l, %o : tile<i32>
    yield %h : tile<i32>
  }
  %rr = reshape %r : tile<i32> -> tile<1xi32>
  %v = broadcast %rr : tile<1xi32> -> tile<4xi32>
"""
    done = found(MASKED.replace("%v", "%u") + fold + STORE, n=3)
    assert done.findings[0].times == 4
    outer = fold.replace("%h = addi %l, %o", "%s = addi %l, %o").replace("%u dim", "%i dim")
    outer = outer.replace("yield %h", "%h = addi %s, %zz : tile<i32>\n    yield %h")
    taken = """%e = extract %u[%k] : tile<4xi32> -> tile<1xi32>
  %ee = reshape %e : tile<1xi32> -> tile<i32>
  %zz = subi %ee, %ee : tile<i32>
"""
    outer = taken + outer
    third = "%k = constant <i32: 3> : tile<i32>\n"
    assert "undetermined/store" in rules(found(MASKED.replace("%v", "%u") + third + outer + STORE, n=3))
    assert "undetermined/store" not in rules(found(MASKED.replace("%v", "%u") + third + outer + STORE, n=4))
    again = """%e, %te = load_ptr_tko weak %qx : tile<4xptr<i32>> -> tile<4xi32>, token
  %f = store_ptr_tko weak %px, %e : tile<4xptr<i32>>, tile<4xi32> -> token
"""
    assert sorted(found(MASKED + STORE + again, n=3).undetermined) == ["p", "q"]


def test_undetermined_branches_and_addresses() -> None:
    branch = """%one = extract %b[%k] : tile<4xi1> -> tile<1xi1>
  %s = reshape %one : tile<1xi1> -> tile<i1>
  if %s {
    print_tko "yes" -> token
  }
"""
    compare = (
        "%k = constant <i32: 3> : tile<i32>\n  %b = cmpi equal %v, %i, signed : tile<4xi32> -> tile<4xi1>\n"
    )
    assert rules(found(MASKED + compare + branch, n=3)) == ["undetermined/branch"]
    assert found(MASKED + compare + branch, n=4).findings == []
    away = """%o = offset %pb, %v : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %e, %te = load_ptr_tko weak %o : tile<4xptr<i32>> -> tile<4xi32>, token
"""
    assert rules(found(MASKED + away, n=3)) == ["undetermined/address"]


def test_an_undetermined_tile_is_stored_at_an_undetermined_index() -> None:
    view = "partition_view<tile=(4), tensor_view<?xi32, strides=[1]>>"
    store = f"""%part = extract %v[%c0] : tile<4xi32> -> tile<1xi32>
  %one = reshape %part : tile<1xi32> -> tile<i32>
  %own = addi %one, %x : tile<i32>
  %n8 = constant <i32: 8> : tile<i32>
  %w = make_tensor_view %q, shape = [%n8], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
  %b = make_partition_view %w : {view}
  %st = store_view_tko weak %v, %b[%own] : tile<4xi32>, {view}, tile<i32> -> token
"""
    assert "undetermined/address" in rules(found(MASKED + store, n=0, blocks=3))


def test_memory_that_nobody_wrote() -> None:
    from tileir_diff.equivalence.interpret import Empty

    empty = Empty(np.zeros(8, np.int32))
    done = found(PLAIN + STORE, p=empty)
    assert rules(done) == ["memory/unwritten", "undetermined/store"]
    fill = "%f = store_ptr_tko weak %po, %i : tile<4xptr<i32>>, tile<4xi32> -> token\n"
    assert found(fill + PLAIN + STORE, p=empty).findings == []


def test_allocated_memory_is_each_block_s_own() -> None:
    body = """%l = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>
  %lr = reshape %l : tile<ptr<i32>> -> tile<1xptr<i32>>
  %lb = broadcast %lr : tile<1xptr<i32>> -> tile<4xptr<i32>>
  %lo = offset %lb, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
  %f = store_ptr_tko weak %lo, %xi : tile<4xptr<i32>>, tile<4xi32> -> token
  %v, %t = load_ptr_tko weak %lo : tile<4xptr<i32>> -> tile<4xi32>, token
"""
    q = np.zeros(12, np.int32)
    assert found(body + STORE, blocks=3, q=q).findings == []
    assert q.tolist() == list(range(12))
    assert rules(found(body.replace("num_elem = 4", "num_elem = 2") + STORE))[0] == "bounds/pointer"


def test_races() -> None:
    same = "%w = store_ptr_tko weak %qo, %i : tile<4xptr<i32>>, tile<4xi32> -> token\n"
    assert rules(found(same, blocks=2)) == ["race/same-value"]
    assert rules(found(same.replace("%i :", "%xi :"), blocks=2)) == ["race/write-write"]
    apart = same.replace("%qo, %i", "%qx, %xi")
    assert found(apart, blocks=2).findings == []
    lanes = same.replace("%qo", "%qb")
    done = found(lanes)
    assert rules(done) == ["race/lanes"]
    assert done.findings[0].times == 3


def test_blocks_that_read_what_others_write() -> None:
    """Each block but the first adds what the one before has stored."""
    body = """%a = subi %x, %c1 : tile<i32>
  %b = maxi %a, %c0 signed : tile<i32>
  %l = offset %q, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %v, %t = load_ptr_tko weak %l : tile<ptr<i32>> -> tile<i32>, token
  %s = addi %v, %c1 : tile<i32>
  %o = offset %q, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %w = store_ptr_tko weak %o, %s : tile<ptr<i32>>, tile<i32> -> token
"""
    q = np.zeros(5, np.int32)
    done = found(body, blocks=5, q=q)
    assert done.how == "in order"
    assert sorted(rules(done)) == ["order/blocks", "race/read-write"]
    assert q.tolist() == [1, 2, 3, 4, 5]
    own = body.replace("%q, %b", "%q, %x")
    done = found(own, blocks=5, q=np.zeros(5, np.int32))
    assert (done.how, done.findings) == ("together", [])


def test_arrays_that_overlap_are_one_memory() -> None:
    """q begins where p's second block reads: what block 0 stores there, block 1 loads."""
    body = LOAD_OWN + STORE
    whole = np.arange(12, dtype=np.int32)
    done = found(body, blocks=2, p=whole[:8], q=whole[4:])
    assert "race/read-write" in rules(done)
    apart = np.arange(16, dtype=np.int32)
    assert found(body, blocks=2, p=apart[:8], q=apart[8:]).findings == []
    assert apart[8:].tolist() == list(range(8))


def test_plain_access_to_what_is_accessed_atomically() -> None:
    body = """%r, %k = atomic_rmw_tko relaxed device %q, add, %c1 : {pair} -> tile<i32>, token
  %v, %t = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token
  %o = offset %p, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %w = store_ptr_tko weak %o, %v : tile<ptr<i32>>, tile<i32> -> token
"""
    body = body.replace("{pair}", "tile<ptr<i32>>, tile<i32>")
    assert "race/atomic" in rules(found(body, blocks=3))
    assert rules(found(body, blocks=1)) == []


def test_constant_memory_and_globals() -> None:
    text = """global {kind} @g alignment = 16 <i32: [5, 6, 7, 8]> : tile<4xi32>
""" + HEAD.replace("%c0 =", "%g = get_global @g : tile<ptr<i32>>\n  %c0 =")
    body = """%v, %t = load_ptr_tko weak %g : tile<ptr<i32>> -> tile<i32>, token
  %w = store_ptr_tko weak %q, %v : tile<ptr<i32>>, tile<i32> -> token
  %u = store_ptr_tko weak %g, %c1 : tile<ptr<i32>>, tile<i32> -> token
  return
}"""
    for kind, expected in (("private constant", ["memory/constant"]), ("", [])):
        q = np.zeros(4, np.int32)
        done = run(text.replace("{kind}", kind) + body, [np.zeros(8, np.int32), q, 4])
        assert rules(done) == expected
        assert q[0] == 5


def test_view_promises() -> None:
    view = "partition_view<tile=(4), padding_value = zero, tensor_view<?xi32, strides=[1]>>"
    body = f"""%u = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {LINE}
  %a = make_partition_view %u : {view}
  %v, %t = load_view_tko weak %a[%x] inbounds = [true] : {view}, tile<i32> -> tile<4xi32>, token
"""
    assert found(body, n=8, blocks=2).findings == []
    assert rules(found(body, n=7, blocks=2)) == ["bounds/inbounds"]
    assert rules(found(body.replace(" inbounds = [true]", ""), n=7, blocks=3)) == ["bounds/index-space"]


def test_assertions_and_printing() -> None:
    body = """%a = cmpi less_than %x, %c1, signed : tile<i32> -> tile<i1>
  assert %a, "only block 0" : tile<i1>
  print_tko "block %d of %s, %5.2f%%", %x, %i, %h : tile<i32>, tile<4xi32>, tile<f32> -> token
"""
    done = found("%h = constant <f32: 1.5> : tile<f32>\n" + body, blocks=3)
    assert [finding.message for finding in done.findings] == ["assertion failed: only block 0"]
    assert (done.findings[0].block, done.findings[0].times) == ((1, 0, 0), 2)
    assert [each.text for each in done.printed] == ["block 0 of [0, 1, 2, 3],  1.50%"]
    assert not done.complete


def test_wild_offsets_and_misaligned_addresses() -> None:
    body = """%far = constant <i64: 4611686018427387904> : tile<i64>
  %o = offset %p, %far : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
"""
    assert rules(found(body)) == ["bounds/offset"]
    odd = """%a = ptr_to_int %p : tile<ptr<i32>> -> tile<i64>
  %one = constant <i64: 2> : tile<i64>
  %b = addi %a, %one : tile<i64>
  %o = int_to_ptr %b : tile<i64> -> tile<ptr<i32>>
  %v, %t = load_ptr_tko weak %o : tile<ptr<i32>> -> tile<i32>, token
"""
    assert rules(found(odd)) == ["memory/misaligned"]


def test_same_findings_every_time() -> None:
    def once() -> list[Any]:
        return [each[:2] + each[3:] for each in found(MASKED + STORE, n=3, blocks=1).findings]

    assert once() == once()
