"""Tests whether a size is zero, which the comparison settles because something is divided by the size.

A divisor that is a size or a tile count is taken as positive. So a test whether it is has no influence on
any value, on either side: one that only one side makes shows here alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


DIVISIONS = frozenset({"divi", "remi"})


def divisor_tests(
    blame: Blame, attempt: Attempt, told: list[Difference]
) -> tuple[list[Difference], list[str]]:
    """Tests of the reference that the generated side lacks; and what the host must guarantee for others.

    Others are tests of the generated side, and those of sizes that the reference divides by all the same: it
    has no result where they are zero. ``told``: a division that is told to be wrong needs no test.
    """
    terms = blame.terms
    wrong = {
        blame.generated_term(each.generated.op.operands[1])
        for each in told
        if each.generated is not None and each.generated.op.short in DIVISIONS
    }
    ref = attempt.reference.tested
    gen = {blame.rename(test): op for test, op in attempt.generated.tested.items()}
    found: list[Difference] = []
    obligations: list[str] = []
    for test, op in _only(terms, ref, gen).items():
        if _size(terms, test) in wrong:
            continue
        if _size(terms, test) in terms.divided[0]:
            obligations.append(_line(blame, test, op, "reference"))
        else:
            words = blame.show(test), "no test"
            found.append(blame.make("control-flow/size-test", op, None, *words, status="MISSING"))
    obligations.extend(_line(blame, test, op, "generated") for test, op in _only(terms, gen, ref).items())
    return found, obligations


def _only(terms: Terms, tests: Mapping[Term, TileOp], others: Mapping[Term, TileOp]) -> dict[Term, TileOp]:
    """The tests of one side that ask whether a size is zero, and that those of the other do not imply."""
    with terms.certain():
        return {
            test: op
            for test, op in tests.items()
            if _size(terms, test) is not None and not terms.implies(tuple(others), test)
        }


def _size(terms: Terms, test: Term) -> Term | None:
    """What the test asks to be positive, or not zero: one value, that is, no remainder."""
    negated = terms.kind[test] == "not"
    inner = terms.args[test][0] if negated else test
    if terms.kind[inner] != ("eq" if negated else "le"):
        return None
    items = terms.items(terms.args[inner][0])
    constant = next((factor for mono, factor in items if not mono), 0)
    values = [(mono, factor) for mono, factor in items if mono]
    if len(values) != 1 or (constant != 0 if negated else constant <= 0):
        return None
    ((mono, factor),) = values
    return terms.product([terms.atom(atom) for atom in mono]) if negated or factor < 0 else None


def _line(blame: Blame, test: Term, op: TileOp, side: str) -> str:
    return f"{blame.show(test)}: tested by the {side} only, at line {op.span.line}"
