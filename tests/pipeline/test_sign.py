"""What a verdict is worth: true, stale, altered, unsigned, forged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tileir_diff.errors import InputError
from tileir_diff.pipeline.artifacts import GateVerdict
from tileir_diff.pipeline.log import sha256
from tileir_diff.pipeline.sign import content_of, make_key, read_key, signed, standing

A = sha256(b"a")
BARE = GateVerdict(
    stage="kernel", outcome="FAIL", evidence="static", checks=[], saw={"kernel.rs": A}, versions={}
)
KEY, OTHER = b"k" * 32, b"o" * 32


def worth(verdict: GateVerdict, now: str | None = A, key: bytes | None = KEY) -> str:
    return standing(verdict, {"kernel.rs": now}, key)[0]


def test_a_verdict_that_the_gate_wrote_is_true() -> None:
    assert worth(signed(BARE, KEY)) == "true"


def test_files_that_changed_make_it_stale() -> None:
    assert worth(signed(BARE, KEY), sha256(b"b")) == "stale"
    assert worth(signed(BARE, KEY), None) == "stale"


@pytest.mark.parametrize("change", [{"outcome": "PASS"}, {"evidence": "gpu"}, {"saw": {}}, {"content": A}])
def test_no_field_can_be_changed(change: dict[str, object]) -> None:
    altered = signed(BARE, KEY).model_copy(update=change)
    assert worth(altered) == "altered"
    if "content" in change:
        return
    # whoever puts its own hash right has not the key
    assert worth(altered.model_copy(update={"content": content_of(altered)})) == "forged"


def test_a_hand_written_one_is_told() -> None:
    raised = BARE.model_copy(update={"outcome": "PASS"})
    assert worth(signed(raised, None)) == "unsigned"
    assert worth(signed(raised, OTHER)) == "forged"
    assert worth(signed(BARE, KEY), key=None) == "unsigned"


def test_a_key_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    key = make_key(tmp_path)
    assert make_key(tmp_path) == key == read_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    (tmp_path / "key").write_text("short")
    with pytest.raises(InputError, match="no key"):
        read_key(tmp_path / "key")
    with pytest.raises(InputError, match="cannot read"):
        read_key(tmp_path / "none")
