"""How the op tables are written: one `OpSpec` an op, all facts about it as data.

The builder, the printer, the verifier and the documentation read the same entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

PURE: Final = "pure"
NO_MEMORY: Final = "no-memory"
RECURSIVE: Final = "recursive"
TOKEN_ORDERED: Final = "token-ordered"
UNKNOWN: Final = "unknown"
TERMINATOR: Final = "terminator"
SYMBOL: Final = "symbol"


@dataclass(frozen=True)
class AttributeSpec:
    """One attribute of an op.

    - `name`: canonical name, the argument of `TileOp.get`.
    - `style`: how it is written. "keyword" (one of `values`, as it stands), "flag" (its own name or the one
      in `values`), "wrapped" (`head<value>`), "pair" (`key = value`), "symbol", "string", "elements" (`<type:
      ...>`), "assumption", "list" (`[1, 0]`), "operands" (written by the op's own form), "generic" (only in
      generic form).
    - `kind`: "enum", "bool", "int", "ints", "bools", "string", "hints", "literals", "elements", "assumption",
      "type".
    - `values`: allowed words in the order of their numbers in bytecode. A "keyword" or "wrapped" attribute
      takes no other.
    - `default`: the value when it is not written; REQUIRED when it must be.
    - `key`: the word before `=` or `<`; `odsname`: the name in generic form.
    """

    name: str
    style: str
    kind: str
    values: tuple[str, ...] = ()
    default: Any = None
    key: str = ""
    odsname: str = ""
    since: str = "13.1"

    def with_(self, **changes: Any) -> AttributeSpec:
        fields = {key: getattr(self, key) for key in self.__dataclass_fields__}
        return AttributeSpec(**{**fields, **changes})


class Required:
    """Default of an attribute that must be written."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = Required()


@dataclass(frozen=True, eq=False)
class OpSpec:
    """One op.

    - `opcode`: its number in bytecode, the same in all versions that have the op.
    - `operands`: its operand groups in order, as `name`, `name?` (optional) or `name*` (any number).
    - `types`: what its type list shows. Left of `->` the operand groups listed, right of it the results;
      `a=b` says one printed type stands for both. "results" stands for all results with one type. Empty: no
      types are printed.
    - `attributes`: in the order of the dialect's definition, which is that of bytecode.
    - `results`: names of the results; `name*` is any number.
    - `form`: how operands and attributes are printed; `$x` is an operand group, `@x` an attribute. Empty:
      operands first, then attributes in order.
    - `bracket`: the operand group or list attribute inside `[...]`.
    - `regions`: how many at most; `terminator` is the op that ends them, `implicit` when it may be left out
      if empty.
    - `effect`: PURE, NO_MEMORY, RECURSIVE (that of its region), TOKEN_ORDERED, UNKNOWN, TERMINATOR or SYMBOL.
    - `commutative`: operands `lhs` and `rhs` may be swapped.
    """

    name: str
    opcode: int
    operands: tuple[str, ...]
    types: str
    attributes: tuple[AttributeSpec, ...]
    results: tuple[str, ...]
    since: str
    effect: str
    commutative: bool
    form: str
    bracket: str
    regions: int
    terminator: str
    implicit: bool
    custom: str
    doc: str


def op(
    name: str,
    opcode: int,
    operands: str,
    types: str,
    *attributes: AttributeSpec,
    results: str = "result",
    since: str = "13.1",
    effect: str = PURE,
    commutative: bool = False,
    form: str = "",
    bracket: str = "",
    regions: int = 0,
    terminator: str = "",
    implicit: bool = False,
    custom: str = "",
    doc: str,
) -> OpSpec:
    """A table entry; lists are written as words."""
    return OpSpec(
        name, opcode, tuple(operands.split()), types, attributes, tuple(results.split()), since, effect,
        commutative, form, bracket, regions, terminator, implicit, custom, doc,
    )  # fmt: skip


# ---- attributes that several ops share

ROUNDING_MODES: Final = (
    "nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full", "nearest_int_to_zero",
    "nearest_away",
)  # fmt: skip
ROUNDING: Final = AttributeSpec(
    "rounding", "wrapped", "enum", ROUNDING_MODES, "nearest_even", key="rounding", odsname="rounding_mode"
)
FLUSH_TO_ZERO: Final = AttributeSpec("flush_to_zero", "flag", "bool", default=False, odsname="flush_to_zero")
PROPAGATE_NAN: Final = AttributeSpec("propagate_nan", "flag", "bool", default=False, odsname="propagate_nan")
OVERFLOW: Final = AttributeSpec(
    "overflow", "wrapped", "enum", ("none", "nsw", "nuw", "nw"), "none", key="overflow", odsname="overflow"
)
# Text of the overflow flags; the bytecode and the cuTile Rust printer use the short names.
OVERFLOW_WORDS: Final = {"no_signed_wrap": "nsw", "no_unsigned_wrap": "nuw", "no_wrap": "nw"}
SIGNED: Final = AttributeSpec(
    "signed", "keyword", "enum", ("unsigned", "signed"), REQUIRED, odsname="signedness"
)
PREDICATE: Final = AttributeSpec(
    "predicate", "keyword", "enum",
    ("equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"),
    REQUIRED, odsname="comparison_predicate",
)  # fmt: skip
MEMORY_ORDERING: Final = AttributeSpec(
    "memory_ordering", "keyword", "enum", ("weak", "relaxed", "acquire", "release", "acq_rel"), REQUIRED,
    odsname="memory_ordering_semantics",
)  # fmt: skip
MEMORY_SCOPE: Final = AttributeSpec(
    "memory_scope", "keyword", "enum", ("tl_blk", "device", "sys"), odsname="memory_scope"
)
MODE: Final = AttributeSpec(
    "mode", "keyword", "enum", ("and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"),
    REQUIRED, odsname="mode",
)  # fmt: skip
HINTS: Final = AttributeSpec(
    "hints", "pair", "hints", default=(), key="optimization_hints", odsname="optimization_hints"
)
INBOUNDS: Final = AttributeSpec(
    "inbounds", "pair", "bools", default=(), key="inbounds", odsname="inbounds", since="13.4"
)
DIM: Final = AttributeSpec("dim", "pair", "int", default=REQUIRED, key="dim", odsname="dim")
IDENTITIES: Final = AttributeSpec(
    "identities", "pair", "literals", default=REQUIRED, key="identities", odsname="identities"
)
SYM_NAME: Final = AttributeSpec("sym_name", "symbol", "string", default=REQUIRED, odsname="sym_name")
