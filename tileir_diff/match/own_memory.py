"""Memory that a kernel brings itself, allocations of a block and globals: alignment, and who may write."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from tileir_diff.dialect.ir import TileOp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.dialect.attributes import DenseElements
    from tileir_diff.graph.kernel import Kernel
    from tileir_diff.graph.terms import Term, Terms
    from tileir_diff.match.blame import Blame
    from tileir_diff.match.model import Difference
    from tileir_diff.match.search import Attempt


READ_ONLY, WRITABLE = "constant", "writable"


def own_memory(blame: Blame, attempt: Attempt) -> Iterator[Difference]:
    """Memory that is aligned less than in the reference, more is no difference; globals that only one side
    takes as never written."""
    theirs = _own_memory(attempt.generated)
    accessed = {array for effect in attempt.generated.effects for array in effect.arrays}
    for term, (ref_op, ref_source) in _own_memory(attempt.reference).items():
        if term not in theirs:
            continue
        gen_op, gen_source = theirs[term]
        wanted, given = (source.get("alignment") or 0 for source in (ref_source, gen_source))
        if given < wanted:
            words = (f"alignment = {size}" if size else "no alignment" for size in (wanted, given))
            yield blame.make("divisibility/weaker", ref_op, gen_op, *words)
        kept, promised = (bool(source.get("constant")) for source in (ref_source, gen_source))
        if kept != promised and term in accessed:
            rule = "constant/read-only" if promised else "constant/writable"
            words = (READ_ONLY if each else WRITABLE for each in (kept, promised))
            yield blame.make(rule, ref_op, gen_op, *words)


def other_table(blame: Blame, a: Term, b: Term) -> Difference | None:
    """Two addresses in globals that differ in one value, as a difference of this value.

    Also two that are made of what is read there, and of globals of one name that differ in several values.
    """
    tables = _tables(blame, a, b)
    if tables is None:
        return None
    values = [op.get("value") for op in tables]
    if (values[0].element, values[0].shape) != (values[1].element, values[1].shape):
        return None
    size = prod(values[0].shape)
    numbers = [_elements(value, size) for value in values]
    others = [at for at, (x, y) in enumerate(zip(*numbers, strict=True)) if x != y]
    if not others or (len(others) > 1 and tables[0].get("sym_name") != tables[1].get("sym_name")):
        return None
    expected, actual = (f"{each[others[0]]} as element {others[0]}" for each in numbers)
    note = f"{len(others)} of {size} elements differ" if len(others) > 1 else ""
    return blame.make("constant/value", *tables, expected, actual, part="value", note=note)


def _elements(value: DenseElements, size: int) -> tuple[int, ...] | tuple[float, ...]:
    """All elements, also where they are written as one."""
    found = value.ints() if value.element.is_int else value.floats()
    return found * (size // len(found))


def _tables(blame: Blame, a: Term, b: Term) -> tuple[TileOp, TileOp] | None:
    """The globals in which two addresses differ; None where they differ in anything else."""
    terms = blame.terms
    sides: list[dict[Term, TileOp]] = []
    for kernel in (blame.reference, blame.generated):
        known = ((terms.single(each), source) for each, (_, source) in _own_memory(kernel).items())
        tables = ((leaf, op) for leaf, op in known if op.short == "global" and op.get("value") is not None)
        sides.append({leaf: op for leaf, op in tables if leaf is not None})
    found: set[tuple[Term, Term]] = set()
    work, seen = [(a, b)], {(a, b)}
    while work:
        x, y = work.pop()
        if x == y:
            continue
        if x in sides[0] and y in sides[1]:
            found.add((x, y))
            continue
        inner = _inner(terms, x, y)
        if inner is None:
            return None
        work.extend(pair for pair in inner if pair not in seen)
        seen.update(inner)
    ((ours, theirs),) = found if len(found) == 1 else ((None, None),)
    return None if ours is None or theirs is None else (sides[0][ours], sides[1][theirs])


def _inner(terms: Terms, x: Term, y: Term) -> list[tuple[Term, Term]] | None:
    """The parts of two terms that have to be equal for them to be; None where they are not alike."""
    if "poly" in (terms.kind[x], terms.kind[y]):
        one, other = set(terms.items(x)), set(terms.items(y))
        left, right = sorted(one - other), sorted(other - one)
        if len(left) != 1 or len(right) != 1 or left[0][1] != right[0][1]:
            return None
        atoms = [
            Counter(mono) - Counter(its) for (mono, _), (its, _) in ((left[0], right[0]), (right[0], left[0]))
        ]
        first, second = (list(each.elements()) for each in atoms)
        return [(first[0], second[0])] if len(first) == len(second) == 1 else None
    if (terms.kind[x], terms.attr[x], len(terms.args[x])) != (
        terms.kind[y],
        terms.attr[y],
        len(terms.args[y]),
    ):
        return None
    return list(zip(terms.args[x], terms.args[y], strict=True)) or None


def _own_memory(kernel: Kernel) -> dict[Term, tuple[TileOp, TileOp]]:
    """By address the op that gives it, and the op that defines the memory."""
    found: dict[Term, tuple[TileOp, TileOp]] = {}
    for op in kernel.ops:
        if op.short in ("alloca", "get_global"):
            source = op if op.short == "alloca" else _definition(op, kernel.entry)
            address = kernel.values.get(op.results[0])
            if source is not None and isinstance(address, int):
                found.setdefault(address, (op, source))
    return found


def _definition(op: TileOp, entry: TileOp) -> TileOp | None:
    """The global that the op gives the address of."""
    module = entry.parent_op()
    others = module.inner() if isinstance(module, TileOp) else ()
    name = op.get("sym_name")
    return next((each for each in others if each.short == "global" and each.get("sym_name") == name), None)
