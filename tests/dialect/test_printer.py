"""What is printed reads back as the same module, for random modules of all ops."""

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.dialect.modules import modules
from tests.dialect.snippets import BLOCKS, LINES, module_of
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.dialect.ir import ModuleOp
from tileir_diff.dialect.printer import print_module

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


class Hidden:
    """A module that a failing test does not print with all that hangs on it."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    def __repr__(self) -> str:
        return "<module>"


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_printed_modules_read_back(data: st.DataObject) -> None:
    module = data.draw(modules().map(Hidden)).module
    text = print_module(module)
    note(text)
    again = parse_text(text)
    same = structurally_equal(module, again)
    assert same
    assert print_module(again) == text


def test_equal_names_get_suffixes() -> None:
    module = module_of("%x = negf %f : tile<f32>\n  %y = negf %x : tile<f32>")
    first, second = list(module.entries[0].inner())[:2]
    second.results[0]._name = first.results[0].name_hint  # pyright: ignore[reportPrivateUsage]
    text = print_module(module)
    assert "%x = negf %f" in text
    assert "%x_0 = negf %x" in text


def test_values_without_names_are_numbered() -> None:
    module = module_of("make_token : token\n  make_token : token")
    assert "%0 = make_token : token\n  %1 = make_token : token" in print_module(module)


def test_wrapper_is_printed_only_for_what_it_holds() -> None:
    assert print_module(parse_text("module {\n  entry @k() {\n  }\n}")).startswith("entry @k() {")
    named = print_module(
        parse_text('cuda_tile.module @m attributes {producer = "a\\22b"} {\n  entry @k() {\n  }\n}')
    )
    assert named.startswith(
        'cuda_tile.module @m attributes {producer = "a\\22b"} {\n  entry @k() {\n    return'
    )


def test_single_ops_print_with_the_names_they_use() -> None:
    module = module_of("%x = negf %f : tile<f32>\n  if %b {\n    %y = absf %x : tile<f32>\n  }")
    negation, branch = list(module.entries[0].inner())[:2]
    assert str(negation) == "%x = negf %f : tile<f32>"
    assert str(branch) == "if %b {\n  %y = absf %x : tile<f32>\n}"


def test_clones_are_equal_and_keep_their_names() -> None:
    for text in LINES + BLOCKS:
        module = module_of(text)
        clone = module.clone()
        assert structurally_equal(module, clone)
        assert print_module(clone) == print_module(module)
        assert [op.span for op in clone.walk()] == [op.span for op in module.walk()]  # type: ignore[attr-defined]
