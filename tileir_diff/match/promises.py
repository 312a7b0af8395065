"""What each side promises the compiler by ``assume``, and what of it the other side does not say."""

from __future__ import annotations

from collections.abc import Callable
from math import lcm
from typing import TYPE_CHECKING, Any

from xdsl.ir import Block

from tileir_diff.dialect.attributes import Bounded
from tileir_diff.graph.arrays import UNKNOWN_ARRAY
from tileir_diff.graph.values import defining_op, is_used, ops_within
from tileir_diff.match.canonical import outward
from tileir_diff.match.model import Difference
from tileir_diff.match.multiples import Multiples, element_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.kernel import Kernel, Promise
    from tileir_diff.graph.terms import Term

LAUNCHER_LIMIT = 16
"""cuTile Rust's launcher states the largest power of two up to this that divides a value at the launch."""

DATA = frozenset({"f", "iop", "ite", "mem", "wrap"})
"""Kinds of values that come from memory, or that the bits of some make: no index of a launch."""

Make = Callable[..., Difference]


def compare_promises(
    reference: Kernel,
    generated: Kernel,
    make: Make,
    specialised: bool,
    settled: frozenset[int],
    partner: Mapping[int, int],
    show: Callable[[Term], str],
) -> tuple[list[Difference], list[str]]:
    """Differences, and obligations on the host.

    ``settled``: ops (by id) that need no comparison. ``specialised``: the generated front end's launcher
    derives divisibility of arguments from the launch itself, and the reference's states less. ``partner``:
    the reference's parameter for each generated one. ``show``: how a value reads.
    """
    differences: list[Difference] = []
    obligations: dict[str, None] = {}
    for kernel in (reference, generated):
        for promise in kernel.promises:
            _settle(kernel, promise)
    ref_facts, gen_facts = Multiples(reference, generated), Multiples(generated, reference)
    seen: set[tuple[Any, ...]] = set()
    for promise in generated.promises:
        if id(promise.op) in settled:
            continue
        key = (promise.term if isinstance(promise.term, int) else id(promise.term), str(promise.assumption))
        if key in seen:
            continue
        seen.add(key)
        differences.extend(
            _stronger(reference, generated, promise, ref_facts, make, obligations, specialised, show)
        )
    seen.clear()
    for promise in reference.promises:
        if id(promise.op) in settled:
            continue
        fixed = isinstance(promise.term, int) and reference.terms.value(promise.term) is not None
        term = promise.term if isinstance(promise.term, int) else id(promise.term)
        key = (term, str(promise.assumption), promise.argument if fixed else None)
        if key in seen:
            continue
        seen.add(key)
        if fixed:
            differences.extend(_weaker_of_argument(generated, promise, partner, make))
        else:
            differences.extend(_weaker(generated, reference, promise, gen_facts, make, show))
    return differences, list(obligations)


def _settle(kernel: Kernel, promise: Promise) -> None:
    """Bring the promise's value to a form that does not depend on the side."""
    if not promise.loops:
        return
    if isinstance(promise.term, int):
        promise.term = outward(kernel.terms, promise.loops, promise.term)
    elif hasattr(promise.term, "pointer"):
        promise.term = outward(kernel.terms, promise.loops, promise.term.pointer)
        promise.of_view = True


def _stronger(
    reference: Kernel,
    generated: Kernel,
    promise: Promise,
    facts: Multiples,
    make: Make,
    obligations: dict[str, None],
    specialised: bool,
    show: Callable[[Term], str],
) -> list[Difference]:
    assumption = promise.assumption
    name = type(assumption).__name__
    if name == "DivBy":
        return _stronger_division(reference, generated, promise, facts, make, obligations, specialised, show)
    if name == "Bounded" and isinstance(promise.term, int):
        return _stronger_bound(reference, generated, promise, make, obligations)
    if name == "SameElements":
        for other in reference.promises:
            if other.term == promise.term and other.assumption == assumption:
                return []
        if all(v == 1 for v in assumption.values):
            return []
        return [
            make(
                "bounds/stronger",
                None,
                promise.op,
                "no promise",
                str(assumption),
                part="assumption",
                status="EXTRA",
            )
        ]
    return []


def _stronger_division(
    reference: Kernel,
    generated: Kernel,
    promise: Promise,
    facts: Multiples,
    make: Make,
    obligations: dict[str, None],
    specialised: bool,
    show: Callable[[Term], str],
) -> list[Difference]:
    terms = reference.terms
    assumption = promise.assumption
    divisor = assumption.divisor
    value = promise.op.one("value")
    term = promise.term
    size: int | None
    if not isinstance(term, int):
        term = getattr(term, "pointer", None)
        if term is None:
            return []
        size = 1
    elif promise.of_view:
        size = 1
    else:
        size = element_bytes(value)
    constant = terms.value(term) if size is None else None
    if constant is not None:
        if constant % divisor == 0:
            return _lucky(reference, promise, constant, make)
        for other in reference.promises:
            if (
                type(other.assumption).__name__ == "DivBy"
                and isinstance(other.term, int)
                and terms.value(other.term) == constant
                and other.assumption.divisor >= divisor
            ):
                return []
        return [
            make(
                "divisibility/stronger",
                _counterpart(reference, promise),
                promise.op,
                _stated(reference, promise),
                f"div_by<{divisor}>",
                part="assumption",
                note=f"false here: {_known(generated, promise, constant)}",
                detail=_about(generated, promise, show),
            )
        ]
    groups = _of_groups(reference, promise)
    if any(each.divisor % divisor == 0 for each in groups):
        return []
    known = facts.of(term, size or 1)
    if size is not None:
        known = max(known, size)  # a pointer is aligned to its element
    if known == 0 or known % divisor == 0:
        return []
    if size is not None and not _accessed(generated, promise, facts.pointer(term)):
        return []
    counterpart = _counterpart(reference, promise)
    natural = counterpart is None and known == (size or 1)  # the alignment of an element is nobody's promise
    stated = "no such promise" if natural else str(groups[0]) if groups else f"div_by<{known}>"
    refuted = _refuted(generated, promise, term, size or 1)
    written = {
        other.assumption.divisor
        for other in generated.promises
        if other.argument == promise.argument and type(other.assumption).__name__ == "DivBy"
    }
    # a second, stronger promise about one argument is the kernel's own, not the launcher's
    if (
        specialised
        and not refuted
        and promise.argument is not None
        and divisor <= LAUNCHER_LIMIT
        and size is None
        and len(written) == 1
    ):
        obligations.setdefault(
            f"{_name(promise)} is a multiple of {divisor} (stated by the launcher's specialisation)"
        )
        return []
    return [
        make(
            "divisibility/stronger",
            counterpart,
            promise.op,
            stated,
            str(assumption),
            part="assumption",
            status="EXTRA" if natural else "DIFFERS",
            note=refuted,
            detail=_about(generated, promise, show),
        )
    ]


def _of_groups(kernel: Kernel, promise: Promise) -> list[Any]:
    """The divisors that are stated of groups which begin wherever those of a promise do, or oftener."""
    along, every = promise.assumption.along, promise.assumption.every
    stated = (other.assumption for other in kernel.promises if other.term == promise.term)
    known = [each for each in stated if type(each).__name__ == "DivBy" and each.every not in (None, 1)]
    if every in (None, 1):
        return []
    return [each for each in known if each.along == along and every % each.every == 0]


def _about(kernel: Kernel, promise: Promise, show: Callable[[Term], str]) -> dict[str, object]:
    """What a message names: the value that is promised about, and whether the front end promises by itself.

    At the entry's own line stands no ``assume`` of the kernel: the launcher or the front end states it.
    """
    name, terms = "", kernel.terms
    leaf = terms.single(promise.term) if isinstance(promise.term, int) else None
    if leaf is not None and terms.kind[leaf] == "arg" and terms.attr[leaf][0] == "array":
        name = show(promise.term)
    elif promise.argument is not None:
        hint = kernel.entry.regions[0].block.args[promise.argument].name_hint or f"arg{promise.argument}"
        name = f"%{hint}" if kernel.side else hint
    elif isinstance(promise.term, int) and terms.value(promise.term) is None:
        name = show(promise.term)
    here, entry = promise.op.source, kernel.entry.source
    own = here is not None and entry is not None and (here.file, here.line) == (entry.file, entry.line)
    stated = own and promise.argument is not None
    return {"of": f" of {name}" if name else "", **({"stated": True} if stated else {})}


def _refuted(kernel: Kernel, promise: Promise, term: Term, scale: int) -> str:
    """Why a promise of a divisor is false: two blocks or lanes whose values differ by no multiple of it.

    ``scale``: bytes that one step of ``term`` is. "" where nothing shows it, as for a promise that only
    some blocks come to, under a branch or in a loop, and for a grid that is not known.
    """
    terms = kernel.terms
    if promise.op.parent_op() is not kernel.entry or promise.assumption.every not in (None, 1):
        return ""
    if any(op.short == "return" and op.parent_op() is not kernel.entry for op in ops_within(kernel.entry)):
        return ""  # some blocks may have left before
    for leaf in sorted(terms.symbols[term]):
        if terms.kind[leaf] not in ("block", "lane"):
            continue
        axis: int = terms.attr[leaf][0]
        is_block = terms.kind[leaf] == "block"
        blocks = kernel.grid[axis] if is_block else int(terms.attr[leaf][1])
        if blocks is None or blocks < 2:
            continue
        first, second = (terms.subst(term, {leaf: terms.const(at)}) for at in (0, 1))
        step = terms.value(terms.sub(second, first))
        if step is None or step * scale % promise.assumption.divisor == 0:
            continue
        name = f"block.{'xyz'[axis]}" if is_block else "a lane"
        unit = "bytes" if element_bytes(promise.op.one("value")) or promise.of_view else ""
        return f"false here: from {name} = 0 to 1 the value grows by {abs(step) * scale} {unit}".rstrip()
    return ""


def _lucky(reference: Kernel, promise: Promise, constant: int, make: Make) -> list[Difference]:
    """A promise about a parameter that this launch happens to keep, beyond what any launcher states."""
    divisor = promise.assumption.divisor
    if promise.argument is None or divisor <= LAUNCHER_LIMIT:
        return []
    for other in reference.promises:
        if (
            type(other.assumption).__name__ == "DivBy"
            and other.term == promise.term
            and other.argument is not None
            and other.assumption.divisor >= divisor
        ):
            return []
    return [
        make(
            "divisibility/stronger",
            _counterpart(reference, promise),
            promise.op,
            "no such promise",
            f"div_by<{divisor}>",
            part="assumption",
            note=f"true at this launch, where the value is {constant}; nothing makes it so at another",
        )
    ]


def _lucky_bound(reference: Kernel, promise: Promise, constant: int, make: Make) -> list[Difference]:
    """A range promised for a parameter that only this launch keeps, not promised by the reference."""
    if promise.argument is None or (
        promise.assumption.lower in (0, None) and promise.assumption.upper is None
    ):
        return []
    for other in reference.promises:
        if (
            type(other.assumption).__name__ == "Bounded"
            and other.argument is not None
            and other.term == promise.term
            and _covers(other.assumption, promise.assumption)
        ):
            return []
    return [
        make(
            "bounds/stronger",
            _counterpart(reference, promise),
            promise.op,
            "no such promise",
            str(promise.assumption),
            part="assumption",
            note=f"true at this launch, where the value is {constant}; nothing makes it so at another",
        )
    ]


def _accessed(kernel: Kernel, promise: Promise, pointer: Term | None) -> bool:
    """Whether anything may be read or written through a pointer that is promised about."""
    terms = kernel.terms
    if pointer is None or terms.kind[pointer] != "arg":
        return is_used(promise.op)
    array = terms.atom(pointer)
    arrays = frozenset[int]().union(*(effect.arrays for effect in kernel.effects))
    return array in arrays or (UNKNOWN_ARRAY in arrays and is_used(promise.op))


def _name(promise: Promise) -> str:
    value = promise.op.one("value")
    while value is not None and getattr(value.owner, "short", "") == "assume":
        value = value.owner.one("value")  # type: ignore[union-attr]
    return (
        f"generated %{value.name_hint}" if value is not None and value.name_hint else "a generated argument"
    )


def _counterpart(other: Kernel, promise: Promise) -> Any:
    """The promise of the other side about the same value, to show beside it."""
    for candidate in other.promises:
        if candidate.term == promise.term and type(candidate.assumption) is type(promise.assumption):
            return candidate.op
    return None


def _stated(other: Kernel, promise: Promise) -> str:
    """What the other side promises about the same value."""
    op = _counterpart(other, promise)
    return "no promise" if op is None else f"div_by<{op.get('assumption').divisor}>"


def _known(kernel: Kernel, promise: Promise, constant: int) -> str:
    """The value of what is promised, and where it is known from: the text, the launch, or the other side."""
    terms = kernel.terms
    sources: dict[SSAValue, TileOp | None] = {}
    work = list(promise.op.operands)
    while work:
        value = work.pop()
        if value not in sources:
            op = sources[value] = defining_op(value)
            work += [] if op is None else op.operands
    if None not in sources.values():
        return f"the value is {constant} in the text itself"
    leaves = [leaf for term in kernel.arguments if (leaf := terms.single(term)) is not None]
    if any(terms.kind[leaf] == "arg" and terms.attr[leaf][0] == "array" for leaf in leaves):
        return f"the value is {constant} at this launch"
    return f"the value is {constant} where the arguments are matched as printed"


def _stronger_bound(
    reference: Kernel, generated: Kernel, promise: Promise, make: Make, obligations: dict[str, None]
) -> list[Difference]:
    terms = reference.terms
    low, high = promise.assumption.lower, promise.assumption.upper
    term = promise.term
    constant = terms.value(term)
    if constant is not None:
        if (low is None or low <= constant) and (high is None or constant <= high):
            return _lucky_bound(reference, promise, constant, make)
        return [
            make(
                "bounds/stronger",
                _counterpart(reference, promise),
                promise.op,
                str(constant),
                str(promise.assumption),
                part="assumption",
                note=f"false here: {_known(generated, promise, constant)}",
            )
        ]
    ref_low: int | None = None
    ref_high: int | None = None
    for other in reference.promises:
        if other.term == term and type(other.assumption).__name__ == "Bounded":
            if other.assumption.lower is not None:
                ref_low = other.assumption.lower if ref_low is None else max(ref_low, other.assumption.lower)
            if other.assumption.upper is not None:
                ref_high = (
                    other.assumption.upper if ref_high is None else min(ref_high, other.assumption.upper)
                )
    leaf = terms.single(term)
    if leaf is not None and terms.kind[leaf] in ("lane", "block", "grid", "iter"):
        known_low, known_high = terms.range(leaf)
    elif leaf is not None and terms.kind[leaf] == "arg":
        known_low, known_high = None, None
    elif leaf is not None and terms.kind[leaf] in DATA:
        # what is known of its range comes from the very promise
        known_low, known_high = terms.own_range(leaf)
    else:
        known_low, known_high = terms.range(term)
    first, last = _counted(generated, promise.op.operands[0])
    lows = [x for x in (ref_low, known_low, first) if x is not None]
    highs = [x for x in (ref_high, known_high, last) if x is not None]
    low_fine = low is None or (bool(lows) and max(lows) >= low)
    high_fine = high is None or (bool(highs) and min(highs) <= high)
    if low_fine and high_fine:
        return []
    if high_fine and low == 0 and (leaf is None or terms.kind[leaf] not in DATA):
        obligations.setdefault(f"{_name(promise)} is not negative")
        return []
    return [
        make(
            "bounds/stronger",
            _counterpart(reference, promise),
            promise.op,
            "no promise" if ref_low is None and ref_high is None else str(Bounded(ref_low, ref_high)),
            str(promise.assumption),
            part="assumption",
        )
    ]


def _counted(kernel: Kernel, value: SSAValue) -> tuple[int | None, int | None]:
    """The least and the largest value of the counter of a `for`, where its bounds say them."""
    block = value.owner
    if not isinstance(block, Block) or block.args[0] is not value:
        return None, None
    loop: Any = block.parent_op()
    if getattr(loop, "short", "") != "for" or loop.get("unsigned_cmp"):
        return None, None
    lower, upper = (kernel.values.get(loop.one(name)) for name in ("lower", "upper"))
    if not isinstance(lower, int) or not isinstance(upper, int):
        return None, None
    terms = kernel.terms
    least, most = terms.range(lower)[0], terms.range(upper)[1]
    if most is None:
        return least, None
    start, step = terms.value(lower), kernel.values.get(loop.one("step"))
    by = terms.value(step) if isinstance(step, int) else None
    # the last one that the counter reaches from where it starts
    behind = (most - 1 - start) % by if start is not None and by is not None and by > 0 else 0
    return least, most - 1 - behind


def _weaker_of_argument(
    generated: Kernel, promise: Promise, partner: Mapping[int, int], make: Make
) -> list[Difference]:
    """A divisor of a parameter whose value the launch fixes: the compiler knows it from the promise alone."""
    if promise.argument is None or type(promise.assumption).__name__ != "DivBy":
        return []
    own = [index for index, other in sorted(partner.items()) if other == promise.argument]
    stated = [
        other
        for other in generated.promises
        if other.argument in own and type(other.assumption).__name__ == "DivBy"
    ]
    known = lcm(*(other.assumption.divisor for other in stated))
    divisor = promise.assumption.divisor
    if not own or known % divisor == 0:
        return []
    words = f"div_by<{divisor}>", f"div_by<{known}>" if stated else "no promise"
    rule, status = ("divisibility/weaker", "DIFFERS") if stated else ("divisibility/missing", "MISSING")
    op = stated[0].op if stated else None
    return [make(rule, promise.op, op, *words, part="assumption", status=status)]


def _weaker(
    generated: Kernel,
    reference: Kernel,
    promise: Promise,
    facts: Multiples,
    make: Make,
    show: Callable[[Term], str],
) -> list[Difference]:
    terms = generated.terms
    assumption = promise.assumption
    if type(assumption).__name__ == "Bounded":
        if not isinstance(promise.term, int) or terms.value(promise.term) is not None:
            return []
        for other in generated.promises:
            if (
                other.term == promise.term
                and type(other.assumption).__name__ == "Bounded"
                and _covers(other.assumption, assumption)
            ):
                return []
        if assumption.lower in (0, None) and assumption.upper is None:
            return []
        return [
            make(
                "bounds/weaker",
                promise.op,
                _counterpart(generated, promise),
                str(assumption),
                "no such promise",
                part="assumption",
                status="MISSING",
            )
        ]
    if type(assumption).__name__ != "DivBy" or not isinstance(promise.term, int):
        return []
    if terms.value(promise.term) is not None:
        return []
    value = promise.op.one("value")
    size = element_bytes(value)
    known = facts.of(promise.term, size or 1)
    groups = _of_groups(generated, promise)
    if known == 0 or any(each % assumption.divisor == 0 for each in (known, *(g.divisor for g in groups))):
        return []
    stated = str(groups[0]) if groups else f"div_by<{known}>" if known > 1 else ""
    rule = "divisibility/weaker" if stated else "divisibility/missing"
    return [
        make(
            rule,
            promise.op,
            _counterpart(generated, promise),
            str(assumption),
            stated or "no promise",
            part="assumption",
            status="DIFFERS" if stated else "MISSING",
            detail=_about(reference, promise, show),
        )
    ]


def _covers(strong: Any, weak: Any) -> bool:
    low = weak.lower is None or (strong.lower is not None and strong.lower >= weak.lower)
    high = weak.upper is None or (strong.upper is not None and strong.upper <= weak.upper)
    return low and high
