"""`tileir-diff doctor`: what is there, and what fits together."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import emit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tileir_diff.doctor.model import Check

WIDTH = 120


@click.command(short_help="Say what is installed, and what of it fits together.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_context
def doctor(ctx: click.Context, format_: str) -> None:
    """Say which compilers, libraries and drivers are there, and which fit together.

    Exit status: 0 nothing that is there will fail, 1 something will. What is missing costs a feature only.
    """
    from tileir_diff.doctor import assembler, front_ends, machine
    from tileir_diff.doctor.model import SCHEMA, WRONG

    with guarded(""):
        groups = {
            "this tool and this machine": list(machine.checks()),
            "assembler": list(assembler.checks()),
            "front ends": list(front_ends.checks()),
        }
        if format_ == "json":
            checks = [check._asdict() for found in groups.values() for check in found]
            emit(json.dumps({"schema": SCHEMA, "checks": checks}, indent=2, ensure_ascii=False) + "\n", None)
        else:
            emit("\n".join(_lines(groups)) + "\n", None)
    ctx.exit(int(any(check.status == WRONG for found in groups.values() for check in found)))


def _lines(groups: dict[str, list[Check]]) -> Iterator[str]:
    names = max(len(check.name) for found in groups.values() for check in found)
    for title, found in groups.items():
        yield title
        for check in found:
            needs = f"needed for {check.needs}" if check.needs and not check.found else ""
            said = "; ".join(part for part in (check.found, needs, check.advice) if part)
            head = f"  {check.status:<8} {check.name:<{names}}  "
            yield from textwrap.wrap(
                said, WIDTH, initial_indent=head, subsequent_indent=" " * len(head),
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
        yield ""
    wrong = [check.name for found in groups.values() for check in found if check.status == "wrong"]
    missing = [check.name for found in groups.values() for check in found if check.status == "missing"]
    yield f"DOCTOR: {_listed(wrong, 'wrong')}; {_listed(missing, 'missing')}"


def _listed(names: list[str], what: str) -> str:
    return f"{what}: {', '.join(names)}" if names else f"nothing {what}"
