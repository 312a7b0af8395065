"""What kernel.rs may hold: kernels, and nothing that runs on the host."""

from __future__ import annotations

import pytest

from tests.pipeline.real import KERNELS, source
from tileir_diff.pipeline.gates.device import foreign_code, host_code

MODULE = "#[cutile::module]\npub mod k {\n    use cutile::core::*;\n}\n"
NAMES = sorted(path.parent.name for path in KERNELS.glob("*/kernel.rs"))


@pytest.mark.parametrize("name", NAMES)
def test_the_kernels_of_the_fixtures_are_device_code(name: str) -> None:
    assert host_code(source(name)) is None


@pytest.mark.parametrize(
    "text",
    [
        MODULE, f"//! std::fs::read, in a comment\n{MODULE}{MODULE}", "/* extern \"C\" */" + MODULE,
        MODULE.replace("}\n", '    const TEXT: &str = "std::process } {";\n}\n'), "",
    ],
)  # fmt: skip
def test_comments_and_strings_do_not_count(text: str) -> None:
    assert host_code(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("use std::fs;\n" + MODULE, 1),
        (MODULE + "fn main() {}\n", 5),
        (MODULE.replace("core", "core::*;\n    use std::process"), 4),
        (MODULE.replace("use", 'extern "C" { fn f(); }\n    use'), 3),
        (MODULE.replace("use", 'const X: &str = include_str!("/etc/passwd");\n    use'), 3),
        (MODULE.replace("use", 'const X: &str = env!("HOME");\n    use'), 3),
        (MODULE.replace("use", '#[link_section = ".init_array"]\n    use'), 3),
        (MODULE.replace("use", '#[path = "/x.rs"]\n    use'), 3),
        (MODULE.replace("#[cutile::module]\n", ""), 1),
        ("#![feature(x)]\n" + MODULE, 1),
        (MODULE.replace("}\n", ""), 2),
    ],
)
def test_what_runs_on_the_host_is_found_with_its_line(text: str, line: int) -> None:
    assert str(host_code(text)).startswith(f"kernel.rs:{line}: ")


@pytest.mark.parametrize(
    "line",
    [
        'const KEY: &[u8] = include_bytes!("/run/key");',
        "use std::include_bytes as take;",
        'r#include_str!("x")',
        '#[path = "/elsewhere.rs"] mod other;',
        'const HOME: &str = env!("HOME");',
        "std::arch::asm!()",
    ],
)
def test_a_host_brings_in_nothing_at_compile_time(line: str) -> None:
    assert str(foreign_code(f"//! Launches.\n{line}\n")).startswith("ffi.rs:2: ")


def test_a_host_may_do_what_hosts_do() -> None:
    text = 'use std::env;\n// include_str!\n#[unsafe(no_mangle)]\npub extern "C" fn f(path: &str) {}\n'
    assert foreign_code(text) is None
