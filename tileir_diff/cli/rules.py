"""`tileir-diff rules`, `tileir-diff explain RULE`, `tileir-diff completion SHELL`."""

from __future__ import annotations

import click

from tileir_diff.cli.completion import pages
from tileir_diff.cli.output import emit

TERMS = "terms"
SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="List all rules and lints.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def rules(format_: str) -> None:
    """List all rules with their impact, and all lints with their severity."""
    from tileir_diff.lints import LINTS, PREFIX, lint_of
    from tileir_diff.rules.catalogue import as_json, as_text

    lints: dict[str, tuple[str, str]] = {}
    for name in LINTS:
        lint = lint_of(name)
        assert lint is not None  # names come from the table
        lints[PREFIX + name] = (lint.SEVERITY, (lint.__doc__ or "").partition("\n")[0])
    emit(as_json(lints) if format_ == "json" else as_text(lints), None)


@click.command(short_help="Explain a rule, or how values are written.")
@click.argument("rule", shell_complete=pages)
@click.pass_context
def explain(ctx: click.Context, rule: str) -> None:
    """Explain a rule (`mask/missing`), a family (`mask`), a lint, an equivalence, or how `terms` read."""
    from tileir_diff.cli.equivalences import equivalences
    from tileir_diff.cli.equivalences import page as equivalence_page
    from tileir_diff.lints import LINTS, PREFIX
    from tileir_diff.rules.catalogue import closest, page

    text = _terms_page() if rule == TERMS else _lint_page(rule) or equivalence_page(rule) or page(rule)
    lints = [PREFIX + name for name in LINTS]
    if text is None and rule.rstrip("/") == PREFIX.rstrip("/"):
        click.echo(f"error: lints are explained one by one: {', '.join(lints)}", err=True)
        ctx.exit(2)
    if text is None:
        close = closest(rule, (*lints, *equivalences()))
        hint = f"; did you mean {' or '.join(close)}?" if close else ";"
        click.echo(f"error: no rule '{rule}'{hint} `tileir-diff rules` lists them", err=True)
        ctx.exit(2)
    emit(text, None)


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell, to be sourced: `eval "$(tileir-diff completion bash)"`."""
    from click.shell_completion import get_completion_class

    from tileir_diff.cli.app import app

    complete = get_completion_class(shell)
    assert complete is not None  # the choice above holds only what click knows
    emit(complete(app, {}, "tileir-diff", "_TILEIR_DIFF_COMPLETE").source() + "\n", None)


def _terms_page() -> str:
    from tileir_diff.graph.show import NOTATION

    width = max(map(len, NOTATION))
    lines = [f"  {spelling:{width}}  {meaning}" for spelling, meaning in NOTATION.items()]
    return "\n".join(("How values are written in reports:", "", *lines)) + "\n"


def _lint_page(rule: str) -> str | None:
    from inspect import cleandoc

    from tileir_diff.lints import PREFIX, lint_of

    lint = lint_of(rule) if rule.startswith(PREFIX) else None
    if lint is None:
        return None
    severity = f"Severity: {lint.SEVERITY}, unless said otherwise above"
    return f"# {rule}\n\n{cleandoc(lint.__doc__ or '')}\n\n{severity}\n"
