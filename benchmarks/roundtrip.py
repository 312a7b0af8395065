"""Bytecode there and back: what the disassembler prints of what we wrote, against what we read.

    python -m benchmarks.roundtrip [FOLDER...] [--sample N] [--all-versions]
    python -m benchmarks.roundtrip --cubin sm_100 [FOLDER...]

A dump of the disassembler is read, written as bytecode and disassembled. Counted is how many come back the
same to the letter, and how many as the same module: ops, types, attributes, hints as they are stored, debug
locations. A dump with locations is disassembled with them. Needs `tileirdisasm`.

With --cubin, compilers' bytecode that lies beside its dump (k.tirbc, k.g.mlir) is compiled, and what we write
of the dump: are the two kernels the same, bit for bit? Needs `tileiras`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.data import ROOT, data_folder, default_folder, dumps
from tileir_diff.bytecode import assemble
from tileir_diff.bytecode.locations import LocationReader, NotHeldError
from tileir_diff.bytecode.module import write_module
from tileir_diff.bytecode.versions import VERSIONS
from tileir_diff.dialect import parse_text
from tileir_diff.dialect.equality import structurally_equal
from tileir_diff.errors import InputError
from tileir_diff.ingest import read_source
from tileir_diff.toolchain import disassemble, find_tool, tool_version
from tileir_diff.toolchain.run import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tileir_diff.dialect.ir import ModuleOp, TileOp

SHOWN = 20
"""Failures that are told one by one."""
TRIES = 6
SAME_KERNEL, ANOTHER_KERNEL = "the same kernel", "another kernel"
VARIES = "undecided: the assembler gives several kernels for the compiler's own bytecode"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.roundtrip", description=__doc__)
    parser.add_argument("folders", nargs="*", help="folders or files; the corpus and the pairs by default")
    parser.add_argument("--sample", type=int, help="so many dumps only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all-versions", action="store_true", help="each version, not only the oldest")
    parser.add_argument("--cubin", metavar="ARCH", help="compile for this architecture instead")
    options = parser.parse_args(arguments)
    if options.cubin:
        return compiled([Path(name) for name in options.folders], options.cubin)
    if find_tool("tileirdisasm") is None:
        print("tileirdisasm was not found: nothing measured")
        return 0
    count: Counter[str] = Counter()
    start = perf_counter()
    for path in dumps(_folders(options.folders), options.sample, options.seed):
        for version in VERSIONS if options.all_versions else (None,):
            outcome, told = round_trip(path, version)
            count[outcome] += 1
            if told and count[outcome] <= SHOWN:
                print(f"{outcome}: {path} {version or ''}\n  {told}")
    print(f"tileirdisasm {tool_version('tileirdisasm')}, {perf_counter() - start:.0f} s")
    for outcome, number in sorted(count.items()):
        print(f"{number:6} {outcome}")
    return 1 if set(count) - {"the same text", "the same module", "not in this version"} else 0


def compiled(folders: list[Path], arch: str) -> int:
    """Compares kernels compiled from bytecode and from what we write of the dump beside it."""
    tool = find_tool("tileiras")
    if tool is None:
        print("tileiras was not found: nothing measured")
        return 0
    count: Counter[str] = Counter()
    for folder in folders or [ROOT / "fixtures" / "kernels"]:
        for dump in sorted(folder.rglob("*.g.mlir")):
            original = next(iter(sorted(dump.parent.glob(f"{dump.name[: -len('.g.mlir')]}.t*bc"))), None)
            if original is None:
                continue
            outcome = _compare_compiled(tool, original.read_bytes(), assemble(dump), arch)
            count[outcome] += 1
            if outcome != SAME_KERNEL:
                print(f"{outcome}: {dump}")
    print(f"tileiras {tool_version('tileiras')}, {arch}: {dict(count)}")
    return 1 if count[ANOTHER_KERNEL] else 0


def _compare_compiled(tool: Path, original: bytes, written: bytes, arch: str) -> str:
    """The assembler does not always give the same kernel for the same input: then it is asked again."""
    ours, theirs = _cubin(tool, written, arch), {_cubin(tool, original, arch)}
    for _ in range(TRIES):
        if ours not in theirs:
            theirs.add(_cubin(tool, original, arch))
    if ours in theirs:
        return SAME_KERNEL
    return VARIES if len(theirs) > 1 else ANOTHER_KERNEL


def _cubin(tool: Path, bytecode: bytes, arch: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "k.tirbc"), Path(folder, "k.cubin")
        source.write_bytes(bytecode)
        call = [str(tool), f"--gpu-name={arch}", "-o", str(target), str(source)]
        subprocess.run(call, env=environment(), check=True)
        return target.read_bytes()


def _folders(named: list[str]) -> list[Path]:
    if named or data_folder() is None:
        return [Path(name) for name in named] or [default_folder("corpus")]
    return [default_folder("corpus"), default_folder("pairs")]


def round_trip(path: Path, version: str | None) -> tuple[str, str]:
    """What came of one dump, and why if that is a failure."""
    source = read_source(path)
    module = parse_text(source.text, source.path)
    try:
        written = write_module(module, version)
    except InputError as error:
        asked = version is not None and "was asked for" in error.message
        return ("not in this version", "") if asked else ("not written", str(error))
    try:
        text = disassemble(written.data, source.path, locations="loc(" in source.text)
    except InputError as error:
        return "refused by the disassembler", str(error)
    if text == source.text:
        return "the same text", ""
    again = parse_text(text, source.path)
    difference = difference_of(module, again)
    return (f"another module ({difference})", _first_difference(source.text, text)) if difference else (
        "the same module", ""
    )  # fmt: skip


def difference_of(reference: ModuleOp, generated: ModuleOp) -> str:
    """In what two modules differ: "ops", "hints" or "locations"; empty if in nothing."""
    if not structurally_equal(reference, generated):
        return "ops"
    pairs = list(zip(reference.walk(), generated.walk(), strict=True))
    if any(a.properties.get("hints") != b.properties.get("hints") for a, b in pairs):
        return "hints"
    left, right = _reader(reference), _reader(generated)
    same = all(_location(left, a) == _location(right, b) for a, b in pairs)  # pyright: ignore[reportArgumentType]
    return "" if same else "locations"


def _reader(module: ModuleOp) -> LocationReader:
    locations = module.dump.locations if module.dump is not None else None
    return LocationReader(locations.texts if locations is not None else {})


def _location(reader: LocationReader, op: TileOp) -> Any:
    try:
        return reader.read(op.location_text) if op.location_text is not None else None
    except NotHeldError:
        return "one that bytecode cannot hold"


def _first_difference(reference: str, generated: str) -> str:
    for a, b in zip(reference.splitlines(), generated.splitlines(), strict=False):
        if a != b:
            return f"- {a}\n  + {b}"
    return "one is longer"


if __name__ == "__main__":
    sys.exit(main())
