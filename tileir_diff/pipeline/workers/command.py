"""Any agent's command line, by a template:

[worker]
command = ["agent", "--prompt", "{prompt}", "--allow", "{writes}"]
timeout = 1800                        # seconds of one attempt
environment = ["AGENT_TOKEN"]         # passed on by name, besides PATH, HOME and the like
writable = ["~/.agent"]               # where it keeps what it writes; elsewhere it cannot, or it is gone

`{prompt}` is a file with the role card and the task, `{folder}` where it works, `{writes}` the stage's own
files, `{stage}`, `{tokens}` what is left. It may say what it used in scratch/usage.json: {"tokens": 12000},
also while it works: it is stopped when nothing is left.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final, NamedTuple, cast

from tileir_diff.errors import InputError
from tileir_diff.ingest.data import parse_toml
from tileir_diff.ingest.text import read_text
from tileir_diff.pipeline import sandbox
from tileir_diff.pipeline.stages import STAGES
from tileir_diff.pipeline.workers.model import SCRATCH, Answer, Task

KEYS: Final = ("command", "environment", "timeout", "writable")
HOLES: Final = ("folder", "prompt", "stage", "tokens", "writes")
PROMPT: Final = f"{SCRATCH}PROMPT.md"
USAGE: Final = f"{SCRATCH}usage.json"
OURS: Final = ("CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "TILEIR_TOOLCHAIN", "XDG_CACHE_HOME")
"""What `tileir-diff` itself needs there, so that it builds nothing anew."""
LONGEST: Final = 4096
"""Bytes of that file; a longer one says nothing."""


class Command(NamedTuple):
    """A worker that is a program."""

    path: str
    command: tuple[str, ...]
    timeout: float = 1800.0
    environment: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    same: bool = False

    @property
    def name(self) -> str:
        """As the log tells it."""
        return f"command:{os.path.basename(self.path)}"

    def work(self, task: Task) -> Answer:
        """Runs the program once. Raises InputError where it cannot be started."""
        prompt = task.folder / PROMPT
        prompt.parent.mkdir(exist_ok=True)
        prompt.write_text(prompt_text(task), "utf-8")
        holes = {
            "folder": str(task.folder), "prompt": str(prompt), "stage": task.stage,
            "tokens": str(task.tokens), "writes": ",".join(STAGES[task.stage].writes),
        }  # fmt: skip
        call = [_filled(part, holes) for part in self.command]
        own = {name: os.environ[name] for name in (*OURS, *self.environment) if name in os.environ}
        places = (own.get("PATH") or os.environ.get("PATH"), os.path.dirname(sys.executable))
        own["PATH"] = os.pathsep.join(filter(None, places))  # cards name `tileir-diff`
        seconds = min(self.timeout, task.seconds)
        usage = task.folder / USAGE
        ran = sandbox.run(
            call, task.folder, seconds, hide=task.hide, environment=own,
            writable=[Path(each).expanduser() for each in self.writable],
            stop=lambda: _tokens(usage) >= task.tokens,
        )  # fmt: skip
        status = ran.how if ran.how != "ended" else "ok" if ran.status == 0 else "failed"
        return Answer(status, ran.said, _tokens(usage), ran.sandbox)


def prompt_text(task: Task) -> str:
    """The role card, and what is special about this attempt."""
    listed = "\n".join(f"- {path}" for path in sandbox.snapshot(task.folder))
    own = ", ".join(f"`{each}`" for each in STAGES[task.stage].writes)
    return (
        f"{task.card}\n## This attempt\n\nOperator: `{task.operator}`. Attempt {task.attempt}.\n"
        f"You work in this folder: {task.folder}\nWrite {own}, and nothing else (notes go to `{SCRATCH}`).\n"
        f"The verdict of the last attempt, where there was one, is in `gates/{task.stage}.json`.\n\n"
        f"Files:\n\n{listed}\n"
    )


def _filled(text: str, holes: dict[str, str]) -> str:
    for name, value in holes.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _tokens(path: Path) -> int:
    """What the program says that it used; 0 where it says nothing that can be read."""
    try:
        found: object = json.loads(sandbox.read_plain(path, LONGEST))
    except (ValueError, RecursionError):
        return 0
    tokens = cast("dict[str, object]", found).get("tokens") if isinstance(found, dict) else 0
    return tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0 else 0


def read_command(path: str) -> Command:
    """Reads a template. Raises InputError for what is not as above."""
    data = parse_toml(read_text(path), path)
    found = data.get("worker")
    table = cast("dict[str, object]", found) if isinstance(found, dict) and len(data) == 1 else {}
    unknown = [key for key in table if key not in KEYS]
    if not table or unknown:
        raise InputError(f"a template has one table [worker] with {', '.join(KEYS)}", path)
    command, environment, writable = (
        _strings(table, key, path) for key in ("command", "environment", "writable")
    )
    timeout = table.get("timeout", 1800)
    if not command or isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise InputError("'command' is a list of strings, 'timeout' a number of seconds", path)
    return Command(path, command, float(timeout), environment, writable)


def _strings(table: dict[str, object], key: str, path: str) -> tuple[str, ...]:
    value = table.get(key, [])
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, str) for item in items):
        raise InputError(f"'{key}' must be a list of strings", path)
    return tuple(str(item) for item in items)
