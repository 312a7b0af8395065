"""What was measured on a GPU: the kept results follow their schema, and the page says what they say."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import sys

import pytest

from tests.rust_kernels.conftest import ROOT

sys.path.append(str(ROOT / "rust_kernels" / "gpu"))
import report

GPU = ROOT / "rust_kernels" / "gpu"


def fits(value: object, schema: dict) -> bool:
    """Whether a value follows those keywords of JSON Schema that the schema uses."""
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "number": (int, float),
        "integer": int,
        "boolean": bool,
    }
    if "anyOf" in schema:
        return any(fits(value, each) for each in schema["anyOf"])
    if "const" in schema:
        return value == schema["const"]
    if schema["type"] == "null":
        return value is None
    if not isinstance(value, kinds[schema["type"]]):
        return False
    if isinstance(value, list):
        return all(fits(each, schema["items"]) for each in value)
    if isinstance(value, dict):
        parts, rest = schema.get("properties", {}), schema.get("additionalProperties")
        known = all(fits(each, parts[name]) for name, each in value.items() if name in parts)
        others = rest is None or all(fits(each, rest) for name, each in value.items() if name not in parts)
        return known and others and set(schema.get("required", [])) <= set(value)
    return not ("exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"])


def test_the_results_follow_the_schema() -> None:
    schema = json.loads((GPU / "schema.json").read_text())
    results = json.loads(report.KEPT.read_text())
    assert fits(results, schema)
    assert not fits(results | {"schema": "other"}, schema)
    results["benchmark"]["configurations"][0]["ours_us"] = 0
    assert not fits(results, schema)


def test_the_calls_follow_their_schema() -> None:
    schema = json.loads((GPU / "overhead.schema.json").read_text())
    measured = json.loads(report.KEPT_CALLS.read_text())
    assert fits(measured, schema)
    measured["operators"][0]["theirs_us"] = 0
    assert not fits(measured, schema)


def test_page_and_plot_are_made_of_the_results() -> None:
    results = json.loads(report.KEPT.read_text())
    assert (report.DOCS / "kernels.md").read_text() == report.whole_page(results)
    assert (report.DOCS / "kernels.svg").read_text() == report.plot(results)


def test_a_later_run_replaces_an_operator(tmp_path) -> None:
    results = json.loads(report.KEPT.read_text())
    name = next(iter(results["benchmark"]["operators"]))
    again = {
        **results,
        "correctness": [{"case": "x", "operator": name, "right": True}],
        "benchmark": {"operators": {}, "configurations": []},
    }
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, content in zip(files, (results, again), strict=True):
        file.write_text(json.dumps(content))
    merged = report.merged(files)
    assert [e["case"] for e in merged["correctness"] if e["operator"] == name] == ["x"]
    other = {**again, "machine": {**results["machine"], "device": "another"}}
    files[1].write_text(json.dumps(other))
    with pytest.raises(ValueError, match="2 machines"):
        report.merged(files)


def test_results_name_what_they_are_of() -> None:
    """What is packed for a GPU has the hashes that the pipeline asks for, of every operator."""
    pytest.importorskip("torch")
    import hashlib

    import cases
    import pack

    said = pack.sources(list(cases.OPERATORS))
    assert list(said) == list(cases.OPERATORS)
    assert all(set(files) == {"kernel.rs", "ffi.rs"} for files in said.values())
    source = ROOT / "rust_kernels" / "kernels" / "src" / "relu" / "kernel.rs"
    assert said["relu"]["kernel.rs"] == hashlib.sha256(source.read_bytes()).hexdigest()
    results = json.loads(report.KEPT.read_text()) | {"sources": said}
    assert fits(results, json.loads((GPU / "schema.json").read_text()))
