"""One finding taken back: the kernel as it would be with the hint or the promise of the other side.

Whether the assembler makes other code of it says whether the finding matters, whatever else differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from xdsl.ir import BlockArgument

from tileir_diff.dialect.attributes import Bounded, DivBy, value
from tileir_diff.dialect.ir import TileOp, op_class, replace_uses
from tileir_diff.lowering.marks import numbers
from tileir_diff.match.hints import DEFAULTS, compare_hints, effective

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tileir_diff.dialect.attributes import Assumption
    from tileir_diff.dialect.ir import ModuleOp
    from tileir_diff.match.model import Matched
    from tileir_diff.rules.model import Finding


class Trial(NamedTuple):
    """A changed copy of one side's module.

    `order`: the number that each op of the copy has in the module, by `id`; ops that were added have none.
    """

    side: str
    module: ModuleOp
    order: dict[int, int]
    change: str
    """What was changed, as it stands behind a comma: "with latency = 3"."""


def trial_of(
    finding: Finding, matched: Matched, modules: tuple[ModuleOp, ModuleOp], arch: str
) -> Trial | None:
    """The trial of a finding for one architecture; None where the finding is no hint and no promise."""
    if finding.family.endswith("-hint"):
        return _hint(finding, modules[1], arch)
    if finding.family in ("divisibility", "bounds") and finding.reference is not None:
        if finding.reference.op.short != "assume":
            return None
        return _promised(finding, matched, modules[1]) or _unpromised(finding, modules[0])
    return None


def is_for_others(finding: Finding, arch: str) -> bool:
    """Whether a finding is about a hint that neither side gives for this architecture."""
    key = _key(finding) if finding.family.endswith("-hint") else None
    if key is None or finding.reference is None or finding.generated is None:
        return False
    sides: list[Any] = [site.op.get("hints") or {} for site in (finding.reference, finding.generated)]
    return all(key not in effective(hints, arch) for hints in sides)


def _key(finding: Finding) -> str | None:
    """The hint that a finding is about."""
    if finding.reference is None or finding.generated is None:
        return None
    ours: Any = finding.reference.op.get("hints") or {}
    theirs: Any = finding.generated.op.get("hints") or {}
    for rule, key, expected, actual in compare_hints(ours, theirs):
        if (rule, expected, actual) == (finding.rule, finding.expected, finding.actual):
            return key
    return None


def _hint(finding: Finding, module: ModuleOp, arch: str) -> Trial | None:
    """The generated op with the reference's value of the one hint that the finding is about."""
    if finding.reference is None or finding.generated is None:
        return None
    ours: Any = finding.reference.op.get("hints") or {}
    theirs: Any = finding.generated.op.get("hints") or {}
    key = _key(finding)
    if key is None:
        return None
    wanted = effective(ours, arch).get(key, DEFAULTS.get(key))
    hints = effective(theirs, arch)
    hints.pop(key, None)
    if wanted is not None:
        hints[key] = wanted
    copy, order, op = _copied(module, finding.generated.op)
    op.properties.pop("hints", None)
    if hints:
        op.properties["hints"] = value(((arch, tuple(sorted(hints.items()))),))
    shown = str(wanted).lower() if isinstance(wanted, bool) else wanted
    return Trial("generated", copy, order, f"without {key}" if wanted is None else f"with {key} = {shown}")


def _promised(finding: Finding, matched: Matched, module: ModuleOp) -> Trial | None:
    """The generated kernel with the reference's promise about the parameter that stands for its own."""
    assert finding.reference is not None  # the caller has looked
    assumption: Assumption = finding.reference.op.get("assumption")
    root = _root(finding.reference.op.operands[0])
    if not isinstance(root, BlockArgument) or root.block is not matched.reference.regions[0].block:
        return None
    partners = [theirs for theirs, ours in matched.parameters.items() if ours == root.index]
    if not partners:
        return None
    copy, order, entry = _copied(module, matched.generated)
    block = entry.regions[0].block
    for index in sorted(partners):
        parameter = block.args[index]
        _strengthen(entry, parameter, assumption)
        promise = op_class("assume").build([[parameter]], [parameter.type], {"assumption": value(assumption)})
        first = block.first_op
        assert first is not None  # a kernel has a terminator
        replace_uses(parameter, promise.results[0])
        promise.operands[0] = parameter
        block.insert_op_before(promise, first)
    return Trial("generated", copy, order, f"with {assumption}")


def _strengthen(entry: TileOp, parameter: SSAValue, assumption: Assumption) -> None:
    """Weaker promises about a parameter say as much: the assembler goes by the last one."""
    for op in entry.walk():
        if (
            isinstance(op, TileOp)
            and op.short == "assume"
            and _root(op.operands[0]) is parameter
            and _implies(assumption, op.get("assumption"))
        ):
            op.properties["assumption"] = value(assumption)


def _unpromised(finding: Finding, module: ModuleOp) -> Trial | None:
    """The reference without its promise, and without the others that say it of the same value."""
    assert finding.reference is not None  # the caller has looked
    promise = finding.reference.op
    assumption: Assumption = promise.get("assumption")
    if not isinstance(assumption, DivBy | Bounded):
        return None
    root = _root(promise.operands[0])
    same = [
        op
        for op in module.walk()
        if isinstance(op, TileOp)
        and op.short == "assume"
        and _implies(op.get("assumption"), assumption)
        and _root(op.operands[0]) is root
    ]
    copy, order, _ = _copied(module, promise)
    copies = {number: op for op, number in ((op, order[id(op)]) for op in copy.walk())}
    own = numbers(module)
    for op in same:
        dropped = cast("TileOp", copies[own[id(op)]])
        replace_uses(dropped.results[0], dropped.operands[0])
        dropped.detach()
        dropped.drop_all_references()
    return Trial("reference", copy, order, f"without {assumption}")


def _implies(one: Assumption, other: Assumption) -> bool:
    """Whether a promise says all that the other says."""
    if isinstance(one, DivBy) and isinstance(other, DivBy):
        return (one.every, one.along) == (other.every, other.along) and one.divisor % other.divisor == 0
    return one == other


def _root(given: SSAValue) -> SSAValue:
    """The value behind promises about it."""
    while isinstance(given.owner, TileOp) and given.owner.short == "assume":
        given = given.owner.operands[0]
    return given


def _copied(module: ModuleOp, op: TileOp) -> tuple[ModuleOp, dict[int, int], TileOp]:
    """A copy of the module, the number of each of its ops, and the copy of one op."""
    copy = module.clone()
    number = numbers(module)[id(op)]
    ops: list[Operation] = list(copy.walk())
    return copy, {id(each): at for at, each in enumerate(ops, 1)}, cast("TileOp", ops[number - 1])
