"""What the signature of a verdict means, and no more.

`content` is the hash of the verdict itself, `saw` those of every file that it depends on: whoever has the
files can tell a stale verdict. `mac` is a HMAC of `content` under a key that lies in the run's folder, which
a worker is not given: it tells a verdict of the gate from one that somebody typed. It proves nothing against
a process that runs as the same user and finds the key; against that, a verdict is recomputed from its inputs,
which needs no key.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING, Final, Literal

from tileir_diff.errors import InputError
from tileir_diff.pipeline.log import sha256, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from tileir_diff.pipeline.artifacts import GateVerdict

Standing = Literal["true", "stale", "altered", "unsigned", "forged"]
STANDINGS: Final[dict[Standing, str]] = {
    "true": "the gate wrote it with this key, and its files are those that it saw",
    "stale": "a file is not the one that the gate saw",
    "altered": "it was changed after it was written: its own hash is wrong",
    "unsigned": "nothing shows that the gate wrote it; `--recompute` settles it",
    "forged": "the gate did not write it with this key",
}
KEY: Final = "key"


def make_key(folder: Path) -> bytes:
    """The key of a run's folder, made where there is none. Raises InputError."""
    place = folder / KEY
    try:
        if not place.exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(place, secrets.token_bytes(32).hex().encode(), 0o600)
        return read_key(place)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(place)) from None


def read_key(place: Path) -> bytes:
    """Raises InputError for a file that is none."""
    try:
        key = bytes.fromhex(place.read_text("ascii").strip())
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", str(place)) from None
    except ValueError:
        raise InputError("no key: it holds 64 hexadecimal digits", str(place)) from None
    if len(key) != 32:
        raise InputError("no key: it holds 64 hexadecimal digits", str(place))
    return key


def content_of(verdict: GateVerdict) -> str:
    """The hash of a verdict without its signature."""
    return sha256(bare(verdict).to_json().encode())


def bare(verdict: GateVerdict, *more: Literal["saw", "settings"]) -> GateVerdict:
    """A verdict without its signature, and without what else is named."""
    empty: dict[str, str] = {}
    return verdict.model_copy(update={"content": "", "mac": "", **dict.fromkeys(more, empty)})


def signed(verdict: GateVerdict, key: bytes | None) -> GateVerdict:
    """The verdict with its signature; without a key, with its hash alone."""
    content = content_of(verdict)
    return verdict.model_copy(update={"content": content, "mac": _mac(content, key) if key else ""})


def standing(verdict: GateVerdict, files: dict[str, str | None], key: bytes | None) -> tuple[Standing, str]:
    """What a verdict is worth, and why. `files` has the hash of each file now, None if it is gone."""
    if verdict.content != content_of(verdict):
        return "altered", "its content is not what its hash says"
    for path, was in verdict.saw.items():
        now = files.get(path)
        if now != was:
            return "stale", f"{path} is gone" if now is None else f"{path} has changed"
    if key is None or not verdict.mac:
        return "unsigned", "no key was given" if key is None else "it has no mac"
    if not hmac.compare_digest(verdict.mac, _mac(verdict.content, key)):
        return "forged", "its mac is not that of the key"
    return "true", f"{len(verdict.saw)} files as they were"


def _mac(content: str, key: bytes) -> str:
    return hmac.new(key, content.encode(), "sha256").hexdigest()
