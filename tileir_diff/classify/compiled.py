"""Steps about what the assembler makes of both sides, and about what was launched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from tileir_diff.classify.model import NO, NOT_RUN, OPEN, YES, Inputs, Step, step
from tileir_diff.ingest.text import read_bytes

if TYPE_CHECKING:
    from tileir_diff.report.result import Result

CRASHED: Final = "crashed (signal"
"""How the assembler's failure begins where it did not end by itself."""


def assembler(inputs: Inputs) -> Step:
    """Assembles both sides; a failure of one that verifies is the assembler's."""
    if inputs.assembler is None:
        return step(
            "assembler", NOT_RUN, "no assembler was found", "set TILEIR_TOOLCHAIN to a folder with tileiras"
        )
    from tileir_diff.bytecode import assemble

    failed: list[str] = []
    crashed = False
    for side, path in (("reference", inputs.reference), ("generated", inputs.generated)):
        bytecode = assemble(path)
        lowered = inputs.assembler.lower(bytecode, inputs.arch)
        if not lowered.failure:
            continue
        lowest = inputs.assembler.lower(bytecode, inputs.arch, 0)
        also = f"at -O0: {lowest.failure}" if lowest.failure else "at -O0 it is assembled"
        failed.append(f"{side}: {lowered.failure}; {also}")
        crashed = crashed or lowered.failure.startswith(CRASHED)
    by = f"tileiras {inputs.assembler.version}, {inputs.arch}"
    if not failed:
        return step("assembler", YES, by)
    settle = f"`tileir-diff reduce FILE --crash {inputs.arch}` makes a report of it"
    if not crashed:
        # what it refuses with a message may be no matter of this architecture
        settle = f"{settle}; whether {inputs.arch} can have such a kernel"
    return step("assembler", NO, f"{by}: {'; '.join(failed)}", settle)


def cubin(inputs: Inputs, result: Result) -> Step:
    """Whether the compiled kernel that was launched is the one that was compared."""
    if inputs.cubin is None:
        return step("cubin", OPEN, "no compiled kernel was given", "`--cubin FILE`")
    from tileir_diff.bytecode import assemble
    from tileir_diff.lowering.cubin import read_cubin

    kernels = read_cubin(read_bytes(inputs.cubin), inputs.cubin)
    names = [pair.generated.removeprefix("@") for pair in result.pairs if pair.generated is not None]
    absent = [name for name in names if name not in kernels]
    if absent:
        held = ", ".join(f"@{name}" for name in kernels)
        return step("cubin", NO, f"{os.path.basename(inputs.cubin)} has no kernel @{absent[0]}, but {held}")
    if inputs.assembler is None:
        return step(
            "cubin", OPEN, "it has a kernel of that name; its code cannot be compared without tileiras"
        )
    bytecode = assemble(inputs.generated)
    by = f"tileiras {inputs.assembler.version} for {inputs.arch}"
    for level in (3, 0):
        made = inputs.assembler.lower(bytecode, inputs.arch, level).kernels
        if made and all(name in made and made[name].code == kernels[name].code for name in names):
            return step("cubin", YES, f"its code is what {by} makes at -O{level}")
    # other versions, levels and architectures make other code, and so does another run at times
    return step(
        "cubin", OPEN, f"{by} makes other code of it", "the version and options that the host compiles with"
    )
