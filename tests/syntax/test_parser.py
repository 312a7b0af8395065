"""What the grammar takes and what it refuses, by single ops."""

import pytest

from tileir_diff.errors import InputError
from tileir_diff.syntax.nodes import Group, Listing, Pair
from tileir_diff.syntax.parser import parse_body, parse_file_syntax, parse_location
from tileir_diff.syntax.source import Problem, SourceText


def ops(text: str) -> list[str]:
    return [node.name for node in parse_file_syntax(SourceText(text)).ops]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("return", ["return"]),
        ("return\nreturn", ["return", "return"]),
        ("return return", None),
        ("%0 = make_token : token %1 = make_token : token", ["make_token", "make_token"]),
        ("%0 = memory_fence_alias_tko %t\n%1 = memory_fence_alias_tko %0", ["memory_fence_alias_tko"] * 2),
        ("memory_fence_alias_tko %t\nstore_ptr_tko weak %a : x", ["memory_fence_alias_tko", "store_ptr_tko"]),
        ("%0 = gdc_wait_tko -> token\nreturn", ["gdc_wait_tko", "return"]),
        ("%0 = addf %a, %b\n  rounding<zero>\n  flush_to_zero\n  : tile<f32>\nreturn", ["addf", "return"]),
        ("%0 = addi %a,\n  %b : tile<i32>", ["addi"]),
        ("%0 =\n  addi %a, %b : tile<i32>", ["addi"]),
        ("%0 = divi %a, %b\n  signed : tile<i32>", ["divi"]),
        ("// a comment\nreturn // another\n// last", ["return"]),
        ('"cuda_tile.return"() : () -> ()\n"cuda_tile.return"() : () -> ()', ['"cuda_tile.return"'] * 2),
        ("if %c {\n}\nelse {\n}\nreturn", ["if", "return"]),
        ("if %c { return } else { return }", ["if"]),
        ("return {a.b = 1}", ["return"]),
        ("entry @k() { return }", ["entry"]),
        ("entry @k() { cuda_tile.return }\nentry @l() {\ncuda_tile.return\n}", ["entry", "entry"]),
        (
            "%0 = reduce %x dim=0 : t -> t \n  (%a: t, %b: t) {\n yield %a : t\n }\nreturn",
            ["reduce", "return"],
        ),
        ('#a = loc(unknown)\nreturn loc(#a)\n#b = #cuda_tile.di_file<"a" in "b">', ["return"]),
        ("!t = !cuda_tile.tile<f32>\nreturn", ["return"]),
    ],
)
def test_ops_are_told_apart(text: str, names: list[str] | None) -> None:
    if names is None:
        # Without a line break or types between them, the second word belongs to the first op.
        assert len(ops(text)) == 1
    else:
        assert ops(text) == names


def test_results() -> None:
    first, second = parse_file_syntax(SourceText("%a, %b = x\n%p:2, %q = y")).ops
    assert first.results == [("a", 0), ("b", 0)]
    assert isinstance(second.results, str)
    assert second.results.startswith("%p:2, %q")


def test_items_keep_their_kind() -> None:
    (node,) = parse_file_syntax(SourceText("x %v[%i, %j] token = %t, <i32: 1> {a = b} @s (%q)")).ops
    kinds = [
        type(item).__name__ if isinstance(item, Pair | Listing | Group) else item.type for item in node.items
    ]
    assert kinds == ["SSA", "Listing", "Pair", "ANGLE", "DICT", "SYMBOL", "Group"]


def test_head_ends_before_regions_and_locations() -> None:
    text = "%0 = addi %a, %b : tile<i32> loc(#loc1)\nif %c -> (t) {\n}\n"
    first, second = parse_file_syntax(SourceText(text)).ops
    assert text[first.start : first.end] == "%0 = addi %a, %b : tile<i32>"
    assert text[second.start : second.end] == "if %c -> (t) {"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("%0 = addi %a %b : tile<i32>", 1, 14, "expected ',' between operands"),
        ("return\n}", 2, 1, "unexpected '}'"),
        ("if %c {\n  return\n", 2, 8, "unexpected end of input"),
        ('assert %c, "open : tile<i1>', 1, 12, "string is not closed"),
        ("%0 = iota : tile<4xi32", 1, 17, "'<' is not closed"),
        ("%0 = addi %a, : tile<i32>", 1, 15, "unexpected ':'"),
        ("%0 = iota : \n", 1, 11, "unexpected end of input"),
        ("for %i in (%a upto %b, step %c) : tile<i32> {\n}", 1, 15, "expected 'to'"),
        ("for %i in (%a to %b, by %c) : tile<i32> {\n}", 1, 22, "expected 'step'"),
        ("\x01", 1, 1, "unexpected character"),
        ("%0 = cat %a, %b dim = 0a : x", 1, 23, "number"),
    ],
)
def test_faults_have_a_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_file_syntax(SourceText(text, "k.mlir"))
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message


def test_few_alternatives_are_named() -> None:
    with pytest.raises(InputError) as caught:
        parse_file_syntax(SourceText("%0 = iota )"))
    assert caught.value.message.count("'") <= 12


def test_terms() -> None:
    terms = parse_body("tile=(4x8), padding_value = zero, tensor_view<?xf32, strides=[1]>, dim_map=[1, 0]")
    assert [term.key for term in terms] == ["tile", "padding_value", "", "dim_map"]
    assert parse_body("") == []
    assert [str(value) for value in parse_body("4, every 4 along 0")[1].values] == [
        "every",
        "4",
        "along",
        "0",
    ]


def test_terms_say_where_they_are_wrong() -> None:
    with pytest.raises(Problem) as caught:
        parse_body("a = , b")
    assert caught.value.offset == 4


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("#loc3", ("alias", "#loc3")),
        ("unknown", ("unknown",)),
        ('"a.py":3:7', ("file", "a.py", 3, 7)),
        ('"a.py":3:7 to :9', ("file", "a.py", 3, 7)),
        ("callsite(#a at #b)", ("call", ("alias", "#a"), ("alias", "#b"))),
        ('"name"(#a)', ("in", ("alias", "#a"))),
        ("fused[#a, #b]", ("fused", [("alias", "#a"), ("alias", "#b")])),
    ],
)
def test_locations(text: str, node: tuple[object, ...]) -> None:
    assert parse_location(text) == node
