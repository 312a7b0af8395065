"""`tileir-diff classify`: whose fault it is."""

from __future__ import annotations

from typing import Any

import click

from tileir_diff.cli.diff import comparison_options, options_of
from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH, emit
from tileir_diff.errors import InputError


@click.command(short_help="Say whose fault a difference is.")
@click.argument("reference", type=PATH)
@click.argument("generated", type=PATH)
@click.option("--source", type=PATH, metavar="FILE", help="The kernel's own source: K.rs.")
@click.option("--gpu-result", type=PATH, metavar="FILE", help="What a GPU made of it, as JSON.")
@click.option("--cubin", type=PATH, metavar="FILE", help="The compiled kernel that was launched.")
@click.option("--arch", default="sm_90", show_default=True, metavar="ARCH", help="For the assembler.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write it to a file.")
@comparison_options
@click.pass_context
def classify(ctx: click.Context, reference: str, generated: str, **given: Any) -> None:
    """Say whose fault a difference is: the kernel's, the front end's, the assembler's or the host's.

    A step whose input is not given is open, never guessed.

    Exit status: 0 nobody has to act, 1 somebody has to, 2 an input cannot be read.
    """
    from tileir_diff.classify.text import render_json, render_text

    view = {name: given.pop(name) for name in ("source", "gpu_result", "cubin", "arch", "format_", "output")}
    with guarded(generated):
        made = _classify(reference, generated, view, given)
        emit(render_json(made) if view["format_"] == "json" else render_text(made), view["output"])
    ctx.exit(0 if made.cause in ("equivalent", "equivalent-if") else 1)


def _classify(reference: str, generated: str, view: dict[str, Any], given: dict[str, Any]) -> Any:
    from tileir_diff.classify.ladder import classify
    from tileir_diff.classify.model import Inputs
    from tileir_diff.lowering.assembler import find_assembler
    from tileir_diff.lowering.cache import Cache, user_cache
    from tileir_diff.toolchain import find_tool

    if "-" in (reference, generated):
        raise InputError("classify reads its inputs more than once: give files", "-")
    assembler = None
    if find_tool("tileiras") is not None:
        assembler = find_assembler(Cache(None if given["no_cache"] else user_cache()))
    inputs = Inputs(
        reference, generated, options_of(given),
        view["source"], view["gpu_result"], view["cubin"], view["arch"], assembler,
    )  # fmt: skip
    return classify(inputs)
