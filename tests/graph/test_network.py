"""The networkx graph of a kernel: operand slots, token edges, value numbers, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx
import pytest

from tileir_diff import InputError, op_graph
from tileir_diff.dialect import parse_text

library: Any = networkx  # typed in part only

FIXTURES = Path(__file__).parents[2] / "fixtures" / "kernels"

HEAD = "entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>) {\n"
TAIL = "  %s = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token\n  return\n}\n"


def graph_of(body: str) -> Any:
    return op_graph(parse_text(HEAD + body + TAIL))


def edges_into(graph: Any, op: str) -> list[tuple[str, int]]:
    node = next(n for n, data in graph.nodes(data=True) if data["op"] == op)
    return sorted((graph.nodes[u]["op"], data["slot"]) for u, _, data in graph.in_edges(node, data=True))


def test_both_operands_of_a_square_are_edges() -> None:
    assert edges_into(graph_of("  %r = mulf %x, %x : tile<f32>\n"), "mulf") == [("x", 0), ("x", 1)]


def test_the_order_of_operands_is_in_the_edges() -> None:
    forward = edges_into(graph_of("  %r = subf %x, %y : tile<f32>\n"), "subf")
    backward = edges_into(graph_of("  %r = subf %y, %x : tile<f32>\n"), "subf")
    assert forward == [("x", 0), ("y", 1)]
    assert backward == [("x", 1), ("y", 0)]


def test_equal_values_have_one_number() -> None:
    graph = graph_of(
        "  %a = addf %x, %y : tile<f32>\n  %b = addf %y, %x : tile<f32>\n  %r = mulf %a, %b : tile<f32>\n"
    )
    numbers = [data["value"] for _, data in graph.nodes(data=True) if data["op"] == "addf"]
    assert len(numbers) == 2
    assert len(set(numbers)) == 1


def test_a_real_kernel_is_acyclic_and_has_token_edges() -> None:
    graph: Any = op_graph(FIXTURES / "softmax" / "py.mlir")
    assert library.is_directed_acyclic_graph(graph)
    assert any(data["token"] for _, _, data in graph.edges(data=True))
    assert {data["kind"] for _, data in graph.nodes(data=True)} == {"op", "argument"}


def test_regions_have_a_parent() -> None:
    graph: Any = op_graph(FIXTURES / "matmul" / "py.mlir")
    product = next(n for n, data in graph.nodes(data=True) if data["op"] == "mmaf")
    assert graph.nodes[graph.nodes[product]["parent"]]["op"] == "for"


def test_an_entry_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no entry '@nothing'"):
        op_graph(FIXTURES / "softmax" / "py.mlir", entry="nothing")


@pytest.mark.parametrize("suffix", ["json", "graphml"])
def test_the_command_writes_the_graph(tmp_path: Path, suffix: str) -> None:
    from click.testing import CliRunner

    from tileir_diff.cli.app import app

    target = tmp_path / f"graph.{suffix}"
    result = CliRunner().invoke(app, ["show", str(FIXTURES / "softmax" / "py.mlir"), "--graph", str(target)])
    assert result.exit_code == 0, result.output
    if suffix == "json":
        assert len(json.loads(target.read_text())["nodes"]) > 20
    else:
        assert library.read_graphml(target).number_of_nodes() > 20


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tileir_diff.cli.app import app

    target = tmp_path / "graph.png"
    result = CliRunner().invoke(app, ["show", str(FIXTURES / "softmax" / "py.mlir"), "--graph", str(target)])
    assert result.exit_code == 2
    assert not target.exists()
