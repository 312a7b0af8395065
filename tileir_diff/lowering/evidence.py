"""`--lower`: both sides through the assembler, and what that says about each finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tileir_diff.bytecode.module import write_module
from tileir_diff.dialect.ir import TileOp
from tileir_diff.errors import InputError
from tileir_diff.lowering.cubin import MEASURES
from tileir_diff.lowering.marks import marked, numbers
from tileir_diff.lowering.outcomes import ACCESSES, MATRIX, Outcome, outcomes
from tileir_diff.lowering.trials import Trial, is_for_others, trial_of
from tileir_diff.match.entries import symbol
from tileir_diff.match.model import Difference, Site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import ModuleOp
    from tileir_diff.lowering.assembler import Assembler
    from tileir_diff.lowering.cubin import Kernel
    from tileir_diff.match.model import Matched
    from tileir_diff.rules.model import Finding

NO_OUTCOME = Outcome()
SHOWN = 3
"""Ops that a sentence names; the report lists all of them."""


class Assembled(NamedTuple):
    """A module as one architecture gets it: its kernels, and what became of each op, by number.

    `failure`: why there is none of it.
    """

    kernels: dict[str, Kernel]
    outcomes: dict[int, Outcome]
    failure: str = ""


class LoweredPair(NamedTuple):
    """A matched operation, and what became of it on each side."""

    reference: Site
    generated: Site
    expected: Outcome
    actual: Outcome


class Lowering(NamedTuple):
    """One pair of entries on one architecture; None for a side that the assembler did not take."""

    arch: str
    version: str
    entries: tuple[str, str]
    reference: Kernel | None
    generated: Kernel | None
    operations: tuple[LoweredPair, ...]


class LoweringEvidence(NamedTuple):
    """What the assembler adds to a comparison."""

    findings: list[Finding]
    """All findings, those about hints and promises with evidence; one that changes the code `matters`."""
    differences: list[Difference]
    """Operations that are lowered otherwise although no finding says why."""
    lowerings: list[Lowering]
    not_checked: list[str]


def lowering_evidence(
    findings: Sequence[Finding],
    matched: Sequence[Matched],
    modules: tuple[ModuleOp, ModuleOp],
    archs: Sequence[str],
    assembler: Assembler,
    paths: tuple[str, str],
) -> LoweringEvidence:
    """Assembles both modules for each architecture, and one trial for each finding about a hint.

    Raises InputError when there is no assembler, or none that knows an architecture.
    """
    result = LoweringEvidence(list(findings), [], [], [])
    for arch in dict.fromkeys(archs):
        sides = [_assembled(module, numbers(module), arch, assembler) for module in modules]
        for path, side in zip(paths, sides, strict=True):
            if side.failure:
                text = f"lowering of {path} for {arch}: tileiras {assembler.version}: {side.failure}"
                result.not_checked.append(text)
        study = _Study(modules, (sides[0], sides[1]), arch, assembler)
        for pair in matched:
            lowering = study.pair(pair)
            result.lowerings.append(lowering)
            if any(side.failure for side in sides):
                continue
            names = (symbol(pair.reference), symbol(pair.generated))
            for index, finding in enumerate(result.findings):
                if finding.impact == "hint" and _about(finding, names):
                    result.findings[index] = study.weigh(finding, pair)
            if not any(each.impact not in ("none", "hint") for each in findings):
                _add(result.differences, study.unexplained(lowering))
    return result


def _about(finding: Finding, names: tuple[str | None, str | None]) -> bool:
    sites = zip((finding.reference, finding.generated), names, strict=True)
    return all(site is None or site.entry.removeprefix("@") == name for site, name in sites)


def _assembled(module: ModuleOp, order: dict[int, int], arch: str, assembler: Assembler) -> Assembled:
    try:
        bytecode = write_module(marked(module, order)).data
    except InputError as error:  # a module that bytecode cannot hold
        return Assembled({}, {}, error.message)
    lowered = assembler.lower(bytecode, arch)
    return Assembled(lowered.kernels, outcomes(lowered.remarks), lowered.failure)


class _Study:
    """Both sides on one architecture."""

    def __init__(
        self,
        modules: tuple[ModuleOp, ModuleOp],
        sides: tuple[Assembled, Assembled],
        arch: str,
        assembler: Assembler,
    ) -> None:
        self.modules = modules
        self.sides = sides
        self.arch = arch
        self.assembler = assembler
        self.orders = (numbers(modules[0]), numbers(modules[1]))
        self.explained: set[int] = set()
        """Ops, by id, whose lowering a finding explains."""

    @property
    def by(self) -> str:
        return f"tileiras {self.assembler.version}"

    def pair(self, matched: Matched) -> Lowering:
        """The table of one pair of entries."""
        names = (symbol(matched.reference) or "", symbol(matched.generated) or "")
        kernels = [side.kernels.get(name) for side, name in zip(self.sides, names, strict=True)]
        operations: list[LoweredPair] = []
        for ours, theirs in (*matched.operations, *_products(matched)):
            expected, actual = self._outcome(0, ours), self._outcome(1, theirs)
            if expected != NO_OUTCOME or actual != NO_OUTCOME:
                sites = Site(ours, names[0]), Site(theirs, names[1])
                operations.append(LoweredPair(*sites, expected, actual))
        return Lowering(self.arch, self.assembler.version, names, kernels[0], kernels[1], tuple(operations))

    def _outcome(self, side: int, op: TileOp) -> Outcome:
        return self.sides[side].outcomes.get(self.orders[side].get(id(op), 0), NO_OUTCOME)

    def weigh(self, finding: Finding, matched: Matched) -> Finding:
        """The finding with what this architecture says of it."""
        if is_for_others(finding, self.arch):
            return _with(finding, f"neither side has such a hint for {self.arch}")
        trial = trial_of(finding, matched, self.modules, self.arch)
        if trial is None:
            return self._by_remarks(finding)
        side = 0 if trial.side == "reference" else 1
        entry = (matched.reference, matched.generated)[side]
        changed = _assembled(trial.module, trial.order, self.arch, self.assembler)
        if changed.failure:
            return _with(finding, f"not settled for {self.arch}: {trial.change} {self.by}: {changed.failure}")
        name = symbol(entry) or ""
        before, after = self.sides[side].kernels.get(name), changed.kernels.get(name)
        if before is None or after is None:
            return _with(finding, f"not settled for {self.arch}: the cubin does not tell this kernel")
        if before == after:
            return _with(
                finding,
                f"{self.by} lowers both alike for {self.arch}: {trial.change} the {trial.side} kernel "
                "has the same machine code",
            )
        moved = self._moved(side, entry, changed)
        self.explained |= {id(op) for op, _, _ in moved}
        return _with(
            finding, f"{self.by} for {self.arch}: {self._told(trial, before, after, moved)}", matters=True
        )

    def _moved(self, side: int, entry: TileOp, changed: Assembled) -> list[tuple[TileOp, Outcome, Outcome]]:
        """Ops of an entry that became something else: before, and after the change."""
        found: list[tuple[TileOp, Outcome, Outcome]] = []
        for op in entry.walk():
            if isinstance(op, TileOp):
                before = self._outcome(side, op)
                after = changed.outcomes.get(self.orders[side][id(op)], NO_OUTCOME)
                if before != after:
                    found.append((op, before, after))
        return found

    def _told(
        self, trial: Trial, before: Kernel, after: Kernel, moved: list[tuple[TileOp, Outcome, Outcome]]
    ) -> str:
        """What a change does, the assembler's own words first."""
        parts = [
            f"the {op.short} at line {op.span.line} is {new}, and is now {old}"
            for op, old, new in moved[:SHOWN]
        ]
        if len(moved) > SHOWN:
            parts.append(f"and {len(moved) - SHOWN} more ops")
        parts += [f"{name} {new}{unit}, now {old}{unit}" for name, unit, old, new in measures(before, after)]
        if not parts:
            parts = [f"other machine code of the same size, {before.code_bytes} bytes"]
        return f"{trial.change} in the {trial.side} kernel {'; '.join(parts)}"

    def _by_remarks(self, finding: Finding) -> Finding:
        """A finding that cannot be taken back alone: what became of the two ops."""
        if finding.reference is None or finding.generated is None:
            return finding
        ours, theirs = finding.reference.op, finding.generated.op
        expected, actual = self._outcome(0, ours), self._outcome(1, theirs)
        silent = next((op for op in (ours, theirs) if op.short not in (*ACCESSES, *MATRIX)), None)
        if silent is not None and not (expected.tma or actual.tma):
            text = f"not settled for {self.arch}: {self.by} says nothing of how a {silent.short} is lowered"
            return _with(finding, text)
        if expected == actual:
            return _with(finding, f"{self.by} lowers both alike for {self.arch}: {expected}")
        self.explained.add(id(theirs))
        text = f"{self.by} for {self.arch}: {_said(ours, expected)} in the reference, {_said(theirs, actual)}"
        return _with(finding, text, matters=True)

    def unexplained(self, lowering: Lowering) -> list[Difference]:
        """Operations that become other instructions, where no finding says why."""
        found: list[Difference] = []
        for pair in lowering.operations:
            silent = any(
                site.op.short not in (*ACCESSES, *MATRIX) for site in (pair.reference, pair.generated)
            )
            if pair.expected.chosen == pair.actual.chosen or id(pair.generated.op) in self.explained:
                continue
            if silent and not (pair.expected.tma or pair.actual.tma):
                continue
            kind = "tensor-core" if pair.generated.op.short in MATRIX else "instruction"
            words = _said(pair.reference.op, pair.expected), _said(pair.generated.op, pair.actual)
            note = f"{self.by} for {self.arch}"
            found.append(Difference(f"lowering/{kind}", pair.reference, pair.generated, *words, note=note))
        return found


def measures(before: Kernel, after: Kernel) -> list[tuple[str, str, int, int]]:
    """What differs between two kernels in numbers: its name, its unit, both values."""
    fields = before._asdict(), after._asdict()
    return [
        (name, unit, fields[0][field], fields[1][field])
        for field, name, unit in MEASURES
        if fields[0][field] != fields[1][field]
    ]


def _said(op: TileOp, outcome: Outcome) -> str:
    if outcome == NO_OUTCOME and op.short not in (*ACCESSES, *MATRIX):
        return "an access through pointers"
    return str(outcome)


def _add(differences: list[Difference], found: list[Difference]) -> None:
    """Adds what another architecture says; of the same two ops it is one more sentence."""
    for new in found:
        for index, old in enumerate(differences):
            if (old.reference, old.generated) == (new.reference, new.generated):
                note = f"{old.note}; {new.note}: {new.expected} in the reference, {new.actual}"
                differences[index] = replace(old, note=note)
                break
        else:
            differences.append(new)


def _with(finding: Finding, text: str, *, matters: bool = False) -> Finding:
    evidence = f"{finding.evidence}; {text}" if finding.evidence else text
    return finding._replace(evidence=evidence, matters=finding.matters or matters)


def _products(matched: Matched) -> list[tuple[TileOp, TileOp]]:
    """Matrix products in order, where both sides have as many of each kind."""
    ours, theirs = (
        [op for op in entry.walk() if isinstance(op, TileOp) and op.short in MATRIX]
        for entry in (matched.reference, matched.generated)
    )
    if [op.short for op in ours] != [op.short for op in theirs]:
        return []
    return list(zip(ours, theirs, strict=True))
