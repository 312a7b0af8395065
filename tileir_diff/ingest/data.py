"""JSON and TOML beside the dumps: what is wrong with them is said with line and column."""

from __future__ import annotations

import re
from functools import partial
from typing import cast

from tileir_diff.errors import InputError


def parse_json(text: str, path: str, line: int = 1, hint: str = "") -> object:
    """What a JSON text holds, which begins at `line` of the file; `hint` is added to what is wrong with it.

    Raises InputError for what is no JSON, is nested too deeply, gives a key twice, or has a number that is
    too long to read.
    """
    import json  # only needed with a file

    try:
        return cast("object", json.loads(text, object_pairs_hook=partial(_object, path)))
    except json.JSONDecodeError as error:
        number = error.lineno + line - 1
        quoted = text.split("\n")[error.lineno - 1]  # lines as json counts them: the last may be empty
        raise InputError(f"not JSON: {error.msg}{hint}", path, number, error.colno, quoted) from None
    except RecursionError:
        raise InputError("not JSON: nested too deeply", path, line) from None
    except ValueError:
        raise InputError("not JSON: a number has too many digits", path, line) from None


def _object(path: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for index, key in enumerate(keys) if key in keys[:index])
        raise InputError(f"the key {twice!r} stands twice in one object", path)
    return found


def parse_toml(text: str, path: str) -> dict[str, object]:
    """What a TOML text holds.

    Raises InputError for what is no TOML, is nested too deeply, or has a number that is too long to read.
    """
    import tomllib  # only needed with a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), path, text) from None
    except RecursionError:
        raise InputError("not TOML: nested too deeply", path, 1) from None
    except ValueError:
        raise InputError("not TOML: a number has too many digits", path, 1) from None


def _not_toml(error: str, path: str, text: str) -> InputError:
    """What tomllib refuses, with the place that it names in its message."""
    lines = text.split("\n")
    message, _, position = error.rpartition(" (at ")
    numbers = [int(digits) for digits in re.findall(r"\d+", position)]
    line, column = numbers if len(numbers) == 2 else (len(lines), len(lines[-1]) + 1)
    return InputError(f"not TOML: {message or error}", path, line, column, lines[line - 1])
