"""A reduction of reductions as one over all elements, where the order of elements means nothing.

So it is for the largest and smallest number, for sums of integers, which wrap, and for bits, and where the
identity is neutral: however often it is taken, nothing changes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tileir_diff.graph.formats import decode

if TYPE_CHECKING:
    from tileir_diff.graph.terms import Term, Terms

BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
CLOSED = frozenset({"reduce", "mma", "reinterpret", "colour"})
"""What has indices of its own inside."""
MAX_NODES = 1000


def flattened(terms: Terms, attr: tuple[Any, ...], combine: Term, body: Term, along: Term) -> Term | None:
    """A reduction of ``body`` over ``along``, where the body is the same reduction; None elsewhere."""
    inner, outer = terms.single(body), terms.single(along)
    if inner is None or outer is None or terms.kind[inner] != "reduce" or attr[0] != "reduce":
        return None
    name, index, count, identities, *_ = attr
    _, _, extent, *_ = terms.attr[inner]
    if terms.attr[inner] != (name, index, extent, *attr[3:]) or terms.args[inner][:-1] != (combine,):
        return None
    element = terms.args[inner][-1]
    own = terms.bound(terms.attr[outer][0] - 1, extent)
    if own not in terms.symbols[element] or _size(terms, element) is None:
        return None
    if not _in_any_order(terms, combine, *identities[0]):
        return None
    place = terms.atom(terms.bound(terms.attr[own][0], extent * count))
    best: tuple[tuple[int, int], Term] | None = None
    for fast, slow, size in ((own, outer, extent), (outer, own, count)):
        step = terms.const(size)
        way = terms.subst(element, {fast: terms.mod(place, step), slow: terms.floordiv(place, step)})
        key = _size(terms, way) or MAX_NODES, size
        if best is None or key < best[0]:
            best = key, way
    assert best is not None
    return terms.node("reduce", (name, index, extent * count, *attr[3:]), (combine, best[1]))


def _size(terms: Terms, term: Term) -> int | None:
    """How many nodes and summands a term has; None where something in it has indices of its own."""
    seen = {term}
    work = [term]
    size = 0
    while work:
        node = work.pop()
        if terms.kind[node] in CLOSED or len(seen) > MAX_NODES:
            return None
        size += len(terms.items(node))
        work.extend(arg for arg in terms.args[node] if arg not in seen)
        seen.update(terms.args[node])
    return size


def _in_any_order(terms: Terms, combine: Term, element: str, identity: int) -> bool:
    """Whether a body of two values gives the same in any order, and the identity changes nothing."""
    node = terms.single(combine)
    if element in BITS:
        top = 1 << (BITS[element] - 1)
        neutral = _neutral_integers(terms, combine, BITS[element])
        return neutral is not None and (identity - neutral) % (2 * top) == 0
    if node is None or terms.kind[node] != "f" or not _both(terms, terms.args[node]):
        return False
    least = {"maxf": -math.inf, "minf": math.inf}.get(terms.attr[node][0])
    return least is not None and decode(element, identity) == least


def _neutral_integers(terms: Terms, combine: Term, bits: int) -> int | None:
    """The neutral number of a body on integers of so many bits; None where it is of no such op."""
    node = terms.single(combine)
    if node is None:
        return None
    kind, args = terms.kind[node], terms.args[node]
    if kind == "wrap":
        return 0 if terms.attr[node][0] == bits and _is_sum(terms, args[0]) else None
    if not _both(terms, args):
        return None
    top = 1 << (bits - 1)
    if kind == "iop":
        unsigned = {"maxi": 0, "mini": -1} if len(terms.attr[node]) > 2 else {}
        return {"andi": -1, "ori": 0, "xori": 0, **unsigned}.get(terms.attr[node][1])
    return {"max": -top, "min": top - 1, "and": 1, "or": 0}.get(kind)


def _is_sum(terms: Terms, term: Term) -> bool:
    return all(coef == 1 and len(mono) == 1 for mono, coef in terms.items(term)) and _both(
        terms, [mono[0] for mono, _ in terms.items(term)]
    )


def _both(terms: Terms, values: Any) -> bool:
    """Whether the values are the two that a body is given."""
    leaves = [terms.single(value) for value in values]
    kinds = [None if leaf is None or terms.kind[leaf] != "region" else terms.attr[leaf][1] for leaf in leaves]
    return sorted(kinds, key=str) == [0, 1]
