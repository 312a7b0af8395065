"""Defects in a kernel whose text is another front end's: what the values alone say about them."""

from __future__ import annotations

import pytest

from tests.match.snippets import HERE, LOAD, assert_found, compared, found, kernel
from tileir_diff.match.launch import ArgValue, Launch, SideLaunch
from tileir_diff.match.model import CompareOptions

T = "tile<128xf32>"
DEAD = "\n".join(f"%dead{n} = constant <i32: {n}> : tile<i32>" for n in range(20))
"""Enough other text that the two entries are not aligned op by op."""
VIEWS = """
%ta = make_tensor_view %a, shape = [%N, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xf32, strides=[128,1]>
%pa2 = make_partition_view %ta : partition_view<tile=(16x32), padding_value = zero, tensor_view<?x128xf32, strides=[128,1]>>
%tb = make_tensor_view %b, shape = [%N, 128], strides = [128, 1] : tile<i32> -> tensor_view<?x128xf32, strides=[128,1]>
%pb2 = make_partition_view %tb : partition_view<tile=(16x32), tensor_view<?x128xf32, strides=[128,1]>>
"""  # noqa: E501
MASKED = (
    "%st = store_ptr_tko weak %pb, %w, %in token=%t : "
    "tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token"
)


def other(body: str) -> str:
    """A kernel as another front end would write it."""
    return kernel(f"{DEAD}\n{body}", name="k_entry")


def stored(body: str, load: str = LOAD) -> str:
    return f"{load}\n{body}\n{MASKED}"


def rules(reference: str, generated: str) -> list[str]:
    return [each.rule for each in found(reference, generated)]


def tiles(load: str = "%x, %y", store: str = "%x, %y", view: str = "%pa2") -> str:
    kind = "partition_view<tile=(16x32), padding_value = zero, tensor_view<?x128xf32, strides=[128,1]>>"
    out = kind.replace("padding_value = zero, ", "")
    return (
        f"{VIEWS}\n%v, %vt = load_view_tko weak {view}[{load}] token=%t : {kind}, tile<i32> -> "
        f"tile<16x32xf32>, token\n%w = exp %v : tile<16x32xf32>\n"
        f"%st = store_view_tko weak %w, %pb2[{store}] token=%t : tile<16x32xf32>, {out}, tile<i32> -> token"
    )


def test_the_bounds_of_a_view_follow_its_index() -> None:
    moved = "%x1 = addi %x, %i1 : tile<i32>\n"
    assert rules(kernel(tiles()), other(moved + tiles(store="%x1, %y"))) == ["addressing/index"]
    assert rules(kernel(tiles()), other(moved + tiles(load="%x1, %y"))) == ["addressing/index"]


def test_the_index_of_a_tile_is_told_as_a_kernel_writes_it() -> None:
    """One index a dimension, those that are equal left out; not the element where the tile begins."""
    first = assert_found(kernel(tiles()), other(tiles(store="%y, %y")), "addressing/index")
    assert (first.expected, first.actual) == ("[block.x, …]", "[block.y, …]")
    turned = assert_found(kernel(tiles()), other(tiles(store="%y, %x")), "addressing/index")
    assert (turned.expected, turned.actual) == ("[block.x, block.y]", "[block.y, block.x]")
    assert turned.evidence.endswith("the indices of two dimensions are exchanged")


def test_a_tile_outside_of_the_view_is_another_index() -> None:
    """All that it reads is padding, and all that it writes is dropped."""
    far = tiles(load="%x, %i4")
    assert_found(kernel(tiles()), other(far), "addressing/index")
    lost = rules(kernel(tiles()), other(tiles(store="%x, %i4")))
    assert lost == ["addressing/index"]


def test_what_a_load_reads_comes_before_its_padding() -> None:
    """The condition of one side is the negation of the other's in normal form."""
    reference = stored(f"%w = exp %v : {T}")
    turned = (
        "%o2 = subi %nv, %o : tile<128xi32>\n%one32 = constant <i32: 1> : tile<128xi32>\n"
        "%in2 = cmpi greater_than %o2, %one32, signed : tile<128xi32> -> tile<128xi1>"
    )
    load = LOAD.replace("%in", "%in2")
    assert rules(kernel(reference), other(stored(f"%w = exp %v : {T}", f"{turned}\n{load}"))) == [
        "mask/extra"
    ]


def test_an_ordering_is_told_before_the_moment() -> None:
    """A load that is not weak is another one in each iteration."""

    def looped(load: str) -> str:
        body = stored(f"%w = exp %v : {T}", load)
        return f"for %i in (%i0 to %N, step %i1) : tile<i32> {{\n{body}\ncontinue\n}}"

    relaxed = LOAD.replace("weak", "relaxed device")
    assert rules(kernel(looped(LOAD)), other(looped(relaxed))) == ["memory-order/ordering"]


def test_modes_are_not_hidden_by_another_spelling() -> None:
    """x / (1 + e) against x * (1 / (1 + e)) is a reformulation; a rounding mode in it is not."""
    shared = f"%e = exp %v : {T}\n%s = addf %one, %e : {T}\n"
    plain = f"{shared}%w = divf %v, %s : {T}"
    spelled = f"{shared}%r = divf %one, %s : {T}\n%w = mulf %v, %r : {T}"
    assert rules(kernel(stored(plain)), other(stored(spelled))) == ["arithmetic/reformulated"]
    down = spelled.replace("%v, %r :", "%v, %r rounding<zero> :")
    assert rules(kernel(stored(plain)), other(stored(down))) == [
        "arithmetic/reformulated",
        "float-mode/rounding",
    ]
    narrow = spelled.replace("addf %one, %e", "addf %one, %h2").replace(
        "%s =", f"%h = ftof %e : {T} -> tile<128xf16>\n%h2 = ftof %h : tile<128xf16> -> {T}\n%s ="
    )
    assert "conversion/extra" in rules(kernel(stored(plain)), other(stored(narrow)))


def test_a_mode_alone_is_no_reformulation() -> None:
    """A scale moves through a product, unless that rounds otherwise."""
    scaled = (
        f"%c = constant <f32: 1.4427> : {T}\n%q = constant <f32: 0.25> : {T}\n"
        f"%h = mulf %v, %q : {T}\n%w = mulf %h, %c : {T}"
    )
    up = scaled.replace("%h, %c :", "%h, %c rounding<positive_inf> :")
    assert rules(kernel(stored(scaled)), other(stored(up))) == ["float-mode/rounding"]


def test_inputs_of_another_spelling_are_explained_too() -> None:
    """A mean by division against one by multiplication, over a sum that starts elsewhere."""

    def mean(scale: str, identity: str) -> str:
        return stored(
            f"%sum = reduce %v dim=0 identities=[{identity} : f32] : {T} -> tile<f32> (%p: tile<f32>, "
            f"%q: tile<f32>) {{\n%pq = addf %p, %q : tile<f32>\nyield %pq : tile<f32>\n}}\n"
            f"%k = constant <f32: 100.0> : tile<f32>\n%k2 = constant <f32: 0.01> : tile<f32>\n"
            f"{scale}\n%mean1 = reshape %mean : tile<f32> -> tile<1xf32>\n"
            f"%w = broadcast %mean1 : tile<1xf32> -> {T}"
        )

    by_division = "%mean = divf %sum, %k : tile<f32>"
    by_product = "%mean = mulf %sum, %k2 : tile<f32>"
    reference = kernel(mean(by_division, "0.0"))
    assert rules(reference, other(mean(by_product, "0.0"))) == ["arithmetic/reformulated"]
    assert "reduction/identity" in rules(reference, other(mean(by_product, "1.0")))


def test_a_cast_in_a_reduction_is_no_other_combiner() -> None:
    def total(inner: str) -> str:
        return stored(
            f"%sum = reduce %v dim=0 identities=[0.0 : f32] : {T} -> tile<f32> (%p: tile<f32>, "
            f"%q: tile<f32>) {{\n{inner}\nyield %pq : tile<f32>\n}}\n"
            f"%sum1 = reshape %sum : tile<f32> -> tile<1xf32>\n%w = broadcast %sum1 : tile<1xf32> -> {T}"
        )

    plain = "%pq = addf %p, %q : tile<f32>"
    rounded = (
        "%s = addf %p, %q : tile<f32>\n%h = ftof %s : tile<f32> -> tile<f16>\n"
        "%pq = ftof %h : tile<f16> -> tile<f32>"
    )
    assert rules(kernel(total(plain)), other(total(rounded))) == ["conversion/extra"]
    assert rules(kernel(total(rounded)), other(total(plain))) == ["conversion/missing"]
    product = plain.replace("addf", "mulf")
    assert rules(kernel(total(plain)), other(total(product))) == ["reduction/combiner"]


def test_a_reduction_that_keeps_one_operand_is_told_where_it_yields_it() -> None:
    def total(last: str) -> str:
        return stored(
            f"%sum = reduce %v dim=0 identities=[0.0 : f32] : {T} -> tile<f32> (%p: tile<f32>, "
            f"%q: tile<f32>) {{\n%pq = addf %p, %q : tile<f32>\nyield {last}\n}}\n"
            f"%sum1 = reshape %sum : tile<f32> -> tile<1xf32>\n%w = broadcast %sum1 : tile<1xf32> -> {T}"
        )

    reference, generated = kernel(total("%pq : tile<f32>")), other(total(f"%p : tile<f32> {HERE}"))
    assert_found(reference, generated, "reduction/combiner")


def test_a_sign_that_means_nothing_here_is_no_reason() -> None:
    """The arms of a selection are exchanged; that its bound is compared unsigned is no matter."""
    value = f"%e = exp %v : {T}\n%w = select %low, {{}} : tile<128xi1>, {T}"
    test = "%low = cmpi less_than %lane, %nv, {} : tile<128xi32> -> tile<128xi1>\n"
    reference = kernel(test.format("signed") + stored(value.format("%e, %zero")))
    generated = other(test.format("unsigned") + stored(value.format("%zero, %e") + f" {HERE}"))
    assert_found(reference, generated, "arithmetic", "mask")
    assert len(rules(reference, generated)) == 1


def test_an_access_that_never_takes_place() -> None:
    body = f"%w = exp %v : {T}"
    never = stored(body).replace("%pb, %w, %in", "%pb, %w, %no") + ""
    false = "%no = constant <i1: false> : tile<128xi1>\n"
    assert rules(kernel(stored(body)), other(false + never))[0].startswith("mask/")
    loop = f"{LOAD}\n{body}\nfor %i in (%i1 to %i1, step %i1) : tile<i32> {{\n{MASKED}\ncontinue\n}}"
    first = assert_found(kernel(stored(body)), other(loop), "loop/bounds")
    assert first.actual == "0"


def test_a_longer_loop_does_not_hide_what_is_in_it() -> None:
    def looped(stop: str, op: str) -> str:
        return (
            f"for %i in (%i0 to {stop}, step %i1) : tile<i32> {{\n"
            f"{LOAD}\n%w = {op} %v : {T}\n{MASKED}\ncontinue\n}}"
        )

    both = rules(kernel(looped("%N", "exp")), other(looped("%i128", "log")))
    assert both == ["loop/bounds", "arithmetic/op"]


@pytest.mark.parametrize(
    ("mode", "expected"), [("", ["padding/missing"]), (" rounding<approx>", ["float-mode/approx"])]
)
def test_what_a_launch_hides_is_told_where_nothing_else_is(mode: str, expected: list[str]) -> None:
    """The padding is not stored at this launch; what is stored where a value is wrong anyway says nothing."""
    limit = "%inm = cmpi less_than %o, %mv, signed : tile<128xi32> -> tile<128xi1>\n"
    value = "%w = exp %v : tile<128xf32>\n"
    store = MASKED.replace("%in", "%inm")
    bare = LOAD.replace("%in, %zero", "%in").replace("tile<128xi1>, tile<128xf32>", "tile<128xi1>")
    reference = kernel(f"{limit}{LOAD}\n{value}{store}")
    generated = other(f"{limit}{bare}\n{value.replace(' :', f'{mode} :')}{store}")
    args = ArgValue("ptr", "a"), ArgValue("ptr", "b"), ArgValue("i32", 7), ArgValue("i32", 7)
    side = SideLaunch(None, (4, 1, 1), args)
    launch = Launch(side, side, "launch.json")
    result = compared(reference, generated, CompareOptions(launch=launch))
    assert [difference.rule for difference in result.differences] == expected


def test_one_index_in_several_accesses_is_one_finding() -> None:
    """The offset of the block is wrong for the load, its mask, and the store."""
    wrong = "%i127 = constant <i32: 127> : tile<i32>\n"
    reference = kernel(stored(f"%w = exp %v : {T}"))
    generated = other(stored(f"%w = exp %v : {T}")).replace("muli %x, %i128", "muli %x, %i127")
    generated = generated.replace("%start = ", f"{wrong}%start = ")
    first = assert_found(reference, generated, "constant/value")
    assert rules(reference, generated) == ["constant/value"]
    load = next(n for n, line in enumerate(generated.split("\n"), 1) if "load_ptr_tko" in line)
    assert load in first.also


def test_two_indices_are_two_findings() -> None:
    moved = f"%x1 = addi %x, %i1 : tile<i32>\n{tiles(load='%x1, %y', store='%x, %i4')}"
    assert rules(kernel(tiles()), other(moved)) == ["addressing/index", "addressing/index"]


def test_a_store_to_another_array_is_not_told_again_by_the_loads() -> None:
    reference = kernel(stored(f"%w = exp %v : {T}"))
    generated = other(stored(f"%w = exp %v : {T}").replace("weak %pb", "weak %pa"))
    assert rules(reference, generated) == ["addressing/base"]


def test_a_loop_that_two_stores_read_is_explained_once() -> None:
    def both(op: str) -> str:
        carried = f"tile<f32>, {T}"
        return (
            f"{LOAD}\n%z0 = constant <f32: 0.0> : tile<f32>\n"
            f"%s, %w = for %i in (%i0 to %N, step %i1) : tile<i32> "
            f"iter_values(%p = %z0, %q = %zero) -> ({carried}) {{\n"
            f"%q2 = {op} %q, %v : {T}\n"
            f"%m = reduce %q2 dim=0 identities=[0.0 : f32] : {T} -> tile<f32> (%c: tile<f32>, "
            f"%d: tile<f32>) {{\n%cd = addf %c, %d : tile<f32>\nyield %cd : tile<f32>\n}}\n"
            f"%p2 = addf %p, %m : tile<f32>\ncontinue %p2, %q2 : {carried}\n}}\n{MASKED}\n"
            "%first = offset %b, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
            "%st2 = store_ptr_tko weak %first, %s token=%t : tile<ptr<f32>>, tile<f32> -> token"
        )

    assert rules(kernel(both("addf")), other(both("subf"))) == ["arithmetic/op"]
