"""Which front end made a dump."""

from __future__ import annotations

import pytest

from tileir_diff.ingest.formats import producer_line
from tileir_diff.verdict.front_ends import FrontEnd, parse_front_end, recognise, version_key
from tileir_diff.verdict.known_gaps import catalogue


@pytest.mark.parametrize(
    ("producer", "entries", "files", "front_end"),
    [
        ("Cuda compilation tools, release 13.4, V13.4.92", ["k"], [], FrontEnd("tile-cpp", "13.4")),
        ("nvcc version 13.3 -O2", ["k_entry"], [], FrontEnd("tile-cpp", "13.3")),
        ("", ["_Z14softmax_kernelI6__halfLi1024EEvPKT_"], [], FrontEnd("tile-cpp")),
        ("", ["softmax_kernel_Kt2_A2f16_1v8l0_I1024"], ["/x/softmax.py"], FrontEnd("cutile-python")),
        ("", ["softmax_entry"], [], FrontEnd("cutile-rust")),
        ("", ["softmax"], ["/x/src/lib.rs"], FrontEnd("cutile-rust")),
        ("", ["softmax_entry"], ["/x/softmax.py"], FrontEnd("cutile-rust")),
        ("", ["softmax"], ["/x/softmax.py"], FrontEnd("cutile-python")),
        ("", ["softmax"], ["C:\\x\\softmax.cuh"], FrontEnd("tile-cpp")),
        ("", ["softmax"], [], FrontEnd()),
        ("", [], ["noname"], FrontEnd()),
    ],
)
def test_recognises(producer: str, entries: list[str], files: list[str], front_end: FrontEnd) -> None:
    assert recognise(producer, entries, files) == front_end


def test_reads_the_producer_comment() -> None:
    assert producer_line("// Producer: Cuda compilation tools\nentry @k() {") == "Cuda compilation tools"
    assert producer_line("entry @k() {\n}") == ""


def test_reads_a_front_end_as_the_user_writes_it() -> None:
    assert parse_front_end("cutile-rust@0.5.0") == FrontEnd("cutile-rust", "0.5.0")
    assert parse_front_end("cutile-rust") == FrontEnd("cutile-rust")


def test_versions_are_compared_as_numbers() -> None:
    assert version_key("0.10.0") > version_key("0.9.2")


def test_the_catalogue_is_well_formed() -> None:
    gaps = catalogue()
    assert len({gap.id for gap in gaps}) == len(gaps)
    for gap in gaps:
        assert gap.front_end in {"cutile-rust", "cutile-python", "tile-cpp", "cutile-julia", "triton"}
        assert gap.id.startswith(gap.front_end)
        assert gap.reason
        assert not gap.reason.endswith(".")
