"""Rules: what a difference means, how bad it is, and how to fix it.

One module a family. Each module's docstring is the only source of its page in docs/rules.
The table below is explicit and sorted, so that its order can be reviewed; modules load when they are first
needed.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from tileir_diff.rules.model import IMPACTS, STATUSES, Detail, Family, Finding
from tileir_diff.rules.render import instruction, message, sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.match.model import Difference

FAMILIES: dict[str, str] = {
    "accumulator": "tileir_diff.rules.accumulator",
    "addressing": "tileir_diff.rules.addressing",
    "arithmetic": "tileir_diff.rules.arithmetic",
    "atomic": "tileir_diff.rules.atomic",
    "bounds": "tileir_diff.rules.bounds",
    "constant": "tileir_diff.rules.constant",
    "control-flow": "tileir_diff.rules.control_flow",
    "conversion": "tileir_diff.rules.conversion",
    "dead-code": "tileir_diff.rules.dead_code",
    "debug-op": "tileir_diff.rules.debug_op",
    "dim-map": "tileir_diff.rules.dim_map",
    "divisibility": "tileir_diff.rules.divisibility",
    "element-type": "tileir_diff.rules.element_type",
    "entry-hint": "tileir_diff.rules.entry_hint",
    "entry-signature": "tileir_diff.rules.entry_signature",
    "float-mode": "tileir_diff.rules.float_mode",
    "grid": "tileir_diff.rules.grid",
    "integer-mode": "tileir_diff.rules.integer_mode",
    "latency-hint": "tileir_diff.rules.latency_hint",
    "launch": "tileir_diff.rules.launch",
    "loop": "tileir_diff.rules.loop",
    "lowering": "tileir_diff.rules.lowering",
    "mask": "tileir_diff.rules.mask",
    "memory-family": "tileir_diff.rules.memory_family",
    "memory-order": "tileir_diff.rules.memory_order",
    "mma": "tileir_diff.rules.mma",
    "padding": "tileir_diff.rules.padding",
    "reduction": "tileir_diff.rules.reduction",
    "runtime-check": "tileir_diff.rules.runtime_check",
    "scan": "tileir_diff.rules.scan",
    "semantics": "tileir_diff.rules.semantics",
    "shape-op": "tileir_diff.rules.shape_op",
    "stride": "tileir_diff.rules.stride",
    "tile-shape": "tileir_diff.rules.tile_shape",
    "tma-hint": "tileir_diff.rules.tma_hint",
    "token-order": "tileir_diff.rules.token_order",
}

NO_OPINION = Detail(
    impact="logic",
    message="{op}: {actual} where the reference has {expected}",
    effect="not classified: taken as able to change ordinary results until shown otherwise",
    fix="make the generated kernel{at} read like the reference",
)
"""For a detail that its family does not list. Unknown is loud: the worst impact."""


CUT_OFF = Detail(
    impact="logic",
    message="differs from the reference in a part that is not shown: {actual}",
    effect="",
    fix="compare the two lines{at}: what differs stands deeper in their operands",
)
"""Message and fix for two values that read alike: a sentence that contrasts them would puzzle."""


def family(name: str) -> Family | None:
    """The family's module, None for a name that is not in the table."""
    path = FAMILIES.get(name)
    return None if path is None else cast("Family", import_module(path))


def detail_of(rule: str) -> Detail:
    """The table entry of `family/detail`, or the one for what is not listed."""
    name, _, detail = rule.partition("/")
    module = family(name)
    return NO_OPINION if module is None else module.DETAILS.get(detail, NO_OPINION)


def finding(difference: Difference, front_end: str = "") -> Finding:
    """What `difference` means.

    `front_end` of the generated side ("cutile-rust", ...) selects the wording of the fix.
    The comparison's own impact wins over the rule's; an impact or a status off the scale becomes the worst
    one.
    """
    name = difference.rule.partition("/")[0]
    module = family(name)
    judge = getattr(module, "judge", None)
    detail = (judge(difference) if judge is not None else None) or detail_of(difference.rule)
    said = _in_words(difference, getattr(module, "words", None))
    if difference.actual and difference.actual == difference.expected:
        detail = detail._replace(message=CUT_OFF.message, fix=CUT_OFF.fix, fixes=CUT_OFF.fixes)
    impact = difference.impact or detail.impact
    return Finding(
        rule=difference.rule,
        impact=impact if impact in IMPACTS else "logic",
        status=difference.status if difference.status in STATUSES else "DIFFERS",
        reference=difference.reference,
        generated=difference.generated,
        expected=difference.expected,
        actual=difference.actual,
        message=message(detail.message, said),
        effect=sentence(detail.effect, said),
        fix=instruction(detail.fixes.get(front_end, detail.fix), said),
        evidence=difference.note,
        also=difference.also,
        cause=detail.cause,
    )


def _in_words(difference: Difference, words: Callable[[str, str], str] | None) -> Difference:
    """The difference with its two values as they read in a sentence."""
    if words is None:
        return difference
    detail = difference.rule.partition("/")[2]
    return replace(
        difference, expected=words(detail, difference.expected), actual=words(detail, difference.actual)
    )
