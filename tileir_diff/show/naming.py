"""What each parameter of an entry is: base, size or stride of an array, or a scalar with a use.

Arrays are called A, B, .. in the order of their pointers; `A.shape0` and `A.stride1` are the parameters that
`make_tensor_view` takes for them. Parameters of pointer-only kernels are named by what the normal form does
with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Ptr, Tile
from tileir_diff.lints.facts import ADDRESS_GROUP, LOADS, base_pointer, is_pointer, splat, spread_from
from tileir_diff.show.indices import Indices

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.graph.terms import Term
    from tileir_diff.lints.facts import EntryFacts

FACTOR_REMAINDER = re.compile(r"\*(%?[.\w]+ % \d+)")

BOUND = "bound of the mask on"
"""The role of a scalar below which the lanes of an access are; several arrays share one."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(slots=True)
class Array:
    """One pointer parameter and what is known of the array behind it.

    `shape` and `strides` hold numbers where they are constants, else names of parameters or expressions,
    outermost dimension first; they are empty for an array that no view describes. `use` is "read", "write",
    "atomic", several of them joined by ", ", or "unused".
    """

    name: str
    parameter: int
    element: str
    shape: list[int | str] = field(default_factory=lambda: list[int | str]())
    strides: list[int | str] = field(default_factory=lambda: list[int | str]())
    use: str = "unused"


@dataclass(slots=True)
class Names:
    """Names of one entry's values. `roles` lists for each parameter what it is, the first being its name."""

    facts: EntryFacts
    arrays: list[Array]
    roles: list[list[str]]
    by_value: dict[SSAValue, str]
    by_term: dict[Term, str]
    indices: Indices | None = None

    def say(self, value: SSAValue | None) -> str:
        """A value as a person writes it: its normal form with names, or its name in the dump."""
        if value is None:
            return ""
        number = splat(value)
        if number is not None:
            return f"{number:g}" if isinstance(number, float) else str(number)
        term = self.facts.term(value)
        if term is not None:
            return self.say_term(term)
        known = self.by_value.get(spread_from(value) or value)
        return known or ssa(value)

    def say_term(self, term: Term) -> str:
        from tileir_diff.graph.show import show

        kernel = self.facts.kernel
        assert kernel is not None  # terms come from it
        if self.indices is not None:
            term = self.indices.rewrite(term)
            self.by_term.update(self.indices.names)
        return readable(show(kernel.terms, term, self.by_term))

    def array_of(self, value: SSAValue | None) -> str:
        """The array that a pointer or view starts from: its letter, or the name of the value in the dump."""
        base = base_pointer(value)
        return "" if base is None else self.by_value.get(base, ssa(base))


def readable(text: str) -> str:
    """Parentheses where a remainder is a factor: `16*(block.x % 8)`."""
    return FACTOR_REMAINDER.sub(r"*(\1)", text)


def ssa(value: SSAValue) -> str:
    """A value as the dump names it."""
    return f"%{value.name_hint}" if value.name_hint else "%?"


def name_parameters(facts: EntryFacts) -> Names:
    """Finds out what the parameters are."""
    parameters: list[SSAValue] = list(facts.entry.regions[0].block.args)
    index = {parameter: position for position, parameter in enumerate(parameters)}
    roles: list[list[str]] = [[] for _ in parameters]
    arrays: list[Array] = []
    for position, parameter in enumerate(parameters):
        if is_pointer(parameter):
            kind = parameter.type
            assert isinstance(kind, Tile)
            assert isinstance(kind.element, Ptr)
            array = Array(_letter(len(arrays)), position, str(kind.element.pointee))
            arrays.append(array)
            roles[position].append(f"{array.name}.base")
    by_parameter = {array.parameter: array for array in arrays}
    _views(facts, index, by_parameter, roles)
    _uses(facts, index, by_parameter)
    names = Names(facts, arrays, roles, {}, {})
    if facts.kernel is not None:
        names.indices = Indices(facts.kernel, names.by_term)
        names.by_term.update(names.indices.names)
    _publish(names, parameters)
    _scalars(names, parameters)
    _publish(names, parameters)
    for op in facts.of("make_tensor_view"):
        base = base_pointer(op.one("base"))
        found = None if base is None else by_parameter.get(index.get(base, -1))
        if found is not None and not found.shape:
            found.shape = _numbers(names, op, op.get("static_shape"), op.group("shape"))
            found.strides = _numbers(names, op, op.get("static_strides"), op.group("strides"))
    return names


def _letter(count: int) -> str:
    return LETTERS[count % 26] + (str(count // 26) if count >= 26 else "")


def _views(
    facts: EntryFacts, index: dict[SSAValue, int], arrays: dict[int, Array], roles: list[list[str]]
) -> None:
    """Names sizes and strides by the views that use them directly."""
    seen: set[int] = set()
    for op in facts.of("make_tensor_view"):
        base = base_pointer(op.one("base"))
        array = arrays.get(index.get(base, -1)) if base is not None else None
        if array is None or array.parameter in seen:
            continue
        seen.add(array.parameter)
        for what, static, dynamic in (
            ("shape", op.get("static_shape"), op.group("shape")),
            ("stride", op.get("static_strides"), op.group("strides")),
        ):
            values = iter(dynamic)
            for dimension, number in enumerate(static):
                value = None if number is not None else next(values, None)
                root = spread_from(value)
                if root is not None and root in index:
                    roles[index[root]].append(f"{array.name}.{what}{dimension}")


def _uses(facts: EntryFacts, index: dict[SSAValue, int], arrays: dict[int, Array]) -> None:
    found: dict[int, dict[str, None]] = {}
    for op in facts.of(*ADDRESS_GROUP):
        base = base_pointer(op.one(ADDRESS_GROUP[op.short]))
        if base is not None and base in index:
            use = "read" if op.short in LOADS else "atomic" if op.short.startswith("atomic") else "write"
            found.setdefault(index[base], {})[use] = None
    for parameter, uses in found.items():
        if parameter in arrays:
            arrays[parameter].use = ", ".join(use for use in ("read", "write", "atomic") if use in uses)


def _publish(names: Names, parameters: list[SSAValue]) -> None:
    """Makes the names known for values and terms."""
    kernel = names.facts.kernel
    bases = {array.parameter: array.name for array in names.arrays}
    for position, parameter in enumerate(parameters):
        sized = [role for role in names.roles[position] if ".shape" in role or ".stride" in role]
        name = bases.get(position) or (sized[0] if sized else ssa(parameter))
        names.by_value[parameter] = name
        if kernel is not None:
            term = kernel.arguments[position]
            leaf = kernel.terms.single(term)
            names.by_term[term if leaf is None else leaf] = name


def _scalars(names: Names, parameters: list[SSAValue]) -> None:
    """Roles of the parameters that no view takes, from addresses, masks, loop bounds and arithmetic."""
    facts, kernel = names.facts, names.facts.kernel
    live = facts.live
    for position, parameter in enumerate(parameters):
        if names.roles[position]:
            continue
        users = [use.operation for use in _all_uses(parameter)]
        if not any(user in live for user in users):
            names.roles[position].append("unused")
    if kernel is None:
        return
    terms = kernel.terms
    leaves: dict[Term, int] = {}
    for position, term in enumerate(kernel.arguments):
        leaf = terms.single(term)
        leaves[term if leaf is None else leaf] = position
    found: list[dict[str, None]] = [{} for _ in parameters]

    def note(leaf: Term, role: str) -> None:
        position = leaves.get(leaf)
        if position is not None and not names.roles[position]:
            found[position][role] = None

    for effect in kernel.effects:
        array = (
            names.array_of(effect.op.one(ADDRESS_GROUP[effect.op.short]))
            if effect.op.short in ADDRESS_GROUP
            else ""
        )
        if effect.pointer is not None and effect.family == "pointer":
            for mono, _ in terms.poly(effect.pointer).items():
                for leaf in mono:
                    note(leaf, f"stride of {array}" if len(mono) > 1 else f"offset in {array}")
        for atom in terms.conjuncts(effect.mask) if effect.mask is not None else ():
            if terms.kind[atom] == "le":
                for mono, _ in terms.poly(terms.args[atom][0]).items():
                    if len(mono) == 1:
                        note(mono[0], f"{BOUND} {array}")
        for term in (*effect.coordinates, effect.guard):
            for leaf in sorted(terms.symbols[term]):
                note(leaf, "guard" if term == effect.guard else f"index into {array}")
    for loop in kernel.loops:
        for term in (loop.trip, loop.lower, loop.step):
            for leaf in sorted(terms.symbols[term]) if term is not None else ():
                note(leaf, "loop bound")
    for position, roles in enumerate(found):
        if not names.roles[position]:
            bounded = [role.removeprefix(BOUND) for role in roles if role.startswith(BOUND)]
            merged = [f"{BOUND}{','.join(bounded)}"] if bounded else []
            rest = [role for role in roles if not role.startswith(BOUND)]
            names.roles[position].extend([*merged, *rest][:2] or ["value"])


def _all_uses(value: SSAValue) -> list[Any]:
    """Uses of a value and of its assumed forms."""
    result: list[Any] = []
    work = [value]
    while work:
        for use in work.pop().uses:
            op: Any = use.operation
            if getattr(op, "short", "") == "assume":
                work.extend(op.results)
            else:
                result.append(use)
    return result


def _numbers(
    names: Names, op: TileOp, static: tuple[int | None, ...], dynamic: tuple[SSAValue, ...]
) -> list[int | str]:
    values = iter(dynamic)
    result: list[int | str] = []
    for number in static:
        value = None if number is not None else next(values, None)
        result.append(number if number is not None else names.say(value))
    return result
