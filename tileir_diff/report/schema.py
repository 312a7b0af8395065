"""Writes docs/schema/report.json from the models: `python -m tileir_diff.report.schema [FILE]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tileir_diff.report.model import Report

DEFAULT = Path("docs/schema/report.json")


def schema_text() -> str:
    """The JSON schema of a report, as published."""
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2) + "\n"


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
