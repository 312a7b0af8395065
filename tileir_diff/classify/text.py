"""A classification as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileir_diff.classify.model import Classification

WIDTH = 120
LABEL = 22


def render_json(made: Classification) -> str:
    """As docs/schema/classify.json describes it."""
    data: dict[str, Any] = made._asdict() | {"steps": [step._asdict() for step in made.steps]}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def render_text(made: Classification) -> str:
    """Cause first, then the ladder, then what would settle the open steps."""
    owner = f" (owner: {made.owner})" if made.owner else ""
    lines = [f"{made.cause}{owner}: {made.why}"]
    lines += [f"  reference  {made.reference}", f"  generated  {made.generated}", ""]
    for step in made.steps:
        head = f"  {step.name:<10} {step.answer:<8} "
        lines += textwrap.wrap(
            f"{step.question} {step.evidence}", WIDTH, initial_indent=head, subsequent_indent=" " * LABEL
        )
    settle = [f"  {step.name}: {step.settle}" for step in made.steps if step.settle]
    if settle:
        lines += ["", "what would settle the open steps", *settle]
    versions = ", ".join(f"{name} {version}" for name, version in made.versions.items())
    lines += ["", *([versions] if versions else []), f"CAUSE: {made.cause}"]
    return "\n".join(lines) + "\n"
