"""The mechanical worker: no model, the same answer each time, for the kernels that it covers."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import DiffReport, Proof, Residual
from tileir_diff.pipeline.gates.common import Given, told
from tileir_diff.pipeline.workers.model import Answer, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from tileir_diff.pipeline.artifacts import Variant
    from tileir_diff.pipeline.gates.diagnosis import Diagnosis
    from tileir_diff.pipeline.stages import Stage


REDUCED: Final = "reduced/kernel.mlir"
SECONDS: Final = 300.0
"""For making a kernel smaller."""


class Template(NamedTuple):
    """A worker that follows templates."""

    name: str = "template"
    same: bool = True

    def work(self, task: Task) -> Answer:
        """Writes the stage's files; it fails with a reason where it covers something not."""
        try:
            for path, text in _MADE[task.stage](task).items():
                place = task.folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, "utf-8")
        except InputError as error:
            return Answer("failed", told(error, task.folder).encode())
        except (
            ValueError,
            LookupError,
            TypeError,
            RecursionError,
        ) as error:  # files that it was not made for
            return Answer("failed", f"{type(error).__name__}: {error}".encode())
        return Answer("ok")


def _analyst(task: Task) -> dict[str, str]:
    from tileir_diff.pipeline.workers.analyse import analyse

    return {"analysis.json": analyse(task.folder, task.operator).to_json()}


def _kernel(task: Task) -> dict[str, str]:
    """One module a variant, each translated from its reference."""
    analysis = Given(task.folder, {}).analysis()
    single = len(analysis.variants) == 1
    texts = [_translated(task.folder, variant, analysis.operator if single else variant.name)
             for variant in analysis.variants]  # fmt: skip
    # inner documentation stands only at the top of a file
    rest = [re.sub(r"^//!", "//", text, flags=re.MULTILINE) for text in texts[1:]]
    return {"kernel.rs": "\n".join([texts[0], *rest])}


def _translated(folder: Path, variant: Variant, name: str) -> str:
    from tileir_diff.api import load
    from tileir_diff.pipeline.workers.names import module_name
    from tileir_diff.transpile import transpile

    path = str(folder / variant.reference)
    module, _ = load(path, "reference")
    [entry] = [each for each in module.entries if each.symbol == variant.entry]
    return transpile(entry, path, module_name(name).replace(".", "_")).text


def _host(task: Task) -> dict[str, str]:
    from tileir_diff.pipeline.workers.host import ffi_text, wrapper_text

    given = Given(task.folder, {})
    analysis = given.analysis()
    return {"ffi.rs": ffi_text(given, analysis), "wrapper.py": wrapper_text(analysis)}


def _performance(task: Task) -> dict[str, str]:
    from tileir_diff.pipeline.gates.performance import measured

    given = Given(task.folder, {})
    return {"perf.json": measured(given, given.analysis()).to_json()}


def _diff(task: Task) -> dict[str, str]:
    from tileir_diff.pipeline.gates.diagnosis import diagnose

    given = Given(task.folder, {})
    with tempfile.TemporaryDirectory(prefix="tileir-diff-") as place:
        found = diagnose(given, Path(place))
        reduced = _smaller(task, found, Path(place)) if found.route == "upstream" else None
    report = DiffReport(
        failed=found.failed, variant=found.variant, cause=found.cause, owner=found.owner, route=found.route,
        fix=found.fix or found.why, reduced=None if reduced is None else REDUCED,
        evidence=_asked(given, found.why) if found.route == "upstream" else [],
    )  # fmt: skip
    return {"diff_report.json": report.to_json(), **({} if reduced is None else {REDUCED: reduced})}


def _smaller(task: Task, found: Diagnosis, place: Path) -> str | None:
    """A smaller kernel that shows the compiler's bug; None where there can be none."""
    if found.cause == "tileiras-bug":
        side = "launched" if found.failed == "host" else "generated"
        return _reduced(str(task.folder / side / f"{found.variant}.mlir"), task.seconds)
    from tileir_diff.pipeline.gates.reduced import differs
    from tileir_diff.reduce.search import reduce

    made = differs(Given(task.folder, {}), found, place)
    if made is None:
        return None
    test, whole = made
    seconds = min(task.seconds, SECONDS)
    return reduce(whole, test, seconds=seconds, progress=lambda state: None).smallest.text


def _reduced(path: str, seconds: float) -> str:
    """A smaller kernel on which the assembler fails as on this one. Raises InputError if it does not."""
    from tileir_diff.api import load
    from tileir_diff.lowering.assembler import find_assembler
    from tileir_diff.lowering.cache import Cache
    from tileir_diff.reduce.failures import Assembles
    from tileir_diff.reduce.search import candidate, reduce

    start = candidate(load(path, "source")[0])
    fails = Assembles(find_assembler(Cache(None)), "sm_90", 3)
    if start is None or not fails(start):
        raise InputError("the assembler does not fail on it again", path)
    made = reduce(start, fails, seconds=min(seconds, SECONDS), progress=lambda state: None)
    return made.smallest.text


def _asked(given: Given, why: str) -> list[Proof]:
    """The line of kernel.rs that a diagnosis names."""
    found = re.search(r"kernel\.rs:(\d+)", why)
    lines = given.text("kernel.rs").split("\n")
    if found is None or int(found[1]) > len(lines):
        return []
    return [Proof(file="kernel.rs", line=int(found[1]), text=lines[int(found[1]) - 1].strip())]


def _investigator(task: Task) -> dict[str, str]:
    from tileir_diff.pipeline.gates.residue import investigate

    found = investigate(Given(task.folder, {}))
    return {"residual.json": Residual(causes=found.causes, unexplained=found.unexplained).to_json()}


_MADE: Final[dict[Stage, Callable[[Task], dict[str, str]]]] = {
    "analyst": _analyst,
    "kernel": _kernel,
    "host": _host,
    "performance": _performance,
    "diff": _diff,
    "investigator": _investigator,
}
