"""Accesses of the reference whose counterpart is there, but can never take place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.ir import TileOp
from tileir_diff.match.canonical import aligned, canonical
from tileir_diff.match.effects import EffectPair

if TYPE_CHECKING:
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.canonical import CanonicalEffect
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


def never_reached(blame: Blame, attempt: Attempt, item: CanonicalEffect) -> list[Difference]:
    """Why the generated side's access never takes place; [] where there is none like ``item``."""
    match = attempt.match
    taken = {id(pair.generated.effect.op) for pair in (*match.pairs, *match.loads)}
    taken |= {id(other.effect.op) for other in (*match.only_generated, *match.lone_loads[1])}
    effects = {id(effect.op): effect for effect in attempt.generated.effects}
    for op in attempt.generated.entry.walk():
        if not isinstance(op, TileOp) or op.short != item.effect.op.short or id(op) in taken:
            continue
        effect = effects.get(id(op))
        if effect is None:
            return _around(blame, item, op)
        if (effect.element, effect.base) == (item.effect.element, item.effect.base):
            from tileir_diff.match.explain_pair import explain_pair

            other = aligned(blame.terms, item, canonical(attempt.generated, effect))
            return explain_pair(blame, EffectPair(item, other, False))
    return []


def _around(blame: Blame, item: CanonicalEffect, op: TileOp) -> list[Difference]:
    """The loop or branch around an access that is never entered."""
    entered = {id(loop.op) for loop in blame.generated.loops}
    above: Any = op.parent_op()
    while isinstance(above, TileOp) and (above.short not in ("for", "loop", "if") or id(above) in entered):
        above = above.parent_op()
    if not isinstance(above, TileOp) or above.short not in ("for", "loop", "if"):
        return []
    ref = item.effect.loops[-1].op if item.effect.loops else item.effect.op
    if above.short == "if":
        return [blame.make("control-flow/condition", item.effect.op, above, "reached", "never reached")]
    words = blame.show(item.trips[-1]) if item.trips else "1", "0"
    return [blame.make("loop/bounds", ref, above, *words)]
