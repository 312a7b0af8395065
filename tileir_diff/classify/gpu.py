"""Results of a GPU, as a file says them: what ran, and whether it agrees with the interpreter."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_json
from tileir_diff.ingest.text import read_text

SCHEMA: Final = "tileir-gpu-result/1"
RUNS: Final = ("direct", "host", "O0", "O3")


class GpuResult(NamedTuple):
    """`agrees`: by run, whether its outputs are those of the interpreter on the same inputs.

    `direct` is a launch of the cubin itself, `host` one through the host's own code; `O0` and `O3` are direct
    launches at these levels. A run that is not in it was not made.
    """

    device: str
    assembler: str
    recorded: bool
    """Whether the file says that it was recorded elsewhere, and not made by the one who classifies."""
    agrees: dict[str, bool]
    note: str

    @property
    def origin(self) -> str:
        how = "recorded" if self.recorded else "run"
        return f"{how} on {self.device} with tileiras {self.assembler}"


def read(path: str) -> GpuResult:
    """Raises InputError for a file that is none."""
    found = parse_json(read_text(path), path)
    data = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    agrees = cast("dict[str, object] | None", data.get("agrees"))
    wrong = not isinstance(agrees, dict) or any(
        name not in RUNS or not isinstance(value, bool) for name, value in agrees.items()
    )
    texts = [data.get(name) for name in ("device", "assembler")]
    if data.get("schema") != SCHEMA or wrong or not all(isinstance(each, str) for each in texts):
        known = ", ".join(RUNS)
        raise InputError(f"no GPU result: it needs schema {SCHEMA}, device, assembler, agrees: {known}", path)
    return GpuResult(
        str(texts[0]),
        str(texts[1]),
        data.get("recorded") is True,
        {name: value is True for name, value in (agrees or {}).items()},
        str(data.get("note", "")),
    )
