"""The report as JSON: the fields of the result in their order, indented, one trailing newline."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tileir_diff.report.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping


def render_json(report: Result | Mapping[str, object], *, indent: int | None = 2) -> str:
    """Deterministic: the same result gives the same bytes. `indent=None` puts all on one line."""
    import json  # the text report does without

    data = asdict(report) if isinstance(report, Result) else report
    return json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"
