"""Broken input: whatever the bytes, a clear answer, exit status 0, 1 or 2, no traceback, no hang.

    python -m benchmarks.fuzz [FOLDER...] --count 100000 --seed 1
    python -m benchmarks.fuzz --seconds 600
    python -m benchmarks.fuzz --atheris              coverage-guided, where atheris is installed

The command runs in this process. It reports faults of its own as bad input, unless TILEIR_DIFF_DEBUG is set:
here it is, so that
they count. Each failing input is kept, made smaller, under --keep.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import default_folder, dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Mutation = Callable[[random.Random, bytes, list[bytes]], bytes]

LIMIT_S = 20.0
"""Seconds of processor time after which an input counts as a hang: a busy machine is none."""
SMALL = 6_000
"""Seeds are dumps of at most so many bytes: more inputs, same grammar."""
REPEATED = frozenset(bytes([value]) for value in range(0, 256, 8))
"""Last bytes of unreadable inputs that go through `diff` all the same."""
WORDS = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*|[0-9.+-]+|%[\w#]+|\s+|.", re.DOTALL)
NUMBER = re.compile(rb"(?<![\w.%#])-?\d+(?![\w.])")
NASTY = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\xe2\x80\xa8", b"9" * 5000, b"-" + b"9" * 400, b"0x",
    b"0xFFFFFFFFFFFFFFFFFF",
    b"1e999999", b'"', b'"\\', b'"\\zz"', b"//", b"loc(", b"#loc", b"%", b"^bb0", b"@", b"tile<",
    b"tile<" * 500, b"(" * 3000,
    b"{" * 3000, b"<" * 3000, b"[" * 3000, b"}" * 50, b"if %c {" * 300, b"token", b"entry @e() {}",
    b"cuda_tile.", b"!cuda_tile.",
    b"\x7fTileIR\x00", b"?", b"->", b"1x" * 2000, b"attributes {a = {b = {c = [[[[", b"\xf0\x9f\x92\xa9",
    b"nan", b"inf", b"true",
)  # fmt: skip


class HangError(Exception):
    """The time limit passed."""


def flip(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A few bytes become others."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncate(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def cut(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[min(len(data), start + rng.randint(1, 60)) :]


def repeat(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.randint(1, 80)]
    return data[:start] + piece * rng.randint(2, 20) + data[start:]


def words(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Words are dropped, doubled, exchanged or taken from another dump: most results still look like Tile
    IR."""
    found = WORDS.findall(data)
    if len(found) < 2:
        return data
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(found))
        how = rng.randrange(4)
        if how == 0:
            found[at] = b""
        elif how == 1:
            found[at] *= 2
        elif how == 2:
            found[at] = rng.choice(found)
        else:
            found[at] = rng.choice(WORDS.findall(rng.choice(others)))
    return b"".join(found)


def lines(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    found = data.split(b"\n")
    at = rng.randrange(len(found))
    how = rng.randrange(4)
    if how == 0:
        del found[at]
    elif how == 1:
        found.insert(at, rng.choice(found))
    elif how == 2:
        found.insert(at, rng.choice(rng.choice(others).split(b"\n")))
    else:
        other = rng.randrange(len(found))
        found[at], found[other] = found[other], found[at]
    return b"\n".join(found)


def numbers(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A number becomes one that nobody expects; the result often still parses."""
    spots = list(NUMBER.finditer(data))
    if not spots:
        return data
    match = rng.choice(spots)
    values = (b"0", b"-1", b"1", b"3", b"2147483647", b"-2147483648", b"4294967296", b"9223372036854775807",
              b"-9223372036854775808", b"18446744073709551616", b"16777216", b"128", b"1" * 30)  # fmt: skip
    return data[: match.start()] + rng.choice(values) + data[match.end() :]


def nasty(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(NASTY) + data[at:]


def noise(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    return rng.randbytes(rng.randrange(200))


MUTATIONS: tuple[Mutation, ...] = (
    flip,
    truncate,
    cut,
    repeat,
    words,
    words,
    lines,
    numbers,
    numbers,
    nasty,
    noise,
)


class Target:
    """The command, run in this process on one input."""

    def __init__(self, reference: bytes) -> None:
        os.environ["TILEIR_DIFF_DEBUG"] = "1"
        from click.testing import CliRunner

        from tileir_diff.cli.app import app

        self._app = app
        self._runner = CliRunner()
        self._own = tempfile.TemporaryDirectory(prefix="fuzz")
        self._folder = Path(self._own.name)
        self._reference = self._folder / "reference.mlir"
        self._reference.write_bytes(reference)
        self._input = self._folder / "input.mlir"
        self._unreadable = False
        self.statuses: Counter[str] = Counter()

    def __call__(self, data: bytes) -> str:
        """What is wrong with the answer; empty if nothing is."""
        self._input.write_bytes(data)
        wrong = self._run("check", str(self._input))
        # Unreadable input ends both commands in the same place: seldom looked at twice.
        if wrong or (self._unreadable and data[-1:] not in REPEATED):
            return wrong
        return self._run("diff", str(self._reference), str(self._input))

    def set_reference(self, data: bytes) -> None:
        self._reference.write_bytes(data)

    def _run(self, *arguments: str) -> str:
        signal.signal(signal.SIGPROF, _hang)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
        try:
            result = self._runner.invoke(self._app, list(arguments))
        except HangError:
            return f"{arguments[0]}: no answer in {LIMIT_S:.0f} s"
        except BaseException as error:
            # RecursionError in the runner itself, and the like.
            return f"{arguments[0]}: {type(error).__name__}: {error}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        error = result.exception
        self._unreadable = result.exit_code == 2
        self.statuses[f"{arguments[0]} {result.exit_code}"] += 1
        if error is not None and not isinstance(error, SystemExit):
            if isinstance(error, HangError):
                return f"{arguments[0]}: no answer in {LIMIT_S:.0f} s"
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            return f"{arguments[0]}: {type(error).__name__} at {place}: {str(error)[:200]}"
        if result.exit_code not in (0, 1, 2):
            return f"{arguments[0]}: exit status {result.exit_code}"
        if "Traceback (most recent call last)" in result.output:
            return f"{arguments[0]}: prints a traceback"
        return ""


def _hang(signum: int, frame: object) -> None:
    raise HangError


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for failing inputs")
    parser.add_argument("--atheris", action="store_true", help="let atheris find inputs")
    parser.add_argument("--json", type=Path)
    given = list(sys.argv[1:] if arguments is None else arguments)
    at = given.index("--") if "--" in given else len(given)
    options = parser.parse_args(given[:at])
    if not options.folders:
        options.folders = [default_folder("corpus")]
    seeds = [path.read_bytes() for path in dumps(options.folders) if path.stat().st_size <= SMALL]
    if not seeds:
        raise SystemExit("no dumps that are small enough: see benchmarks/README.md")
    if options.atheris:
        return guided(seeds, given[at + 1 :])
    figures = search(seeds, options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 1 if figures["failures"] else 0


def search(seeds: list[bytes], options: argparse.Namespace) -> dict[str, Any]:
    """Random mutations of real dumps. Failures are told apart by what is wrong and where."""
    rng = random.Random(options.seed)
    target = Target(seeds[0])
    failures: Counter[str] = Counter()
    start = time.perf_counter()
    slowest = 0.0
    done = 0
    while done < options.count and time.perf_counter() - start < options.seconds:
        # The smaller of two: more inputs in the same time, and large ones still come.
        data = min(rng.choice(seeds), rng.choice(seeds), key=len)
        if done % 7 == 0:
            target.set_reference(data)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            data = rng.choice(MUTATIONS)(rng, data, seeds)
        began = time.perf_counter()
        wrong = target(data)
        slowest = max(slowest, time.perf_counter() - began)
        done += 1
        if wrong:
            failures[wrong] += 1
            if failures[wrong] == 1:
                print(f"input {done}: {wrong}", flush=True)
                keep(options.keep, wrong, shrink(target, data, wrong))
    seconds = time.perf_counter() - start
    print(f"{done} inputs in {seconds:.0f} s, {sum(failures.values())} failures of {len(failures)} kinds, "
          f"slowest {slowest:.2f} s; {dict(sorted(target.statuses.items()))}")  # fmt: skip
    return {
        "inputs": done,
        "seconds": round(seconds, 1),
        "slowest_s": round(slowest, 3),
        "failures": dict(failures.most_common()),
        "statuses": dict(sorted(target.statuses.items())),
    }


def shrink(target: Target, data: bytes, wrong: str, tries: int = 200) -> bytes:
    """A smaller input with the same fault, by leaving out ever smaller pieces."""
    if "no answer" in wrong:
        return data
    size = max(1, len(data) // 2)
    while size and tries > 0:
        at = 0
        while at < len(data) and tries > 0:
            candidate = data[:at] + data[at + size :]
            tries -= 1
            if target(candidate) == wrong:
                data = candidate
            else:
                at += size
        size //= 2
    return data


def keep(folder: Path | None, wrong: str, data: bytes) -> None:
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(wrong.encode()).hexdigest()[:10]
    (folder / f"{name}.mlir").write_bytes(data)
    (folder / f"{name}.txt").write_text(wrong + "\n", encoding="utf-8")


def guided(seeds: list[bytes], extra: list[str]) -> int:
    """Runs atheris with its own arguments, `extra`. Ends the process itself."""
    try:
        atheris: Any = import_module("atheris")
    except ImportError:
        print("atheris is not installed", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["tileir_diff"]):
        for name in ("dialect.builder", "dialect.verifier", "match"):
            import_module(f"tileir_diff.{name}")
    target = Target(seeds[0])

    def one(data: bytes) -> None:
        wrong = target(data)
        if wrong:
            raise RuntimeError(wrong)

    held = tempfile.TemporaryDirectory(prefix="seeds")
    corpus = Path(held.name)
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)
    if not any(word.startswith("-timeout") for word in extra):
        extra = [*extra, f"-timeout={LIMIT_S:.0f}"]
    atheris.Setup([sys.argv[0], str(corpus), *extra], one)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
