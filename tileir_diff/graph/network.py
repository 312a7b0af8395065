"""The typed op graph of an entry as a networkx graph, for other tools: queries, drawings, statistics.

A ``MultiDiGraph`` with a node for every op and every block argument, and an edge for every operand slot, so
that ``mulf(x, x)`` keeps its two edges and ``subf(x, y)`` differs from ``subf(y, x)``. networkx takes
0.1 s to import and its matchers look at node labels only; the comparison works on terms and does not use it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from tileir_diff.graph.evaluate import Evaluator
from tileir_diff.graph.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from networkx import MultiDiGraph
    from xdsl.ir import Block, SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel

SUFFIXES = (".graphml", ".json")


def op_graph(entry: TileOp) -> MultiDiGraph[int]:
    """The op graph of one entry.

    Nodes: ``kind`` ("op" or "argument"), ``op`` (its name), ``line``, ``types`` (of the results),
    ``attributes`` (JSON text, absent ones left out), ``value`` (the number of the first result in the normal
    form: two nodes with one number compute the same; -1 for none), ``parent`` (the node of the op around it,
    -1 for the entry's own ops). Edges run from a definition to its user: ``slot`` (operand position),
    ``group`` (operand group), ``result`` (which result is read), ``token`` (whether it only orders).
    """
    builder = _Builder(Evaluator(entry, Terms(), 0).run())
    block = entry.regions[0].block
    builder.arguments(-1, block)
    builder.ops(-1, cast("Iterable[TileOp]", block.ops))
    return builder.graph


class _Builder:
    """Adds nodes in program order, so that every definition is there before its users."""

    def __init__(self, kernel: Kernel) -> None:
        import networkx  # slow to import, and only needed here

        self.kernel = kernel
        self.graph: Any = networkx.MultiDiGraph(entry=kernel.name)
        self.defined: dict[SSAValue, tuple[int, int]] = {}
        self.numbers: dict[int, int] = {}

    def ops(self, parent: int, ops: Iterable[TileOp]) -> None:
        for op in ops:
            node = self._add(parent, "op", op.short, op.span.line, list(op.results), _attributes(op))
            for slot, (group, value) in enumerate(_operands(op)):
                if value in self.defined:
                    source, result = self.defined[value]
                    token = str(value.type) == "token"
                    self.graph.add_edge(source, node, slot=slot, group=group, result=result, token=token)
            for region in op.regions:
                for block in region.blocks:
                    self.arguments(node, block)
                    self.ops(node, cast("Iterable[TileOp]", block.ops))

    def arguments(self, parent: int, block: Block) -> None:
        for index, argument in enumerate(block.args):
            self._add(parent, "argument", argument.name_hint or f"arg{index}", 0, [argument], "{}")

    def _add(self, parent: int, kind: str, name: str, line: int, values: list[Any], attributes: str) -> int:
        node = int(self.graph.number_of_nodes())
        self.graph.add_node(
            node,
            kind=kind,
            op=name,
            line=line,
            types=", ".join(str(value.type) for value in values),
            attributes=attributes,
            value=self._number(values[0]) if values else -1,
            parent=parent,
        )
        for index, value in enumerate(values):
            self.defined[value] = (node, index)
        return node

    def _number(self, value: SSAValue) -> int:
        term = self.kernel.values.get(value)
        return self.numbers.setdefault(term, len(self.numbers)) if isinstance(term, int) else -1


def graph_text(graph: MultiDiGraph[int], path: str) -> str:
    """The graph as GraphML or node-link JSON, by the suffix of ``path``. Raises ValueError for another."""
    import networkx

    library: Any = networkx  # typed in part only
    if path.endswith(".graphml"):
        return "\n".join(library.generate_graphml(graph)) + "\n"
    if path.endswith(".json"):
        return json.dumps(library.node_link_data(graph, edges="edges"), indent=1) + "\n"
    raise ValueError(f"a graph file ends in {' or '.join(SUFFIXES)}, not '{path}'")


def _operands(op: TileOp) -> list[tuple[str, SSAValue]]:
    found: list[tuple[str, SSAValue]] = []
    for spec in op.spec.operands:
        name = spec.rstrip("?*")
        found.extend((name, value) for value in op.group(name))
    return found


def _attributes(op: TileOp) -> str:
    shown: dict[str, Any] = {}
    for name in sorted(spec.name for spec in op.spec.attributes):
        value = op.get(name)
        if value is not None and value is not False and value not in ((), {}):
            shown[name] = _plain(value)
    return json.dumps(shown)


def _plain(value: Any) -> Any:
    """A value of an attribute as JSON has it."""
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {key: _plain(item) for key, item in table.items()}
    if isinstance(value, tuple) and not hasattr(cast("object", value), "_fields"):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    return str(cast("object", value))
