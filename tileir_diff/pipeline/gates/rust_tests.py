"""Runs the tests that stand in kernel.rs: in a crate that the gate writes, sandboxed, and without a GPU."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.dump.rust_package import CUTILE, MANIFEST
from tileir_diff.pipeline import sandbox
from tileir_diff.pipeline.gates.device import plain
from tileir_diff.pipeline.log import sha256
from tileir_diff.toolchain.cache import cache_folder
from tileir_diff.toolchain.cargo import build_tests, cargo_environment

if TYPE_CHECKING:
    from tileir_diff.pipeline.gates.common import Given

SECONDS: Final = 120.0
"""For all tests of a kernel."""
LIBRARY: Final = '#[allow(warnings)]\n#[path = "kernel.rs"]\npub mod kernel;\n'
TEST: Final = re.compile(r"\btest\b")
ENDED: Final = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.MULTILINE)
FAILED: Final = re.compile(r"^test kernel::([\w:]+)(?: - should panic)? \.\.\. FAILED$", re.MULTILINE)
PANICKED: Final = re.compile(r"^thread '[^']*'(?: \(\d+\))? panicked at (.*):\n(.*)$", re.MULTILINE)


class Tested(NamedTuple):
    """How many tests passed and were ignored; `wrong`: which failed and how, None where none did."""

    passed: int
    ignored: int
    wrong: str | None


def run_tests(given: Given) -> Tested:
    """Builds and runs the tests in kernel.rs. Raises InputError where they do not build."""
    source = given.text("kernel.rs")
    if not TEST.search(plain(source)):
        return Tested(0, 0, None)
    with tempfile.TemporaryDirectory(prefix="tileir-tests-") as place:
        folder = Path(place)
        (folder / "kernel.rs").write_text(source, "utf-8")
        (folder / "lib.rs").write_text(LIBRARY, "utf-8")
        # cargo takes packages of one name in one target folder for one, wherever they lie
        key = f"tests-{sha256(source.encode())[:16]}"
        (folder / "Cargo.toml").write_text(MANIFEST.format(key=key, cutile=CUTILE), "utf-8")
        target = Path(os.environ.get("CARGO_TARGET_DIR") or cache_folder("cargo"))
        program = build_tests(folder, target.absolute())
        environment = cargo_environment() | {"RUST_BACKTRACE": "0"}
        call = [str(program), "--test-threads=1", "--color=never"]
        ran = sandbox.run(call, folder, SECONDS, environment=environment, hide=given.hide)
        return _read(ran, ran.said.decode("utf-8", "replace").replace(f"{place}/", ""))


def _read(ran: sandbox.Ran, said: str) -> Tested:
    ended = list(ENDED.finditer(said))
    if ran.status is None:
        return Tested(0, 0, f"they did not end in {SECONDS:.0f} s")
    if not ended:
        return Tested(0, 0, f"they ended with status {ran.status} before all had run")
    passed, failed, ignored = map(int, ended[-1].groups())
    if ran.status == 0 and not failed:
        return Tested(passed, ignored, None)
    names = [found[1] for found in FAILED.finditer(said)]
    why = [f"{found[1]}: {found[2]}" for found in PANICKED.finditer(said)]
    return Tested(passed, ignored, "; ".join([", ".join(names) or f"status {ran.status}", *why]))
