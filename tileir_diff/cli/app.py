"""The command and its verbs. `tileir-diff REF GEN` is the verb `diff`, which needs no name.

A verb's module is imported when the verb is asked for, and the verb imports what it needs when it runs.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from tileir_diff import __version__
from tileir_diff.cli.guard import ended, likely

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


# verb: the module of `tileir_diff.cli` that holds it, under its own name
VERBS: Final = {
    "assemble": "assemble",
    "batch": "diff",
    "check": "inspect",
    "classify": "classify",
    "completion": "rules",
    "diff": "diff",
    "doctor": "doctor",
    "dump": "dump",
    "explain": "rules",
    "gate": "gate",
    "mcp": "mcp",
    "port": "port_run",
    "port-check": "port",
    "reduce": "reduce",
    "rules": "rules",
    "run": "run",
    "show": "inspect",
    "transpile": "transpile",
}


class DefaultGroup(click.Group):
    """A group in which arguments that begin with no verb belong to `diff`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = VERBS.get(cmd_name)
        if module is None:
            return None
        return getattr(import_module(f"tileir_diff.cli.{module}"), cmd_name.replace("-", "_"))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in VERBS and args[0] not in ("--help", "-h", "--version"):
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

        hint = "; did you mean '--help'?" if word == "help" else did_you_mean(word, VERBS)
        if hint:
            raise click.UsageError(f"'{word}' is neither a file nor a verb{hint}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs, and what `diff` takes: its options, and files where no verb begins so."""
        from click.shell_completion import CompletionItem

        items = super().shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            return items or [CompletionItem(incomplete, type="file")]
        diff = self.get_command(ctx, "diff")
        assert diff is not None  # it is among the verbs
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
