"""Carried values of a loop inside terms: replacing them by other terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tileir_diff.dialect.types import Tile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect, Kernel, Loop
    from tileir_diff.graph.terms import Term, Terms


class Exit(NamedTuple):
    """One way out of a loop's body: "continue", "break" or "return", its condition, and the values handed on.

    ``effects``: how many effects of the kernel come before it in the text; ``op``: the terminator.
    """

    kind: str
    guard: Term
    values: tuple[Any, ...]
    effects: int
    op: TileOp | None = None


class Body(NamedTuple):
    """A loop with the effects and the loops inside it."""

    kernel: Kernel
    loop: Loop
    effects: list[Effect]
    loops: list[Loop]

    def terms_inside(self) -> Iterable[Term]:
        """All terms of the effects and loops of the body, but not of the loop's own carries."""
        found: list[Term | None] = []
        for effect in self.effects:
            found += [effect.guard, effect.pointer, effect.mask, effect.padding, effect.result]
            found += [*effect.values, *effect.coordinates]
        for inner in self.loops:
            found += [inner.lower, inner.step, inner.trip, inner.exit]
            for carry in inner.carries:
                found += [carry.init, carry.next]
        return (term for term in found if term is not None)

    def substitute(self, mapping: Mapping[Term, Term]) -> None:
        """Replace leaves of the loop in everything its body does, in place."""
        terms = self.kernel.terms
        memo: dict[Term, Term] = {}
        full = dict(mapping)

        def change(term: Term) -> Term:
            return substitute_carries(terms, term, full, memo)

        for effect in self.effects:
            effect.map(change)
        for carry in self.loop.carries:
            carry.next = change(carry.next)
        if self.loop.exit is not None:
            self.loop.exit = change(self.loop.exit)
        for inner in self.loops:
            inner.map(change)
        results = self.kernel.loop_results
        for closed in list(results):
            new = change(closed)
            if new != closed:
                results.setdefault(new, results[closed])


def own_lanes(terms: Terms, value: SSAValue) -> list[Term]:
    """The lanes of a value's tile, dimensions of extent one left out."""
    shape = value.type.shape if isinstance(value.type, Tile) else ()
    return [terms.lane(dim, extent) for dim, extent in enumerate(shape) if extent > 1]


def depth_iteration(terms: Terms, depth: int) -> Term:
    """The symbol of the iteration of a loop at this depth, in effects in canonical form."""
    leaf = terms.leaf("it", -1 - depth)
    terms.set_range(leaf, (0, None))
    return leaf


def substitute_carries(
    terms: Terms, term: Term, mapping: Mapping[Term, Term], memo: dict[Term, Term]
) -> Term:
    """Like ``Terms.subst``, where a carry of tile type, ``at(leaf, lanes)``, is read at its lanes.

    ``mapping`` gives for a carry leaf the term over the carry's own lanes, or a node of kind ``cp``, which
    stays under ``at``.
    """

    def rebuild(node: Term, args: tuple[Term, ...]) -> Term:
        if terms.kind[node] == "at" and args[0] != terms.args[node][0]:
            return _read_at(terms, node, args)
        return terms.rebuild(node, args)

    return terms.subst(term, mapping, memo, rebuild)


def _read_at(terms: Terms, node: Term, args: tuple[Term, ...]) -> Term:
    """``at(form, lanes)``: the form of a carried tile at these lanes."""
    form, *lanes = args
    if terms.kind[form] in ("cp", "carry"):
        return terms.rebuild(node, args)
    own = terms.carry_lanes.get(terms.args[node][0], ())
    mapping = {
        leaf: lane
        for leaf, lane in zip(own, lanes, strict=False)
        if leaf in terms.symbols[form] and terms.single(lane) != leaf
    }
    return terms.subst(form, mapping) if mapping else form
