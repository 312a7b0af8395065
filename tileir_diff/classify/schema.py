"""The JSON schema of a classification: `python -m tileir_diff.classify.schema` writes it to docs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# one spelling of each: of two orders of the same words, Python keeps whichever it met first
from tileir_diff.report.model import Cause, Owner  # noqa: TC001  (pydantic looks at them)

TARGET = Path(__file__).parents[2] / "docs" / "schema" / "classify.json"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StepModel(_Model):
    """One question of the ladder."""

    name: str
    question: str
    answer: Literal["yes", "no", "open", "not run"] = Field(
        description="open: its input was not given; not run: `evidence` says why."
    )
    evidence: str
    settle: str = Field(description="What would answer it; empty where it is answered.")


class ClassificationModel(_Model):
    """Whose fault a difference is."""

    schema_: Literal["tileir-classify/1"] = Field(alias="schema")
    cause: Cause | Literal["equivalent-if"]
    owner: Owner | None
    why: str
    verdict: str = Field(description="That of the comparison; BLOCKED where there was none.")
    reference: str
    generated: str
    steps: list[StepModel]
    versions: dict[str, str]


def schema() -> dict[str, Any]:
    """The schema as data."""
    return ClassificationModel.model_json_schema(by_alias=True)


def main() -> None:
    """Writes the file."""
    TARGET.write_text(json.dumps(schema(), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
