"""Results of the assembler by the content of what went in, so that nothing is compiled twice."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from tileir_diff.toolchain.cache import cache_folder

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = "tileir-diff-lowering/1"
"""Part of each key: what another version of this package kept is not looked at."""


def user_cache() -> Path:
    """The folder for results: below XDG_CACHE_HOME, or ~/.cache."""
    return cache_folder("lowering")


class Cache:
    """JSON documents by key in a folder; without a folder nothing is kept.

    A cache that cannot be written, and an entry that cannot be read, cost time and nothing else.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def key(self, data: bytes, *parts: str) -> str:
        """The key of an input and of everything else that the result depends on."""
        digest = hashlib.sha256()
        for part in (FORMAT, *parts):
            digest.update(part.encode() + b"\0")
        digest.update(data)
        return digest.hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """The document, None when there is none."""
        if self.folder is None:
            return None
        try:
            found: object = json.loads(self._file(key).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None

    def put(self, key: str, document: dict[str, Any]) -> None:
        """Keeps a document: written beside and renamed, so that nobody reads half of it."""
        if self.folder is None:
            return
        file = self._file(key)
        beside = file.with_name(f"{file.name}.{os.getpid()}.tmp")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", "utf-8")
            beside.replace(file)
        except OSError:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        assert self.folder is not None  # only called where there is one
        return self.folder / key[:2] / f"{key}.json"
