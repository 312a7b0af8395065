"""The project's own dumps: kernels in several languages, and what a known edit makes of them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tileir_diff.dialect import parse_file
from tileir_diff.dialect.ir import ModuleOp
from tileir_diff.match.launch import Launch, parse_launch
from tileir_diff.match.model import CompareOptions, Comparison
from tileir_diff.rules import finding
from tileir_diff.rules.model import Finding
from tileir_diff.rules.root_cause import compared

ROOT = Path(__file__).parents[2] / "fixtures"
DUMPS = {"python": "py.g.mlir", "rust": "rs.g.mlir", "cpp": "cpp.g.mlir"}
SOURCES = {"python": "kernel.py", "rust": "kernel.rs", "cpp": "kernel.cu"}
LAUNCHES = {"python": "launch.json", "rust": "launch.json", "cpp": "launch.cpp.json"}


class Edit(NamedTuple):
    """One edited kernel: a mistake with the finding that must come, or a harmless edit."""

    folder: Path
    record: dict[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def side(self) -> str:
        return str(self.record["side"])

    @property
    def kernel(self) -> Path:
        return ROOT / "kernels" / str(self.record["kernel"])

    def line(self) -> int | None:
        """Line of the edited source that the finding must point at; None where no source is edited."""
        if "source_line" not in self.record:
            return None
        text = (self.kernel / SOURCES[self.side]).read_text(encoding="utf-8")
        edited = text.replace(self.record["find"], self.record["replace"])
        assert edited != text, "the edit does not apply"
        wanted = str(self.record["source_line"])
        return next(number for number, line in enumerate(edited.split("\n"), 1) if wanted in line)


def edits(kind: str) -> list[Edit]:
    """All of fixtures/mistakes or fixtures/harmless."""
    name = {"mistakes": "mistake.toml", "harmless": "harmless.toml"}[kind]
    return [
        Edit(path.parent, tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted((ROOT / kind).glob(f"*/{name}"))
    ]


def kernels() -> list[str]:
    return sorted(path.name for path in (ROOT / "kernels").iterdir() if path.is_dir())


@cache
def dump(path: Path) -> ModuleOp:
    """A dump, parsed once for all tests: comparing never changes it."""
    return parse_file(str(path))


def launch_of(path: Path) -> Launch | None:
    return parse_launch([str(path)]) if path.exists() else None


def compare_files(reference: Path, generated: Path, launch: Path | None) -> Comparison:
    facts = None if launch is None else launch_of(launch)
    return compared(dump(reference), dump(generated), CompareOptions(launch=facts))


def compare_edit(edit: Edit, *, with_launch: bool = True) -> Comparison:
    """The edited kernel against the dump that it was made from a port of."""
    reference = str(edit.record.get("reference", "rust" if edit.side == "python" else "python"))
    own = edit.folder / "launch.json"
    launch = own if own.exists() else edit.kernel / LAUNCHES[edit.side]
    return compare_files(
        edit.kernel / DUMPS[reference], edit.folder / "gen.g.mlir", launch if with_launch else None
    )


def findings(comparison: Comparison, *, harmless: bool = False) -> list[Finding]:
    """What the rules make of the differences, without those that cannot matter."""
    found = [finding(difference) for difference in comparison.differences]
    return [each for each in found if harmless or each.impact != "none"]
