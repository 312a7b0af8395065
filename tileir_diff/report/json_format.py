"""The report as JSON: the fields of the result in their order, indented, one trailing newline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from tileir_diff.report.result import Result


def render_json(report: Result | Mapping[str, object], *, indent: int | None = 2) -> str:
    """Deterministic: the same result gives the same bytes. `indent=None` puts all on one line."""
    import json  # the text report does without

    return json.dumps(as_data(report), indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def as_data(value: object) -> object:
    """Records as tables, all the way down."""
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        fields = cast("tuple[str, ...] | None", getattr(items, "_fields", None))
        data = [as_data(item) for item in items]
        return data if fields is None else dict(zip(fields, data, strict=True))
    if isinstance(value, list):
        return [as_data(item) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        return {key: as_data(item) for key, item in cast("Mapping[str, object]", value).items()}
    return value
