"""Runs programs of others: in a folder of their own, with a bare environment, for so long and no longer.

Where the system lets us, the run's folder is hidden in a mount namespace of the program's own; elsewhere it
is only not told where that is. What the program changed is looked at afterwards. The log keeps which it was.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMESPACE: Final = "namespace"
"""The run's folder is not there for the program."""
COPY: Final = "copy"
"""The program works on a copy; the run's folder is there for one who looks for it."""
KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "USER")
"""What a program gets of the environment, besides what its template names."""
MOST: Final = 1 << 20
"""Bytes of what a program prints that are kept, from the end."""


class Ran(NamedTuple):
    """How a program ended: its exit status, None where its time was up; the end of what it printed."""

    status: int | None
    said: bytes
    sandbox: str


@cache
def sandbox() -> str:
    """The strongest there is here."""
    if shutil.which("unshare") is None:
        return COPY
    probe = ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        done = subprocess.run(probe, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return COPY
    return COPY if done.returncode else NAMESPACE


def run(
    command: Sequence[str],
    folder: Path,
    seconds: float,
    *,
    hide: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> Ran:
    """Runs a program in a folder; all that it started ends with it. Raises InputError where it cannot begin.

    `hide`: folders that it must not see. `environment` comes on top of KEPT.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    how = sandbox() if hide else COPY
    call = _hiding(command, hide) if how == NAMESPACE else list(command)
    own = {**kept, **(environment or {})}
    try:
        process = subprocess.Popen(
            call, cwd=folder, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise InputError(f"cannot be run: {error.strerror}", command[0]) from None
    try:
        said, _ = process.communicate(stdin, timeout=seconds)
        status: int | None = process.returncode
    except subprocess.TimeoutExpired:
        status = None
        _end(process)
        said, _ = process.communicate()
    else:
        _end(process)
    return Ran(status, said[-MOST:], how)


def _hiding(command: Sequence[str], hide: Sequence[Path]) -> list[str]:
    mounts = [f"mount -t tmpfs -o mode=700 none {shlex.quote(str(each.resolve()))}" for each in hide]
    return ["unshare", "-Urm", "sh", "-c", " && ".join([*mounts, 'exec "$@"']), "sh", *command]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program's whole session, also what it left running."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path; a link or a device counts as a file that holds its kind."""
    found: dict[str, bytes] = {}
    for place, folders, files in os.walk(folder):
        for name in (*files, *(each for each in folders if Path(place, each).is_symlink())):
            path = Path(place, name)
            plain = path.is_file() and not path.is_symlink()
            found[path.relative_to(folder).as_posix()] = path.read_bytes() if plain else b"\0not a plain file"
    return dict(sorted(found.items()))
