"""A cause that shows only once what was found is weighed: a wrong launch, while the kernels are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.match.compare import compare
from tileir_diff.rules import finding
from tileir_diff.rules.model import impact_rank

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp
    from tileir_diff.match.model import CompareOptions, Comparison
    from tileir_diff.rules.model import Finding

SERIOUS = impact_rank("edge")


def compared(reference: ModuleOp, generated: ModuleOp, options: CompareOptions) -> Comparison:
    """The comparison of two modules; where only the launch is wrong, that stands in place of what follows.

    Raises InputError as `tileir_diff.match.compare.compare`.
    """
    comparison = compare(reference, generated, options)
    if options.launch is not None and _differ(comparison):
        from tileir_diff.match.wrong_launch import wrong_launch

        roots = wrong_launch(reference, generated, options, _differ)
        if roots:
            rest = [each for each in comparison.differences if not _serious(finding(each))]
            comparison.differences = [*roots, *rest]
    return comparison


def _differ(comparison: Comparison) -> bool:
    """Whether something serious differs.

    Promises of divisors do not count: they come from the launch that a kernel was specialised for.
    """
    found = map(finding, comparison.differences)
    return any(_serious(each) and each.family != "divisibility" for each in found)


def _serious(found: Finding) -> bool:
    return impact_rank(found.impact) >= SERIOUS
