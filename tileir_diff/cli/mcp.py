"""`tileir-diff mcp`: this tool for agents."""

from __future__ import annotations

from pathlib import Path

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH


@click.command(short_help="Serve diff, show, classify, gate and others to agents, by MCP.")
@click.option("--root", type=PATH, default=".", show_default=True, help="The only folder that is read.")
def mcp(root: str) -> None:
    """Serve diff, check, show, explain, run, classify and gate to an agent, over standard input and output.

    Nothing outside the root is read and nothing in it is written; files and answers have a largest size.
    """
    with guarded(root):
        from tileir_diff.pipeline.mcp_server import server

        server(Path(root)).run("stdio")
