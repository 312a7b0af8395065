"""Builds the library from the sources beside this package, where they changed.

A build is known by the hash of its sources. It is put in place under that name at once or not at all, so
that a process that uses an older one is not disturbed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tileir_kernels.errors import BuildError

WORKSPACE: Final = Path(__file__).resolve().parents[2]
PROFILE: Final = "TILEIR_KERNELS_PROFILE"
"""Names the cargo profile, `release` or `dev`."""
TOOLCHAIN: Final = "TILEIR_TOOLCHAIN"
"""Names the folder with CUDA's compilers and libclang; by default the one that `make setup-all` fills, else
they are looked for where cargo does."""
TOOLKIT: Final = "CUDA_TOOLKIT_PATH"
ASSEMBLER: Final = "CUTILE_TILEIRAS_PATH"
FOREIGN_CUDA: Final = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
NAME: Final = "libtileir_kernels.so"


def sources(workspace: Path = WORKSPACE) -> list[Path]:
    """The files that a build depends on."""
    crate = workspace / "kernels"
    found = [path for path in (crate / "src").rglob("*.rs") if not path.name.startswith(".")]  # of editors
    return [workspace / "Cargo.toml", crate / "Cargo.toml", *sorted(found)]


def stamp(workspace: Path = WORKSPACE) -> tuple[tuple[int, int], ...]:
    """Changes whenever a source does: cheap enough for every call."""
    return tuple((status.st_mtime_ns, status.st_size) for status in map(os.stat, sources(workspace)))


def content_hash(workspace: Path = WORKSPACE) -> str:
    digest = hashlib.sha256(profile().encode())
    for path in sources(workspace):
        digest.update(f"{path.relative_to(workspace)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def profile() -> str:
    return os.environ.get(PROFILE, "release")


def environment() -> dict[str, str]:
    """For cargo, always the same: another one would build the bindings of CUDA again."""
    env = {key: value for key, value in os.environ.items() if key not in FOREIGN_CUDA}
    folder = compilers()
    if folder is not None:
        env.setdefault(TOOLKIT, str(folder / "nvidia" / "cu13"))
        env.setdefault("LIBCLANG_PATH", str(folder / "clang" / "native"))
        if shutil.which("gcc") is not None:  # that libclang brings no stddef.h
            call = ["gcc", "-print-file-name=include"]
            told = subprocess.run(call, capture_output=True, text=True, check=False)
            env.setdefault("BINDGEN_EXTRA_CLANG_ARGS", f"-I{told.stdout.strip()}")
    return env


def compilers() -> Path | None:
    """The folder of the compilers, where one is named or beside the project."""
    named = os.environ.get(TOOLCHAIN)
    if named:
        return Path(named)
    beside = WORKSPACE.parent / ".toolchain"
    return beside if (beside / "nvidia" / "cu13").is_dir() else None


def find_assembler() -> None:
    """Tells cuTile Rust, which asks the environment, where the assembler is; nothing where it finds one."""
    folder = compilers()
    if folder is None or os.environ.get(ASSEMBLER) or shutil.which("tileiras"):
        return
    toolkit = Path(os.environ.get(TOOLKIT) or folder / "nvidia" / "cu13")
    if (toolkit / "bin" / "tileiras").is_file():
        os.environ[ASSEMBLER] = str(toolkit / "bin" / "tileiras")
        os.environ.setdefault(TOOLKIT, str(toolkit))


def target_folder(workspace: Path = WORKSPACE) -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR") or workspace / "target")


def library(workspace: Path = WORKSPACE) -> Path:
    """The library built from the sources as they are now. Raises BuildError where they do not build."""
    store = target_folder(workspace) / "tileir_kernels"
    store.mkdir(parents=True, exist_ok=True)
    with (store / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        while True:
            known = content_hash(workspace)
            built = store / f"{known}-{NAME}"
            if built.exists():
                return built
            made = _build(workspace)
            if content_hash(workspace) == known:  # else a source changed meanwhile
                written = built.with_suffix(".new")
                shutil.copyfile(made, written)
                os.replace(written, built)


def newest(workspace: Path = WORKSPACE) -> Path | None:
    """The library that was built last, whatever its sources."""
    built = (target_folder(workspace) / "tileir_kernels").glob(f"*-{NAME}")
    return max(built, key=lambda path: path.stat().st_mtime_ns, default=None)


def _build(workspace: Path) -> Path:
    """Where cargo puts the library. Raises BuildError."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise BuildError("the library is not built, and there is no cargo to build it: install Rust 1.95")
    command = [cargo, "build", "--quiet", "--lib", "--profile", profile()]
    done = subprocess.run(
        command, cwd=workspace, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command[1:])} failed:\n{done.stderr[-4000:]}")
    folder = "debug" if profile() == "dev" else profile()
    return target_folder(workspace) / folder / NAME
