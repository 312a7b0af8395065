"""Both kernels once more, with integers that wrap as their types say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.evaluate import Evaluator
from tileir_diff.graph.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Effect, Kernel
    from tileir_diff.graph.store import Term
    from tileir_diff.match.search import Attempt

LEAF_KINDS = frozenset({"arg", "fc", "true", "false", "block", "grid", "it"})


class Again:
    """The two kernels of an attempt in an exact store; their effects by op."""

    def __init__(self, attempt: Attempt) -> None:
        self.terms = Terms(attempt.reference.terms.disabled, exact=True)
        binding = attempt.binding
        sides = (attempt.reference, binding.reference), (attempt.generated, binding.generated)
        evaluators = [
            Evaluator(kernel.entry, self.terms, kernel.side, self._copied(attempt, bound), kernel.grid)
            for kernel, bound in sides
        ]
        grids = [evaluator.grid for evaluator in evaluators]
        larger = [
            None if None in sizes else max(size for size in sizes if size is not None)
            for sizes in zip(*grids, strict=True)
        ]
        for evaluator in evaluators:
            # of blocks beyond those that do anything nobody sees what they compute
            evaluator.blocks = tuple(
                binding.blocks.get(axis) if size is None else size for axis, size in enumerate(larger)
            )
            evaluator.grids_differ = grids[0] != grids[1]
            evaluator.learn_facts()
        self.reference: Kernel = evaluators[0].run()
        self.generated: Kernel = evaluators[1].run()
        self._effects: dict[tuple[int, TileOp], list[Effect]] = {}
        for kernel in (self.reference, self.generated):
            for effect in kernel.effects:
                self._effects.setdefault((kernel.side, effect.op), []).append(effect)

    def effect(self, side: int, op: TileOp) -> Effect | None:
        """The effect of an op; None where it has none any more, or several."""
        found = self._effects.get((side, op), [])
        return found[0] if len(found) == 1 else None

    def copied(self, source: Terms, term: Term) -> Term | None:
        """A term of another store in this one; None where it is more than parameters and blocks."""
        kind, attr = source.kind[term], source.attr[term]
        terms = self.terms
        args = [self.copied(source, arg) for arg in source.args[term]]
        known = [arg for arg in args if arg is not None]
        if len(known) < len(args):
            return None
        if kind in LEAF_KINDS:
            return terms.node(kind, attr, known)
        match kind:
            case "poly":
                new = dict(zip(source.args[term], known, strict=True))
                products = [(terms.product([new[atom] for atom in mono]), coef) for mono, coef in attr]
                return terms.sum(products)
            case "le":
                return terms.le0(known[0])
            case "div":
                return terms.floordiv(known[0], known[1])
            case _:
                return None

    def _copied(self, attempt: Attempt, bound: Sequence[Term | None]) -> list[Term | None]:
        """The arguments in this store. A parameter that is bound to more than that keeps its own symbol."""
        source = attempt.reference.terms
        return [None if term is None else self.copied(source, term) for term in bound]
