"""Settings files."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tileir_diff.errors import InputError
from tileir_diff.verdict import Waiver
from tileir_diff.verdict.config import Config, find_config, read_config

OWN = """
fail-on = "ulp"
strict = true
select = ["mask"]
ignore = ["mask/extra"]

[[waivers]]
rule = "entry-hint/*"
kernel = "@softmax*"
reason = "tuned for this port"
expires = 2027-01-31
"""


def test_reads_all_settings(tmp_path: Path) -> None:
    path = tmp_path / "tileir-diff.toml"
    path.write_text(OWN)
    waiver = Waiver("entry-hint/*", "tuned for this port", "softmax*", date(2027, 1, 31))
    assert read_config(str(path)) == Config(str(path), "ulp", True, ("mask",), ("mask/extra",), (waiver,))


def test_is_found_upwards_and_the_nearest_wins(tmp_path: Path) -> None:
    (tmp_path / "tileir-diff.toml").write_text('fail-on = "ulp"')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_config(str(inner)).fail_on == "ulp"
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.tileir-diff]\nfail-on = "bounds"')
    assert find_config(str(inner)).fail_on == "bounds"


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "tileir-diff.toml").write_text('fail-on = "ulp"')
    inner = tmp_path / "project"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["tileir-diff"]')
    assert find_config(str(inner)).fail_on == "ulp"


@pytest.mark.parametrize(
    "text",
    [
        "[tool.tileir-diff]\nstrict = true",
        '[tool."tileir-diff"]\nstrict = true',
        "[ tool . tileir-diff ]\nstrict = true",
        "tool.tileir-diff.strict = true",
        "[tool]\ntileir-diff = { strict = true }",
    ],
)
def test_the_table_may_be_written_in_any_way(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert read_config(str(tmp_path / "pyproject.toml")).strict is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fail-on = 3", "'fail-on' must be a string"),
        ("strict = 'yes'", "'strict' must be true or false"),
        ("select = 'mask'", "'select' must be a list of strings"),
        ("ignore = [1]", "'ignore' must be a list of strings"),
        ("failon = 'ulp'", "unknown key 'failon'"),
        ("waivers = 3", "'waivers' must be a list of tables"),
        ("waivers = [3]", "must be a table"),
        ("[[waivers]]\nrule = 'mask/*'", "a waiver needs a 'reason'"),
        ("[[waivers]]\nrule = 'mask/*'\nreason = ' '", "a waiver needs a 'reason'"),
        ("[[waivers]]\nreason = 'x'", "a waiver needs a 'rule'"),
        ("[[waivers]]\nrule = 'm'\nreason = 'x'\nkernel = 1", "'kernel' of a waiver must be a string"),
        ("[[waivers]]\nrule = 'm'\nreason = 'x'\nexpires = 'soon'", "'expires' of a waiver must be a date"),
        ("[[waivers]]\nrule = 'm'\nreason = 'x'\nuntil = 'soon'", "unknown key 'until'"),
        ("fail-on", "not TOML"),
    ],
)
def test_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "tileir-diff.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_config(str(path))
    assert error.value.path == str(path)


def test_a_missing_or_binary_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_config(str(tmp_path / "none.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        read_config(str(tmp_path / "binary.toml"))


def test_what_is_not_toml_is_quoted(tmp_path: Path) -> None:
    file = tmp_path / "tileir-diff.toml"
    file.write_text("strict = true\nfail-on = edge\n")
    with pytest.raises(InputError) as caught:
        read_config(str(file))
    head, line, caret = str(caught.value).split("\n")
    assert head.startswith(f"{file}:2:11: error: not TOML: ")
    assert (line, caret) == ("  fail-on = edge", "            ^")
    file.write_text("strict = ")
    with pytest.raises(InputError, match="not TOML"):
        read_config(str(file))
