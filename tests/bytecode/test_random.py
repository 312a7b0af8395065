"""Random modules, valid and not: written or refused, and judged as the disassembler judges them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.dialect.modules import modules
from tests.dialect.snippets import first
from tests.dialect.test_printer import SLOW, Hidden
from tileir_diff.bytecode.module import write_module
from tileir_diff.bytecode.versions import VERSIONS, greatest_need, minor
from tileir_diff.dialect.attributes import Value
from tileir_diff.dialect.printer import print_module
from tileir_diff.dialect.verifier import verify
from tileir_diff.errors import InputError
from tileir_diff.ingest.source import MAGIC
from tileir_diff.toolchain import disassemble

from .kernels import kernel


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(st.data())
def test_written_for_each_version_or_refused(data: st.DataObject) -> None:
    module = data.draw(modules().map(Hidden)).module
    oldest = greatest_need(module).since
    assert write_module(module).data.startswith(MAGIC)
    for version in VERSIONS:
        if minor(version) >= oldest:
            assert write_module(module, version).data[9] == int(version[-1])
            continue
        with pytest.raises(InputError, match="was asked for"):
            write_module(module, version)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[*SLOW, HealthCheck.function_scoped_fixture],
)
@given(st.data())
@pytest.mark.usefixtures("real_disassembler")
def test_disassembler_agrees_on_what_is_valid(data: st.DataObject) -> None:
    module = data.draw(modules().map(Hidden)).module
    note(print_module(module))
    errors = verify(module)
    try:
        disassemble(write_module(module, "13.4").data, "k.tirbc")
    except InputError:
        assert errors
        return
    assert not errors


def test_a_value_that_an_attribute_does_not_have() -> None:
    op = first(
        "%x, %y = atomic_rmw_tko relaxed device %p, addf, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token"
    )
    op.properties["mode"] = Value("nand")  # type: ignore[index]
    module = op.parent_op()
    assert module is not None
    with pytest.raises(InputError, match="mode has no value nand"):
        write_module(module.parent_op())  # type: ignore[arg-type]


def test_kernels_of_the_snippets_have_what_they_use_only() -> None:
    assert kernel("%0 = negf %f : tile<f32>").count("\n") == 5
