"""What a run keeps: a log, each line with the hash of the one before, and contents by their hash.

After a crash at any point the log is a prefix of what it would have been: a torn last line is cut off, and a
file in the store is complete or not there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import Inside, Sha  # noqa: TC001  (pydantic looks at them)
from tileir_diff.pipeline.stages import Outcome, Stage  # noqa: TC001

if TYPE_CHECKING:
    from pathlib import Path

NAME: Final = "log.jsonl"
OBJECTS: Final = "objects"
FIRST: Final = "0" * 64
"""What stands for the hash of the line before the first one."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Begun(_Entry):
    """The first line: everything that decides the run besides its workers' answers."""

    kind: Literal["begun"] = "begun"
    operator: str
    worker: str
    limits: dict[str, float]
    settings: dict[str, str]
    files: dict[Inside, Sha] = Field(description="What is given: references, waivers, results.")
    versions: dict[str, str]


class Attempted(_Entry):
    """A worker is about to be started. `attempt` is its number; a worker that is started again keeps it."""

    kind: Literal["attempted"] = "attempted"
    attempt: int
    stage: Stage
    inputs: dict[Inside, Sha]
    card: Sha


class Answered(_Entry):
    """The worker has ended. `refused` are files that it changed and may not; nothing of it is taken then."""

    kind: Literal["answered"] = "answered"
    attempt: int
    stage: Stage
    worker: str = Field(default="", description="Its name; empty in a log of before it was kept.")
    status: Literal["ok", "failed", "timeout", "stopped"]
    outputs: dict[Inside, Sha]
    refused: list[str]
    said: Sha = Field(description="What it printed.")
    tokens: int
    seconds: float
    sandbox: str


class Judged(_Entry):
    """The gate has decided. `verdict` is its JSON, `outputs` are the files that the gate wrote."""

    kind: Literal["judged"] = "judged"
    attempt: int
    stage: Stage
    outcome: Outcome
    verdict: Sha
    outputs: dict[Inside, Sha]
    seconds: float
    changed: list[str] = Field(default_factory=list[str], description="What differs from the attempt before.")


class Supplied(_Entry):
    """The user gave more after an end that left something open: results of a GPU."""

    kind: Literal["supplied"] = "supplied"
    files: dict[Inside, Sha]
    anew: bool = Field(default=False, description="Attempts on other results of a GPU do not count.")


class Ended(_Entry):
    """The last line, unless the run goes on: more is supplied, or a worker is asked again."""

    kind: Literal["ended"] = "ended"
    end: str


Entry = Begun | Attempted | Answered | Judged | Supplied | Ended
ENTRY: Final[TypeAdapter[Entry]] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


def sha256(data: bytes) -> str:
    """The hash by which contents are known."""
    return hashlib.sha256(data).hexdigest()


class Store:
    """Contents by their hash, each a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Keeps contents; what is there is not written again. Raises InputError where that fails."""
        name = sha256(data)
        place = self.folder / name[:2] / name
        if place.is_file():
            return name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, data)
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", str(place)) from None
        return name

    def get(self, name: str) -> bytes:
        """Raises InputError for contents that are not there, or not what their name says."""
        place = self.folder / name[:2] / name
        try:
            data = place.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", str(place)) from None
        if sha256(data) != name:
            raise InputError("damaged: its contents are not those of its name", str(place))
        return data


class Log:
    """The log of one run, held by one process at a time. Raises InputError where it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / OBJECTS)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / NAME).open("a+b", buffering=0)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another process works on this port", str(folder)) from None
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", str(folder / NAME)) from None
        self._file.seek(0)
        data = self._file.readall()
        self.entries, whole, self._last = parse(data, str(folder / NAME))
        if whole < len(data):  # torn by a crash: it says nothing that was done
            self._file.truncate(whole)
            os.fsync(self._file.fileno())

    def append(self, entry: Entry) -> None:
        """Writes one line; when it returns, the line survives a crash. Raises InputError where it cannot."""
        line = _line(entry, self._last)
        length = self._file.seek(0, os.SEEK_END)
        try:
            written = 0
            while written < len(line):
                written += self._file.write(line[written:])
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(length)
            raise InputError(f"cannot write: {error.strerror}", str(self.folder / NAME)) from None
        self._last = sha256(line)
        self.entries.append(entry)

    def close(self) -> None:
        """Lets others have it."""
        self._file.close()


def read_log(path: Path) -> list[Entry]:
    """The entries of a log that nobody is asked to hold. Raises InputError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", str(path)) from None
    return parse(data, str(path))[0]


def parse(data: bytes, path: str) -> tuple[list[Entry], int, str]:
    """Entries, how many bytes are whole lines, and the hash of the last one.

    Raises InputError for a line that is none, or does not follow the one before: only the last may be torn.
    """
    entries: list[Entry] = []
    whole, last = 0, FIRST
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        entries.append(_entry(line, last, path, number))
        last = sha256(line)
        whole += len(line)
    if entries and not isinstance(entries[0], Begun):
        raise InputError("a log begins with 'begun'", path, 1)
    return entries, whole, last


def _entry(line: bytes, last: str, path: str, number: int) -> Entry:
    try:
        found: Any = json.loads(line)
        before = found.pop("before")
        entry = ENTRY.validate_python(found)
    except (ValueError, AttributeError, KeyError, TypeError, ValidationError) as error:
        told = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InputError(f"no entry of a log: {told}", path, number) from None
    if before != last:
        raise InputError("it does not follow the line before: a line was changed or taken out", path, number)
    return entry


def _line(entry: Entry, last: str) -> bytes:
    data = {"before": last, **entry.model_dump(mode="json")}
    return (json.dumps(data, ensure_ascii=False) + "\n").encode()


def write_whole(place: Path, data: bytes, mode: int = 0o666) -> None:
    """A file that is complete or not there, also after a crash. Raises OSError."""
    beside = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    handle = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
