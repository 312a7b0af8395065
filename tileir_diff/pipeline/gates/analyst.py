"""The analyst's gate: analysis.json follows its schema, and what it claims is what the dumps have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.dump.like import BYTES, Argument, parse_likes
from tileir_diff.dump.rust import OPTIONS
from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Baselines, Reference, listed
from tileir_diff.pipeline.gates.common import BASELINES, Given, Ruled, Ruling
from tileir_diff.pipeline.references import promised
from tileir_diff.pipeline.workers.names import python_ranks

if TYPE_CHECKING:
    from tileir_diff.pipeline.artifacts import Analysis, Array, Variant

TOLERANCE: Final[dict[str, tuple[float, float]]] = {
    "f64": (1e-12, 1e-12), "f32": (1e-4, 1e-5), "f16": (1e-2, 1e-2), "bf16": (2e-2, 2e-2),
    "f8e4m3fn": (0.125, 0.125), "f8e5m2": (0.25, 0.25),
}  # fmt: skip
"""The widest rtol and atol by element type; integers are compared exactly."""
POINTER: Final = re.compile(r"tile<ptr<(\w+)>>")
ROLE: Final = re.compile(r"(\w+)\.(shape|stride)(\d+)")
Json = dict[str, Any]


def judge(given: Given) -> Ruled:
    """PASS where every claim that can be looked up is true."""
    ruling = Ruling("analyst", given)
    ruling.saw("analysis.json", BASELINES)
    try:
        analysis = given.analysis()
        measured = given.read(Baselines, BASELINES) if given.has(BASELINES) else None
    except InputError as error:
        return ruling.malformed(error)
    ruling.check("schema", None, f"{len(analysis.variants)} variants")
    wanted = given.settings.get("operator", analysis.operator)
    wrong = f"it is called {analysis.operator}, and {wanted} is to be ported"
    ruling.check("operator", None if analysis.operator == wanted else wrong, wanted)
    references = sorted(path.stem for path in (given.folder / "reference").glob("*.mlir"))
    ruling.saw(*(f"reference/{name}.{kind}" for name in references for kind in ("mlir", "json")))
    used = [variant.reference for variant in analysis.variants]
    unused = [name for name in references if f"reference/{name}.mlir" not in used]
    twice = sorted({path for path in used if used.count(path) > 1})
    # a reference has one launch, and so is one variant
    wrong = (
        f"no variant has {listed(unused)}"
        if unused
        else f"two variants have {listed(twice)}"
        if twice
        else None
    )
    ruling.check("references", wrong, listed(references))
    for variant in analysis.variants:
        _variant(ruling, variant)
    _baseline(ruling, analysis, measured)
    if analysis.tuning and ruling.check(
        "tuning", _tuning(ruling.given, analysis), "the references' constants"
    ):
        ruling.open("tuning", f"{listed(list(analysis.tuning))}: a dump does not show what else was tried")
    return ruling.rule("FAIL" if ruling.failed else "PASS")


def _baseline(ruling: Ruling, analysis: Analysis, measured: Baselines | None) -> None:
    """A measurement decides where there is one; without one nobody may say so."""
    said = analysis.baseline
    if measured is None:
        if ruling.check(
            "baseline", "a measurement chose it, and there is none" if said.evidence == "gpu" else None
        ):
            ruling.open("baseline", f"{said.backend}: chosen without a measurement")
        return
    fastest = measured.fastest([each.name for each in analysis.variants])
    wrong = None
    if fastest is None:
        wrong = f"no back end was measured for every variant: {BASELINES}"
    elif (said.backend, said.evidence) != (fastest, "gpu"):
        wrong = f"it says {said.backend} by {said.evidence}, and {fastest} is the fastest by gpu"
    ruling.check("baseline", wrong, f"{fastest}, measured on {measured.device}")


def _variant(ruling: Ruling, variant: Variant) -> None:
    name = variant.name
    try:
        kernel = _kernel(ruling.given, variant)
    except InputError as error:
        ruling.check(f"{name}: reference", f"{variant.reference}: {error.message}")
        return
    ruling.check(f"{name}: reference", None, f"@{variant.entry}")
    facts = _facts(ruling.given, variant)
    for what, wrong in (
        ("arguments", _arguments(variant, kernel)),
        ("launch", _launch(ruling.given, variant)),
        ("grid", _grid(variant, kernel)),
        ("shapes", _shapes(variant, kernel, facts) or _passed_arrays(ruling.given, variant, facts)),
        ("constants", _constants(variant, kernel, facts)),
        ("memory", _memory(variant, kernel)),
        ("tolerance", _tolerance(variant)),
        ("target", _target(variant)),
    ):
        ruling.check(f"{name}: {what}", wrong)


def _kernel(given: Given, variant: Variant) -> Json:
    """What `tileir-diff show` has of the entry. Raises InputError."""
    if not re.fullmatch(r"reference/[\w.-]+\.mlir", variant.reference):
        raise InputError("a reference is a dump in reference/", variant.reference)
    kernel = shown(given, variant.reference, variant.entry)
    if kernel is None:
        raise InputError(f"no entry '@{variant.entry}' in it", variant.reference)
    return kernel


def shown(given: Given, path: str, entry: str) -> Json | None:
    """What `show` says of one entry of a dump; None where it has no such entry. Raises InputError."""
    from tileir_diff.api import load
    from tileir_diff.show.summary import summarise

    given.text(path)  # a message with the port's own path where it cannot be read
    module, _ = load(str(given.folder / path), "reference")
    kernels = summarise(module, path, entry=entry, lint=False)["kernels"]
    return kernels[0] if kernels else None


def _arguments(variant: Variant, kernel: Json) -> str | None:
    """Each parameter gets a value of its type."""
    parameters: list[Json] = kernel["arguments"]
    if len(parameters) != len(variant.arguments):
        return f"the entry has {len(parameters)} parameters, {len(variant.arguments)} values are given"
    for parameter, value in zip(parameters, variant.arguments, strict=True):
        named = parameter["name"]
        if len(value) != 1:
            return f'{named}: a value is {{"ptr": ARRAY}} or {{"i32": 5}}'
        [(kind, what)] = value.items()
        found = POINTER.fullmatch(parameter["type"])
        if (kind == "ptr") != (found is not None):
            return f"{named} is a {parameter['type']}, not a {kind}"
        if found is None:
            if parameter["type"] != f"tile<{kind}>" or not isinstance(what, (int, float)):
                return f"{named} is a {parameter['type']}, not {kind} {what}"
            continue
        array = variant.arrays.get(str(what))
        if array is None:
            return f"{named} gets {what}, which is none of the arrays"
        if array.dtype != found[1].lower():
            return f"{named} points to {found[1]}, {what} is of {array.dtype}"
    passed = {str(value.get("ptr")) for value in variant.arguments}
    spare = [each for each in variant.arrays if each not in passed]
    return f"no parameter gets {listed(spare)}" if spare else None


def _launch(given: Given, variant: Variant) -> str | None:
    """What was known of the reference's launch before the analyst came."""
    known = _facts(given, variant)
    if known is None:
        return f"{variant.reference.removesuffix('.mlir')}.json is not there"
    pairs = (("grid", known.grid, variant.grid), ("arguments", known.arguments, variant.arguments))
    for what, stated, claimed in pairs:
        if stated is not None and stated != claimed:
            return f"{what}: {claimed}, and the launch of the reference has {stated}"
    if known.entry and known.entry != variant.entry:
        return f"entry: @{variant.entry}, and the reference is @{known.entry}"
    if known.arch != variant.arch:
        return f"arch: {variant.arch}, and the reference is for {known.arch}"
    for name, array in known.arrays.items():
        claim = variant.arrays.get(name)
        if claim is None or claim.model_copy(update={"use": array.use}) != array:
            return (
                f"{name}: the launch of the reference has {array.dtype}{array.shape}, strides {array.strides}"
            )
    return None


def _grid(variant: Variant, kernel: Json) -> str | None:
    """Blocks along an axis that the kernel does not read do the same work again."""
    read = set(kernel["grid"]["block_id"])
    idle = [axis for axis, size in zip("xyz", variant.grid, strict=True) if size > 1 and axis not in read]
    return f"{variant.grid}: the kernel does not read its block's {listed(idle)}" if idle else None


def _facts(given: Given, variant: Variant) -> Reference | None:
    """What was known of the reference before the analyst came."""
    path = f"{variant.reference.removesuffix('.mlir')}.json"
    return given.read(Reference, path) if given.has(path) else None


def _shapes(variant: Variant, kernel: Json, facts: Reference | None) -> str | None:
    """Extents and strides that the dump fixes or takes as parameters."""
    known = facts.arrays if facts is not None else {}
    by_name = {each["name"]: _array(variant, each) for each in kernel["arrays"]}
    for each in kernel["arrays"]:
        array, named = by_name[each["name"]], each["name"]
        if array is None:
            continue
        if each["use"] != array.use:
            return f"{named}: the kernel's use of it is {each['use']}, not {array.use}"
        for what, values in (("shape", array.shape), ("strides", array.strides)):
            stated: list[object] = each[what] or []
            if len(stated) != len(values) and _passed(variant, each["argument"]) in known:
                break  # the user's own array, and a kernel may view it with other dimensions
            if stated and len(stated) != len(values):
                return f"{named} has {len(stated)} dimensions, not {len(values)}"
            for axis, number in enumerate(stated):
                if isinstance(number, int) and number != values[axis]:
                    return f"{named}: {what}[{axis}] is {number} in the dump, not {values[axis]}"
    for parameter, value in zip(kernel["arguments"], variant.arguments, strict=False):
        for role in parameter["roles"]:
            found = ROLE.fullmatch(role)
            array = by_name.get(found[1]) if found is not None else None
            if found is None or array is None:
                continue
            numbers = array.shape if found[2] == "shape" else array.strides
            axis = int(found[3])
            got = next(iter(value.values()), None)
            if axis < len(numbers) and got != numbers[axis]:
                return f"{parameter['name']} is {role}: {numbers[axis]}, and the launch passes {got}"
    return None


def _passed_arrays(given: Given, variant: Variant, facts: Reference | None) -> str | None:
    """Arrays of which nobody said more: aligned as the kernel promises, and as cuTile Python passes them."""
    from tileir_diff.api import load

    known = facts.arrays if facts is not None else {}
    module, _ = load(str(given.folder / variant.reference), "reference")
    entry = next(each for each in module.entries if each.symbol == variant.entry)
    for name, array in variant.arrays.items():
        align = promised(entry, name, variant.arguments)
        if name not in known and array.align != align:
            return f"{name}: the kernel promises an alignment of {align} bytes, not {array.align}"
    pointers = [at for at, value in enumerate(variant.arguments) if "ptr" in value]
    ranks = python_ranks(variant.entry)
    for at, rank in zip(pointers, ranks, strict=True) if len(ranks) == len(pointers) else ():
        array = variant.arrays.get(_passed(variant, at))
        numbers = [next(iter(value.values())) for value in variant.arguments[at + 1 : at + 1 + 2 * rank]]
        if array is not None and numbers != [*array.shape, *array.strides]:
            claim = f"{array.shape}, strides {array.strides}"
            return f"{_passed(variant, at)}: {claim}, and the launch passes {numbers}"
    return None


def _target(variant: Variant) -> str | None:
    """What the kernel writer cannot change: facts and options that a dump of kernel.rs is made with."""
    for name, value in variant.target.options.items():
        if name not in OPTIONS:
            return f"no option is called {name}; there are {listed(OPTIONS)}"
        if not 0 < value < 1 << 31 or (name == "max_divisibility" and value & (value - 1)):
            return f"{name}={value}: no launcher sets that"
    arrays = [
        Argument(name, "array", each.dtype, tuple(each.shape), tuple(each.strides), each.align)
        for name, each in variant.arrays.items()
    ]
    try:
        parse_likes(variant.target.like, arrays)
    except InputError as error:
        return f"like: {error.message}"
    return None


def _array(variant: Variant, shown_array: Json) -> Array | None:
    at = shown_array["argument"]
    return variant.arrays.get(_passed(variant, at))


def _passed(variant: Variant, at: int | None) -> str:
    """The array that a parameter gets; empty where it gets none."""
    if at is None or at >= len(variant.arguments):
        return ""
    return str(variant.arguments[at].get("ptr") or "")


def _constants(variant: Variant, kernel: Json, facts: Reference | None) -> str | None:
    """A claimed constant is the one that was known; else it occurs: as a number, an extent, a hint."""
    known = facts.constants if facts is not None else {}
    for name, value in variant.constants.items():
        if known.get(name, value) != value:
            return f"{name}={value}: the reference was made with {name}={known[name]}"
    found: set[str] = {each["value"] for each in kernel["constants"]}
    found |= {str(extent) for access in kernel["memory"] for extent in access["tile"]}
    found |= {str(extent) for loop in kernel.get("loops", []) for extent in _numbers(loop)}
    found |= {str(value) for hints in kernel["hints"].values() for value in hints.values()}
    absent = [
        f"{name}={value}"
        for name, value in variant.constants.items()
        if name not in known and str(value) not in found
    ]
    return f"{listed(absent)}: no such number in the dump" if absent else None


def _tuning(given: Given, analysis: Analysis) -> str | None:
    """What may be tuned are constants of the references and hints, and what they have is among the values."""
    found: dict[str, dict[str, int]] = {}
    for variant in analysis.variants:
        try:
            kernel = _kernel(given, variant)
            named = _facts(given, variant)
        except InputError as error:
            return f"{variant.name}: {error.message}"
        hints = {name: value for each in kernel["hints"].values() for name, value in each.items()}
        own = {**hints, **variant.constants, **(named.constants if named is not None else {})}
        for name, value in own.items():
            found.setdefault(name, {})[variant.name] = value
    for name, values in analysis.tuning.items():
        if name not in found:
            known = listed(sorted(found)) or "none that have a name"
            return f"{name} is no constant of a reference; there are {known}"
        for variant, value in found[name].items():
            if value not in values:
                return f"{name} is {value} in {variant}, and that is not among {values}"
    return None


def _numbers(loop: Json) -> list[str]:
    return [str(value) for value in loop.values() if isinstance(value, (int, str))]


def _memory(variant: Variant, kernel: Json) -> str | None:
    """The families by which each array is reached."""
    names = {str(each["name"]): _passed(variant, each["argument"]) for each in kernel["arrays"]}
    actual: set[tuple[str, str, str]] = set()
    for access in kernel["memory"]:
        if access["array"] in names:
            actual.add((names[access["array"]], access["kind"], access["family"]))
    claimed = {(each.array, each.kind, family) for each in variant.memory for family in each.families}
    missing, extra = sorted(actual - claimed), sorted(claimed - actual)
    if missing:
        return f"the dump has {_access(missing[0])}, which is not told"
    return f"the dump has no {_access(extra[0])}" if extra else None


def _access(each: tuple[str, str, str]) -> str:
    array, kind, family = each
    return f"{family} {kind} of {array}"


def tolerances(variant: Variant) -> dict[str, tuple[float, float]]:
    """rtol and atol of each array that is written: as claimed, and never wider than the element type's.

    Integers have some only where they are claimed: whether they must be equal, the interpreter finds out.
    """
    found: dict[str, tuple[float, float]] = {}
    for name, array in sorted(variant.arrays.items()):
        claim, widest = variant.tolerance.get(name), TOLERANCE.get(array.dtype, (0.0, 0.0))
        if claim is not None:
            found[name] = min(claim.rtol, widest[0]), min(claim.atol, widest[1])
        elif array.use != "read" and array.dtype in TOLERANCE:
            found[name] = widest
    return found


def _tolerance(variant: Variant) -> str | None:
    for name, claim in variant.tolerance.items():
        array = variant.arrays.get(name)
        if array is None:
            return f"{name} is none of the arrays"
        rtol, atol = TOLERANCE.get(array.dtype, (0.0, 0.0))
        if claim.rtol > rtol or claim.atol > atol:
            return f"{name}: {array.dtype} allows rtol {rtol:g} and atol {atol:g} at most"
    unknown = sorted({array.dtype for array in variant.arrays.values()} - set(BYTES))
    return f"no element type is called {listed(unknown)}" if unknown else None
