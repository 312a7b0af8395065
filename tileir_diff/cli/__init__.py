"""The `tileir-diff` command."""

from __future__ import annotations

INTERRUPTED = 130
"""Exit status after ^C, as shells tell it: no verdict."""


def main() -> None:
    """Entry point of the console script."""
    try:
        _run()
    except KeyboardInterrupt:  # while modules are loaded: later ones are met where a verb runs
        raise SystemExit(INTERRUPTED) from None


def _run() -> None:
    import gc

    from tileir_diff.garbage import NEW_OBJECTS

    gc.set_threshold(NEW_OBJECTS)
    from tileir_diff.cli.output import complain, open_closed

    open_closed()
    from tileir_diff.cli.app import app
    from tileir_diff.cli.guard import internal
    from tileir_diff.errors import InputError

    try:
        app(prog_name="tileir-diff")
    except Exception as error:  # an InputError: standard output that cannot be written
        complain(error if isinstance(error, InputError) else internal(error, ""))
        raise SystemExit(2) from None
