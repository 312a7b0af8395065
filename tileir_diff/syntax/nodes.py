"""Syntax nodes: what the grammar found, with offsets, and no meaning.

Leaves are `Token`s (a `str` with `type`, `start_pos`, `end_pos`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileir_diff.syntax.token import Token


class Pair:
    """`key = value`. The value is a Token, a list of values, or another node."""

    __slots__ = ("key", "value")

    def __init__(self, key: Token, value: Any) -> None:
        self.key = key
        self.value = value


class Listing:
    """`[a, b]`: brackets among the items of an op. Values are Tokens, `Typed` or nested `Listing`s."""

    __slots__ = ("end", "start", "values")

    def __init__(self, values: list[Any], start: int, end: int) -> None:
        self.values = values
        self.start = start
        self.end = end


class Typed:
    """`value : type`."""

    __slots__ = ("start", "type", "value")

    def __init__(self, value: Any, type_: Token) -> None:
        self.start: int = getattr(value, "start_pos", None) or getattr(value, "start", 0)
        self.value = value
        self.type = type_


class Shaped:
    """`4x8xf32`: dimensions (as written, `4x8x`) and what follows them."""

    __slots__ = ("dims", "element", "start")

    def __init__(self, dims: Token, element: Token) -> None:
        self.start = dims.start_pos or 0
        self.dims = dims
        self.element = element


class ShapeGroup:
    """`(4x8)`: a shape in parentheses."""

    __slots__ = ("start", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start


class FunctionTypeNode:
    """`(A, B) -> C`; both sides are lists of type Tokens."""

    __slots__ = ("inputs", "outputs", "start")

    def __init__(self, inputs: list[Any], outputs: list[Any], start: int) -> None:
        self.start = start
        self.inputs = inputs
        self.outputs = outputs


class Term:
    """One comma-separated piece inside `<...>` or `{...}`: juxtaposed values, maybe after `key =` or `key :`.

    `relation` is "=", ":" (the key is a type, the values its literal), "typed" (`1 : i32`) or "".
    """

    __slots__ = ("key", "relation", "values")

    def __init__(self, values: list[Any], key: str = "", relation: str = "") -> None:
        self.values = values
        self.key = key
        self.relation = relation


class Argument:
    """A typed argument of an entry or a block: `%name: type`."""

    __slots__ = ("name", "type")

    def __init__(self, name: Token, type_: Token) -> None:
        self.name = name
        self.type = type_


class Group:
    """Parentheses among the items of an op; `kind` is operands, arguments, bindings, range or regions.

    Regions end, as part of an op's head, at their first brace.
    """

    __slots__ = ("end", "kind", "start", "values")

    def __init__(self, kind: str, values: list[Any], start: int, end: int) -> None:
        self.kind = kind
        self.values = values
        self.start = start
        self.end = end


class Signature:
    """The types of an op: `: types -> results`; a side is None when it was not printed."""

    __slots__ = ("bindings", "results", "start", "types")

    @property
    def end(self) -> int:
        """Where the last type ends, 0 when there is none."""
        leaves = self.results or self.types
        return (leaves[-1].end_pos or 0) if leaves else 0

    def __init__(
        self,
        start: int,
        types: list[Token] | None,
        results: list[Token] | None,
        bindings: Group | None = None,
    ) -> None:
        self.start = start
        self.types = types
        self.results = results
        self.bindings = bindings


class RegionNode:
    """`{ ... }`: arguments of its one block, if printed there, and its ops."""

    __slots__ = ("arguments", "end", "ops", "start")

    def __init__(self, ops: list[OpNode], arguments: Group | None, start: int, end: int) -> None:
        self.ops = ops
        self.arguments = arguments
        self.start = start
        self.end = end


class OpNode:
    """One op. `start` and `end` are the offsets of its head.

    Results up to the types, without location and regions.
    """

    __slots__ = (
        "arguments", "attributes", "end", "items", "location", "name", "name_start", "regions", "results",
        "signature", "start",
    )  # fmt: skip

    def __init__(self, results: Any, name: str, start: int, name_start: int, end: int) -> None:
        self.results: list[tuple[str, int]] | str | None = results
        self.name = name
        self.start = start
        self.name_start = name_start
        self.end = end
        self.items: list[Any] = []
        self.signature: Signature | None = None
        self.arguments: Group | None = None
        self.regions: list[RegionNode] = []
        self.attributes: Token | None = None
        self.location: Token | None = None


class SyntaxFile:
    """A whole dump: top-level ops in order, and the text of each `#alias` and `!alias`."""

    __slots__ = ("aliases", "ops")

    def __init__(self, ops: list[OpNode], aliases: dict[str, Any]) -> None:
        self.ops = ops
        self.aliases = aliases
