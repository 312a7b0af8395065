"""JSON schemas of all artifacts: `python -m tileir_diff.pipeline.schema` writes them to agents/schemas."""

from __future__ import annotations

import json
from pathlib import Path

from tileir_diff.pipeline.artifacts import ARTIFACTS
from tileir_diff.pipeline.log import ENTRY

TARGET = Path(__file__).parents[2] / "agents" / "schemas"


def schemas() -> dict[str, str]:
    """Text by file name."""
    made = {f"{name}.json": model.model_json_schema(by_alias=True) for name, model in ARTIFACTS.items()}
    made["log.json"] = ENTRY.json_schema()
    return {name: json.dumps(schema, indent=2) + "\n" for name, schema in made.items()}


def main() -> None:
    """Writes the files."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (TARGET / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
