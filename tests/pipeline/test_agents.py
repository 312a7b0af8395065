"""The folder agents: schemas are those of the models, examples compile, paths exist."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from tests.pipeline.real import ROOT, lay
from tileir_diff.dump.like import parse_likes
from tileir_diff.dump.model import Dumped
from tileir_diff.dump.rust import Exporter, Wanted
from tileir_diff.pipeline.agents import CARDS, agents_folder, cards
from tileir_diff.pipeline.artifacts import ARTIFACTS
from tileir_diff.pipeline.gates.device import host_code
from tileir_diff.pipeline.schema import schemas
from tileir_diff.pipeline.stages import STAGES
from tileir_diff.rules import FAMILIES

AGENTS = ROOT / "agents"
RULES: list[dict[str, Any]] = tomllib.loads((AGENTS / "rules.toml").read_text("utf-8"))["rule"]
EXAMPLES = sorted((AGENTS / "examples").glob("*.json"))
PAGES = [AGENTS / "SKILL.md", *sorted((AGENTS / "cards").glob("*.md"))]


def test_the_schemas_are_those_of_the_models() -> None:
    on_disk = {path.name: path.read_text("utf-8") for path in (AGENTS / "schemas").glob("*.json")}
    assert on_disk == schemas(), "run `make docs`"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_follows_its_schema(path: Path) -> None:
    pytest.importorskip("jsonschema")
    import jsonschema

    data = json.loads(path.read_text("utf-8"))
    jsonschema.validate(data, json.loads((AGENTS / "schemas" / path.name).read_text("utf-8")))
    model = ARTIFACTS[path.stem]
    assert model.read(path.read_text("utf-8"), path.name).to_json() == path.read_text("utf-8")


def test_every_artifact_has_an_example() -> None:
    assert [path.stem for path in EXAMPLES] == sorted(ARTIFACTS)


def test_every_stage_has_a_card_that_names_its_files() -> None:
    assert agents_folder() == AGENTS
    for stage, text in cards().items():
        for path in STAGES[stage].writes:
            assert f"`{path}`" in text, f"{CARDS[stage]}: {path}"
    assert set(CARDS) == set(STAGES)
    assert {path.name for path in (AGENTS / "cards").glob("*.md")} == {
        Path(path).name for path in CARDS.values()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    named = re.findall(r"`(agents/[\w./-]+)`", page.read_text("utf-8"))
    assert all((ROOT / path).exists() for path in named), named
    if page.name == "SKILL.md":
        assert {f"agents/{path}" for path in CARDS.values()} <= set(named)


def test_the_skill_names_every_end_of_a_run() -> None:
    from tileir_diff.pipeline.machine import BUDGET, TABLE

    text = (AGENTS / "SKILL.md").read_text("utf-8")
    ends = {target for target in TABLE.values() if target not in STAGES} | {BUDGET}
    assert {end for end in ends if f"`{end}`" not in text} == set()


def test_every_command_that_is_named_exists() -> None:
    from tileir_diff.cli.app import app

    for page in PAGES:
        for verb, rest in re.findall(r"tileir-diff ([a-z-]+) ([^`]*)`", page.read_text("utf-8")):
            command = app.get_command(click.Context(app), verb)
            assert command is not None, verb
            options = {each for parameter in command.params for each in parameter.opts}
            assert set(re.findall(r"--[\w-]+", rest)) <= options, f"{page.name}: {verb} {rest}"


def test_rules_have_ids_and_families_that_exist() -> None:
    ids = [rule["id"] for rule in RULES]
    assert len(set(ids)) == len(ids)
    for rule in RULES:
        assert set(rule) == {"id", "rule", "why", "caught_by", "like", "example"}
        assert not rule["caught_by"] or rule["caught_by"] in FAMILIES, rule["id"]
        assert f"pub mod {rule['id'].replace('-', '_')} {{" in rule["example"]
        assert host_code(rule["example"]) is None


@pytest.mark.slow
@pytest.mark.usefixtures("cargo")
def test_every_example_compiles_as_a_launch_would(tmp_path: Path) -> None:
    lay(tmp_path, {"rules.rs": "\n".join(rule["example"] for rule in RULES)})
    exporter = Exporter(str(tmp_path / "rules.rs"))
    wanted = [
        Wanted(exporter.entry(_entry(rule["example"])).path, parse_likes(rule["like"]), "sm_90")
        for rule in RULES
    ]
    for rule, made in zip(RULES, exporter.dump(wanted), strict=True):
        assert isinstance(made, Dumped), f"{rule['id']}: {made}"


def _entry(example: str) -> str:
    found = re.search(r"pub mod (\w+).*?cutile::entry.*?pub unsafe fn (\w+)", example, re.DOTALL)
    assert found is not None
    return f"{found[1]}::{found[2]}"
