"""The command and its verbs. `tileir-diff REF GEN` is the verb `diff`, which needs no name.

Every verb imports what it needs when it runs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from tileir_diff import __version__
from tileir_diff.cli.guard import ended, likely

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class DefaultGroup(click.Group):
    """A group in which arguments that begin with no verb belong to `diff`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h", "--version"):
            self._refuse_mistyped(ctx, args[0])
            args = ["diff", *args]
        with ended():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """An option that does not exist gets a hint only where one is close without its dashes."""
        try:
            with ended():
                return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise likely(error) from None

    def _refuse_mistyped(self, ctx: click.Context, word: str) -> None:
        """A word that is no file and close to a verb is meant to be the verb."""
        if word.startswith("-") or ctx.resilient_parsing or os.path.exists(word):
            return
        from tileir_diff.suggest import did_you_mean

        hint = "; did you mean '--help'?" if word == "help" else did_you_mean(word, self.commands)
        if hint:
            raise click.UsageError(f"'{word}' is neither a file nor a verb{hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs, and what `diff` takes: its options, and files where no verb begins so."""
        from click.shell_completion import CompletionItem

        items = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            return items or [CompletionItem(incomplete, type="file")]
        diff = self.commands["diff"]
        with diff.make_context("diff", [], ctx, resilient_parsing=True) as inner:
            more = diff.shell_complete(inner, incomplete)
        known = [item.value for item in items]
        return items + [item for item in more if item.value not in known]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] REFERENCE GENERATED")
        formatter.write_usage(ctx.command_path, "VERB ...")


@click.group(
    cls=DefaultGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`tileir-diff diff --help` lists the options of a comparison. "
    "Exit status: 0 PASS or PASS_WITH_NOTES, 1 FAIL_FIXABLE or FAIL_COMPILER_BUG, 2 BLOCKED.",
)
@click.version_option(__version__, prog_name="tileir-diff", message="%(prog)s %(version)s")
def app() -> None:
    """Says whether two CUDA Tile IR kernels compute the same, and which line is wrong where they do not."""


def _register() -> None:
    from tileir_diff.cli import (
        assemble,
        classify,
        diff,
        doctor,
        dump,
        gate,
        inspect,
        mcp,
        port,
        port_run,
        reduce,
        rules,
        run,
        transpile,
    )

    for command in (
        diff.diff,
        diff.batch,
        inspect.check,
        inspect.show,
        classify.classify,
        gate.gate,
        mcp.mcp,
        port_run.port,
        assemble.assemble,
        reduce.reduce,
        rules.explain,
        rules.rules,
        rules.completion,
        run.run,
        doctor.doctor,
        dump.dump,
        port.port_check,
        transpile.transpile,
    ):
        app.add_command(command)


_register()
