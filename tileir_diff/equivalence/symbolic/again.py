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

LEAF_KINDS = frozenset({"poly", "arg", "fc", "true", "false"})
"""Kinds of terms that stand for arguments."""


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
        for evaluator in evaluators:
            evaluator.blocks = tuple(
                None if None in sizes else max(size for size in sizes if size is not None)
                for sizes in zip(*grids, strict=True)
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
        """A term of another store in this one; None where it is more than parameters, blocks and numbers."""
        kind, attr = source.kind[term], source.attr[term]
        if kind not in LEAF_KINDS and kind not in ("block", "grid", "le"):
            return None
        args = [self.copied(source, arg) for arg in source.args[term]]
        if any(arg is None for arg in args):
            return None
        new = dict(zip(source.args[term], args, strict=True))
        if kind == "poly":
            terms = self.terms
            products = [
                (terms.product([arg for atom in mono if (arg := new[atom]) is not None]), coef)
                for mono, coef in attr
            ]
            return terms.sum(products)
        if kind == "le":
            (inner,) = args
            return None if inner is None else self.terms.le0(inner)
        return self.terms.node(kind, attr, [arg for arg in args if arg is not None])

    def _copied(self, attempt: Attempt, bound: Sequence[Term | None]) -> list[Term | None]:
        """The arguments in this store. A parameter that is bound to more than that keeps its own symbol."""
        source = attempt.reference.terms
        return [None if term is None else self.copied(source, term) for term in bound]
