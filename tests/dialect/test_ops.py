"""Every op of the tables: reads, prints the same, and is the same again."""

import pytest

from tests.dialect.snippets import BLOCKS, LINES, first, module_of, wrap
from tileir_diff.dialect import CUDA_TILE, parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.dialect.ops import OPS
from tileir_diff.dialect.printer import print_module
from tileir_diff.dialect.spec import REQUIRED
from tileir_diff.errors import InputError

TERMINATORS = {"return", "yield", "continue", "break"}
AROUND = {"module", "entry", "global", "testing$func"}


@pytest.mark.parametrize("text", LINES + BLOCKS)
def test_prints_as_written(text: str) -> None:
    module = module_of(text)
    assert print_module(module) == wrap(text)
    assert structurally_equal(module, parse_text(print_module(module)))


def test_every_op_has_a_snippet() -> None:
    shown = {op.short for text in LINES + BLOCKS for op in module_of(text).walk()}  # type: ignore[attr-defined]
    assert set(OPS) - shown - AROUND == set()
    assert shown >= TERMINATORS


@pytest.mark.parametrize("short", sorted(OPS))
def test_table_entry_is_whole(short: str) -> None:
    spec = OPS[short]
    assert spec.doc.endswith(".")
    assert spec.name.split("$")[-1] in spec.doc
    assert spec.since in ("13.1", "13.2", "13.3", "13.4")
    assert len({attribute.name for attribute in spec.attributes}) == len(spec.attributes)
    if spec.commutative:
        assert {"lhs", "rhs"} <= set(spec.operands)
    for attribute in spec.attributes:
        if attribute.kind == "enum" and attribute.default not in (None, REQUIRED):
            assert attribute.default in attribute.values


def test_dialect_object_lists_ops_and_types() -> None:
    dialect = CUDA_TILE()
    names = {operation.name for operation in dialect.operations}
    assert {f"cuda_tile.{short}" for short in OPS} == names
    assert {"cuda_tile.tile", "cuda_tile.token", "cuda_tile.scalar"} <= {
        item.name for item in dialect.attributes
    }


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (LINES[-1], {"view": ["part"], "index": ["i", "i"], "value": ["r"], "token": ["t"]}),
        ("%0 = extract %m[%i, %l] : tile<8x2xf32> -> tile<4x2xf32>", {"source": ["m"], "index": ["i", "l"]}),
        (
            "%x, %y = load_ptr_tko weak %p, %b token=%t : tile<ptr<f32>>, tile<i1> -> tile<f32>, token",
            {"source": ["p"], "mask": ["b"], "padding": [], "token": ["t"]},
        ),
        (
            "%x, %y = load_ptr_tko weak %p, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token",
            {"mask": [], "padding": ["f"], "token": []},
        ),
        (
            "%x, %y = load_ptr_tko weak %pb, %b : tile<ptr<i1>>, tile<i1> -> tile<i1>, token",
            {"mask": ["b"], "padding": []},
        ),
    ],
)
def test_operand_groups(text: str, groups: dict[str, list[str]]) -> None:
    op = first(text)
    assert {name: [value.name_hint for value in op.group(name)] for name in groups} == groups
    for name, values in groups.items():
        one = op.one(name)
        assert (one.name_hint if one else None) == (values[0] if values else None)


def test_unknown_groups_and_attributes_are_absent() -> None:
    op = first("%0 = negf %fv : tile<4xf32>")
    assert op.group("mask") == ()
    assert op.one("mask") is None
    assert op.get("rounding") is None


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("%0 = addf %fv, %fv : tile<4xf32>", "rounding", "nearest_even"),
        ("%0 = exp %fv : tile<4xf32>", "rounding", "full"),
        ("%0 = tanh %fv : tile<4xf32>", "rounding", "full"),
        ("%0 = divi %iv, %iv signed : tile<4xi32>", "rounding", "zero"),
        ("%0 = ftoi %fv signed : tile<4xf32> -> tile<4xi32>", "rounding", "nearest_int_to_zero"),
        ("%0 = addi %iv, %iv : tile<4xi32>", "overflow", "none"),
        ("%0 = addi %iv, %iv overflow<no_wrap> : tile<4xi32>", "overflow", "nw"),
        ("%0 = maxf %fv, %fv propagate_nan flush_to_zero : tile<4xf32>", "propagate_nan", True),
        ("%0 = maxf %fv, %fv : tile<4xf32>", "flush_to_zero", False),
        (LINES[-1], "memory_scope", "tl_blk"),
        (LINES[-1], "mode", "addf"),
        ("%x, %y = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token", "memory_scope", None),
        ("%x, %y = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token", "hints", {}),
        (
            "%x, %y = load_ptr_tko weak %p optimization_hints = <> : tile<ptr<f32>> -> tile<f32>, token",
            "hints",
            {},
        ),
        (
            (
                "%x, %y = load_ptr_tko weak %p optimization_hints = <default = {}, sm_90 = {latency = 3}> : "
                "tile<ptr<f32>> -> tile<f32>, token"
            ),
            "hints",
            {"sm_90": {"latency": 3}},
        ),
        ("%0 = permute %m [1, 0] : tile<8x2xf32> -> tile<2x8xf32>", "permutation", (1, 0)),
        ('assert %b, "a\\0Ab" : tile<i1>', "message", "a\nb"),
    ],
)
def test_attribute_values(text: str, name: str, value: object) -> None:
    assert first(text).get(name) == value


def test_inbounds_that_promise_nothing_are_the_default() -> None:
    line = next(line for line in LINES if "inbounds" in line)
    assert first(line).get("inbounds") == (True, False)
    assert first(line.replace("[true, false]", "[false, false]")).get("inbounds") == ()


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("%0 = adf %fv, %fv : tile<4xf32>", 8, "unknown op 'adf', did you mean 'addf'?"),
        ("%0 = addf %fv : tile<4xf32>", 8, "addf takes 2 operands, found 1"),
        ("%0 = addf %fv, %fv, %fv : tile<4xf32>", 23, "addf takes 2 operands, found 3"),
        ("%0 = addf %fv, %nope : tile<4xf32>", 18, "use of undefined value '%nope'"),
        ("%0 = addf %fv, %f : tile<4xf32>", 21, "value '%f' has type tile<f32>, but is used as tile<4xf32>"),
        ("%0 = addf %fv, %fv : tile<4xf32>, tile<4xf32>", 22, "expected 1 type for addf, found 2"),
        ("%0 = addf %fv, %fv signed : tile<4xf32>", 22, "unexpected 'signed' in addf"),
        ("%0 = addf %fv, %fv rounding<up> : tile<4xf32>", 31, "unknown rounding 'up'"),
        ("%0 = addf %fv, %fv rounding<zero> rounding<zero> : tile<4xf32>", 37, "'rounding' is given twice"),
        ("%0 = divi %iv, %iv : tile<4xi32>", 8, "divi needs one of unsigned, signed"),
        ("%0 = divi %iv, %iv signed unsigned : tile<4xi32>", 29, "'unsigned' is given twice"),
        ("%0 = negf %fv : tile<4xg32>", 26, "unknown element type 'g32'"),
        ("%0 = negf %fv : tile<4x>", 25, "unexpected end of input"),
        ("%0 = iota : vector<4xi32>", 15, "unknown type 'vector'"),
        ("%0 = constant <i32: 1.5> : tile<i32>", 23, "expected a literal of type i32"),
        ("%0 = constant <i8: 300> : tile<i8>", 22, "integer constant out of range for i8"),
        ("%0 = constant <i8: 3> : tile<i32>", 18, "literal of i8 in a tile of i32"),
        ("%0 = constant <i8: [1, 2, 3]> : tile<2xi8>", 22, "expected 2 elements"),
        ("%0 = constant <i8: [1, 2]> : tile<2x1xi8>", 23, "different ranks"),
        ("%0 = permute %m : tile<8x2xf32> -> tile<2x8xf32>", 8, "permute needs its permutation"),
        (
            "%0 = cat %fv, %fv dim = x : tile<4xf32>, tile<4xf32> -> tile<8xf32>",
            27,
            "expected a whole number",
        ),
        ("%0 = cat %fv, %fv axis = 0 : tile<4xf32>, tile<4xf32> -> tile<8xf32>", 21, "unexpected 'axis ='"),
        ("%0 = assume even<2>, %i : tile<i32>", 15, "unknown predicate 'even'"),
        ("%a, %b = negf %fv : tile<4xf32>", 3, "negf has 1 result, 2 named"),
        ("%0 = negf %fv {\n yield\n} : tile<4xf32>", 3, "unexpected ':'"),
        ("return %fv : tile<4xf32> {\n return\n }", 28, "return has no region"),
        ("%0 = negf %fv {speed = 1} : tile<4xf32>", 26, "negf has no attribute 'speed'"),
        ("%i = negf %fv : tile<4xf32>", 3, "redefinition of value '%i'"),
        (
            "for %n in (%i to %i, step %l) : tile<i32> {\n  }",
            33,
            "value '%l' has type tile<i64>, but is used as tile<i32>",
        ),
        ("if %b\n  return", 8, "expected the body of if"),
    ],
)
def test_faults(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        module_of(text)
    assert message in caught.value.message
    assert caught.value.column == column


def test_all_ops_take_the_dialect_prefix() -> None:
    for text in LINES:
        start = text.index("= ") + 2 if text.startswith("%") else 0
        prefixed = text[:start] + "cuda_tile." + text[start:]
        assert structurally_equal(module_of(text), module_of(prefixed))
