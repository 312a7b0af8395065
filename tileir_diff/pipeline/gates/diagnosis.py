"""Whose fault a failed stage is: what code finds out, before and after anybody has written about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import GateVerdict
from tileir_diff.pipeline.gates.common import against, compare
from tileir_diff.pipeline.log import sha256

if TYPE_CHECKING:
    from pathlib import Path

    from tileir_diff.pipeline.artifacts import Route
    from tileir_diff.pipeline.gates.common import Given
    from tileir_diff.pipeline.stages import Outcome

Failed = Literal["kernel", "host", "performance"]
OUTCOMES: Final[dict[Route, Outcome]] = {
    "kernel": "TO_KERNEL",
    "host": "TO_HOST",
    "upstream": "UPSTREAM",
    "unknown": "UNDIAGNOSED",
}
ROUTES: Final[dict[str | None, Route]] = {
    "kernel": "kernel", "host": "host", "frontend": "upstream", "tileiras": "upstream", None: "unknown",
}  # fmt: skip
"""By the owner that `tileir-diff classify` names."""


class Diagnosis(NamedTuple):
    """What failed, and who has to act. `variant` is empty where no variant is to blame more than others."""

    failed: Failed
    variant: str
    cause: str
    owner: str | None
    route: Route
    why: str
    fix: str


def diagnose(given: Given, place: Path) -> Diagnosis:
    """The diagnosis of the stage that failed last; `place` is a folder for files.

    Raises InputError where no stage has failed.
    """
    for stage in ("performance", "host", "kernel"):
        path = f"gates/{stage}.json"
        if given.has(path) and (verdict := given.read(GateVerdict, path)).outcome == "FAIL":
            return _FAILED[stage](given, verdict, place)
    raise InputError("no stage has failed: there is nothing to diagnose", "gates")


def _first(verdict: GateVerdict) -> tuple[str, str]:
    """Name and detail of the first check that failed."""
    return next((check.name, check.detail) for check in verdict.checks if check.result == "fail")


def _variant(name: str) -> str:
    return name.partition(": ")[0] if ": " in name else ""


def _fix(verdict: GateVerdict, variant: str, otherwise: str) -> str:
    own = [each for each in verdict.findings if each.variant == variant]
    return own[0].fix or own[0].message if own else otherwise


def _kernel(given: Given, verdict: GateVerdict, place: Path) -> Diagnosis:
    name, detail = _first(verdict)
    variant = _variant(name)
    if not given.has(f"generated/{variant}.mlir"):
        # it has no dump: nothing but the source can be wrong
        return Diagnosis("kernel", variant, "translation", "kernel", "kernel", f"{name}: {detail}", detail)
    made = _classified(given, "generated", variant, place)
    cause, owner, why = str(made["cause"]), made["owner"], str(made["why"])
    if cause in ("equivalent", "equivalent-if"):  # what is left are hints, and a port keeps them
        cause, owner, why = "translation", "kernel", detail
    asked = [step.evidence for step in made["steps"] if step.name == "source" and step.answer == "yes"]
    why = "; ".join([why, *asked])  # with the line of the source that asks for what is lost
    route = ROUTES.get(owner, "unknown")
    if route == "host":  # no host has launched anything yet
        owner, route = "kernel", "kernel"
    return Diagnosis("kernel", variant, cause, owner, route, why, _fix(verdict, variant, why))


def _host(given: Given, verdict: GateVerdict, place: Path) -> Diagnosis:
    name, detail = _first(verdict)
    variant = _variant(name)
    to_host = Diagnosis("host", variant, "host", "host", "host", f"{name}: {detail}", detail)
    if not given.has(f"launched/{variant}.mlir"):
        return to_host
    fix = _fix(verdict, variant, detail)
    launched = json.loads(given.text(f"launched/{variant}.launch.json"))
    own = json.loads(given.text(f"generated/{variant}.launch.json"))["generated"]
    try:
        both = {"reference": own, "generated": launched["generated"]}
        report = compare(given, f"generated/{variant}.mlir", f"launched/{variant}.mlir", both, place)
        other = against(report)
    except InputError as error:
        other = error.message
    if other is not None:
        why = f"the host launches another kernel than the one that passed: {other}"
        return to_host._replace(why=why, fix=fix)
    wrong = [key for key in ("grid", "args") if launched["generated"].get(key) != own.get(key)]
    if wrong:
        said = f"{wrong[0]}: {launched['generated'].get(wrong[0])}, the kernel's gate had {own.get(wrong[0])}"
        return to_host._replace(why=said, fix=said)
    made = _classified(given, "launched", variant, place)
    owner = made["owner"]
    why = f"same kernel and same launch as passed its gate, and yet: {detail}; {made['why']}"
    return Diagnosis("host", variant, str(made["cause"]), owner, ROUTES.get(owner, "unknown"), why, fix)


def _performance(given: Given, verdict: GateVerdict, place: Path) -> Diagnosis:
    """A GPU finds wrong what the interpreter finds right: only more launches can tell whose fault it is."""
    del given, place
    name, detail = _first(verdict)
    why = f"{name}: {detail}; `tileir-diff classify --gpu-result` takes a direct launch of the kernel"
    return Diagnosis("performance", _variant(name), "unknown", None, "unknown", why, why)


_FAILED: Final = {"kernel": _kernel, "host": _host, "performance": _performance}


def _classified(given: Given, side: str, variant: str, place: Path) -> dict[str, Any]:
    """What `classify` says of a variant's dump."""
    from tileir_diff.api import Options
    from tileir_diff.classify.ladder import classify
    from tileir_diff.classify.model import Inputs
    from tileir_diff.match.launch import parse_launch
    from tileir_diff.match.model import CompareOptions

    analysis = given.analysis()
    reference = next((each.reference for each in analysis.variants if each.name == variant), None)
    if reference is None:
        raise InputError(f"no variant is called {variant}", "analysis.json")
    launch = place / f"{sha256(variant.encode())[:8]}.launch.json"
    launch.write_text(given.text(f"{side}/{variant}.launch.json"), "utf-8")
    options = Options(compare=CompareOptions(parse_launch([str(launch)])))
    generated = str(given.folder / side / f"{variant}.mlir")
    source = str(given.folder / "kernel.rs")
    made = classify(Inputs(str(given.folder / reference), generated, options, source, assembler=_assembler()))
    return made._asdict()


def _assembler() -> Any:
    from tileir_diff.lowering.assembler import find_assembler
    from tileir_diff.lowering.cache import Cache
    from tileir_diff.toolchain import find_tool

    return find_assembler(Cache(None)) if find_tool("tileiras") is not None else None
