"""A mistake in a kernel of another front end is told at the op that was changed, as one finding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.match.fixtures import ROOT, compare_files, dump
from tests.match.snippets import HERE, LOAD, PROLOGUE, STORE, assert_found, found, kernel, parsed
from tests.match.test_apart import DEAD
from tileir_diff.graph.terms import Terms
from tileir_diff.match import repair
from tileir_diff.match.compare import compare
from tileir_diff.match.edits import own_edits, with_operand
from tileir_diff.match.model import CompareOptions, Comparison, Difference

BODY = f"{LOAD}\n%w = exp %v : tile<128xf32>\n{STORE}"

MISTAKES = {
    "another kind of op": ("%o = addi", "%o = subi"),
    "another operand": ("offset %av, %o", "offset %av, %lane"),
    "a bound that counts": ("less_than %o", "less_than_or_equal %o"),
    "another factor": ("%i128 = constant <i32: 128>", "%i128 = constant <i32: 127>"),
    "another axis": ("%x, %y, %z = get", "%y, %x, %z = get"),
    "another lane": ("%lane = iota", "%lane = muli %iota, %twos"),
}


def changed(old: str, new: str) -> str:
    """The kernel as another front end writes it, with one line changed and marked."""
    extra = "%iota = iota : tile<128xi32>\n%twos = constant <i32: 2> : tile<128xi32>"
    lines = [
        line.replace(old, new) + f" {HERE}" if line.startswith(old) or f" {old}" in line else line
        for line in PROLOGUE.split("\n")
    ]
    return kernel(f"{DEAD}\n{BODY}", prologue="\n".join([extra, *lines]), name="k_entry")


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_mistake_is_told_where_it_is_and_once(name: str) -> None:
    reference, generated = kernel(BODY), changed(*MISTAKES[name])
    first = assert_found(
        reference, generated, "addressing", "mask", "arithmetic", "constant", "grid", "control-flow"
    )
    assert [each.rule for each in found(reference, generated)] == [first.rule]
    assert "found by trial" in first.evidence


GROUPED = f"""
%whole = muli %group, %M : tile<i32>
%first = divi %x, %whole signed : tile<i32>
%begin = muli %first, %group : tile<i32>
%left = subi %N, %begin : tile<i32>
%rows = mini %left, %group signed : tile<i32>
%within = remi %x, %whole signed : tile<i32>
%inside = remi %within, %rows signed : tile<i32>
%row = addi %begin, %inside : tile<i32>
%row128 = muli %row, %i128 : tile<i32>
%row1 = reshape %row128 : tile<i32> -> tile<1xi32>
%rowv = broadcast %row1 : tile<1xi32> -> tile<128xi32>
%at = addi %rowv, %lane : tile<128xi32>
%pat = offset %bv, %at : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
{LOAD}
%st = store_ptr_tko weak %pat, %v token=%t : tile<128xptr<f32>>, tile<128xf32> -> token
"""
"""Blocks in groups of `%group` rows of tiles."""


@pytest.mark.parametrize("group", [4, 128, 1])
def test_a_constant_that_much_is_made_of_is_told_itself(group: int) -> None:
    """Also where others that nothing reads have the right number, or others that are read the wrong one."""
    of = "%M = assume bounded<0, ?>, %m : tile<i32>\n%group = constant <i32: {}> : tile<i32>"
    generated = f"%unread = constant <i32: 8> : tile<i32>\n{DEAD}\n{of.format(group)} {HERE}{GROUPED}"
    reference = kernel(of.format(8) + GROUPED)
    first = assert_found(reference, kernel(generated, name="k_entry"), "constant/value")
    assert (first.expected, first.actual) == ("8", str(group))
    right = generated.replace(f"<i32: {group}> : tile<i32> {HERE}", "<i32: 8> : tile<i32>")
    assert found(reference, kernel(right, name="k_entry")) == []


def test_an_op_that_is_one_too_many_is_told_as_such() -> None:
    value = "%w = exp %v : tile<128xf32>"
    wrong = f"%w0 = exp %v : tile<128xf32>\n%w = exp %w0 : tile<128xf32> {HERE}"
    generated = kernel(f"{DEAD}\n{BODY.replace(value, wrong)}", name="k_entry")
    assert_found(kernel(BODY), generated, "arithmetic")


def test_what_is_computed_for_nothing_was_meant_to_be_read() -> None:
    store = BODY.replace("%pb, %w,", "%pb, %v,") + f" {HERE}"
    assert_found(kernel(BODY), kernel(f"{DEAD}\n{store}", name="k_entry"), "arithmetic", "memory-family")


def test_two_mistakes_stay_two_findings() -> None:
    generated = changed("less_than %o", "less_than_or_equal %o").replace("exp %v", "exp2 %v")
    assert len(found(kernel(BODY), generated)) == 2


def test_an_edit_is_undone() -> None:
    module = parsed(kernel(BODY))
    ops = [op for op in module.walk() if getattr(op, "short", "") == "cmpi"]
    before = str(module)
    for edit in own_edits(ops[0]):  # pyright: ignore[reportArgumentType]
        with edit.applied():
            assert str(module) != before
        assert str(module) == before


def test_an_edit_is_undone_where_what_it_is_for_fails() -> None:
    module = parsed(kernel(BODY))
    op = next(op for op in module.walk() if getattr(op, "short", "") == "subi" or op.name.endswith("addi"))
    before = str(module)
    edit = with_operand(op, 0, "lhs", op.operands[1])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ZeroDivisionError), edit.applied():
        raise ZeroDivisionError
    assert str(module) == before


def test_what_is_tried_is_not_known_afterwards() -> None:
    """An edit that divides by a size must not make the size positive for what is compared after it."""
    reference, generated = parsed(kernel(BODY)), parsed(changed("less_than %o", "less_than_or_equal %o"))
    once = compare(reference, generated, CompareOptions())
    again = compare(reference, generated, CompareOptions())
    assert [(each.rule, each.note) for each in once.differences] == [
        (each.rule, each.note) for each in again.differences
    ]
    assert once.assumptions == again.assumptions


T = "tile<128xf32>"
GRID = "%g0, %g1, %g2 = get_num_tile_blocks : tile<i32>"
SUM = f"""%acc = for %k in (%i0 to %i4, step %i1) : tile<i32> iter_values(%c = %zero) -> ({T}) {{
%next = addf %c, %v : {T}
continue %next : {T}
}}
%w = mulf %acc, %one : {T}"""


def looped(old: str = "", new: str = "") -> tuple[str, str]:
    """A kernel with a loop, and as another front end writes it, with one line changed and marked."""
    lines = SUM.split("\n")
    wrong = [line.replace(old, new) + f" {HERE}" if old and old in line else line for line in lines]
    bodies = ("\n".join([LOAD, *each, STORE]) for each in (lines, wrong))
    first, second = bodies
    return kernel(first), kernel(f"{DEAD}\n{second}", name="k_entry")


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("(%i0 to", "(%i1 to", "loop"),
        ("to %i4", "to %i128", "loop"),
        ("step %i1", "step %i4", "loop"),
        ("= %zero)", "= %one)", "loop"),
        ("continue %next", "continue %c", "loop"),
        ("addf %c, %v", "mulf %c, %v", "arithmetic"),
    ],
)
def test_a_mistake_in_a_loop_is_told_where_it_is(old: str, new: str, rule: str) -> None:
    reference, generated = looped(old, new)
    assert_found(reference, generated, rule)
    assert len(found(reference, generated)) == 1


def test_a_loop_that_never_runs_is_told_at_its_bound() -> None:
    reference, generated = looped("to %i4", "to %i0")
    assert_found(reference, generated, "loop")


VIEW = "tensor_view<?x?xf32, strides=[?,1]>"
TILES = f"partition_view<tile=(64x64), {VIEW}>"
TILED = f"""%tv = make_tensor_view %a, shape = [%N, %m], strides = [%m, 1] : tile<i32> -> {VIEW}
%pv = make_partition_view %tv : {TILES}
%r, %rt = load_view_tko weak %pv[%x, %y] token = %t : {TILES}, tile<i32> -> tile<64x64xf32>, token
%e = exp %r : tile<64x64xf32>
%tw = make_tensor_view %b, shape = [%N, %m], strides = [%m, 1] : tile<i32> -> {VIEW}
%pw = make_partition_view %tw : {TILES}
%st = store_view_tko weak %e, %pw[%x, %y] token = %t : tile<64x64xf32>, {TILES}, tile<i32> -> token"""


@pytest.mark.parametrize(
    ("line", "old", "new", "rules"),
    [
        ("%r, ", "[%x, %y]", "[%y, %x]", ("addressing", "dim-map", "shape-op")),
        ("%r, ", "[%x, %y]", "[%x, %i4]", ("addressing", "grid")),
        ("%tv = ", "[%N, %m]", "[%m, %N]", ("mask",)),
        ("%tw = ", "strides = [%m", "strides = [%N", ("stride", "addressing")),
    ],
)
def test_a_mistake_in_a_view_is_told_where_it_is(
    line: str, old: str, new: str, rules: tuple[str, ...]
) -> None:
    lines = [
        each.replace(old, new) + f" {HERE}" if each.startswith(line) else each for each in TILED.split("\n")
    ]
    generated = kernel("\n".join([DEAD, *lines]), name="k_entry")
    assert_found(kernel(TILED), generated, *rules)


def test_a_trial_leaves_nothing_behind() -> None:
    """A trial that divides by what may be zero does not make it positive for the trials after it."""
    terms = Terms()
    size = terms.atom(terms.leaf("arg", 0, 0))
    with terms.forgetting():
        terms.assume_range(size, 1, None)
        terms.origins[1][size] = "an op of the trial"
        assert terms.positive(size)
    assert not terms.positive(size)
    assert terms.origins[1] == {}


def test_a_right_value_that_is_stored_in_place_of_another_is_told_at_the_store() -> None:
    """Also where the reference computes what ought to be stored by another formula."""
    formula = f"%e = exp %v : {T}\n%p = addf %e, %one : {T}\n%w = divf %e, %p : {T}"
    other = f"%neg = negf %v : {T}\n%e = exp %neg : {T}\n%p = addf %e, %one : {T}\n%w = divf %one, %p : {T}"
    reference = kernel(f"{LOAD}\n{formula}\n{STORE}")
    stored = STORE.replace("%pb, %w,", "%pb, %v,") + f" {HERE}"
    assert_found(reference, kernel(f"{DEAD}\n{LOAD}\n{other}\n{stored}", name="k_entry"), "arithmetic")


def test_what_differs_behind_another_formula_is_told_too() -> None:
    """The load of another index, though the values that are made of it are no one function."""
    reference = kernel(f"{LOAD}\n%w = exp %v : {T}\n{STORE}")
    moved = LOAD.replace("%pa,", "%pm,") + f" {HERE}"
    shift = "%pm = offset %pa, %lane : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>"
    generated = kernel(f"{DEAD}\n{shift}\n{moved}\n%w = tanh %v : {T}\n{STORE}", name="k_entry")
    assert {"addressing", "arithmetic"} <= {each.rule.split("/")[0] for each in found(reference, generated)}


SUMMED = """entry @k(%x: tile<ptr<i32>>, %out: tile<ptr<i32>>, %n: tile<i32>) {{
%tok = make_token : token
%c0 = constant <i32: 0> : tile<i32>
%c1 = constant <i32: 1> : tile<i32>
{}
%e = store_ptr_tko weak %out, %r token=%tok : tile<ptr<i32>>, tile<i32> -> token
return
}}
"""
ADDEND = """%p = offset %x, %{} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
%v, %t = load_ptr_tko weak %p token=%tok : tile<ptr<i32>> -> tile<i32>, token
%s2 = addi %s, %v : tile<i32>
"""
COUNTED = (
    "%r = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%s = %c0) -> (tile<i32>) {\n"
    f"{ADDEND.format('i')}continue %s2 : tile<i32>\n}}"
)
WHILE = f"""%r = loop iter_values({{}}) : tile<i32>, tile<i32> -> tile<i32> {{{{
%done = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
if %done {{{{
break %s : tile<i32>
}}}}
%j = addi %i, %c1 : tile<i32> {HERE}
{ADDEND.format("j")}%i2 = addi %i, %c1 : tile<i32>
continue {{}} : tile<i32>, tile<i32>
}}}}"""


@pytest.mark.parametrize("names", [("i", "s"), ("s", "i")], ids=["counter first", "counter last"])
def test_a_loop_that_carries_more_than_it_gives(names: tuple[str, str]) -> None:
    inits = ", ".join(f"%{name} = %c0" for name in names)
    handed_on = ", ".join(f"%{name}2" for name in names)
    assert_found(SUMMED.format(COUNTED), SUMMED.format(WHILE.format(inits, handed_on)), "addressing/index")


def product(second: str, name: str) -> str:
    """A square tile times one of the array `second`, in a loop; the second load is marked."""
    square, view = "tile<16x16xf32>", "tensor_view<16x16xf32, strides=[16,1]>"
    tiles = f"partition_view<tile=(16x16), {view}>"
    views = "\n".join(
        f"%t{each} = make_tensor_view %{each}, shape = [16, 16], strides = [16, 1] : {view}\n"
        f"%v{each} = make_partition_view %t{each} : {tiles}"
        for each in ("a", "b")
    )

    def load(result: str, array: str) -> str:
        at = f"%v{array}[%i0, %i0] token = %t : {tiles}, tile<i32> -> {square}, token"
        return f"%{result}, %{result}t = load_view_tko weak {at}"

    dead = f"{DEAD}\n" if name != "k" else ""
    kinds = f"{square}, {square}, {square}"
    return kernel(
        f"{dead}{views}\n%none = constant <f32: 0.0> : {square}\n"
        f"%sum = for %i in (%i0 to %n, step %i1) : tile<i32> iter_values(%acc = %none) -> ({square}) {{\n"
        f"{load('l', 'a')}\n{load('r', second)} {HERE}\n%p = mmaf %l, %r, %acc : {kinds}\n"
        f"continue %p : {square}\n}}\n"
        f"%st = store_view_tko weak %sum, %vb[%i0, %i0] token = %t : {square}, {tiles}, tile<i32> -> token",
        name=name,
    )


def test_of_two_loads_of_one_value_the_wrong_one_is_told() -> None:
    """The right one, which stands first, has its partner in the reference."""
    first = assert_found(product("b", "k"), product("a", "k_entry"), "addressing")
    assert first.rule == "addressing/base"


TOLD_ONCE = {
    "exp_for_exp2": ("attention", "arithmetic/op"),
    "group_swapped": ("matmul", "addressing/index"),
    "padded_length": ("layer_norm", "arithmetic/operands"),
    "scaled_in_half": ("embedding", "arithmetic/extra-rounding"),
    "sum_for_max": ("softmax", "reduction/combiner"),
    "tf32_cast_missing": ("matmul", "mma/operand-type"),
}
"""Mistakes that change what several places compute, with their kernel and the one finding."""


def mistaken(name: str, kernel_name: str) -> Comparison:
    folder = ROOT / "mistakes" / name
    reference = ROOT / "kernels" / kernel_name / "py.g.mlir"
    return compare_files(reference, folder / "gen.g.mlir", Path(folder / "launch.json"))


@pytest.mark.parametrize("name", TOLD_ONCE)
def test_one_mistake_is_one_finding(name: str) -> None:
    kernel_name, rule = TOLD_ONCE[name]
    assert [each.rule for each in mistaken(name, kernel_name).differences if each.impact != "hint"] == [rule]


@pytest.mark.parametrize(
    ("name", "kernel_name"),
    [("min_for_max", "quantize_fp8"), ("padded_length", "layer_norm"), ("group_swapped", "matmul")],
)
def test_no_value_is_told_that_only_a_trial_has(
    name: str, kernel_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = mistaken(name, kernel_name).differences

    def untried(_blame: object, _attempt: object, found: list[Difference], _explained: object) -> object:
        return found

    monkeypatch.setattr(repair, "repaired", untried)
    plain = {(each.rule, each.expected, each.actual) for each in mistaken(name, kernel_name).differences}
    left = [each for each in told if "found by trial" not in each.note]
    assert {(each.rule, each.expected, each.actual) for each in left} <= plain


def test_what_one_change_leaves_is_not_told_to_be_equal() -> None:
    """Two mistakes at one op: each is told, and neither is said to explain all."""
    folder = ROOT / "kernels/locked_sum"
    text = (folder / "rs.mlir").read_text(encoding="utf-8")
    start = text.rindex("\n", 0, text.index("atomic_rmw_tko"))
    update, rest = text[start:].split("\n", 2)[1:]
    wrong = re.sub("xchg, %\\w+", "add, %less", update)
    lines = (text[:start], "%less = constant <i32: -1> : tile<i32>", wrong, rest)
    told = compare(dump(folder / "py.mlir"), parsed("\n".join(lines)), CompareOptions()).differences
    assert [each.rule for each in told] == ["constant/value", "atomic/mode"]
    assert [each.note for each in told] == ["found by trial: with this one op changed to 0, less differs", ""]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("select %21, %22, %cst_f32", "select %21, %cst_f32, %22", "its on_true and on_false exchanged"),
        ("%bcast_159, %bcast_64, signed", "%bcast_64, %bcast_159, signed", "its lhs and rhs exchanged"),
    ],
)
def test_operands_that_have_changed_places_are_said_to(right: str, wrong: str, said: str) -> None:
    folder = ROOT / "kernels/attention"
    text = (folder / "rs.g.mlir").read_text(encoding="utf-8")
    assert right in text
    told = compare(dump(folder / "py.g.mlir"), parsed(text.replace(right, wrong)), CompareOptions())
    assert [said in each.note for each in told.differences] == [True]


def padded(value: str, dead: str = "", name: str = "k") -> str:
    """The largest of a block's elements, which `value` stands for outside the array."""
    largest = (
        "%r = reduce %v dim=0 identities=[0xFF800000 : f32] : tile<128xf32> -> tile<f32>\n"
        "(%p: tile<f32>, %q: tile<f32>) {\n%s = maxf %p, %q : tile<f32>\nyield %s : tile<f32>\n}\n"
        "%r1 = reshape %r : tile<f32> -> tile<1xf32>\n%w = broadcast %r1 : tile<1xf32> -> tile<128xf32>"
    )
    constant = (
        f"%k = constant <f32: {value}> : tile<f32>{HERE if dead else ''}\n"
        "%k1 = reshape %k : tile<f32> -> tile<1xf32>\n%kv = broadcast %k1 : tile<1xf32> -> tile<128xf32>"
    )
    return kernel(f"{dead}\n{constant}\n{LOAD.replace('%zero', '%kv')}\n{largest}\n{STORE}", name=name)


@pytest.mark.parametrize("value", ["-1.0e30", "0.0"])
def test_a_constant_that_only_pads_is_told_as_the_padding(value: str) -> None:
    reference = padded("0xFF800000")
    told = assert_found(reference, padded(value, DEAD, "k_entry"), "padding/changed")
    assert (told.impact, told.expected) == ("bounds", "-inf")
    assert found(reference, padded("0xFF800000", DEAD, "k_entry")) == []
