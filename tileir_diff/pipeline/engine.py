"""Runs a port: asks the machine what is next, starts a worker, lets the gate decide, keeps all of it."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from tileir_diff import __version__
from tileir_diff.errors import InputError, MissingToolError
from tileir_diff.pipeline.agents import attached
from tileir_diff.pipeline.artifacts import Check, GateVerdict, changes, listed
from tileir_diff.pipeline.gates.common import RESULTS, Given, Ruled
from tileir_diff.pipeline.log import Answered, Attempted, Begun, Ended, Judged, Log, Supplied, sha256
from tileir_diff.pipeline.machine import WORKER
from tileir_diff.pipeline.sandbox import LARGEST, NOT_PLAIN, read_plain, snapshot
from tileir_diff.pipeline.show import TREE
from tileir_diff.pipeline.sign import bare, make_key, signed
from tileir_diff.pipeline.stages import STAGES, owns
from tileir_diff.pipeline.state import Run, basis, limits_of, replayed
from tileir_diff.pipeline.workers.model import SCRATCH, Task
from tileir_diff.toolchain.cache import cache_folder
from tileir_diff.toolchain.cargo import limited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tileir_diff.pipeline.gates.common import Gate
    from tileir_diff.pipeline.log import Entry, Store
    from tileir_diff.pipeline.machine import Limits
    from tileir_diff.pipeline.stages import Outcome, Stage
    from tileir_diff.pipeline.workers.model import Worker

    Watch = Callable[[Run, str], None]

FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EROFS)
"""What the system lacks, not the answer."""
ENDS: Final = {"timeout": "did not end in its time", "stopped": "was stopped, for its tokens are used up"}
"""How a worker ended that neither answered nor failed."""
MOST: Final = 100
"""So many changes of an artifact are told."""


class Port:
    """One run in its folder. Raises InputError where another process has it, or its log is damaged."""

    def __init__(
        self, folder: Path, worker: Worker, gates: Mapping[Stage, Gate], cards: Mapping[Stage, str]
    ) -> None:
        self.folder = folder
        self.worker = worker
        self.gates = gates
        self.cards = cards
        self.log = Log(folder)
        self.key = make_key(folder)

    def begin(self, operator: str, limits: Limits, settings: dict[str, str], files: dict[str, bytes]) -> None:
        """Writes the first line. Raises InputError where the run has one."""
        if self.log.entries:
            raise InputError("this port has begun: `--resume` goes on with it", str(self.folder))
        self.log.append(
            Begun(
                operator=operator,
                worker=self.worker.name,
                limits={name: float(value) for name, value in limits._asdict().items()},
                settings=settings,
                files={path: self.log.store.put(data) for path, data in sorted(files.items())},
                versions={"tileir-diff": __version__},
            )
        )

    def supply(self, files: dict[str, bytes]) -> None:
        """More that the user gives, after an end or before it."""
        self._begun()
        hashes = {path: self.log.store.put(data) for path, data in sorted(files.items())}
        if any(self.run.files.get(path) != name for path, name in hashes.items()):
            self.log.append(Supplied(files=hashes, anew=RESULTS in hashes))

    @property
    def run(self) -> Run:
        """Where the run is."""
        self._begun()
        return replayed(self.log.entries)

    def go(self, watch: Watch | None = None) -> Run:
        """Works until the run has ended. Each step survives a crash, and a finished one is not done again.

        A worker that answers the same to the same files is asked once; again only when the run goes on later.
        """
        run = self.run
        tell = watch or _silent
        while run.state.stage is not None:
            stage = run.state.stage
            if run.answered is not None:
                tell(run, f"{STAGES[stage].title}: gate")
                self._judge(run, run.answered)
            elif run.attempted is not None:
                tell(run, f"{STAGES[stage].title}: attempt {run.attempted.attempt}")
                self._work(run, run.attempted)
            elif self._in_vain(run, stage):
                told = f"{STAGES[stage].title}: {self.worker.name} would answer the same again"
                self.log.append(Ended(end=f"{WORKER} ({told})"))
                break
            else:
                card = self.log.store.put(self.cards[stage].encode())
                inputs = dict(sorted(run.files.items()))
                self.log.append(Attempted(attempt=run.attempts + 1, stage=stage, inputs=inputs, card=card))
            run = self.run
        if not isinstance(self.log.entries[-1], Ended):
            self.log.append(Ended(end=run.end))
        self.write_tree()
        run = self.run
        tell(run, run.end)
        return run

    def _in_vain(self, run: Run, stage: Stage) -> bool:
        """Whether the worker has answered to these files, since the run last went on."""
        if not self.worker.same:
            return False
        inputs: dict[str, str] = {}
        answered: dict[str, str] | None = None
        for entry in self.log.entries:
            if isinstance(entry, Ended):
                answered = None
            elif isinstance(entry, Attempted):
                inputs = entry.inputs
            elif isinstance(entry, Answered) and (entry.worker, entry.stage) == (self.worker.name, stage):
                answered = inputs
        return answered is not None and basis(stage, answered) == basis(stage, run.files)

    def write_tree(self) -> None:
        """Lays the port's files out for people."""
        materialise(self.folder / TREE, self.run.files, self.log.store)

    def _begun(self) -> Begun:
        if not self.log.entries or not isinstance(self.log.entries[0], Begun):
            raise InputError("no port has begun here", str(self.folder))
        return self.log.entries[0]

    # ---- the worker

    def _work(self, run: Run, attempted: Attempted) -> None:
        begun, stage = self._begun(), attempted.stage
        limits, state = limits_of(begun), run.state
        with tempfile.TemporaryDirectory(prefix="tileir-port-") as place:
            folder = Path(place, "port")
            card = self.log.store.get(attempted.card).decode()
            materialise(folder, run.files, self.log.store)
            lay(folder, attached(card))
            before = snapshot(folder)
            _protect(folder, stage)
            task = Task(
                stage, begun.operator, attempted.attempt, folder, card,
                limits.tokens - state.tokens, limits.seconds - state.seconds, (self.folder,),
            )  # fmt: skip
            start = monotonic()
            answer = self.worker.work(task)
            seconds = monotonic() - start
            now = snapshot(folder)
        outputs, refused = taken(stage, before, now)
        put = self.log.store.put
        self.log.append(
            Answered(
                attempt=attempted.attempt,
                stage=stage,
                worker=self.worker.name,
                status=answer.status,
                outputs={}
                if refused or answer.status != "ok"
                else {path: put(outputs[path]) for path in outputs},
                refused=refused,
                said=put(answer.said),
                tokens=answer.tokens,
                seconds=round(seconds, 3),
                sandbox=answer.sandbox,
            )
        )

    # ---- the gate

    def _judge(self, run: Run, answered: Answered) -> None:
        start = monotonic()
        begun = self._begun()
        left = limits_of(begun).seconds - run.state.seconds - answered.seconds
        with limited(left):  # what a worker wrote may be long in building
            ruled = judged(answered, run, begun, self.gates, self.log.store, self.folder)
        verdict = signed(ruled.verdict, self.key).to_json()
        put = self.log.store.put
        before = run.last.get(answered.stage)
        self.log.append(
            Judged(
                attempt=answered.attempt,
                stage=answered.stage,
                outcome=ruled.verdict.outcome,
                verdict=put(verdict.encode()),
                outputs={path: put(data) for path, data in sorted(ruled.outputs.items())},
                seconds=round(monotonic() - start, 3),
                changed=[]
                if before is None
                else [*self._changed(before.verdict, verdict), *self._edited(run, answered)],
            )
        )

    def _changed(self, before: str, now: str) -> list[str]:
        """What this attempt's verdict has that the one before had not; nothing where deepdiff is missing."""
        old = GateVerdict.read(self.log.store.get(before).decode(), "gate")
        new = GateVerdict.read(now, "gate")
        try:
            return changes(bare(old, "saw").to_json(), bare(new, "saw").to_json())
        except InputError:
            return []

    def _edited(self, run: Run, answered: Answered) -> list[str]:
        """What this attempt's artifacts have that those before had not, path by path."""
        told: list[str] = []
        for path, name in sorted(answered.outputs.items()):
            old = run.files.get(path)
            if old is None or old == name:
                continue
            try:
                found = changes(self.log.store.get(old).decode(), self.log.store.get(name).decode())
            except (
                InputError,
                ValueError,
                RecursionError,
            ):  # no JSON, or no deepdiff: that it differs is all
                found = [": other contents"]
            told += [f"{path}{each}" for each in found[:MOST]]
        return told


def _silent(run: Run, what: str) -> None:
    """Tells nobody."""
    del run, what


def judged(
    answered: Answered,
    run: Run,
    begun: Begun,
    gates: Mapping[Stage, Gate],
    store: Store,
    hidden: Path,
    place: Path | None = None,
) -> Ruled:
    """The gate's verdict on an answer; the same answer to the same run gives the same verdict.

    `hidden` is the run's folder, which no program of a worker may see; `place` is where the gate works, a
    folder of the cache that is this run's where none is given.

    Raises InputError where nothing can be decided: the disk is full, or a program is missing.
    """
    stage = answered.stage
    foreign = [path for path in answered.refused if not owns(stage, path)]
    if foreign:
        told = f"it changed what is not its own, and nothing is taken: {listed(foreign)}"
        return _broken(stage, "REFUSED", told)
    if answered.refused:
        told = f"no plain file, or all are more than {LARGEST >> 20} MiB: {listed(answered.refused)}"
        return _broken(stage, "REFUSED", told)
    if answered.status != "ok":
        lines = store.get(answered.said).decode("utf-8", "replace").strip().splitlines()[-3:]
        said = "\n".join(lines) or "it said nothing"
        return _broken(stage, "CRASHED", f"the worker {ENDS.get(answered.status, answered.status)}: {said}")
    files = {path: name for path, name in run.files.items() if not owns(stage, path)} | answered.outputs
    place = place or _gate_folder(hidden)
    try:
        materialise(place, files, store)
        ruled = gates[stage](Given(place, dict(begun.settings), (hidden,)))
        other = [path for path, name in files.items() if sha256(read_plain(place / path, 1 << 30)) != name]
        if other:
            return _broken(
                stage, "MALFORMED", f"{other[0]} was changed while it was judged: nothing is decided"
            )
        return ruled
    except MissingToolError:  # that is nobody's answer
        raise
    except InputError as error:
        return _broken(stage, "MALFORMED", str(error).replace(f"{place}/", ""))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:  # that is nobody's answer
            raise InputError(f"cannot write: {error.strerror}", str(place)) from None
        # no run may end here each time it goes on; what a gate does not understand does not pass
        told = f"tileir-diff failed on it, {type(error).__name__}: {error}".replace(f"{place}/", "")
        return _broken(stage, "MALFORMED", told)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _broken(stage: Stage, outcome: Outcome, why: str) -> Ruled:
    verdict = GateVerdict(
        stage=stage, outcome=outcome, evidence="none",
        checks=[Check(name="answer", result="fail", detail=why[:10_000])], saw={},
        versions={"tileir-diff": __version__},
    )  # fmt: skip
    return Ruled(verdict, {})


def taken(
    stage: Stage, before: Mapping[str, bytes], now: Mapping[str, bytes]
) -> tuple[dict[str, bytes], list[str]]:
    """The stage's own files, and what was changed, made or deleted besides them."""
    changed = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
    refused = [path for path in changed if not owns(stage, path)]
    outputs = {path: data for path, data in now.items() if owns(stage, path)}
    too_much = sum(map(len, outputs.values())) > LARGEST
    refused += [path for path, data in outputs.items() if too_much or data == NOT_PLAIN]
    return outputs, refused


def materialise(folder: Path, files: Mapping[str, str], store: Store) -> None:
    """A folder with exactly these files. Raises InputError where it cannot be written."""
    shutil.rmtree(folder, ignore_errors=True)
    lay(folder, {path: store.get(name) for path, name in files.items()})


def lay(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, which is made where it is not there. Raises InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(folder)) from None


def _protect(folder: Path, stage: Stage) -> None:
    """What is not the stage's own is read-only: it tells an honest worker; a dishonest one is found out."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not owns(stage, path.relative_to(folder).as_posix()):
                path.chmod(0o444)
    (folder / SCRATCH).mkdir(exist_ok=True)


def _gate_folder(hidden: Path) -> Path:
    """Always the same for a run, so that cargo builds only what has changed; outside the run's own folder."""
    key = hashlib.sha256(os.fspath(hidden.resolve()).encode()).hexdigest()[:16]
    return cache_folder("port") / key / "port"


def replay(
    folder: Path, gates: Mapping[Stage, Gate], entries: list[Entry], store: Store
) -> list[tuple[Judged, str]]:
    """Decides everything again from what was kept, without a worker: each verdict, and how it differs, or "".

    Raises InputError for a log whose contents are gone.
    """
    begun = entries[0]
    assert isinstance(begun, Begun)
    told: list[tuple[Judged, str]] = []
    for at, entry in enumerate(entries):
        if not isinstance(entry, Judged):
            continue
        run = replayed(entries[:at])
        assert run.answered is not None  # replayed() refuses a verdict without an answer
        with tempfile.TemporaryDirectory(prefix="tileir-replay-") as place:  # the run may be at work
            ruled = judged(run.answered, run, begun, gates, store, folder, Path(place, "port"))
        was = GateVerdict.read(store.get(entry.verdict).decode(), "gate")
        told.append((entry, _difference(was, ruled, entry, store)))
    return told


def _difference(was: GateVerdict, ruled: Ruled, entry: Judged, store: Store) -> str:
    """How a verdict that was made again differs; "" where it does not."""
    now = ruled.verdict
    if was.content != signed(was, None).content:
        return "the verdict in the log was altered"
    if was.outcome != entry.outcome or was.outcome != now.outcome:
        return f"{entry.outcome} in the log, {now.outcome} now"
    if bare(was) != bare(now):
        return "the same outcome by other checks"
    outputs = {path: sha256(data) for path, data in sorted(ruled.outputs.items())}
    if outputs != entry.outputs:
        return "the gate's files differ"
    return ""
