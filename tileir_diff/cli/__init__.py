"""The `tileir-diff` command."""

from __future__ import annotations


def main() -> None:
    """Entry point of the console script."""
    import gc

    from tileir_diff.garbage import NEW_OBJECTS

    gc.set_threshold(NEW_OBJECTS)
    from tileir_diff.cli.app import app
    from tileir_diff.cli.output import complain
    from tileir_diff.errors import InputError

    try:
        app(prog_name="tileir-diff")
    except InputError as error:  # standard output that cannot be written
        complain(error)
        raise SystemExit(2) from None
