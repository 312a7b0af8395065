"""The table beside a translated kernel: what `port-check` needs to compare it with its dump again."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.transpile.kernel import Transpiled


def table_text(made: Transpiled, reference: str, kernel: str, table: str, arch: str) -> str:
    """A table of one configuration. Its paths begin at the table's folder, so that all of it can be moved."""
    folder = os.path.dirname(table)
    likes = "".join(f"  {json.dumps(each)},\n" for each in made.likes)
    return (
        f"# {os.path.basename(kernel)}, against the dump that it was translated from.\n"
        f"arch = {json.dumps(arch)}\n\n"
        f"[rust]\ncrate = {json.dumps(_from(kernel, folder))}\nentry = {json.dumps(made.entry)}\n\n"
        f"[[configuration]]\nname = {json.dumps(made.entry.partition('::')[0])}\n"
        f"reference = {json.dumps(_from(reference, folder))}\n"
        + (f"rust.like = [\n{likes}]\n" if likes else "rust.like = []\n")
    )


def _from(path: str, folder: str) -> str:
    """The path from a folder on, whichever links lead to either; as it is where no path leads there."""
    place, name = os.path.split(path)
    try:
        way = os.path.relpath(os.path.realpath(place), os.path.realpath(folder))
    except ValueError:  # another drive
        return path
    return os.path.normpath(os.path.join(way, name))
