"""What shells complete beside verbs, options and files: rules, families, lints and equivalences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def rules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Families; the details of one once its name and a slash are there."""
    from tileir_diff.rules import FAMILIES
    from tileir_diff.rules.catalogue import details

    known = [name for name, _ in details()] if "/" in incomplete else [*FAMILIES]
    return [name for name in known if name.startswith(incomplete)]


def pages(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """What `explain` takes: rules, lints, equivalences, words of a report, `terms` and `words`."""
    from tileir_diff.lints import LINTS, PREFIX
    from tileir_diff.match.equivalences import equivalences as known
    from tileir_diff.report.glossary import GLOSSARY

    said = (
        word
        for kind, words in GLOSSARY.items()
        if kind not in ("phrase", "part of a report")
        for word in words
    )
    others = (*(PREFIX + name for name in LINTS), *known(), *said, "terms", "words")
    return [
        *rules(ctx, param, incomplete),
        *(name for name in dict.fromkeys(others) if name.startswith(incomplete)),
    ]


def equivalences(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from tileir_diff.match.equivalences import equivalences as known

    return [name for name in known() if name.startswith(incomplete)]
