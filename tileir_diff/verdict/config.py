"""Project settings: `tileir-diff.toml`, or `[tool.tileir-diff]` of a pyproject.toml, found upwards.

fail-on = "edge"
strict = false
select = ["mask", "padding"]
ignore = ["latency-hint"]

[[waivers]]
rule = "entry-hint/*"                # glob over family/detail
kernel = "softmax*"                  # glob over the entry's symbol on either side; default: every kernel
reason = "tuned for this port"       # mandatory
expires = 2027-01-31                 # optional; from that day on the waiver does not apply
"""

from __future__ import annotations

import os
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple, cast

from tileir_diff.errors import InputError
from tileir_diff.ingest.text import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "tileir-diff.toml"
PROJECT = "pyproject.toml"
KEYS = ("fail-on", "ignore", "select", "strict", "waivers")
WAIVER_KEYS = ("expires", "kernel", "reason", "rule")


class Waiver(NamedTuple):
    """One accepted difference. `rule` and `kernel` are globs."""

    rule: str
    reason: str
    kernel: str = "*"
    expires: date | None = None

    def __str__(self) -> str:
        return f"waiver of {self.rule} for {self.kernel} ({self.reason})"


class Config(NamedTuple):
    """Settings of a project; None: not set there."""

    path: str = ""
    fail_on: str | None = None
    strict: bool | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    waivers: tuple[Waiver, ...] = ()


def decided(config: Config, given: Mapping[str, object]) -> str:
    """In words, what a settings file decides where the command line (``given``) does not; "" for nothing."""
    kept = (
        ("fail-on", None if given["fail_on"] else config.fail_on),
        ("strict", "true" if config.strict and given["strict"] is None else None),
        ("select", None if given["select"] else ", ".join(config.select or ())),
        ("ignore", None if given["ignore"] else ", ".join(config.ignore or ())),
    )
    told = "; ".join(f"{key} = {value}" for key, value in kept if value)
    return f"settings of {config.path}: {told}" if told else ""


def find_config(start: str = os.curdir) -> Config:
    """The nearest settings from `start` upwards; in one folder `tileir-diff.toml` wins.

    Raises InputError for settings that are not as above, and where the working folder was removed.
    """
    try:
        folder = os.path.abspath(start)
    except OSError as error:
        raise InputError(f"cannot look for settings here: {error.strerror}", start) from None
    while True:
        for name in (FILE, PROJECT):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                config = read_config(path)
                if config.path:
                    return config
        parent = os.path.dirname(folder)
        if parent == folder:
            return Config()
        folder = parent


def read_config(path: str) -> Config:
    """Reads one settings file. Raises InputError for what is not as above."""
    text = read_text(path)
    is_project = os.path.basename(path) == PROJECT
    if is_project and not re.search(r"^\[tool\]|\btool\b.*tileir-diff", text, re.MULTILINE):
        return Config()  # most projects: spares the import below
    from tileir_diff.ingest.data import parse_toml

    data = parse_toml(text, path)
    if not is_project:
        return _config(data, path)
    tool = _table(data.get("tool", {}), "[tool]", path)
    if "tileir-diff" not in tool:
        return Config()
    return _config(_table(tool["tileir-diff"], "[tool.tileir-diff]", path), path)


def _config(data: dict[str, object], path: str) -> Config:
    _known(data, KEYS, path)
    strict = data.get("strict")
    fail_on = data.get("fail-on")
    if strict is not None and not isinstance(strict, bool):
        raise InputError("'strict' must be true or false", path)
    if fail_on is not None and not isinstance(fail_on, str):
        raise InputError("'fail-on' must be a string", path)
    waivers = data.get("waivers", [])
    if not isinstance(waivers, list):
        raise InputError("'waivers' must be a list of tables", path)
    return Config(
        path=path,
        fail_on=fail_on,
        strict=strict,
        select=_strings(data, "select", path),
        ignore=_strings(data, "ignore", path),
        waivers=tuple(waiver(_table(each, "a waiver", path), path) for each in cast("list[object]", waivers)),
    )


def waiver(data: Mapping[str, object], path: str) -> Waiver:
    """A waiver from its table. Raises InputError, naming `path`, for what is not as above."""
    _known(data, WAIVER_KEYS, path)
    for key in ("rule", "reason"):
        value = data.get(key)
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"a waiver needs a '{key}'", path)
    kernel = data.get("kernel", "*")
    if not isinstance(kernel, str):
        raise InputError("'kernel' of a waiver must be a string", path)
    return Waiver(
        str(data["rule"]), str(data["reason"]), kernel.removeprefix("@"), _date(data.get("expires"), path)
    )


def _date(value: object, path: str) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if value is None or isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise InputError(
            f"'expires' of a waiver must be a date, such as 2027-01-31, not {value!r}", path
        ) from None


def _known(data: Mapping[str, object], keys: tuple[str, ...], path: str) -> None:
    for key in data:
        if key not in keys:
            raise InputError(f"unknown key '{key}'; known are {', '.join(keys)}", path)


def _strings(data: dict[str, object], key: str, path: str) -> tuple[str, ...] | None:
    value = data.get(key)
    if value is None:
        return None
    items = cast("list[object]", value) if isinstance(value, list) else []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in items):
        raise InputError(f"'{key}' must be a list of strings", path)
    return tuple(str(item) for item in items)


def _table(data: object, what: str, path: str) -> dict[str, object]:
    if not isinstance(data, dict):
        raise InputError(f"{what} must be a table", path)
    return cast("dict[str, object]", data)
