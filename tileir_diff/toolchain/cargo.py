"""Builds Rust with cargo: the environment that the crate `cutile` needs, and what cargo and rustc say."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from tileir_diff.errors import InputError, MissingToolError
from tileir_diff.ingest.text import read_text
from tileir_diff.toolchain.find import toolkit
from tileir_diff.toolchain.run import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

SECONDS: Final = 3600.0
"""The first build of a machine compiles more than a hundred crates."""
_LEFT: Final = ContextVar("left", default=SECONDS)
OVERRIDES: Final = (
    "CUTILE_JIT_DEBUG",
    "CUTILE_JIT_OPT_LEVEL",
    "CUTILE_JIT_SANITIZE",
    "CUTILE_BYTECODE_VERSION",
)
"""Settings that would change what the front end writes."""


class Crate(NamedTuple):
    """A package with a library: the library's name, and the version of `cutile` it takes.

    `root` is the workspace's folder: rustc names files from there.
    """

    folder: Path
    root: Path
    library: str
    cutile: str


class Built(NamedTuple):
    """What cargo built: libraries by name, and folders in which more are looked for."""

    libraries: dict[str, Path]
    search: tuple[str, ...]


def cargo_environment() -> dict[str, str]:
    """The environment for cargo. Always the same, for another one builds the bindings of CUDA anew.

    What the user has set of CUDA_TOOLKIT_PATH, LIBCLANG_PATH and BINDGEN_EXTRA_CLANG_ARGS stays.
    """
    env = {name: value for name, value in environment().items() if name not in OVERRIDES}
    cuda = toolkit()
    if cuda is None:
        return env
    env.setdefault("CUDA_TOOLKIT_PATH", str(cuda))
    clang = cuda.parent.parent / "clang" / "native"
    if clang.is_dir():
        env.setdefault("LIBCLANG_PATH", str(clang))
        if "BINDGEN_EXTRA_CLANG_ARGS" not in env and (headers := _compiler_headers()):
            env["BINDGEN_EXTRA_CLANG_ARGS"] = f"-I{headers}"  # that libclang brings no stddef.h
    return env


@cache
def _compiler_headers() -> str:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return ""
    call = [compiler, "-print-file-name=include"]
    return subprocess.run(call, capture_output=True, text=True, check=False).stdout.strip()


def read_crate(folder: str) -> Crate:
    """What cargo says of the package in a folder.

    Raises InputError for no cargo, no package, no library that can be linked, and no dependency on `cutile`.
    """
    manifest = Path(folder, "Cargo.toml")
    if not manifest.is_file():
        raise InputError("no Cargo.toml in it: give the folder of a crate, or a file with kernels", folder)
    said = _cargo(["metadata", "--format-version", "1"], folder, folder)
    if said.returncode != 0:
        raise _failure(said.stderr, str(manifest))
    data = json.loads(said.stdout)
    packages: list[dict[str, Any]] = data["packages"]
    own = [each for each in packages if Path(each["manifest_path"]) == manifest.resolve()]
    if not own:
        members = [Path(each["manifest_path"]).parent.name for each in packages if each["source"] is None]
        raise InputError(f"a workspace and no package; its members are {', '.join(members)}", folder)
    [package] = own
    libraries = [target for target in package["targets"] if {"lib", "rlib"} & set(target["kind"])]
    if not libraries:
        raise InputError('no library that can be linked: give [lib] the crate-type ["rlib"]', str(manifest))
    cutile = _cutile(data, package["id"], str(manifest))
    return Crate(manifest.resolve().parent, Path(data["workspace_root"]), libraries[0]["name"], cutile)


def _cutile(data: dict[str, Any], package: str, manifest: str) -> str:
    """The version of the crate `cutile` that a package depends on."""
    versions = {each["id"]: each["version"] for each in data["packages"] if each["name"] == "cutile"}
    for node in data["resolve"]["nodes"]:
        if node["id"] == package:
            for dependency in node["dependencies"]:
                if dependency in versions:
                    return versions[dependency]
    raise InputError("it does not depend on cutile: it has no kernels", manifest)


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """No program that is begun within takes longer, one second at least."""
    before = _LEFT.set(max(1.0, seconds))
    try:
        yield
    finally:
        _LEFT.reset(before)


@contextmanager
def held(target: Path) -> Generator[None]:
    """Holds a target folder for one process at a time, until what was built there is used.

    cargo holds it only while it builds, and puts all libraries of one name in one file.
    Raises InputError where the folder cannot be written.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
        lock = (target / ".tileir-diff.lock").open("w")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}; set CARGO_TARGET_DIR", str(target)) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(crate: Crate, target: Path | None = None) -> Built:
    """Builds the library of a crate, in its own target folder if no other is given.

    Raises InputError with the first error of rustc at its line, or with what else cargo says.
    """
    call = ["build", "--lib", "--message-format", "json"]
    more = {} if target is None else {"CARGO_TARGET_DIR": str(target)}
    said = _cargo(call, str(crate.folder), str(crate.folder), more)
    libraries: dict[str, Path] = {}
    search: list[str] = []
    for line in said.stdout.splitlines():
        message = cast("dict[str, Any]", json.loads(line)) if line.startswith("{") else {}
        match message.get("reason"):
            case "compiler-message" if message["message"]["level"] == "error":
                raise _refusal(message["message"], crate.root)
            case "compiler-artifact":
                for file in message["filenames"]:
                    if file.endswith(".rlib"):
                        libraries[message["target"]["name"].replace("-", "_")] = Path(file)
            case "build-script-executed":
                search += message["linked_paths"]
            case _:
                pass
    if said.returncode != 0 or crate.library not in libraries:
        raise _failure(said.stderr, str(crate.folder))
    dependencies = f"dependency={libraries['cutile'].parent}"
    return Built(libraries, (dependencies, *dict.fromkeys(search)))


def build_library(folder: Path, target: Path) -> Path:
    """Builds a package whose library is one for C; gives a copy of that in the package's folder.

    Raises InputError with the first error of rustc at its line, or with what else cargo says.
    """
    return _made(["build", "--lib"], folder, target, _library_of)


def build_tests(folder: Path, target: Path) -> Path:
    """Builds the program that runs the tests of a package's library; gives a copy in the package's folder.

    Raises InputError as `build_library`.
    """
    return _made(["test", "--lib", "--no-run"], folder, target, _program_of)


def _library_of(artifact: dict[str, Any]) -> str | None:
    own = [file for file in artifact["filenames"] if file.endswith((".so", ".dylib"))]
    return own[0] if own and "cdylib" in artifact["target"]["kind"] else None


def _program_of(artifact: dict[str, Any]) -> str | None:
    return artifact["executable"] if artifact["profile"]["test"] else None


def _made(
    call: list[str], folder: Path, target: Path, wanted: Callable[[dict[str, Any]], str | None]
) -> Path:
    """A copy of the one file that is wanted of what cargo makes."""
    with held(target):
        more = {"CARGO_TARGET_DIR": str(target)}
        said = _cargo([*call, "--message-format", "json"], str(folder), str(folder), more)
        found: str | None = None
        for line in said.stdout.splitlines():
            message = cast("dict[str, Any]", json.loads(line)) if line.startswith("{") else {}
            if message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
                raise _refusal(message["message"], folder)
            if message.get("reason") == "compiler-artifact":
                found = wanted(message) or found
        if said.returncode != 0 or found is None:
            raise _failure(said.stderr, str(folder))
        return Path(shutil.copy(found, folder / Path(found).name))


def link(source: Path, output: Path, externs: dict[str, Path], search: tuple[str, ...], folder: Path) -> None:
    """Compiles a program against libraries that cargo built. Raises InputError where that fails."""
    rustc = os.environ.get("RUSTC", "rustc")
    call = [rustc, "--edition", "2021", "--crate-name", "export", str(source), "-o", str(output)]
    for name, path in externs.items():
        call += ["--extern", f"{name}={path}"]
    for place in search:
        call += ["-L", place]
    said = _run(call, str(folder), str(folder), cargo_environment())
    if said.returncode != 0:
        raise _failure(said.stderr, str(folder))


def _cargo(
    arguments: list[str], folder: str, path: str, more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs cargo. Raises InputError where there is none, and where it does not end."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise MissingToolError(
            "no cargo on PATH: install Rust with rustup; see `tileir-diff doctor`", "dump rs"
        )
    return _run([cargo, *arguments], folder, path, cargo_environment() | (more or {}))


def _run(call: list[str], folder: str, path: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a program; the compilers that it started end with it. Raises InputError where it does not end."""
    seconds = min(SECONDS, _LEFT.get())
    try:
        process = subprocess.Popen(
            call, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            env=env, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise InputError(f"{call[0]} cannot be run: {error.strerror}", path) from None
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise InputError(f"{Path(call[0]).name} did not finish in {seconds:.0f} s", path) from None
            raise
    return subprocess.CompletedProcess(call, process.returncode, out, err)


def _refusal(message: dict[str, Any], root: Path) -> InputError:
    """An error of rustc, at its line."""
    spans = [span for span in message["spans"] if span["is_primary"]]
    if not spans:
        return InputError(message["message"], str(root))
    span = spans[0]
    while span["expansion"] and not (root / span["file_name"]).is_file():  # inside a macro of another crate
        span = span["expansion"]["span"]
    file = os.path.relpath(root / str(span["file_name"]))
    lines = read_text(file).split("\n") if os.path.isfile(file) else []
    line: int = span["line_start"]
    quoted = lines[line - 1] if 0 < line <= len(lines) else None
    label = f": {span['label']}" if span["label"] else ""
    return InputError(f"{message['message']}{label}", file, line, span["column_start"], quoted)


def _failure(said: str, path: str) -> InputError:
    """What cargo says: its first error and the reasons below it."""
    lines = [line.rstrip() for line in said.splitlines() if line.strip()]
    starts = [index for index, line in enumerate(lines) if line.startswith("error")]
    told = lines[starts[0] :] if starts else lines[-1:] or ["cargo failed, and said nothing"]
    text = told[0].removeprefix("error: ")
    causes = [line.strip() for line in told[1:] if line.strip() and not line.strip().startswith("Caused by")]
    return InputError("; ".join([text, *causes[:2]]), path)
