"""What keeps bad input and faults of our own from ending as a traceback."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from tileir_diff.cli import INTERRUPTED
from tileir_diff.cli.output import complain, give_up
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

DEBUG = "TILEIR_DIFF_DEBUG"
"""Environment variable: internal errors show their traceback."""


@contextmanager
def guarded(path: str) -> Generator[None]:
    """One message to standard error and exit status 2, for bad input and for a fault of ours on this file."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except InputError as error:
        found = error
    except Exception as error:
        found = internal(error, path)
    else:
        return
    complain(found)
    raise SystemExit(2)


@contextmanager
def ended() -> Generator[None]:
    """^C ends quietly with a status of its own; so does help whose reader has seen enough, with 0.

    Raises InputError where help cannot be written.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except OSError:
        try:
            os.write(sys.stdout.fileno(), b"\n")  # is it standard output that cannot be written?
        except OSError as error:
            give_up(error)
            raise click.exceptions.Exit(0) from None
        raise


def internal(error: Exception, path: str) -> InputError:
    """A fault of ours as an error: neither a verdict nor a traceback. Raises it as it is where DEBUG asks."""
    if os.environ.get(DEBUG):
        raise error
    text = f"internal error, {type(error).__name__}: {error}; set {DEBUG}=1 for where, and report it"
    return InputError(" ".join(text.split()), path)


def likely(error: click.UsageError) -> click.UsageError:
    """The same error; of an option that does not exist, with a hint only at those that are close to it."""
    if not isinstance(error, click.NoSuchOption):
        return error
    from tileir_diff.suggest import is_close

    close = [each for each in error.possibilities or () if is_close(error.option_name, each)]
    return click.NoSuchOption(error.option_name, possibilities=close, ctx=error.ctx)
