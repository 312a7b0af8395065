"""The `tileir-diff` command."""

from __future__ import annotations


def main() -> None:
    """Entry point of the console script."""
    from tileir_diff.cli.app import app

    app(prog_name="tileir-diff")
