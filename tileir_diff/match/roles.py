"""What scalar parameters are to arrays, and the names of parameters that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tileir_diff.graph.values import element_bits, is_integer, is_pointer, ops_within, root_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tileir_diff.dialect.ir import TileOp

Role: TypeAlias = tuple[int, str, int]
"""Pointer parameter, "shape" or "stride", dimension."""


def entry_roles(entry: TileOp, ops: Iterable[TileOp]) -> dict[int, Role]:
    """For size and stride parameters, by index, what they are to an array.

    From the use in a tensor view (one of ``ops``, all of the entry); else by the convention for arrays:
    pointer, all sizes, all strides.
    """
    params: list[Any] = list(entry.regions[0].block.args)
    index_of = {param: index for index, param in enumerate(params)}
    found: dict[int, Role] = {}

    def root(value: Any) -> Any:
        while getattr(value.owner, "short", "") == "assume":
            value = value.owner.one("value")
        return value

    for op in ops:
        if op.short != "make_tensor_view":
            continue
        base = index_of.get(root(op.one("base")))
        if base is None:
            continue
        for group, word in (("shape", "shape"), ("strides", "stride")):
            view: Any = op.results[0].type
            static: tuple[int | None, ...] = getattr(view, group)
            values = iter(op.group(group))
            for dim, size in enumerate(static):
                if size is not None:
                    continue
                param = index_of.get(root(next(values)))
                if param is not None:
                    found.setdefault(param, (base, word, dim))
    for base, rank in array_groups(entry).items():
        for dim in range(rank):
            found.setdefault(base + 1 + dim, (base, "shape", dim))
            found.setdefault(base + 1 + rank + dim, (base, "stride", dim))
    return found


def places(entry: TileOp, ops: Iterable[TileOp]) -> dict[int, Role]:
    """What the parameters behind an array's pointer are by their place: all sizes, all strides.

    Only of arrays that a tensor view of their rank is made of; none in C++, which has any order.
    """
    if entry.symbol.removeprefix("@").startswith("_Z"):
        return {}
    params: list[Any] = list(entry.regions[0].block.args)
    index_of = {param: index for index, param in enumerate(params)}
    found: dict[int, Role] = {}
    for op in ops:
        base = index_of.get(root_of(op.operands[0])) if op.short == "make_tensor_view" else None
        rank = len(cast("Any", op.results[0].type).shape) if base is not None else 0
        if base is None or _extents_from(params, base + 1) < 2 * rank:
            continue
        for dim in range(rank):
            found[base + 1 + dim] = base, "shape", dim
            found[base + 1 + rank + dim] = base, "stride", dim
    return found


def array_groups(entry: TileOp) -> dict[int, int]:
    """Pointer parameters followed by an even number of i32 before the next pointer: their rank."""
    params: list[Any] = list(entry.regions[0].block.args)
    groups: dict[int, int] = {}
    for index, param in enumerate(params):
        if not is_pointer(param):
            continue
        count = _extents_from(params, index + 1)
        following = params[index + 1 + count : index + 2 + count]
        if count and count % 2 == 0 and (not following or is_pointer(following[0])):
            groups[index] = count // 2
    # scalars after the last array may make its group too long to tell: take a rank of the others if it fits
    last = max(groups, default=len(params))
    ranks = sorted(set(groups.values()), reverse=True)
    for index in (at for at in range(last + 1, len(params)) if is_pointer(params[at])):
        count = _extents_from(params, index + 1)
        rank = next((rank for rank in ranks if 2 * rank <= count), count // 2 if count % 2 == 0 else 0)
        if rank:
            groups[index] = rank
    return groups


def _extents_from(params: Sequence[Any], start: int) -> int:
    """How many parameters from there on may be sizes or strides."""
    rest = params[start:]
    others = (at for at, each in enumerate(rest) if not is_integer(each) or element_bits(each) != 32)
    return next(others, len(rest))


def role_names(entry: TileOp, roles: Mapping[int, Role], *, guessed: bool = False) -> list[str]:
    """A readable name for each parameter: ``arg0``, ``arg0.shape1`` by its role, else ``arg7``.

    C++ has pointers and numbers, in any order: there a role is ``guessed``, and no name for a report.
    """
    params = entry.regions[0].block.args
    names = [param.name_hint or f"arg{index}" for index, param in enumerate(params)]
    result = list(names)
    if entry.symbol.removeprefix("@").startswith("_Z") and not guessed:
        return result
    for index, (base, word, dim) in roles.items():
        result[index] = f"{names[base]}.{word}{dim}"
    return result


def argument_index(entry: TileOp, name: str) -> int | None:
    """Position of the parameter that ``name`` means; None: there is none, or more than one.

    A name is an SSA name, a debug name, a position, or the name that reports give by role: ``arg0.shape1``.
    """
    parameters = entry.regions[0].block.args
    wanted = name.removeprefix("%")
    for index, parameter in enumerate(parameters):
        if parameter.name_hint == wanted:
            return index
    if wanted.isdecimal() and int(wanted) < len(parameters):
        return int(wanted)
    if "." not in wanted:
        return None
    names = role_names(entry, entry_roles(entry, ops_within(entry)), guessed=True)
    return names.index(wanted) if names.count(wanted) == 1 else None
