"""`tileir-diff rules`, `tileir-diff explain RULE`, `tileir-diff completion SHELL`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tileir_diff.cli.completion import pages
from tileir_diff.cli.output import emit

if TYPE_CHECKING:
    from collections.abc import Iterator

TERMS, WORDS = "terms", "words"
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


@click.command(short_help="Explain a rule, or a word of a report.")
@click.argument("rule", metavar="RULE|WORD", shell_complete=pages)
@click.pass_context
def explain(ctx: click.Context, rule: str) -> None:
    """Explain what a report says: a rule (`mask/missing`), a family (`mask`), a lint, an equivalence, a
    verdict, impact or other word (`edge`), or a phrase (`"by role"`).

    `terms` lists how values read, `words` all words and phrases, `impact` or `owner` those of one kind.
    """
    from tileir_diff.lints import LINTS, PREFIX

    text = "\n".join(page for page in _explained(rule) if page)
    lints = [PREFIX + name for name in LINTS]
    if not text and rule.rstrip("/") == PREFIX.rstrip("/"):
        click.echo(f"error: lints are explained one by one: {', '.join(lints)}", err=True)
        ctx.exit(2)
    if not text:
        click.echo(f"error: no rule, and no word of a report: '{rule}'{_closest(rule, lints)}", err=True)
        ctx.exit(2)
    emit(text, None)


def _explained(word: str) -> Iterator[str | None]:
    """All that is known by the name: a family may be called as an impact is (`bounds`)."""
    from tileir_diff.cli.equivalences import page as equivalence_page
    from tileir_diff.report.glossary import GLOSSARY, listed
    from tileir_diff.report.glossary import page as word_page
    from tileir_diff.rules.catalogue import page

    if word == TERMS:
        yield _terms_page()
        return
    if word == WORDS or word in GLOSSARY:
        yield listed(None if word == WORDS else word)
        return
    word = word.removesuffix("*").rstrip("/")  # `mask/*`, as settings write it
    yield _lint_page(word) or equivalence_page(word) or page(word)
    yield word_page(word) or _term(word)


def _closest(word: str, lints: list[str]) -> str:
    from tileir_diff.match.equivalences import equivalences
    from tileir_diff.report.glossary import words
    from tileir_diff.rules.catalogue import closest

    close = closest(word, (*lints, *equivalences(), *words()))
    hint = f"; did you mean {' or '.join(close)}?" if close else ";"
    return f"{hint} `tileir-diff rules` lists the rules, `tileir-diff explain words` the words"


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


def _term(word: str) -> str | None:
    """How a value reads: one line of the page, by one of its spellings."""
    from tileir_diff.graph.show import NOTATION

    found = next((key for key in NOTATION if word in (key, *key.split(", "))), None)
    return None if found is None else f"{found}: {NOTATION[found]}\n"


def _lint_page(rule: str) -> str | None:
    from inspect import cleandoc

    from tileir_diff.lints import PREFIX, lint_of

    lint = lint_of(rule) if rule.startswith(PREFIX) else None
    if lint is None:
        return None
    severity = f"Severity: {lint.SEVERITY}, unless said otherwise above"
    return f"# {rule}\n\n{cleandoc(lint.__doc__ or '')}\n\n{severity}\n"
