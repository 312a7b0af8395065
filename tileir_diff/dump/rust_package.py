"""The program that exports the kernels of a crate: linked with the library that cargo builds of it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.ingest.source import check_language
from tileir_diff.toolchain.cache import cache_folder
from tileir_diff.toolchain.cargo import Built, build, held, link, read_crate

if TYPE_CHECKING:
    from collections.abc import Generator

CUTILE: Final = "0.5.0"
"""The version of the crate `cutile` for a file with kernels, which names none."""
NEEDS: Final = ("cutile", "serde_json")
"""Crates that the program uses; `cutile` depends on the other."""
MANIFEST: Final = """\
[package]
name = "kernels-{key}"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[lib]
name = "kernels"
path = "lib.rs"

[dependencies]
cutile = "={cutile}"

[profile.dev]
debug = false
"""
"""Of the package for a file with kernels. Each file's has a name of its own: cargo takes packages of one name
in one target folder for one, wherever they lie, and does not build the second."""


class Program(NamedTuple):
    """A program that exports kernels, and the version of `cutile` in it."""

    path: Path
    cutile: str


def program(source: str) -> Program:
    """Builds the program for the crate in a folder, or for a file with kernels. Raises InputError."""
    check_language(source, "rs")
    path = Path(source)
    if path.suffix == ".rs":
        if not path.is_file():
            raise InputError("no such file", source)
        return _for_file(source)
    if path.is_file():
        raise InputError("this is no crate: give its folder, or a file NAME.rs with kernels", source)
    if not path.is_dir():
        raise InputError("no such folder: give the folder of a crate, or a file with kernels", source)
    return _for_crate(source, None)


def _for_crate(folder: str, target: Path | None) -> Program:
    crate = read_crate(folder)
    own = Path(os.environ.get("CARGO_TARGET_DIR") or crate.root / "target")
    with held(target or own), _held(str(crate.folder)) as place:
        built = build(crate, target)
        return Program(_linked(place, crate.folder, crate.library, built), crate.cutile)


def _for_file(source: str) -> Program:
    """A package whose library has the file as a module, by the path that was given: locations name it so."""
    inside = not os.path.isabs(source) and ".." not in Path(source).parts
    place = os.path.normpath(source) if inside else Path(source).name
    target = Path(os.environ.get("CARGO_TARGET_DIR") or cache_folder("cargo"))
    with _held(f"{os.path.abspath(source)}\0{place}") as folder:
        link_ = folder / place
        link_.parent.mkdir(parents=True, exist_ok=True)
        if not link_.is_symlink():
            link_.symlink_to(os.path.abspath(source))
        _write(folder / "Cargo.toml", MANIFEST.format(key=folder.name, cutile=CUTILE))
        _write(folder / "lib.rs", f"#[path = {json.dumps(place)}]\n#[allow(warnings)]\npub mod kernel;\n")
    try:
        return _for_crate(str(folder), target.absolute())
    except InputError as error:
        if Path(error.path).name == link_.name and Path(error.path).resolve() == Path(source).resolve():
            error.path = source
        raise


def _linked(place: Path, folder: Path, library: str, built: Built) -> Path:
    """Links the program, unless it is there: it depends on the libraries and on its own source alone."""
    source = Path(__file__).with_name("export.rs").read_text("utf-8") + f"\nextern crate {library} as _;\n"
    _write(place / "export.rs", source)
    externs = {name: built.libraries[name] for name in (library, *NEEDS)}
    parts = [source, *(f"{path} {path.stat().st_mtime_ns}" for path in externs.values())]
    made = place / f"export-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"
    if not made.exists():
        for old in place.glob("export-*"):
            old.unlink()
        link(place / "export.rs", made, externs, built.search, folder)
    return made


@contextmanager
def _held(key: str) -> Generator[Path]:
    """The folder of what is made for a crate, held for one process at a time."""
    folder = cache_folder("export") / hashlib.sha256(key.encode()).hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}; set XDG_CACHE_HOME", str(folder)) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _write(file: Path, text: str) -> None:
    """A file that is as it should be stays, so that nothing is built again for it."""
    if not file.is_file() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
