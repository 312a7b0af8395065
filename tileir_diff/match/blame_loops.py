"""Which loop is which, and why what they carry or how often they run differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.graph.closed_forms import distance
from tileir_diff.match.blame import Finding
from tileir_diff.match.blame_indices import rounded_otherwise

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tileir_diff.graph.kernel import Carry, Effect, Loop
    from tileir_diff.graph.terms import Term
    from tileir_diff.match.blame import Blame, Op


def loops(blame: Blame, a: Term, b: Term, ref_user: Op, gen_user: Op, depth: int) -> list[Finding]:
    """Two results of loops."""
    from tileir_diff.match.blame_values import unexplained

    terms = blame.terms
    ref = blame.reference.loop_results.get(terms.args[a][0])
    gen = blame.generated.loop_results.get(terms.args[b][0]) or _loop_of(blame, b)
    if ref is None or gen is None:
        return unexplained(blame, a, b, ref_user, gen_user)
    (ref_loop, ref_index), (gen_loop, gen_index) = ref, gen
    found = pair_loops(blame, ref_loop, gen_loop, (ref_index, gen_index), depth)
    lanes_a, lanes_b = terms.args[a][2:], tuple(blame.rename(term) for term in terms.args[b][2:])
    if not found and lanes_a != lanes_b:
        words = blame.both(a, b)
        return blame.one("shape-op/changed", ref_user, gen_user, *words, structural=True)
    return found


def no_trip(blame: Blame, a: Term, b: Term) -> list[Finding]:
    """The result of a loop where the other side has a loop, too, that makes no trip; [] where it has none."""
    kernels = blame.reference, blame.generated
    runs = 0 if blame.terms.kind[a] == "loop_result" else 1
    colour = blame.terms.args[(a, b)[runs]][0]
    entered = _loop_of(blame, b) if runs else None
    loop, _ = entered or kernels[runs].loop_results.get(colour) or (None, 0)
    skipped = kernels[1 - runs].skipped
    if loop is None or loop.trip is None or not skipped:
        return []
    trip = blame.show(loop.trip)
    if runs:
        return blame.one("loop/bounds", skipped[0], loop.op, "0", trip, impact="logic")
    return blame.one("loop/bounds", loop.op, skipped[0], trip, "0", impact="logic")


def _loop_of(blame: Blame, term: Term) -> tuple[Loop, int] | None:
    """The generated loop of a result whose symbols were renamed."""
    colour = blame.terms.args[term][0]
    for other, pair in blame.generated.loop_results.items():
        if blame.rename(other) == colour:
            return pair
    return None


def pair_loops(
    blame: Blame, ref: Loop, gen: Loop, first: tuple[int, int] | None, depth: int
) -> list[Finding]:
    """Take two loops as each other's, and explain what differs between them; [] when that is done already.

    ``first``: indices of two results that are known to be each other's.
    """
    if (ref.uid, gen.uid) in blame.paired:
        blame.told_again = blame.told_again or (ref.uid, gen.uid) in blame.unequal_loops
        return []
    blame.paired.add((ref.uid, gen.uid))
    blame.renamed[gen.iteration] = blame.terms.atom(ref.iteration)
    found = [] if _one_over_tiles(blame, ref, gen) else bounds(blame, ref, gen, depth)
    pairs = match_carries(blame, ref, gen, first)
    for x, y in pairs:
        blame.renamed[y.leaf] = x.leaf
    blame.memo.clear()
    for x, y in pairs:
        found.extend(_starts(blame, ref, gen, (x, y), depth))
    for x, y in pairs:
        found.extend(blame.walk(x.next, y.next, _terminator(ref), _terminator(gen), depth + 1))
    if found:
        blame.unequal_loops.add((ref.uid, gen.uid))
    return found


def _one_over_tiles(blame: Blame, ref: Loop, gen: Loop) -> bool:
    """A loop over the grid, and the same loop taken as one over all tiles; their indices become one.

    The other one was not taken so because its body does not fit: the difference is there.
    """
    terms = blame.terms
    plain, tiles = (gen, ref) if gen.stride is None else (ref, gen)
    if plain.stride is not None or tiles.stride is None or plain.step != blame.rename(tiles.stride):
        return False
    block = _block_index(blame, plain.lower)
    if block is None or plain.upper is None:
        return False
    if distance(terms, terms.zero, blame.rename(plain.upper)) != tiles.trip:
        return False
    if plain is gen:
        blame.renamed[gen.iteration] = terms.zero
        blame.renamed[block] = terms.atom(ref.iteration)
    else:
        tile = terms.add(plain.lower, terms.mul(plain.step, terms.atom(plain.iteration)))
        blame.renamed[gen.iteration] = tile
    return True


def tiles_by_block(blame: Blame, ref: Effect, gen: Effect) -> bool:
    """One side has a loop over all tiles where the other has a block for each; their indices become one."""
    terms = blame.terms
    loops = ref.loops or gen.loops
    kernel, other = (blame.reference, gen) if ref.loops else (blame.generated, ref)
    loop = loops[0]
    if len(loops) != 1 or other.loops or loop.stride is None:
        return False
    block = _block_index(blame, kernel.values.get(loop.op.operands[0]))
    if block is None:
        return False
    if kernel is blame.reference:
        blame.renamed[block] = terms.atom(loop.iteration)
    else:
        blame.renamed[loop.iteration] = terms.atom(block)
    return True


def _block_index(blame: Blame, term: Term | None) -> Term | None:
    """The symbol of the block's index along the axis that ``term`` is."""
    leaves = (blame.terms.leaf("block", axis) for axis in range(3))
    return next((leaf for leaf in leaves if blame.terms.atom(leaf) == term), None)


def _starts(blame: Blame, ref: Loop, gen: Loop, pair: tuple[Carry, Carry], depth: int) -> list[Finding]:
    """What two carried values start from: anew each time, or where the last pass of the loop around ended."""
    a, b = pair[0].init, blame.rename(pair[1].init)
    if _is_carried(blame, a) != _is_carried(blame, b):
        ops = blame.ops(pair[0].init, pair[1].init, ref.op, gen.op)
        return blame.one("accumulator/init", *ops, *blame.both(a, b), impact="logic")
    return blame.walk(pair[0].init, pair[1].init, ref.op, gen.op, depth + 1)


def _is_carried(blame: Blame, term: Term) -> bool:
    return any(blame.terms.kind[symbol] == "carry" for symbol in blame.terms.symbols[term])


def bounds(blame: Blame, ref: Loop, gen: Loop, depth: int) -> list[Finding]:
    """How often the two loops run."""
    if ref.trip is None and gen.trip is None:
        if ref.exit is None or gen.exit is None:
            return []
        if blame.rename(gen.exit) == blame.terms.negate(ref.exit):
            words = blame.both(ref.exit, gen.exit)
            ops = blame.ops(ref.exit, gen.exit, ref.op, gen.op)
            return blame.one("control-flow/exit", *ops, *words, note="leaves where the reference goes on")
        return list(blame.walk(ref.exit, gen.exit, ref.op, gen.op, depth + 1))
    if ref.trip is None or gen.trip is None:
        words = ("until a condition" if loop.trip is None else "counted" for loop in (ref, gen))
        return blame.one("loop/trip-count", ref.op, gen.op, *words, impact="logic")
    trip = blame.rename(gen.trip)
    if ref.trip == trip:
        return []
    rounded = rounded_otherwise(blame, ref.trip, trip)
    if rounded is not None:
        return [Finding(rounded)]
    rule = "loop/trip-count"
    if ref.op.short == gen.op.short == "for":
        stepped = ref.lower == blame.rename(gen.lower) and ref.step != blame.rename(gen.step)
        rule = "loop/step" if stepped else "loop/bounds"
    return blame.one(rule, ref.op, gen.op, *blame.both(ref.trip, trip))


def same_start(blame: Blame, ref: Loop, gen: Loop) -> bool:
    """Whether equal iterations of two loops mean the same, though one loop may go on for longer."""
    if ref.trip is None or gen.trip is None:
        return ref.trip == gen.trip
    if ref.trip == blame.rename(gen.trip) or _one_over_tiles(blame, ref, gen):
        return True
    if _from_data(blame, ref.trip) or _from_data(blame, gen.trip):
        return False
    return ref.lower == blame.rename(gen.lower) and ref.step == blame.rename(gen.step)


def _from_data(blame: Blame, term: Term) -> bool:
    """Whether an integer is made from what is read from memory."""
    work = [term]
    seen: set[Term] = set()
    while work:
        node = work.pop()
        if blame.terms.kind[node] == "mem":
            return True
        if node not in seen:
            seen.add(node)
            work.extend(blame.terms.args[node])
    return False


def match_carries(
    blame: Blame, ref: Loop, gen: Loop, first: tuple[int, int] | None = None
) -> list[tuple[Carry, Carry]]:
    """Carried values that are each other's: by what they are, else by start, type and position."""
    left = [carry for carry in ref.carries if carry.leaf not in ref.closed]
    right = [carry for carry in gen.carries if carry.leaf not in gen.closed]
    pairs: list[tuple[Carry, Carry]] = []

    def level(x: Carry, y: Carry) -> int:
        """How sure it is that two carried values are each other's: 0 is best, 6 is not at all."""
        if first is not None and (x.index, y.index) == first:
            return -1
        if ref.canonical.get(x.leaf) == gen.canonical.get(y.leaf):
            return 0
        if x.type_text != y.type_text:
            return 5 if _size(x.type_text) == _size(y.type_text) else 6
        if x.init == blame.rename(y.init):
            return 1 if x.index == y.index else 2
        return 3 if x.index == y.index else 4

    for limit in range(-1, 6):
        for x in list(left):
            partner = next((y for y in right if level(x, y) <= limit), None)
            if partner is not None:
                pairs.append((x, partner))
                left.remove(x)
                right.remove(partner)
    return pairs


def _size(type_text: str) -> str:
    """A tile type without its dimensions of extent one."""
    return type_text.replace("<1x", "<").replace("x1x", "x")


def _terminator(loop: Loop) -> Op:
    last: Operation | None = loop.op.regions[0].block.last_op
    return loop.op if last is None else last  # type: ignore[return-value]
