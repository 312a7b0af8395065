"""The parameters of an entry as a person writes them, and the launch that gives them the same facts.

An array that is only seen through one view becomes a `&Tensor`; what is done with its pointer or strides by
hand keeps the pointer, its extents and its strides as parameters of their own.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.dialect.attributes import Bounded, DivBy
from tileir_diff.dialect.types import Ptr, TensorView, Tile
from tileir_diff.dump.like import BYTES
from tileir_diff.dump.rust_signature import MOST
from tileir_diff.match.roles import array_groups
from tileir_diff.transpile.refusal import refuse, refuse_type
from tileir_diff.transpile.spelling import ELEMENTS, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xdsl.ir import SSAValue

    from tileir_diff.dialect.attributes import Assumption
    from tileir_diff.dialect.ir import TileOp
    from tileir_diff.transpile.plan import Plan

NOT_NEGATIVE: Final = Bounded(0, None)
ODD: Final = 33
"""An extent, or a factor of one, that no power of two divides."""


class Argument(NamedTuple):
    """A parameter of the Rust entry. `text` is its type; `like` what a launch is told of it."""

    name: str
    text: str
    like: str


class Arrays(NamedTuple):
    """The parameters of an entry by their names.

    `tensors` names the views of whole arrays that are parameters, `extents` says of which tensor's which
    dimension a parameter is the size, `stated` lists what the source has to assume of a parameter.
    """

    arguments: tuple[Argument, ...]
    names: dict[SSAValue, str]
    tensors: dict[SSAValue, str]
    extents: dict[SSAValue, tuple[str, int]]
    stated: dict[SSAValue, tuple[Assumption, ...]]


class _Group(NamedTuple):
    """The parameters of one array."""

    base: SSAValue
    shape: tuple[SSAValue, ...]
    strides: tuple[SSAValue, ...]


def read_arguments(plan: Plan) -> Arrays:
    """Raises InputError for a parameter of a type that the front end lacks."""
    made: list[Argument] = []
    found = Arrays((), {}, {}, {}, {})
    groups = _groups(plan)
    grouped = {each for group in groups for each in (group.base, *group.shape, *group.strides)}
    by_base = {group.base: group for group in groups}
    names = _Names()
    for parameter in plan.parameters:
        group = by_base.get(parameter)
        if group is not None:
            name = names.array(parameter)
            view = _only_view(plan, group)
            if view is None:
                made += _by_hand(plan, group, name, found)
            else:
                made.append(_as_tensor(plan, group, name, view, found))
        elif parameter not in grouped and plan.uses[parameter]:
            pointer = isinstance(parameter.type, Tile) and isinstance(parameter.type.element, Ptr)
            name = names.array(parameter) if pointer else names.scalar(parameter)
            made.append(_single(plan, parameter, name, found))
    return found._replace(arguments=tuple(made))


class _Names:
    """Names of parameters: those of the dump where it has any, else letters for arrays."""

    def __init__(self) -> None:
        self._arrays = 0
        self._taken: set[str] = set()

    def array(self, parameter: SSAValue) -> str:
        letters = string.ascii_lowercase
        index, self._arrays = self._arrays, self._arrays + 1
        return self._given(parameter) or (letters[index] if index < len(letters) else f"array_{index}")

    def scalar(self, parameter: SSAValue) -> str:
        given = self._given(parameter)
        if given:
            return given
        type_ = parameter.type
        assert isinstance(type_, Tile)
        element = str(type_.element)
        word = "flag" if element == "i1" else "number" if element[0] == "i" else "factor"
        name, count = word, 1
        while name in self._taken:
            count += 1
            name = f"{word}_{count}"
        self._taken.add(name)
        return name

    def _given(self, parameter: SSAValue) -> str:
        """The name in the dump, where a person gave it."""
        name = (parameter.name_hint or "").lower()
        if (
            len(name) < 2
            or not name.isidentifier()
            or name.startswith("arg")
            or name in self._taken | RESERVED
        ):
            return ""
        self._taken.add(name)
        return name


def _groups(plan: Plan) -> list[_Group]:
    """The arrays: a pointer, then all its extents, then all its strides."""
    by_convention = array_groups(plan.entry)
    found: list[_Group] = []
    for index, parameter in enumerate(plan.parameters):
        views = [op for op in plan.users.get(parameter, []) if op.short == "make_tensor_view"]
        ranks = {_kind(view).rank for view in views}
        rank = ranks.pop() if len(ranks) == 1 else by_convention.get(index, 0)
        following = plan.parameters[index + 1 : index + 1 + 2 * rank]
        whole = len(following) == 2 * rank and all(str(each.type) == "tile<i32>" for each in following)
        if rank and whole and isinstance(parameter.type, Tile) and isinstance(parameter.type.element, Ptr):
            found.append(_Group(parameter, tuple(following[:rank]), tuple(following[rank:])))
    return found


def _kind(view: TileOp) -> TensorView:
    kind = view.results[0].type
    assert isinstance(kind, TensorView)
    return kind


def _only_view(plan: Plan, group: _Group) -> TileOp | None:
    """The view that stands for the whole array, where it is seen in no other way and a launch can say so."""
    users = plan.users.get(group.base, [])
    views = [op for op in users if op.short == "make_tensor_view"]
    if len(views) != 1 or len(users) != 1 or views[0].parent is not plan.body:
        return None
    [view] = views
    kind = _kind(view)
    if kind.attr is not None or any(extent is not None for extent in kind.shape):
        return None
    if any(stride not in (None, 1) for stride in kind.strides):
        return None
    dynamic = [stride for stride, known in zip(group.strides, kind.strides, strict=True) if known is None]
    if [plan.of(each) for each in view.group("shape")] != list(group.shape):
        return None
    if [plan.of(each) for each in view.group("strides")] != dynamic:
        return None
    if any(plan.users.get(stride, [view]) != [view] for stride in group.strides):
        return None
    if any(plan.uses[stride] for stride in group.strides if stride not in dynamic):
        return None
    # the front end takes the divisor of a dynamic stride from the dimension of its place among those
    known_first = None in kind.strides[next((i for i, each in enumerate(kind.strides) if each), 9) :]
    if known_first and any(_divisor(plan, stride) > 1 for stride in dynamic):
        return None
    for each in (*group.shape, *dynamic):
        facts = plan.facts[each]
        if NOT_NEGATIVE not in facts or _beyond_launch(plan, each, given=(NOT_NEGATIVE,)):
            return None
    return None if _beyond_launch(plan, group.base) else view


def _as_tensor(plan: Plan, group: _Group, name: str, view: TileOp, found: Arrays) -> Argument:
    found.tensors[view.results[0]] = name
    for dimension, extent in enumerate(group.shape):
        found.extents[extent] = (name, dimension)
    element = _element(group.base, plan.entry)
    kind = _kind(view)
    extents = [_multiple(_divisor(plan, each), ODD) for each in group.shape]
    strides: list[int] = []
    least = 1
    for known, stride, extent in reversed(list(zip(kind.strides, group.strides, extents, strict=True))):
        step = 1 if known == 1 else _multiple(_divisor(plan, stride), max(least, 2))
        strides.insert(0, step)
        least = max(least, step * extent)
    listed = ",".join(map(str, extents))
    steps = ",".join(map(str, strides))
    like = f"{name}={element}[{listed}]({steps}):{_divisor(plan, group.base)}"
    return Argument(name, f"&Tensor<{element}, {{ [{', '.join(['-1'] * len(extents))}] }}>", like)


def _by_hand(plan: Plan, group: _Group, name: str, found: Arrays) -> list[Argument]:
    made: list[Argument] = []
    if plan.uses[group.base]:
        made.append(_single(plan, group.base, name, found))
    for word, values in (("extent", group.shape), ("stride", group.strides)):
        for dimension, value in enumerate(values):
            if plan.uses[value]:
                made.append(_single(plan, value, f"{name}_{word}_{dimension}", found))
    return made


def _single(plan: Plan, parameter: SSAValue, name: str, found: Arrays) -> Argument:
    """A parameter by itself: what a launch cannot say of it is assumed in the source."""
    found.names[parameter] = name
    type_ = parameter.type
    if not isinstance(type_, Tile) or type_.shape:
        raise refuse(plan.entry, f"a parameter of type {type_}")
    stated = _beyond_launch(plan, parameter)
    if stated:
        found.stated[parameter] = stated
    divisor = _divisor(plan, parameter)
    element = _element(parameter, plan.entry)
    if isinstance(type_.element, Ptr):
        return Argument(name, f"*mut {element}", f"{name}={element}[1]:{divisor}")
    whole = element[0] == "i"
    return Argument(name, element, f"{name}={divisor}" if whole else f"{name}={element}")


def _beyond_launch(
    plan: Plan, parameter: SSAValue, given: tuple[Assumption, ...] = ()
) -> tuple[Assumption, ...]:
    """What is assumed of a parameter and no launch says."""
    facts = [each for each in plan.facts[parameter] if each not in given]
    return tuple(each for each in facts if not _by_launch(parameter, each))


def _by_launch(parameter: SSAValue, fact: Assumption) -> bool:
    """Whether a launch states it: what divides an address or an integer, a power of two up to 16."""
    if not isinstance(fact, DivBy) or fact.every is not None or fact.divisor > MOST:
        return False
    type_ = parameter.type
    assert isinstance(type_, Tile)
    counted = isinstance(type_.element, Ptr) or type_.element.is_int
    return counted and fact.divisor & (fact.divisor - 1) == 0


def _divisor(plan: Plan, parameter: SSAValue) -> int:
    """What a launch must be seen to divide the parameter by."""
    facts = plan.facts[parameter]
    divisors = [each.divisor for each in facts if isinstance(each, DivBy) and _by_launch(parameter, each)]
    return max(divisors, default=1)


def _multiple(divisor: int, least: int) -> int:
    """The least odd multiple of a divisor that is not below a number."""
    times = -(-least // divisor)
    return divisor * (times + 1 - times % 2)


def _element(parameter: SSAValue, op: TileOp) -> str:
    type_ = parameter.type
    assert isinstance(type_, Tile)
    element = type_.element.pointee if isinstance(type_.element, Ptr) else type_.element
    name = ELEMENTS.get(element.name)
    if name is None or name not in BYTES:
        raise refuse_type(op, element)
    return name


def stated_texts(facts: Iterable[Assumption], element: str, op: TileOp) -> list[str]:
    """The calls that assume these facts, each around `{}`. Raises InputError for one that has no call."""
    return [_stated(each, element, op) for each in facts]


def _stated(fact: Assumption, element: str, op: TileOp) -> str:
    match fact:
        case DivBy(divisor, None, None):
            return f"assume_div_by::<_, {divisor}>({{}})"
        case DivBy(divisor, int(every), int(along)):
            return f"assume_div_by_every_along::<_, {divisor}, {every}, {along}>({{}})"
        case Bounded(lower, upper) if element == "i64":
            bounds = (f"Some({each}i64)" if each is not None else "None" for each in (lower, upper))
            return f"assume_bounds_raw({{}}, {', '.join(bounds)})"
        case Bounded(int(lower), None):
            return f"assume_bounds_lower::<_, {lower}>({{}})"
        case Bounded(None, int(upper)):
            return f"assume_bounds_upper::<_, {upper}>({{}})"
        case Bounded(int(lower), int(upper)):
            return f"assume_bounds::<_, {lower}, {upper}>({{}})"
        case _:
            raise refuse(op, f"the fact {fact} is not covered")
