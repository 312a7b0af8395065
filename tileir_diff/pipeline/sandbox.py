"""Runs programs of others: in a folder of their own, with a bare environment, for so long and no longer.

Where the system lets us, a program has namespaces of its own. The run's folder is not there. All that is
mounted is read-only but for its folder; what it writes to HOME or to a cache is gone when it ends. So are the
processes that it started. It has no right to undo any of this. Elsewhere it is only not told where the run's
folder is, and what it leaves running in another session goes on. What it changed is looked at afterwards in
both cases. The log keeps which it was.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections import deque
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Final, Literal, NamedTuple

from tileir_diff.errors import InputError
from tileir_diff.toolchain.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NAMESPACE: Final = "namespace"
"""The run's folder is not there for the program, and nothing but its own folder keeps what it writes."""
COPY: Final = "copy"
"""The program works on a copy; the run's folder is there for one who looks for it."""
KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TERM", "USER")
"""What a program gets of the environment, besides what its template names."""
MOST: Final = 1 << 20
"""Bytes of what a program prints that are kept, from the end."""
LARGEST: Final = 8 << 20
"""Bytes of one file that is taken from a worker."""
FILES: Final = 10_000
"""So many files are looked at."""
TOTAL: Final = 256 << 20
"""So many bytes of them."""
NOT_PLAIN: Final = b"\0not a plain file"
"""What stands for a link, a device, a file that cannot be read, or one with a name that cannot be printed."""
SCRATCH: Final = "scratch/"
"""Where a program may leave what nobody looks at; its temporary files go there too."""
SYSTEM: Final = ("/proc", "/sys", "/dev")
LOCKED: Final = ("nosuid", "nodev", "noexec", "noatime", "nodiratime")
"""Options of a mount that a program without rights may not take away."""
Ended = Literal["ended", "timeout", "stopped"]


class Ran(NamedTuple):
    """How a program ended: its exit status, None where it was ended; the end of what it printed."""

    status: int | None
    said: bytes
    sandbox: str
    how: Ended = "ended"


@cache
def sandbox() -> str:
    """The strongest there is here."""
    if shutil.which("unshare") is None:
        return COPY
    with tempfile.TemporaryDirectory(prefix="tileir-sandbox-") as place:
        own, hidden, layers = Path(place, "own"), Path(place, "hidden"), Path(place, "layers")
        for each in (own, hidden, layers):
            each.mkdir()
        probe = _alone(["true"], own, (hidden,), (), layers)
        try:
            done = subprocess.run(probe, capture_output=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return COPY
    return COPY if done.returncode else NAMESPACE


def run(
    command: Sequence[str],
    folder: Path,
    seconds: float,
    *,
    hide: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    stop: Callable[[], bool] = lambda: False,
) -> Ran:
    """Runs a program in a folder; all that it started ends with it. Raises InputError where it cannot begin.

    `hide`: folders that it must not see. `writable`: places besides its folder that keep what it writes.
    `environment` comes on top of KEPT. `stop` is asked twice a second whether the program has to end.
    """
    temporary = folder / SCRATCH / "tmp"
    with ExitStack() as held:
        try:
            temporary.mkdir(parents=True, exist_ok=True)
            source = held.enter_context(tempfile.TemporaryFile())
            source.write(stdin)
            source.seek(0)
            layers = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="tileir-layers-")))
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", str(folder)) from None
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        own = {**kept, "TMPDIR": str(temporary), **(environment or {})}
        program = command[0] if os.sep not in command[0] else str(folder / command[0])
        if shutil.which(program, path=own.get("PATH")) is None:
            raise InputError("cannot be run: no such program", command[0])
        how = sandbox()
        call = _alone(command, folder, hide, writable, layers) if how == NAMESPACE else list(command)
        if shutil.which("setpriv") is not None:  # it ends with us, also where we are killed
            call = ["setpriv", "--pdeathsig", "KILL", *call]
        try:
            process = subprocess.Popen(
                call, cwd=folder, env=own, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(f"cannot be run: {why}", command[0]) from None
        assert process.stdout is not None
        said: deque[bytes] = deque()
        reader = Thread(target=_read, args=(process.stdout, said), daemon=True)
        reader.start()
        try:
            ended = _wait(process, monotonic() + seconds, stop)
        finally:
            _end(process)
            process.wait()
            reader.join(timeout=5)  # what it left in another session may hold the pipe for ever
        text = b"".join(tuple(said))[-MOST:]
        return Ran(process.returncode if ended == "ended" else None, text, how, ended)


def _read(pipe: IO[bytes], said: deque[bytes]) -> None:
    """Keeps the end of what is printed."""
    length = 0
    while data := os.read(pipe.fileno(), 1 << 16):
        said.append(data)
        length += len(data)
        while length - len(said[0]) >= MOST:
            length -= len(said.popleft())
    pipe.close()


def _wait(process: subprocess.Popen[bytes], deadline: float, stop: Callable[[], bool]) -> Ended:
    while True:
        left = deadline - monotonic()
        try:
            process.wait(max(0.0, min(0.5, left)))
        except subprocess.TimeoutExpired:
            if left <= 0:
                return "timeout"
            if stop():
                return "stopped"
        else:
            return "ended"


def _alone(
    command: Sequence[str], folder: Path, hide: Sequence[Path], writable: Sequence[Path], layers: Path
) -> list[str]:
    """The command in namespaces of its own.

    The outer ones make the mounts; in the inner one, which the program gets, they cannot be undone.
    """
    mounts = _mounts()
    folder = folder.resolve()
    steps = ["set -e", "mount -t proc none /proc 2> /dev/null || :"]
    for at, place in enumerate(_forgetful(mounts, folder, layers.resolve())):
        upper, work = layers.resolve() / f"{at}" / "upper", layers.resolve() / f"{at}" / "work"
        options = f"lowerdir={place},upperdir={upper},workdir={work},userxattr"
        steps.append(f"mkdir -p {_quoted(upper)} {_quoted(work)}")
        # where it cannot be laid over it is read-only, as all else
        steps.append(f"mount -t overlay none -o {shlex.quote(options)} {_quoted(place)} 2> /dev/null || :")
    for place in (folder, *(each.resolve() for each in writable if each.exists())):
        steps.append(f"mount --bind {_quoted(place)} {_quoted(place)}")
    for place, locked in mounts.items():
        must = "" if place == Path("/") else " 2> /dev/null || :"
        steps.append(f"mount -o {','.join(('remount,bind,ro', *locked))} {_quoted(place)}{must}")
    steps += [f"mount -t tmpfs -o mode=700 none {_quoted(each.resolve())}" for each in hide]
    steps.append(f"cd {_quoted(folder)}")
    user = f"--map-user={os.getuid()} --map-group={os.getgid()}"
    # the shell stays, for the first process of a namespace is deaf to signals
    steps.append(f'unshare -U {user} "$@" || exit $?')
    steps.append("exit 0")
    return ["unshare", "-Urmpf", "--kill-child", "sh", "-c", "\n".join(steps), "sh", *command]


def _quoted(place: Path) -> str:
    return shlex.quote(str(place))


def _mounts() -> dict[Path, tuple[str, ...]]:
    """What is mounted, and those options that have to stay."""
    found: dict[Path, tuple[str, ...]] = {}
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return {Path("/"): ()}
    for line in lines:
        words = line.split(" ")
        place = Path(re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), words[4]))
        if not any(place.is_relative_to(each) for each in SYSTEM):
            found[place] = tuple(each for each in words[5].split(",") if each in LOCKED)
    return found


def _forgetful(mounts: Mapping[Path, object], folder: Path, layers: Path) -> list[Path]:
    """Folders in which a program may write, and that forget it: HOME, our cache, cargo's."""
    wanted = [os.environ.get("HOME", ""), str(cache_folder("")), os.environ.get("CARGO_TARGET_DIR", "")]
    found: list[Path] = []
    for place in (Path(each).resolve() for each in wanted if os.path.isabs(each)):
        kept = any(each.is_relative_to(place) for each in (folder, layers))
        # what is mounted below a folder is not in what is laid over it
        split = any(each != place and each.is_relative_to(place) for each in mounts)
        covered = any(place.is_relative_to(each) for each in found)
        odd = {",", ":", "\\"} & set(str(place))
        if place.is_dir() and place != Path("/") and not (kept or split or covered or odd):
            found.append(place)
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program's whole session, also what it left running."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path, but for those in scratch; of a large one, no more than too much.

    NOT_PLAIN stands for what is no file that can be read, and for all files where they are too many.
    """
    found: dict[str, bytes] = {}
    total = 0
    for place, folders, files in os.walk(folder):
        if place == str(folder):
            folders[:] = [each for each in folders if f"{each}/" != SCRATCH or Path(place, each).is_symlink()]
        for name in (*files, *(each for each in folders if Path(place, each).is_symlink())):
            path = Path(place, name).relative_to(folder).as_posix()
            if not path.isprintable():
                path = ascii(path)[1:-1]
                found[path] = NOT_PLAIN
            else:
                found[path] = read_plain(Path(place, name), LARGEST + 1)
            total += len(found[path])
            if len(found) > FILES or total > TOTAL:
                return {f"more than {FILES} files, or than {TOTAL >> 20} MiB": NOT_PLAIN}
    return dict(sorted(found.items()))


def read_plain(path: Path, most: int) -> bytes:
    """The beginning of a file; NOT_PLAIN for what is none, and for what cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            return file.read(most) if path.is_file() else NOT_PLAIN
    except (OSError, ValueError):
        return NOT_PLAIN
