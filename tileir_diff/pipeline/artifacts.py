"""Every artifact of a port as pydantic models; `tileir_diff.pipeline.schema` writes their schemas."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_json
from tileir_diff.pipeline.stages import Outcome, Stage  # noqa: TC001  (pydantic looks at them)

if TYPE_CHECKING:
    from collections.abc import Sequence

Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of a file's bytes, in hex.")]
NAME_OF = r"[A-Za-z_][A-Za-z0-9_.-]{0,99}"
Name = Annotated[str, Field(pattern=f"^{NAME_OF}$", max_length=100)]


def _stays_inside(path: str) -> str:
    if path.startswith("/") or not path.isprintable() or {"", ".", ".."} & set(path.split("/")):
        raise ValueError("a path from the port's folder that stays in it")
    return path


Inside = Annotated[str, AfterValidator(_stays_inside), Field(description="A path from the port's folder.")]
Text = Annotated[str, Field(max_length=10_000)]
Evidence = Literal["none", "static", "interpreter", "gpu"]
"""What a verdict rests on: nothing, the two dumps, runs of the interpreter, runs of a GPU."""
Route = Literal["kernel", "host", "upstream", "unknown"]
Model = TypeVar("Model", bound="Artifact")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Artifact(_Model):
    """What a stage leaves: a file with a schema."""

    def to_json(self) -> str:
        """As it stands in the file; the same artifact gives the same bytes."""
        return json.dumps(self.model_dump(by_alias=True, mode="json"), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls: type[Model], text: str, path: str) -> Model:
        """Raises InputError with the first place that does not follow the schema."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            if first["type"] == "json_invalid":
                parse_json(text, path)  # says where
            place = ".".join(str(part) for part in first["loc"])
            more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
            raise InputError(f"{place + ': ' if place else ''}{first['msg']}{more}", path) from None


# ---- analysis.json


Value = Annotated[dict[str, int | float | str | None], Field(min_length=1, max_length=1)]


class Array(_Model):
    """An array that a launch passes. Extents and strides count elements, `align` bytes."""

    dtype: str
    shape: list[Annotated[int, Field(ge=1)]]
    strides: list[Annotated[int, Field(ge=0)]]
    align: Annotated[int, Field(ge=1)] = 16
    use: str = Field(default="", description="As `tileir-diff show` tells it: read, write, atomic.")

    @model_validator(mode="after")
    def _ranks_agree(self) -> Array:
        if len(self.shape) != len(self.strides):
            raise ValueError(f"{len(self.shape)} extents and {len(self.strides)} strides")
        return self


class Access(_Model):
    """How a kernel reaches an array: each family of its loads, stores or atomics."""

    array: str
    kind: Literal["load", "store", "atomic"]
    families: list[Literal["partition", "strided", "gather", "pointer"]]


class Target(_Model):
    """The entry of kernel.rs for a variant.

    Without `like` its parameters are those of the reference, in the same order: a pointer for a pointer,
    a number for a number, a tensor for a pointer with its extents and strides.
    """

    entry: str = Field(
        default="", description="`module::entry`, or how that ends; empty: the only one there is."
    )
    like: list[str] = Field(
        default_factory=list, description="As `dump rs --like` takes it: generics, other parameters."
    )
    options: dict[str, int] = Field(default_factory=dict, description="What the launcher sets: occupancy.")


class Tolerance(_Model):
    """|generated - reference| <= atol + rtol * |reference|; may only be tighter than that of the type."""

    rtol: Annotated[float, Field(ge=0)]
    atol: Annotated[float, Field(ge=0)]


class Variant(_Model):
    """One specialisation of the reference: a dump, and the launch that it was made for."""

    name: Name
    dispatch: Text = Field(default="", description="When the host takes it, in words.")
    reference: Inside = Field(description="The reference's dump; given, never written by a worker.")
    entry: str = Field(description="Symbol of the entry in that dump.")
    arch: str = "sm_100"
    grid: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=3, max_length=3)]
    arguments: list[Value] = Field(description='What each parameter gets: {"ptr": ARRAY}, {"i32": 5}.')
    arrays: dict[str, Array]
    constants: dict[str, int] = Field(
        default_factory=dict, description="Tile extents and the like that are fixed in the dump."
    )
    memory: list[Access]
    tolerance: dict[str, Tolerance] = Field(
        default_factory=dict, description="By array; those of the element type where none is given."
    )
    target: Target = Target()


class Baseline(_Model):
    """The back end that the port is measured against; by gpu where given/baselines.json chose it."""

    backend: str
    evidence: Literal["none", "gpu"] = "none"
    why: Text = ""


class Baselines(Artifact):
    """What the user measured of the reference's back ends: microseconds by back end, then by variant."""

    schema_: Literal["tileir-baselines/1"] = Field(default="tileir-baselines/1", alias="schema")
    device: str
    times_us: Annotated[
        dict[Name, dict[Name, Annotated[float, Field(ge=1e-3, le=1e12)]]], Field(min_length=1)
    ]

    def fastest(self, variants: Sequence[str]) -> str | None:
        """The back end of the least geometric mean over these variants; None where none has them all."""
        means = {
            backend: sum(math.log(times[name]) for name in variants)
            for backend, times in self.times_us.items()
            if all(name in times for name in variants)
        }
        return min(means, key=lambda backend: (means[backend], backend)) if means else None


class Analysis(Artifact):
    """What is to be ported: variants, their launches, tolerances, tuning, baseline."""

    schema_: Literal["tileir-analysis/1"] = Field(default="tileir-analysis/1", alias="schema")
    operator: Name
    variants: Annotated[list[Variant], Field(min_length=1, max_length=200)]
    tuning: dict[str, list[int]] = Field(default_factory=dict, description="Constants to choose, and values.")
    baseline: Baseline
    notes: list[Text] = Field(default_factory=list)

    @model_validator(mode="after")
    def _names_differ(self) -> Analysis:
        names = [each.name for each in self.variants]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"two variants are called {twice[0]}")
        return self


class Reference(Artifact):
    """What is known of a reference before anyone looks at it: reference/NAME.json, beside its dump.

    Empty or null is what is not known. Written by the pipeline, never by a worker.
    """

    schema_: Literal["tileir-reference/1"] = Field(default="tileir-reference/1", alias="schema")
    name: Name
    entry: str = ""
    arch: str = "sm_100"
    grid: list[int] | None = None
    arguments: list[dict[str, int | float | str | None]] | None = None
    arrays: dict[str, Array] = Field(default_factory=dict)
    constants: dict[str, int] = Field(default_factory=dict)
    made_by: dict[str, str] = Field(default_factory=dict)


# ---- what gates write


class Check(_Model):
    """One question of a gate. `open` is neither: `detail` says what was not looked at, and why."""

    name: str
    result: Literal["pass", "fail", "open"]
    detail: Text


class GateFinding(_Model):
    """One difference from the reference, as a writer needs it."""

    variant: str
    rule: str
    severity: Literal["critical", "warn", "info"]
    message: str
    effect: str
    fix: str
    reference: str = Field(description="Line of the reference dump and its op; empty where there is none.")
    generated: str = Field(description="Line of kernel.rs where it is known, else of the dump, and the op.")


class GateVerdict(Artifact):
    """What code decided about the artifacts of one stage."""

    schema_: Literal["tileir-gate/1"] = Field(default="tileir-gate/1", alias="schema")
    stage: Stage
    outcome: Outcome
    evidence: Evidence
    checks: list[Check]
    findings: list[GateFinding] = Field(default_factory=list[GateFinding])
    saw: dict[Inside, Sha] = Field(description="Every file that the verdict depends on.")
    settings: dict[str, str] = Field(default_factory=dict, description="What the user decided.")
    versions: dict[str, str]
    content: str = Field(default="", description="SHA-256 of this document without `content` and `mac`.")
    mac: str = Field(default="", description="HMAC-SHA-256 of `content` under the run's key; empty: no key.")


# ---- correctness, perf.json, diff_report.json, residual.json


class Compared(_Model):
    """One variant, run on both sides."""

    variant: str
    outcome: Literal["equal", "different", "not-run"]
    detail: Text
    runs: int


class Correctness(Artifact):
    """What the host gate measured; written by the gate alone."""

    schema_: Literal["tileir-correctness/1"] = Field(default="tileir-correctness/1", alias="schema")
    evidence: Evidence
    kernel: Sha
    compared: list[Compared]


class Ratio(_Model):
    """One configuration; times in microseconds, `speed` is reference time / our time."""

    case: str
    ours_us: Annotated[float, Field(gt=0)]
    reference_us: Annotated[float, Field(gt=0)]
    speed: Annotated[float, Field(gt=0)]


class Perf(Artifact):
    """What was measured, every configuration by itself; `results` is empty where nothing was."""

    schema_: Literal["tileir-perf/1"] = Field(default="tileir-perf/1", alias="schema")
    results: str = Field(default="", description="SHA-256 of the result file; empty: there is none.")
    device: str = ""
    geomean: float | None = None
    configurations: list[Ratio] = Field(default_factory=list[Ratio])
    slow: list[str] = Field(default_factory=list, description="Cases slower than the limit, each.")
    notes: list[Text] = Field(default_factory=list)


class Proof(_Model):
    """A line of a file that a claim rests on; the gate looks whether it stands there."""

    file: Inside
    line: Annotated[int, Field(ge=1)]
    text: Text


class DiffReport(Artifact):
    """Why a stage failed. Cause and route are those of `tileir-diff classify`; a worker adds what to do."""

    schema_: Literal["tileir-diff-report/1"] = Field(default="tileir-diff-report/1", alias="schema")
    failed: Literal["kernel", "host", "performance"]
    variant: str
    cause: str
    owner: str | None
    route: Route
    fix: Text
    evidence: list[Proof] = Field(default_factory=list[Proof])
    reduced: Inside | None = Field(
        default=None, description="A smaller kernel that shows a bug of the compiler."
    )


class Fact(_Model):
    """Something in which both sides differ, as code finds it.

    `reference` and `generated` with their units, empty where nobody knows; `why` it costs time: what the
    assembler makes of it, or what to hold against it.
    """

    what: Text
    reference: Text
    generated: Text
    why: Text = ""


class Residue(_Model):
    """One cause of a slow configuration: facts that the gate finds again, and lines in which they stand."""

    case: str
    side: Literal["device", "host"]
    kind: Literal["memory-family", "hint", "lowering", "resources", "arithmetic", "grid", "tuning", "wrapper"]
    claim: Text
    facts: Annotated[list[Fact], Field(min_length=1)]
    evidence: list[Proof] = Field(default_factory=list[Proof])


class Residual(Artifact):
    """Why configurations are slow: every slow one has the causes that code finds.

    `unexplained` are those without a cause that lengthens the kernel's own time.
    """

    schema_: Literal["tileir-residual/1"] = Field(default="tileir-residual/1", alias="schema")
    causes: list[Residue]
    unexplained: list[str] = Field(default_factory=list)


ARTIFACTS: dict[str, type[Artifact]] = {
    "reference": Reference,
    "baselines": Baselines,
    "analysis": Analysis,
    "gate": GateVerdict,
    "correctness": Correctness,
    "perf": Perf,
    "diff_report": DiffReport,
    "residual": Residual,
}
"""By the name of the schema's file."""


LONGEST = 1 << 19


def changes(before: str, after: str) -> list[str]:
    """What differs between two artifacts, a line each: path, old and new value. Needs deepdiff.

    Raises InputError where it is not installed, and for artifacts that take too long to compare.
    """
    if len(before) + len(after) > LONGEST:
        raise InputError(f"more than {LONGEST >> 10} KiB to compare", "port")
    try:
        from deepdiff import DeepDiff
    except ImportError:
        raise InputError("deepdiff is not installed: pip install 'tileir-diff[pipeline]'", "port") from None
    # by path, so that the order in which deepdiff finds them does not matter
    found = DeepDiff(json.loads(before), json.loads(after), view="tree")
    told: list[str] = []
    for kind, levels in cast("dict[str, Any]", found).items():
        for level in levels:
            place = str(level.path()).removeprefix("root")
            told.append(f"{place}: {_changed(kind, level.t1, level.t2)}")
    return sorted(told)


def _changed(kind: str, old: object, new: object) -> str:
    if kind.endswith("_added"):
        return f"new: {_short(new)}"
    return f"gone: {_short(old)}" if kind.endswith("_removed") else f"{_short(old)} -> {_short(new)}"


def _short(value: object, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names as a message tells them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
