"""What values are multiples of: as one side promises, by constants, and by what they are chosen from."""

from __future__ import annotations

from math import gcd, lcm, prod
from typing import TYPE_CHECKING, Any

from tileir_diff.dialect.types import Ptr
from tileir_diff.graph.values import is_pointer, sort_of
from tileir_diff.match.canonical import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.graph.kernel import Carry, Kernel, Loop
    from tileir_diff.graph.terms import Term

ROUNDS = 20
"""How often the divisors of carried values are found from each other; each round they can only shrink."""


def element_bytes(value: Any) -> int | None:
    """Bytes of the pointee when the value is a pointer tile."""
    element = getattr(value.type, "element", None)
    if not isinstance(element, Ptr):
        return None
    return max(1, element.pointee.bits // 8)


class Multiples:
    """Divisors of terms, on one side. Pointers count in bytes.

    promised   by term, or by atom where the term is one: what the side promises
    carried    by what stands for a value that a loop carries: what it is a multiple of in each iteration
    pointers   the atoms that are pointers, of those that do not say so themselves
    """

    def __init__(self, kernel: Kernel, other: Kernel) -> None:
        self.terms = terms = kernel.terms
        self.promised: dict[Term, int] = {}
        self.carried: dict[Term, int] = {}
        self.pointers: set[Term] = set()
        for promise in kernel.promises:
            assumption = promise.assumption
            if (
                type(assumption).__name__ == "DivBy"
                and assumption.every in (None, 1)
                and isinstance(promise.term, int)
            ):
                leaf = terms.single(promise.term)
                key = promise.term if leaf is None else leaf
                self.promised[key] = max(self.promised.get(key, 1), assumption.divisor)
        for each in (kernel, other):
            for param, term in zip(each.entry.regions[0].block.args, each.arguments, strict=True):
                if is_pointer(param) and (leaf := terms.single(term)) is not None:
                    self.pointers.add(leaf)
            for carry, name in _carries(each):
                if is_pointer(carry.value):
                    self.pointers.update((carry.leaf, name))
        self._learn_carried(_carries(kernel))

    def of(self, term: Term, scale: int = 1) -> int:
        """The largest known divisor of ``term``, 0: any. An offset from a pointer counts ``scale`` bytes."""
        pointer = self.pointer(term)
        scale = 1 if pointer is None else scale  # what is not known to be an offset may be the pointer
        total = 0
        for mono, factor in self.terms.items(term):
            if mono == (pointer,):
                total = gcd(total, self._of_atom(mono[0], scale))
            else:
                total = gcd(total, abs(factor) * scale * prod(self._of_atom(atom, 1) for atom in mono))
        return lcm(total, self.promised.get(term, 1))

    def pointer(self, term: Term) -> Term | None:
        """The summand that is a pointer; all others are offsets from it."""
        single = [mono[0] for mono, factor in self.terms.items(term) if factor == 1 and len(mono) == 1]
        return next((atom for atom in single if self._is_pointer(atom)), None)

    def _is_pointer(self, atom: Term) -> bool:
        terms = self.terms
        match terms.kind[atom]:
            case "symbol":
                return True
            case "mem":
                return str(terms.attr[atom][0]).startswith("ptr<")
            case "f":
                return terms.attr[atom][0] in ("int_to_ptr", "ptr_to_ptr")
            case "ite":
                return any(self.pointer(way) is not None for way in terms.args[atom][1:])
            case "at" | "loop_result":
                left, name = self._left_with(atom)
                return name in self.pointers or (left is not None and self.pointer(left) is not None)
            case _:
                return atom in self.pointers

    def _of_atom(self, atom: Term, scale: int) -> int:
        terms = self.terms
        found = 1
        match terms.kind[atom]:
            case "ite":
                found = gcd(*(self.of(way, scale) for way in terms.args[atom][1:]))
            case "min" | "max":
                found = gcd(*(self.of(arg) for arg in terms.args[atom]))
            case "f" if terms.attr[atom][0] == "int_to_ptr":
                found = self.of(terms.args[atom][0])
            case "at" | "loop_result":
                left, name = self._left_with(atom)
                found = self.carried.get(name, 1) if left is None else self.of(left, scale)
            case _:
                found = self.carried.get(atom, 1)
        return lcm(found, self.promised.get(atom, 1))

    def _left_with(self, atom: Term) -> tuple[Term | None, Term]:
        """The value that a break leaves a loop with, where one does; and what stands for a carried one."""
        terms = self.terms
        name = terms.args[atom][0]
        if terms.kind[atom] == "at":
            return None, name
        left = terms.args[name][0] if terms.attr[name] == ("exit_value",) else None
        return left, terms.node("cp", None, (name,))

    def _learn_carried(self, carries: Sequence[tuple[Carry, Term]]) -> None:
        """What the start and the next value of each are multiples of, as long as all others are as found."""
        self.carried = {key: 0 for carry, name in carries for key in (carry.leaf, name)}
        for _ in range(ROUNDS):
            before = dict(self.carried)
            for carry, name in carries:
                scale = element_bytes(carry.value) or 1
                found = gcd(self.of(carry.init, scale), self.of(carry.next, scale))
                self.carried[carry.leaf] = self.carried[name] = lcm(found, self.promised.get(name, 1))
            if self.carried == before:
                return
        self.carried = {}


def _carries(kernel: Kernel) -> list[tuple[Carry, Term]]:
    """The integers and pointers that loops carry, each with what stands for it outside the loops."""
    found: list[tuple[Carry, Term]] = []
    around: list[Loop] = []
    for loop in kernel.loops:
        around[loop.depth :] = [loop]
        for carry in loop.carries:
            if carry.leaf not in loop.closed and sort_of(carry.value) == "int":
                found.append((carry, outward(kernel.terms, around, carry.leaf)))
    return found
