"""Reading a dump imports nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = (
    "xdsl.irdl",
    "xdsl.dialects.builtin",
    "xdsl.printer",
    "xdsl.parser",
    "networkx",
    "torch",
    "elftools",
    "rich",
    "subprocess",
)


@pytest.mark.parametrize("module", HEAVY)
def test_not_imported(module: str) -> None:
    code = (
        "import sys\n"
        "from tileir_diff.dialect import parse_text\n"
        "m = parse_text('entry @k(%f: tile<f32>) { %0 = negf %f : tile<f32> return }')\n"
        "assert m.entries[0].regions[0].block.args[0].name_hint == 'f'\n"
        f"sys.exit({module!r} in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_package_itself_is_empty() -> None:
    code = "import sys, tileir_diff\nsys.exit(any(name.startswith('tileir_diff.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
