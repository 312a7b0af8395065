"""What is printed reads back as the same module, for random modules of all ops."""

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.dialect.modules import modules
from tests.dialect.snippets import module_of
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.dialect.ir import ModuleOp
from tileir_diff.dialect.printer import print_module


class Hidden:
    """A module that a failing test does not print with all that hangs on it."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module

    def __repr__(self) -> str:
        return "<module>"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
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
    second.results[0]._name = first.results[0].name_hint
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
