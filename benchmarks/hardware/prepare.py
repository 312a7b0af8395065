"""Writes what the machine with the GPU needs: inputs, cubins, a manifest and the launcher."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.hardware.cases import cases, contents
from tileir_diff import assemble
from tileir_diff.toolchain import find_tool
from tileir_diff.toolchain.run import environment


def prepare(folder: Path, arch: str, only: str, level: int | None = None) -> int:
    import numpy as np

    tool = find_tool("tileiras")
    if tool is None:
        print("tileiras was not found: set TILEIR_TOOLCHAIN", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [case for case in cases() if only in case.name]
    manifest: list[dict[str, Any]] = []
    for case in chosen:
        cubin = folder / f"{case.name}.cubin"
        if not cubin.exists():
            with tempfile.TemporaryDirectory() as scratch:
                bytecode = Path(scratch, "k.tirbc")
                bytecode.write_bytes(assemble(str(case.dump)))
                command = [str(tool), f"--gpu-name={arch}", "-o", str(cubin), str(bytecode)]
                command += [] if level is None else [f"--opt-level={level}"]
                done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
            if done.returncode:
                print(f"{case.name}: not assembled: {done.stderr.strip()[:200]}", file=sys.stderr)
                continue
        manifest.append(
            {"name": case.name, "kernel": case.kernel, "cubin": cubin.name, "entry": case.launch["entry"],
             "grid": case.launch["grid"], "args": case.launch["args"]}
        )  # fmt: skip
    for kernel in sorted({case["kernel"] for case in manifest}):
        arrays = {name: np.frombuffer(content, np.uint8) for name, (_, content) in contents(kernel).items()}
        np.savez_compressed(folder / f"{kernel}.npz", **arrays)  # pyright: ignore[reportArgumentType]
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    shutil.copy(Path(__file__).with_name("launch.py"), folder / "launch.py")
    print(f"{len(manifest)} of {len(chosen)} launches are ready in {folder}")
    return 0
