"""Why two values differ: walk both terms from the root to the first place where they part.

One defect gives one finding: what hangs behind a place that differs is only walked where both sides still compute
the same kind of thing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tileir_diff.graph import floats
from tileir_diff.graph.evaluate import substitute_carries
from tileir_diff.graph.kernel import Carry, Kernel, Loop
from tileir_diff.graph.show import show
from tileir_diff.graph.terms import Term
from tileir_diff.match.model import Difference, Site
from tileir_diff.match.reformulate import reformulation
from tileir_diff.match.sites import origin, site, text

MAX_DEPTH = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference, and whether both sides still had the same shape around it."""

    difference: Difference
    structural: bool = False
    """The two terms are different kinds of computation: a parent may explain it better."""


class Blame:
    """Explains differences between two kernels whose terms share one store."""

    def __init__(self, reference: Kernel, generated: Kernel, names: dict[Term, str]) -> None:
        self.reference = reference
        self.generated = generated
        self.terms = reference.terms
        self.names = names
        self.memo: dict[tuple[Term, Term], list[Finding]] = {}
        self.renamed: dict[Term, Term] = {}
        """Iteration and carry leaves of generated loops as those of the reference loop they are paired with."""
        self.paired: dict[tuple[int, int], bool] = {}
        self.settled: frozenset[int] = frozenset()
        """``assume`` ops (by id) that both sides have in the same place, with the same predicate."""

    # ---- helpers ---------------------------------------------------------------------------------------------

    def show(self, term: Term) -> str:
        return show(self.terms, term, self.names)

    def make(
        self,
        rule: str,
        reference: Any,
        generated: Any,
        expected: str,
        actual: str,
        part: str | None = None,
        impact: str | None = None,
        note: str = "",
        status: str = "DIFFERS",
        **detail: object,
    ) -> Difference:
        return Difference(
            rule,
            reference if isinstance(reference, Site) else site(self.reference, reference, part),
            generated if isinstance(generated, Site) else site(self.generated, generated, part),
            expected,
            actual,
            status,
            impact,
            note,
            detail,
        )

    def rename(self, term: Term) -> Term:
        """A generated term with the symbols of paired loops replaced."""
        return substitute_carries(self.terms, term, self.renamed, {}) if self.renamed else term

    # ---- values ----------------------------------------------------------------------------------------------

    def values(self, reference: Term, generated: Term, ref_user: Any, gen_user: Any) -> list[Difference]:
        """Root causes for a value that one op of each side uses."""
        found = self.walk(reference, generated, ref_user, gen_user, 0)
        return [finding.difference for finding in found]

    def walk(self, a: Term, b: Term, ref_user: Any, gen_user: Any, depth: int) -> list[Finding]:
        b = self.rename(b)
        if a == b:
            return []
        key = (a, b)
        if key in self.memo:
            return self.memo[key]
        self.memo[key] = []  # a pair met again below itself adds nothing
        if depth > MAX_DEPTH:
            found = [self._unexplained(a, b, ref_user, gen_user)]
        else:
            found = self._walk(a, b, ref_user, gen_user, depth)
        self.memo[key] = found
        return found

    def _ops(self, a: Term, b: Term, ref_user: Any, gen_user: Any) -> tuple[Any, Any]:
        return (
            origin(self.reference, a, ref_user) or ref_user,
            origin(self.generated, b, gen_user) or gen_user,
        )

    def _unexplained(self, a: Term, b: Term, ref_user: Any, gen_user: Any) -> Finding:
        ref_op, gen_op = self._ops(a, b, ref_user, gen_user)
        rule = "arithmetic/not-proven"
        if ref_op is not None and gen_op is not None and ref_op.short != gen_op.short:
            rule = "arithmetic/op"
        return Finding(self.make(rule, ref_op, gen_op, self.show(a), self.show(b)), structural=True)

    def _walk(self, a: Term, b: Term, ref_user: Any, gen_user: Any, depth: int) -> list[Finding]:
        terms = self.terms
        ka, kb = terms.kind[a], terms.kind[b]
        ref_op, gen_op = self._ops(a, b, ref_user, gen_user)
        if ka == "poly" or kb == "poly":
            return self._integers(a, b, ref_user, gen_user, depth)
        if ka == "loop_result" and kb == "loop_result":
            return self._loops(a, b, ref_user, gen_user, depth)
        if ka == kb == "mem":
            return self._memory(a, b, ref_op, gen_op)
        if ka == kb == "ite":
            return self._selections(a, b, ref_op, gen_op, depth)
        if "ite" in (ka, kb):
            found = self._one_selection(a, b, ref_user, gen_user, depth)
            if found is not None:
                return found
        if ka == kb == "fc":
            return [Finding(self.make("constant/value", ref_op, gen_op, floats.show(*terms.attr[a]), floats.show(*terms.attr[b]), part="value"))]
        if {ka, kb} == {"fc", "undefined"} or {ka, kb} == {"padding", "undefined"}:
            missing = kb == "undefined"
            return [Finding(self.make(
                "padding/missing" if missing else "padding/extra", ref_op, gen_op, self.show(a), self.show(b),
                part="padding", status="MISSING" if missing else "EXTRA",
            ))]
        if ka == kb == "reduce":
            return self._reductions(a, b, ref_op, gen_op, depth)
        if ka == kb == "mma":
            return self._contractions(a, b, ref_op, gen_op, depth)
        if ka == kb and ka in ("le", "eq", "and", "or", "not", "xor", "ult", "fcmp"):
            return self._predicates(a, b, ref_op, gen_op, depth)
        if ka == kb == "f":
            return self._elementwise(a, b, ref_op, gen_op, ref_user, gen_user, depth)
        if ka == kb and len(terms.args[a]) == len(terms.args[b]):
            found: list[Finding] = []
            if terms.attr[a] != terms.attr[b] and ka == "iop":
                modes = self._integer_modes(ref_op, gen_op)
                if modes:
                    return [Finding(mode) for mode in modes]
            if terms.attr[a] != terms.attr[b]:
                found.append(Finding(self.make(
                    _attribute_rule(ka), ref_op, gen_op, text(ref_op) if ref_op is not None else ka, text(gen_op) if gen_op is not None else kb,
                )))
            for x, y in zip(terms.args[a], terms.args[b], strict=True):
                found.extend(self.walk(x, y, ref_op, gen_op, depth + 1))
            return found
        return self._other(a, b, ref_user, gen_user)

    def _other(self, a: Term, b: Term, ref_user: Any, gen_user: Any) -> list[Finding]:
        """Two different kinds of value: a known reformulation, an added or lost conversion, or unexplained."""
        terms = self.terms
        ref_op, gen_op = self._ops(a, b, ref_user, gen_user)
        for term, other, lost in ((a, b, True), (b, a, False)):
            if terms.kind[term] == "f" and terms.attr[term][0] == "ftof" and terms.args[term][0] == other:
                rule = "conversion/missing" if lost else "conversion/extra"
                names = terms.attr[term][1]
                return [Finding(self.make(
                    rule, ref_op, gen_op,
                    f"rounded to {names[1]}" if lost else f"kept in {names[0]}",
                    f"kept in {names[0]}" if lost else f"rounded to {names[1]}",
                    status="MISSING" if lost else "EXTRA",
                ))]
        for term, other in ((a, b), (b, a)):
            if terms.kind[term] == "f" and terms.attr[term][0] == "ftof" and terms.kind[other] in ("mma", "reduce"):
                inner = terms.args[term][0]
                if terms.kind[inner] == terms.kind[other]:
                    pair = (inner, other) if term == a else (other, inner)
                    return self._walk(*pair, ref_user, gen_user, MAX_DEPTH)
        known = reformulation(terms, a, b)
        if known is not None:
            return [Finding(self._reformulated(known, a, b, ref_op, gen_op))]
        return [self._unexplained(a, b, ref_user, gen_user)]

    def _reformulated(self, known: Any, a: Term, b: Term, ref_op: Any, gen_op: Any) -> Difference:
        rule = "arithmetic/extra-rounding" if known.impact == "precision" else "arithmetic/reformulated"
        return self.make(rule, ref_op, gen_op, self.show(a), self.show(b), impact=known.impact, note=known.why)

    # ---- elementwise -----------------------------------------------------------------------------------------

    def _elementwise(
        self, a: Term, b: Term, ref_op: Any, gen_op: Any, ref_user: Any, gen_user: Any, depth: int
    ) -> list[Finding]:
        terms = self.terms
        (name_a, type_a, mods_a), (name_b, type_b, mods_b) = terms.attr[a], terms.attr[b]
        if name_a != name_b or len(terms.args[a]) != len(terms.args[b]):
            return self._other(a, b, ref_user, gen_user)
        found: list[Finding] = []
        if type_a != type_b:
            rule = "conversion/type" if name_a in ("ftof", "itof", "ftoi", "bitcast") else "element-type/changed"
            found.append(Finding(self.make(rule, ref_op, gen_op, str(_target(type_a)), str(_target(type_b)), impact="precision"), structural=True))
        found.extend(Finding(d) for d in self.modifiers(name_a, dict(mods_a), dict(mods_b), ref_op, gen_op))
        args_a, args_b = list(terms.args[a]), [self.rename(arg) for arg in terms.args[b]]
        if name_a in floats.COMMUTATIVE or name_a == "fma":
            args_b[:2] = self._pairing(args_a[:2], args_b[:2])
        children: list[Finding] = []
        for x, y in zip(args_a, args_b, strict=True):
            children.extend(self.walk(x, y, ref_op, gen_op, depth + 1))
        if name_a in ("subf", "addf", "divf") and sorted(args_a) == sorted(args_b) and args_a != args_b:
            return [Finding(self.make("arithmetic/operands", ref_op, gen_op, self.show(a), self.show(b)))]
        if any(child.structural for child in [*children, *found]):
            swapped = self._negated_operands(a, b)
            if swapped:
                return [Finding(self.make("arithmetic/operands", ref_op, gen_op, self.show(a), self.show(b)))]
            known = reformulation(terms, a, b)
            if known is not None:
                return [Finding(self._reformulated(known, a, b, ref_op, gen_op))]
        return found + children

    def _negated_operands(self, a: Term, b: Term) -> bool:
        """``x - y`` against ``y - x`` in the sum form that subtraction has here."""
        terms = self.terms

        def bare(term: Term) -> Term:
            if terms.kind[term] == "f" and terms.attr[term][0] == "negf":
                return terms.args[term][0]
            return term

        if terms.attr[a][0] != "addf":
            return False
        return sorted(bare(x) for x in terms.args[a]) == sorted(bare(self.rename(x)) for x in terms.args[b])

    def _pairing(self, left: list[Term], right: list[Term]) -> list[Term]:
        if left[0] == right[1] or left[1] == right[0]:
            return right[::-1]
        if left[0] == right[0] or left[1] == right[1]:
            return right
        straight = sum(self._affinity(x, y) for x, y in zip(left, right, strict=True))
        crossed = sum(self._affinity(x, y) for x, y in zip(left, right[::-1], strict=True))
        return right[::-1] if crossed > straight else right

    def _affinity(self, a: Term, b: Term, depth: int = 3) -> int:
        terms = self.terms
        if a == b:
            return 20
        if terms.kind[a] != terms.kind[b]:
            return 0
        score = 2 + 3 * (terms.attr[a] == terms.attr[b])
        if depth and len(terms.args[a]) == len(terms.args[b]):
            score += sum(self._affinity(x, y, depth - 1) for x, y in zip(terms.args[a], terms.args[b], strict=True))
        return score

    def modifiers(self, name: str, ref: dict[str, Any], gen: dict[str, Any], ref_op: Any, gen_op: Any) -> list[Difference]:
        """Differences of rounding, flush-to-zero, NaN rule and the like of one op."""
        found: list[Difference] = []
        for key in sorted(ref.keys() | gen.keys(), key=lambda key: (key != "rounding", key)):
            if ref.get(key) == gen.get(key):
                continue
            expected, actual = (_mode(key, side.get(key)) for side in (ref, gen))
            if key == "rounding":
                approximate = {ref.get(key), gen.get(key)} & {"approx", "full"}
                rule = "float-mode/approx" if approximate or name in ("exp", "tanh") else "float-mode/rounding"
                if name == "ftof":
                    rule = "conversion/rounding"
                if name in ("divi",):
                    rule = "integer-mode/division-rounding"
            else:
                rule = {
                    "flush_to_zero": "float-mode/ftz",
                    "propagate_nan": "float-mode/nan",
                    "signed": "integer-mode/signedness",
                    "overflow": "integer-mode/overflow",
                }.get(key, "conversion/rounding")
            found.append(self.make(rule, ref_op, gen_op, expected, actual, part=key))
        return found

    # ---- selections, masks, padding --------------------------------------------------------------------------

    def _is_load(self, op: Any) -> bool:
        return op is not None and op.short in ("load_ptr_tko", "load_view_tko")

    def _selections(self, a: Term, b: Term, ref_op: Any, gen_op: Any, depth: int) -> list[Finding]:
        terms = self.terms
        cond_a, then_a, else_a = terms.args[a]
        cond_b, then_b, else_b = (self.rename(arg) for arg in terms.args[b])
        loads = self._loads_of(a, b, ref_op, gen_op)
        if cond_a == cond_b:
            if (then_a, else_a) == (else_b, then_b):
                return [Finding(self.make("arithmetic/operands", ref_op, gen_op, self.show(a), self.show(b)))]
            found = self.walk(then_a, then_b, ref_op, gen_op, depth + 1)
            if else_a != else_b:
                found = found + self._paddings(else_a, else_b, loads, ref_op, gen_op, depth)
            return found
        found = []
        inner = self.walk(then_a, then_b, ref_op, gen_op, depth + 1)
        if loads is not None and inner and loads[0].short == loads[1].short == "load_view_tko":
            return inner  # the bounds of a view follow its index
        if loads is not None:
            found.append(Finding(self.mask(cond_a, cond_b, *loads)))
        else:
            found.extend(self.walk(cond_a, cond_b, ref_op, gen_op, depth + 1))
        found = found + inner
        if else_a != else_b:
            found = found + self._paddings(else_a, else_b, loads, ref_op, gen_op, depth)
        return found

    def _loads_of(self, a: Term, b: Term, ref_op: Any, gen_op: Any) -> tuple[Any, Any] | None:
        """The two loads, when both selections are a load's mask."""
        terms = self.terms
        ref_load = origin(self.reference, terms.args[a][1]) if terms.kind[terms.args[a][1]] in ("mem", "poly") else None
        gen_load = origin(self.generated, terms.args[b][1]) if terms.kind[terms.args[b][1]] in ("mem", "poly") else None
        if self._is_load(ref_load) and self._is_load(gen_load):
            return ref_load, gen_load
        return (ref_op, gen_op) if self._is_load(ref_op) and self._is_load(gen_op) else None

    def _paddings(self, a: Term, b: Term, loads: tuple[Any, Any] | None, ref_op: Any, gen_op: Any, depth: int) -> list[Finding]:
        terms = self.terms
        if loads is None:
            return self.walk(a, b, ref_op, gen_op, depth + 1)
        undefined = [self._is_undefined(term) for term in (a, b)]
        if undefined[0] and not undefined[1]:
            rule, status = "padding/extra", "EXTRA"
        elif undefined[1] and not undefined[0]:
            rule, status = "padding/missing", "MISSING"
        elif undefined[0]:
            return []
        else:
            rule, status = "padding/changed", "DIFFERS"
        _ = terms
        return [Finding(self.make(rule, loads[0], loads[1], self.show(a), self.show(b), part="padding", status=status))]

    def _is_undefined(self, term: Term) -> bool:
        atom = self.terms.single(term)
        return atom is not None and self.terms.kind[atom] == "undefined"

    def _one_selection(self, a: Term, b: Term, ref_user: Any, gen_user: Any, depth: int) -> list[Finding] | None:
        """A select, or a load's mask, on one side only."""
        terms = self.terms
        lost = terms.kind[a] == "ite"
        selection, other = (a, b) if lost else (b, a)
        cond, then, otherwise = terms.args[selection]
        inner = self.rename(then) if not lost else then
        outer = self.rename(otherwise) if not lost else otherwise
        ref_op, gen_op = self._ops(a, b, ref_user, gen_user)
        own = ref_op if lost else gen_op
        side = self.reference if lost else self.generated
        load = origin(side, then)
        known = reformulation(terms, a, b)
        if known is not None and other not in (inner, outer):
            return [Finding(self._reformulated(known, a, b, ref_op, gen_op))]
        is_load = terms.kind[terms.single(then) or then] == "mem" and self._is_load(load)
        if not is_load and other not in (inner, outer):
            return None
        if is_load:
            other_load = origin(self.generated if lost else self.reference, other)
            pair = (load, other_load) if lost else (other_load, load)
            condition = self.show(cond)
            if other != inner:
                deeper = self.walk(then, other, ref_op, gen_op, depth + 1) if lost else self.walk(other, then, ref_op, gen_op, depth + 1)
                if deeper and all(op is not None and op.short == "load_view_tko" for op in pair):
                    return deeper
            found = [Finding(self.make(
                "mask/missing" if lost else "mask/extra", pair[0], pair[1],
                condition if lost else "all lanes", "all lanes" if lost else condition,
                part="mask", status="MISSING" if lost else "EXTRA",
            ))]
            if other != inner:
                found = found + (self.walk(then, other, ref_op, gen_op, depth + 1) if lost else self.walk(other, then, ref_op, gen_op, depth + 1))
            return found
        rule = "mask/missing" if lost else "mask/extra"
        if own is not None and own.short != "select":
            rule = "control-flow/missing" if lost else "control-flow/extra"
        return [Finding(self.make(rule, ref_op, gen_op, self.show(a), self.show(b), status="MISSING" if lost else "EXTRA"))]

    def mask(self, a: Term, b: Term, ref_op: Any, gen_op: Any) -> Difference:
        """Two unequal conditions of one memory op: what is lost, added or other."""
        terms = self.terms
        ref_atoms, gen_atoms = terms.conjuncts(a), terms.conjuncts(b)
        lost = [atom for atom in ref_atoms if not terms.implies(gen_atoms, atom)]
        added = [atom for atom in gen_atoms if not terms.implies(ref_atoms, atom)]
        specific = self._specific(a, b)
        if specific is not None:
            return specific
        inbounds = [bool(op is not None and any(op.get("inbounds") or ())) for op in (ref_op, gen_op)]
        if inbounds[1] and not inbounds[0] and lost and not added:
            return self.make("bounds/inbounds", ref_op, gen_op, self._all(lost), "promised in bounds", part="inbounds")
        if inbounds[0] and not inbounds[1] and added and not lost:
            return self.make("bounds/inbounds", ref_op, gen_op, "promised in bounds", self._all(added), part="inbounds", impact="none")
        rivals = [x for x in (gen_atoms if lost else ref_atoms) if any(self._same_lanes(x, y) for y in (lost or added))]
        expected, actual = self._all(lost or list(ref_atoms)), self._all(added or rivals or list(gen_atoms))
        if lost and not added and not rivals:
            return self.make("mask/missing", ref_op, gen_op, expected, actual, part="mask", status="MISSING")
        if added and not lost and not rivals:
            return self.make("mask/extra", ref_op, gen_op, self._all(list(ref_atoms)), self._all(added), part="mask", impact="logic", status="EXTRA")
        if added and not lost:
            return self.make("mask/changed", ref_op, gen_op, self._all(rivals), self._all(added), part="mask", impact="logic")
        return self.make("mask/changed", ref_op, gen_op, expected, actual, part="mask", impact="logic" if added else "bounds")

    def _same_lanes(self, a: Term, b: Term) -> bool:
        """Two conditions about the same index: the same symbols apart from parameters."""
        terms = self.terms
        left, right = (frozenset(s for s in terms.symbols[t] if terms.kind[s] != "arg") for t in (a, b))
        return bool(left) and left == right

    def _all(self, atoms: list[Term]) -> str:
        return " and ".join(self.show(atom) for atom in atoms) if atoms else "all lanes"

    def _predicates(self, a: Term, b: Term, ref_op: Any, gen_op: Any, depth: int) -> list[Finding]:
        terms = self.terms
        rule = "control-flow/condition"
        if ref_op is not None and gen_op is not None:
            same_op = ref_op.short == gen_op.short
            if same_op and ref_op.short in ("cmpi", "cmpf") and ref_op.get("signed") != gen_op.get("signed"):
                return [Finding(self.make("integer-mode/signedness", ref_op, gen_op, str(ref_op.get("signed")), str(gen_op.get("signed")), part="signed"))]
            if same_op and ref_op.short == "cmpf" and ref_op.get("ordering") != gen_op.get("ordering"):
                return [Finding(self.make("float-mode/nan", ref_op, gen_op, str(ref_op.get("ordering")), str(gen_op.get("ordering")), part="ordering"))]
        if terms.kind[a] == "fcmp" and terms.attr[a] == terms.attr[b]:
            found: list[Finding] = []
            for x, y in zip(terms.args[a], terms.args[b], strict=True):
                found.extend(self.walk(x, y, ref_op, gen_op, depth + 1))
            return found
        if terms.kind[a] in ("le", "ult", "and", "or"):
            rule = "mask/changed" if any(terms.kind[s] == "lane" for s in terms.symbols[a]) else rule
        return [Finding(self.make(rule, ref_op, gen_op, self.show(a), self.show(b)))]

    # ---- memory ----------------------------------------------------------------------------------------------

    def _memory(self, a: Term, b: Term, ref_op: Any, gen_op: Any) -> list[Finding]:
        terms = self.terms
        pa, pb = terms.args[a][0], self.rename(terms.args[b][0])
        if pa == pb:
            moments = [self.rename(arg) for arg in terms.args[b][1:]]
            type_a, type_b = terms.attr[a][0], terms.attr[b][0]
            if type_a != type_b:
                return [Finding(self.make("element-type/changed", ref_op, gen_op, type_a, type_b))]
            if terms.attr[a][2:] != terms.attr[b][2:] and list(terms.args[a][1:]) == moments:
                return [Finding(d) for d in self.orderings(ref_op, gen_op)]
            return [Finding(self.make(
                "token-order/changed", ref_op, gen_op, "reads before or after other writes of the array", "reads at another point"
            ))]
        return [Finding(self.address(pa, pb, ref_op, gen_op))]

    def orderings(self, ref_op: Any, gen_op: Any) -> list[Difference]:
        found: list[Difference] = []
        for key, rule in (("memory_ordering", "memory-order/ordering"), ("memory_scope", "memory-order/scope")):
            expected, actual = ref_op.get(key), gen_op.get(key)
            if expected != actual:
                found.append(self.make(rule, ref_op, gen_op, str(expected), str(actual), part=key))
        return found

    def address(self, a: Term, b: Term, ref_op: Any, gen_op: Any) -> Difference:
        """Two unequal addresses: another array, another axis of the grid, a stride, or an index."""
        terms = self.terms
        base_a, base_b = self._bases(a), self._bases(b)
        if base_a != base_b:
            return self.make(
                "addressing/base", ref_op, gen_op,
                ", ".join(self.show(terms.atom(x)) for x in base_a) or self.show(a),
                ", ".join(self.show(terms.atom(x)) for x in base_b) or self.show(b),
            )
        moved = self._transposed(a, b)
        if moved:
            rule = "shape-op/changed"
            maps = [getattr(self._view_type(op), "dim_map", None) for op in (ref_op, gen_op)]
            if None not in maps and maps[0] != maps[1]:
                rule = "dim-map/changed"
                return self.make(rule, ref_op, gen_op, f"dim_map={list(maps[0])}", f"dim_map={list(maps[1])}", note="the two axes of the tile are exchanged", impact="logic")
            return self.make(rule, ref_op, gen_op, self.show(a), self.show(b), note="the two axes of the tile are exchanged", impact="logic")
        specific = self._specific(a, b)
        if specific is not None:
            return specific
        maps = [getattr(self._view_type(op), "dim_map", None) for op in (ref_op, gen_op)]
        if None not in maps and maps[0] != maps[1]:
            return self.make("dim-map/changed", ref_op, gen_op, f"dim_map={list(maps[0])}", f"dim_map={list(maps[1])}", impact="logic")
        rule = "addressing/index"
        blocks_a = frozenset(s for s in terms.symbols[a] if terms.kind[s] == "block")
        blocks_b = frozenset(s for s in terms.symbols[b] if terms.kind[s] == "block")
        if not blocks_a <= blocks_b and not blocks_b <= blocks_a:
            rule = "grid/axis"
        offset_a = terms.sub(a, self._base_sum(base_a))
        offset_b = terms.sub(b, self._base_sum(base_b))
        return self.make(rule, ref_op, gen_op, self.show(offset_a), self.show(offset_b), part="index")

    def _view_type(self, op: Any) -> Any:
        view = None if op is None else op.one("view")
        return None if view is None else view.type

    def _transposed(self, a: Term, b: Term) -> bool:
        """Whether exchanging two lanes, or a lane and a reduced index, of equal extent makes the addresses equal."""
        terms = self.terms
        indices = [s for s in sorted(terms.symbols[b]) if terms.kind[s] in ("lane", "bound")]
        for position, x in enumerate(indices):
            for y in indices[position + 1 :]:
                if terms.attr[x][1] != terms.attr[y][1]:
                    continue
                if terms.subst(b, {x: terms.atom(y), y: terms.atom(x)}) == a:
                    return True
        return False

    def _specific(self, a: Term, b: Term) -> Difference | None:
        """A difference in how a division, shift or conversion inside two indices reads its operand."""
        terms = self.terms
        only_a, only_b = self._inner_atoms(a), self._inner_atoms(b)
        for x in sorted(only_a - only_b):
            for y in sorted(only_b - only_a):
                if terms.args[x] != terms.args[y]:
                    continue
                ref_op, gen_op = origin(self.reference, x), origin(self.generated, y)
                kinds = {terms.kind[x], terms.kind[y]}
                if kinds == {"div", "tdiv"}:
                    return self.make("integer-mode/division-rounding", ref_op, gen_op, _rounding(terms.kind[x]), _rounding(terms.kind[y]), part="rounding")
                if kinds == {"iop"}:
                    modes = self._integer_modes(ref_op, gen_op)
                    if modes:
                        return modes[0]
        return None

    def _inner_atoms(self, term: Term) -> frozenset[Term]:
        terms = self.terms
        found: set[Term] = set()
        work = [term]
        while work and len(found) < 200:
            node = work.pop()
            if node in found:
                continue
            if terms.kind[node] in ("poly", "div", "tdiv", "iop", "min", "max", "ite", "zext", "wrap", *_CONDITIONS):
                if terms.kind[node] != "poly" and terms.kind[node] not in _CONDITIONS:
                    found.add(node)
                work.extend(terms.args[node])
        return frozenset(found)

    def _bases(self, pointer: Term) -> tuple[Term, ...]:
        terms = self.terms
        return tuple(
            leaf
            for leaf in sorted(terms.symbols[pointer])
            if terms.kind[leaf] == "arg" and any(m == (leaf,) and c == 1 for m, c in terms.attr[pointer]) and leaf in self._pointer_leaves()
        )

    def _base_sum(self, leaves: tuple[Term, ...]) -> Term:
        return self.terms.sum((self.terms.atom(leaf), 1) for leaf in leaves)

    def _pointer_leaves(self) -> frozenset[Term]:
        cached = getattr(self, "_leaves", None)
        if cached is None:
            from tileir_diff.dialect.types import Ptr

            leaves: set[Term] = set()
            for kernel in (self.reference, self.generated):
                for param, term in zip(kernel.entry.regions[0].block.args, kernel.arguments, strict=True):
                    if isinstance(param.type.element, Ptr):  # type: ignore[attr-defined]
                        leaf = self.terms.single(term)
                        if leaf is not None:
                            leaves.add(leaf)
            cached = frozenset(leaves)
            self._leaves = cached
        return cached

    # ---- integers --------------------------------------------------------------------------------------------

    def _integers(self, a: Term, b: Term, ref_user: Any, gen_user: Any, depth: int) -> list[Finding]:
        """Integer terms: if exactly one atom on each side is not matched and has the same role, look inside it."""
        terms = self.terms
        ref_op, gen_op = self._ops(a, b, ref_user, gen_user)
        pa, pb = terms.poly(a), terms.poly(b)
        only_a = {m: c for m, c in pa.items() if pb.get(m) != c}
        only_b = {m: c for m, c in pb.items() if pa.get(m) != c}
        if len(only_a) == len(only_b) == 1:
            (mono_a, coef_a), (mono_b, coef_b) = next(iter(only_a.items())), next(iter(only_b.items()))
            if mono_a == mono_b == ():
                return [Finding(self.make("constant/value", ref_op, gen_op, str(coef_a), str(coef_b)))]
            rest_a = [x for x in mono_a if x not in mono_b]
            rest_b = [x for x in mono_b if x not in mono_a]
            if coef_a == coef_b and len(rest_a) == len(rest_b) == 1:
                x, y = rest_a[0], rest_b[0]
                kind_x, kind_y = terms.kind[x], terms.kind[y]
                if kind_x == kind_y and kind_x not in ("arg", "block", "lane", "grid", "bound", "iter", "carry"):
                    if kind_x == "ite":
                        return self._selections(x, y, origin(self.reference, x) or ref_op, origin(self.generated, y) or gen_op, depth)
                    return self.walk(x, y, ref_op, gen_op, depth + 1)
                if kind_x == kind_y == "block":
                    return [Finding(self.make("grid/axis", ref_op, gen_op, self.show(x), self.show(y)))]
        modes = self._integer_modes(ref_op, gen_op)
        if modes:
            return [Finding(difference) for difference in modes]
        same = ref_op is not None and gen_op is not None and ref_op.short == gen_op.short
        rule = "arithmetic/not-proven" if not same else "arithmetic/operands"
        if ref_op is not None and gen_op is not None and not same:
            rule = "arithmetic/not-proven"
        return [Finding(self.make(rule, ref_op, gen_op, self.show(a), self.show(b)), structural=True)]

    def _integer_modes(self, ref_op: Any, gen_op: Any) -> list[Difference]:
        if ref_op is None or gen_op is None or ref_op.short != gen_op.short:
            return []
        found: list[Difference] = []
        for key, rule in (("signed", "integer-mode/signedness"), ("rounding", "integer-mode/division-rounding")):
            expected, actual = ref_op.get(key), gen_op.get(key)
            if expected != actual and expected is not None:
                if ref_op.short == "shri":
                    rule = "integer-mode/shift"
                found.append(self.make(rule, ref_op, gen_op, str(expected), str(actual), part=key))
        return found

    # ---- reductions and contractions -------------------------------------------------------------------------

    def _reductions(self, a: Term, b: Term, ref_op: Any, gen_op: Any, depth: int) -> list[Finding]:
        terms = self.terms
        attr_a, attr_b = terms.attr[a], terms.attr[b]
        family = "scan" if attr_a[0] == "scan" else "reduction"
        found: list[Finding] = []
        if attr_a[0] != attr_b[0]:
            return [Finding(self.make("reduction/combiner", ref_op, gen_op, attr_a[0], attr_b[0]), structural=True)]
        if ref_op is not None and gen_op is not None and ref_op.short == gen_op.short and ref_op.get("dim") != gen_op.get("dim"):
            ref_in = self.reference.values.get(ref_op.operands[0])
            gen_in = self.generated.values.get(gen_op.operands[0])
            same_shape = ref_op.operands[0].type == gen_op.operands[0].type
            if same_shape and ref_in is not None and gen_in is not None and not self.walk(ref_in, gen_in, ref_op, gen_op, depth + 1):
                return [Finding(self.make(f"{family}/axis", ref_op, gen_op, f"dim={ref_op.get('dim')}", f"dim={gen_op.get('dim')}", part="dim"))]
        if attr_a[2] != attr_b[2]:
            found.append(Finding(self.make(f"{family}/extent" if family == "reduction" else "scan/axis", ref_op, gen_op, str(attr_a[2]), str(attr_b[2]))))
        elements = [tuple(item[0] for item in attr[3]) for attr in (attr_a, attr_b)]
        if elements[0] != elements[1]:
            found.append(Finding(self.make("element-type/changed", ref_op, gen_op, ", ".join(elements[0]), ", ".join(elements[1]), impact="precision")))
        elif attr_a[3] != attr_b[3]:
            found.append(Finding(self.make(f"{family}/identity", ref_op, gen_op, _identities(attr_a[3]), _identities(attr_b[3]), part="identities")))
        if family == "scan" and attr_a[5:] != attr_b[5:]:
            found.append(Finding(self.make("scan/direction", ref_op, gen_op, f"reverse={attr_a[5]}", f"reverse={attr_b[5]}", part="reverse")))
        count = attr_a[4]
        args_a, args_b = terms.args[a], tuple(self.rename(arg) for arg in terms.args[b])
        if attr_b[4] != count or args_a[:count] != args_b[:count]:
            inner = self._combiner(args_a[:count], args_b[: attr_b[4]], ref_op, gen_op, family)
            return [*found, *inner]
        before = len(found)
        for x, y in zip(args_a[count:], args_b[count:], strict=False):
            found.extend(self.walk(x, y, ref_op, gen_op, depth + 1))
        _ = before
        return found

    def _combiner(self, a: tuple[Term, ...], b: tuple[Term, ...], ref_op: Any, gen_op: Any, family: str) -> list[Finding]:
        terms = self.terms
        if len(a) == len(b) == 1 and terms.kind[a[0]] == terms.kind[b[0]] == "f":
            x, y = a[0], b[0]
            if terms.attr[x][0] == terms.attr[y][0] and terms.args[x] == terms.args[y]:
                inner_ref = origin(self.reference, x) or ref_op
                inner_gen = origin(self.generated, y) or gen_op
                return [Finding(d) for d in self.modifiers(terms.attr[x][0], dict(terms.attr[x][2]), dict(terms.attr[y][2]), inner_ref, inner_gen)]
        expected = ", ".join(self.show(t) for t in a)
        actual = ", ".join(self.show(t) for t in b)
        ref_inner = _combining_op(ref_op)
        gen_inner = _combining_op(gen_op)
        return [Finding(self.make(f"{family}/combiner", ref_inner or ref_op, gen_inner or gen_op, expected, actual))]

    def _contractions(self, a: Term, b: Term, ref_op: Any, gen_op: Any, depth: int) -> list[Finding]:
        terms = self.terms
        name_a, acc_a, extent_a, types_a, fast_a = terms.attr[a]
        name_b, acc_b, extent_b, types_b, fast_b = terms.attr[b]
        found: list[Finding] = []
        if fast_a != fast_b:
            found.append(Finding(self.make("mma/fast-acc", ref_op, gen_op, _yes(fast_a), _yes(fast_b), part="fast_acc")))
        if acc_a != acc_b:
            found.append(Finding(self.make("accumulator/type", ref_op, gen_op, acc_a, acc_b, part="acc")))
        if extent_a != extent_b:
            found.append(Finding(self.make("tile-shape/changed", ref_op, gen_op, f"K = {extent_a}", f"K = {extent_b}")))
        if name_a != name_b or len(types_a) != len(types_b):
            return [*found, Finding(self.make("mma/operand-type", ref_op, gen_op, name_a, name_b, impact="logic"))]
        args_a = list(terms.args[a])
        args_b = [self.rename(arg) for arg in terms.args[b]]
        types_b = list(types_b)
        paired = self._pairing(args_a[:2], args_b[:2])
        if paired != args_b[:2]:
            args_b[:2] = paired
            types_b.reverse()
        for x, y in zip(types_a, types_b, strict=True):
            if x[0] != y[0]:
                found.append(Finding(self.make("mma/operand-type", ref_op, gen_op, x[0], y[0])))
                break
            if x[1] != y[1]:
                found.append(Finding(self.make("mma/signedness", ref_op, gen_op, str(x[1]), str(y[1]))))
                break
        if not found and sorted(args_a[:2]) != sorted(args_b[:2]) and self._swapped_operands(ref_op, gen_op):
            return [Finding(self.make("mma/operands", ref_op, gen_op, "lhs * rhs", "rhs * lhs", impact="logic"))]
        for index, (x, y) in enumerate(zip(args_a, args_b, strict=False)):
            children = self.walk(x, y, ref_op, gen_op, depth + 1)
            last = index == len(args_a) - 1
            if last and any(child.structural for child in children):
                children = [Finding(self.make("accumulator/init", ref_op, gen_op, self.show(x), self.show(y), part="acc", impact="logic"))]
            found.extend(children)
        return found

    def _swapped_operands(self, ref_op: Any, gen_op: Any) -> bool:
        if ref_op is None or gen_op is None or not ref_op.short.startswith("mma"):
            return False
        ref_in = [self.reference.values.get(v) for v in ref_op.operands[:2]]
        gen_in = [self.generated.values.get(v) for v in gen_op.operands[:2]]
        return ref_in[0] != ref_in[1] and ref_in == [None if t is None else self.rename(t) for t in gen_in[::-1]]

    # ---- loops -----------------------------------------------------------------------------------------------

    def _loops(self, a: Term, b: Term, ref_user: Any, gen_user: Any, depth: int) -> list[Finding]:
        ref = self.reference.loop_results.get(self.terms.args[a][0])
        gen = self.generated.loop_results.get(self.terms.args[b][0]) or self._loop_of(b)
        if ref is None or gen is None:
            return [self._unexplained(a, b, ref_user, gen_user)]
        (ref_loop, ref_index), (gen_loop, gen_index) = ref, gen
        found = self.pair_loops(ref_loop, gen_loop, (ref_index, gen_index), depth)
        lanes_a, lanes_b = self.terms.args[a][2:], tuple(self.rename(t) for t in self.terms.args[b][2:])
        if not found and lanes_a != lanes_b:
            return [Finding(self.make("shape-op/changed", ref_user, gen_user, self.show(a), self.show(b)), structural=True)]
        return found

    def _loop_of(self, term: Term) -> tuple[Loop, int] | None:
        """The generated loop of a result whose symbols were renamed."""
        colour = self.terms.args[term][0]
        for other, pair in self.generated.loop_results.items():
            if self.rename(other) == colour:
                return pair
        return None

    def pair_loops(self, ref: Loop, gen: Loop, first: tuple[int, int] | None, depth: int) -> list[Finding]:
        """Take two loops as each other's, and explain what differs between them."""
        key = (ref.uid, gen.uid)
        terms = self.terms
        found: list[Finding] = []
        if not self.paired.get(key):
            self.paired[key] = True
            self.renamed[gen.iteration] = terms.atom(ref.iteration)
            found.extend(self._bounds(ref, gen, depth))
            pairs = self._match_carries(ref, gen, first)
            for x, y in pairs:
                self.renamed[y.leaf] = x.leaf
            self.memo.clear()
            for x, y in pairs:
                found.extend(self.walk(x.init, y.init, ref.op, gen.op, depth + 1))
            for x, y in pairs:
                found.extend(self.walk(x.next, y.next, _terminator(ref), _terminator(gen), depth + 1))
        return found

    def _bounds(self, ref: Loop, gen: Loop, depth: int) -> list[Finding]:
        terms = self.terms
        found: list[Finding] = []
        if ref.trip is not None and gen.trip is not None:
            trip = self.rename(gen.trip)
            if ref.trip != trip:
                lower, step = self.rename(gen.lower), self.rename(gen.step)
                rule = "loop/trip-count"
                if ref.lower == lower and ref.step != step:
                    rule = "loop/step"
                elif ref.op.short == gen.op.short == "for":
                    rule = "loop/bounds"
                found.append(Finding(self.make(rule, ref.op, gen.op, self.show(ref.trip), self.show(trip))))
            elif ref.op.short == gen.op.short and (ref.lower, ref.step) != (self.rename(gen.lower), self.rename(gen.step)):
                self.shifted = True
        elif ref.trip is None and gen.trip is None:
            if ref.exit is not None and gen.exit is not None:
                found.extend(self.walk(ref.exit, gen.exit, ref.op, gen.op, depth + 1))
        else:
            found.append(Finding(self.make("loop/trip-count", ref.op, gen.op, "counted" if ref.trip is not None else "until a condition", "counted" if gen.trip is not None else "until a condition", impact="logic")))
        return found

    def _match_carries(self, ref: Loop, gen: Loop, first: tuple[int, int] | None) -> list[tuple[Carry, Carry]]:
        terms = self.terms
        left = [c for c in ref.carries if c.leaf not in ref.closed]
        right = [c for c in gen.carries if c.leaf not in gen.closed]
        pairs: list[tuple[Carry, Carry]] = []

        def take(x: Carry, y: Carry) -> None:
            pairs.append((x, y))
            left.remove(x)
            right.remove(y)

        if first is not None:
            x = next((c for c in left if c.index == first[0]), None)
            y = next((c for c in right if c.index == first[1]), None)
            if x is not None and y is not None:
                take(x, y)
        tests = (
            lambda x, y: ref.canonical.get(x.leaf) == gen.canonical.get(y.leaf),
            lambda x, y: x.index == y.index and x.type_text == y.type_text and x.init == self.rename(y.init),
            lambda x, y: x.type_text == y.type_text and x.init == self.rename(y.init),
            lambda x, y: x.type_text == y.type_text and x.index == y.index,
            lambda x, y: x.type_text == y.type_text,
            lambda x, y: _size(x.type_text) == _size(y.type_text),
        )
        for test in tests:
            for x in list(left):
                for y in list(right):
                    if test(x, y):
                        take(x, y)
                        break
        _ = terms
        live = self._needed(ref, pairs)
        return [pair for pair in pairs if pair[0].leaf in live] or pairs

    def _needed(self, ref: Loop, pairs: list[tuple[Carry, Carry]]) -> frozenset[Term]:
        return frozenset(pair[0].leaf for pair in pairs)


def _size(type_text: str) -> str:
    """A tile type without its dimensions of extent one."""
    return type_text.replace("<1x", "<").replace("x1x", "x")


def _terminator(loop: Loop) -> Any:
    block = loop.op.regions[0].block
    last = block.last_op
    return last if last is not None else loop.op


def _combining_op(op: Any) -> Any:
    if op is None or op.short not in ("reduce", "scan"):
        return None
    ops = list(op.regions[0].block.ops)
    return ops[-2] if len(ops) >= 2 else None


def _mode(key: str, value: Any) -> str:
    if value is None or value is False:
        return _ABSENT.get(key, "default")
    return key if value is True else str(value)


def _target(element: Any) -> Any:
    return element[1] if isinstance(element, tuple) else element


def _identities(items: Any) -> str:
    return ", ".join(floats.show(*item) for item in items)


def _rounding(kind: str) -> str:
    return "rounds down" if kind == "div" else "rounds towards zero"


def _yes(flag: Any) -> str:
    return "fast_acc" if flag else "exact accumulation"


def _attribute_rule(kind: str) -> str:
    return {
        "atomic": "atomic/mode",
        "iop": "arithmetic/op",
        "zext": "integer-mode/signedness",
        "table": "constant/value",
        "reinterpret": "conversion/type",
        "wrap": "conversion/type",
    }.get(kind, "arithmetic/op")


_CONDITIONS = ("le", "eq", "and", "or", "not", "ult")
_ABSENT = {"flush_to_zero": "subnormals kept", "propagate_nan": "NaN lost", "rounding": "default", "signed": "signed"}


def first_of(differences: list[Difference]) -> list[Difference]:
    """One finding per rule and place."""
    seen: set[tuple[Any, ...]] = set()
    kept: list[Difference] = []
    for difference in differences:
        key = (
            difference.rule,
            id(difference.reference.op) if difference.reference else None,
            id(difference.generated.op) if difference.generated else None,
        )
        if key not in seen:
            seen.add(key)
            kept.append(difference)
    return kept


def with_note(difference: Difference, note: str, impact: str | None = None) -> Difference:
    return replace(difference, note=f"{difference.note} {note}".strip(), impact=impact or difference.impact)
