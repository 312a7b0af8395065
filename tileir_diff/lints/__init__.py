"""Lints: what is legal in one dump alone, and has bitten people.

One module a lint. Each module's docstring is the only source of its page, which `explain lint/<name>` prints.
The table below is explicit and sorted; modules load when they are first needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from tileir_diff.lints.model import MESSAGE_LIMIT, PREFIX, SEVERITIES, Hit, Lint, LintFinding, shorten

if TYPE_CHECKING:
    from tileir_diff.dialect.ir import ModuleOp, TileOp
    from tileir_diff.lints.facts import EntryFacts

__all__ = [
    "LINTS",
    "MESSAGE_LIMIT",
    "NEEDS_NORMAL_FORM",
    "PREFIX",
    "SEVERITIES",
    "Hit",
    "Lint",
    "LintFinding",
    "lint_entry",
    "lint_module",
    "lint_of",
]

LINTS: dict[str, str] = {
    "additive-mask": "tileir_diff.lints.additive_mask",
    "dead-load": "tileir_diff.lints.dead_load",
    "dead-mask": "tileir_diff.lints.dead_mask",
    "divisor-too-large": "tileir_diff.lints.divisor_too_large",
    "double-transpose": "tileir_diff.lints.double_transpose",
    "empty-loop": "tileir_diff.lints.empty_loop",
    "extract-range": "tileir_diff.lints.extract_range",
    "false-promise": "tileir_diff.lints.false_promise",
    "half-accumulator": "tileir_diff.lints.half_accumulator",
    "identity-not-neutral": "tileir_diff.lints.identity_not_neutral",
    "ignored-hint": "tileir_diff.lints.ignored_hint",
    "latency-in-persistent-loop": "tileir_diff.lints.latency_in_persistent_loop",
    "mask-as-factor": "tileir_diff.lints.mask_as_factor",
    "mixed-access": "tileir_diff.lints.mixed_access",
    "padding-not-neutral": "tileir_diff.lints.padding_not_neutral",
    "padding-not-representable": "tileir_diff.lints.padding_not_representable",
    "size-promise": "tileir_diff.lints.size_promise",
    "surplus-carry": "tileir_diff.lints.surplus_carry",
    "tma-impossible": "tileir_diff.lints.tma_impossible",
    "undetermined-lanes": "tileir_diff.lints.undetermined_lanes",
    "undetermined-store": "tileir_diff.lints.undetermined_store",
    "unmasked-store": "tileir_diff.lints.unmasked_store",
    "unordered-accesses": "tileir_diff.lints.unordered_accesses",
    "zero-divisor": "tileir_diff.lints.zero_divisor",
}

NEEDS_NORMAL_FORM: frozenset[str] = frozenset(
    {
        "additive-mask",
        "padding-not-neutral",
        "undetermined-lanes",
        "undetermined-store",
        "unmasked-store",
        "unordered-accesses",
    }
)
"""Lints that say nothing about an entry that cannot be brought to normal form."""


def lint_of(name: str) -> Lint | None:
    """The lint with this name, with or without `lint/`; None if there is none."""
    path = LINTS.get(name.removeprefix(PREFIX))
    return None if path is None else cast("Lint", import_module(path))


def lint_module(module: ModuleOp) -> list[LintFinding]:
    """All findings in a parsed and verified module, by position, then rule."""
    return [finding for entry in module.entries for finding in lint_entry(entry)]


def lint_entry(entry: TileOp, facts: EntryFacts | None = None) -> list[LintFinding]:
    """The findings in one entry. `facts` may be given where they are known already."""
    if facts is None:
        from tileir_diff.lints.facts import EntryFacts

        facts = EntryFacts(entry)
    found: dict[tuple[str, TileOp, str], LintFinding] = {}
    for name in LINTS:
        lint = lint_of(name)
        assert lint is not None  # the name comes from the table
        for hit in lint.check(facts):
            severity = hit.severity or lint.SEVERITY
            finding = LintFinding(PREFIX + name, severity, hit.op, facts.name, shorten(hit.message), hit.fix)
            found.setdefault((name, hit.op, hit.message), finding)
    return sorted(
        found.values(), key=lambda finding: (finding.line, finding.column, finding.rule, finding.message)
    )


def skipped(facts: EntryFacts) -> list[str]:
    """Rules that said nothing about an entry because its normal form is not known."""
    return [PREFIX + name for name in LINTS if name in NEEDS_NORMAL_FORM] if facts.kernel is None else []
