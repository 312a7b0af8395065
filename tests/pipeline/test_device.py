"""What kernel.rs may hold: kernels, and nothing that runs on the host."""

from __future__ import annotations

import pytest

from tests.pipeline.real import KERNELS, source
from tileir_diff.pipeline.gates.device import exported, foreign_code, host_code

MODULE = "#[cutile::module]\npub mod k {\n    use cutile::core::*;\n}\n"
NAMES = sorted(path.parent.name for path in KERNELS.glob("*/kernel.rs"))


@pytest.mark.parametrize("name", NAMES)
def test_the_kernels_of_the_fixtures_are_device_code(name: str) -> None:
    assert host_code(source(name)) is None


@pytest.mark.parametrize(
    "text",
    [
        MODULE, f"//! std::fs::read, in a comment\n{MODULE}{MODULE}", "/* extern \"C\" */" + MODULE,
        f"/* /* use std::fs; */ use std::fs; */{MODULE}", f"// \" it's\n{MODULE}",
        MODULE.replace("use", 'const X: &str = r#"a" use std::fs; "#;\n    use'),
        MODULE.replace("}\n", '    const TEXT: &str = "std::process } {";\n}\n'), "",
        MODULE + "#[test]\nfn t() { assert!(true) }\n",
        MODULE.replace("}\n", "    #[test]\n    fn t() {}\n}\n"),
        MODULE + "#[cfg(test)]\nmod tests { use super::k; #[test] fn t() {} }\n",
        MODULE.replace("use", "fn f(std: i32, mean: i32) -> i32 { std - mean }\n    use"),
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
        (MODULE.replace("core", "core::*;\n    use std as other"), 4),
        # a test is no place for a host, and no pretext for another kernel
        (MODULE + '#[test]\nfn t() { std::fs::read("x"); }\n', 6),
        (MODULE + '#[test]\nfn t() { include!("x"); }\n', 6),
        (MODULE + "#[cfg(test)]\nmod tests { use std::fs; }\n", 6),
        (MODULE + "#[cfg(not(test))]\nmod tests {}\n", 5),
        (MODULE.replace("use", "#[cfg(test)]\n    use"), 3),
        (MODULE + "#[cfg(test)]\nmod tests { #[cfg(test)] fn f() {} }\n", 6),
        (MODULE.replace("}\n", ""), 2),
        # what a debug build launches is not what a release build does
        (MODULE.replace("use", "#[cfg(debug_assertions)]\n    use"), 3),
        (MODULE.replace("use", "const N: i32 = if cfg!(test) { 1 } else { 2 };\n    use"), 3),
        # where a string, a comment or a character ends is where rustc ends it
        (MODULE.replace("use", 'const X: &str = r#"a"b"#; use std::fs; const Y: &str = "";\n    use'), 3),
        (MODULE.replace("use", 'const X: &str = r"\\"; use std::fs; const Y: &str = r"\\";\n    use'), 3),
        (MODULE.replace("use", "const X: char = '\"'; use std::fs; const Y: char = '\"';\n    use"), 3),
        (MODULE.replace("use", "const X: char = '\\u{22}'; use std::fs; const Y: char = '\"';\n    use"), 3),
        (MODULE.replace("use", 'm!(\'r"\\""); use std::fs; m!("");\n    use'), 3),
        ("/* /* */ */ use std::fs;\n" + MODULE, 1),
        ('/* " */ use std::fs; /* " */\n' + MODULE, 1),
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
        "use std::fs;", "use std::{ffi::c_void, process as p};",
        "use std as s; fn f() { s::fs::write(1, 2); }",
        "use std::*; fn f() { env::var(1); }", "fn f() { std::r#fs::read(1); }",
        "fn f() { let x = std::thread::spawn(g); }",
        'extern "C" { fn system(command: *const u8) -> i32; }',
        'unsafe extern "C" { fn dlopen(); }', "extern crate libc;",
        "#[cfg(debug_assertions)] fn f() {}", "#[cfg_attr(test, path)] fn f() {}",
        '#[link(name = "evil")] mod x {}',
        '#[unsafe(link_section = ".init_array")] static X: fn() = f;', "#[used] static X: fn() = f;",
        "fn f(t: Target) { if let Target::Record(_) = t {} }", "use tileir_kernels::gpu::launch;",
        "fn f() { tileir_kernels::record::tileir_record(); }", "macro_rules! x { () => {} }",
        "#[cutile::module] mod mine {}", "use cutile::module;", "use tileir_kernels::relu::kernel;",
        "use tileir_kernels::{call::{Call, Kernel}, relu};", "use tileir_kernels as all;",
        "use tileir_kernels::*;", "use tileir_kernels::{self as all};",
        "fn f() { std::mem::discriminant(&t); }",
        '#![path = "x"]', 'fn f() -> &str { r#"a"b"# } use std::fs; const X: &str = "";',
    ],
)  # fmt: skip
def test_a_host_is_nothing_but_a_launch(line: str) -> None:
    assert str(foreign_code(f"//! Launches.\n{line}\n")).startswith("ffi.rs:2: ")


def test_a_line_that_only_a_shell_reads_hides_nothing() -> None:
    assert foreign_code('#!/bin/x "\nuse std::fs;\n// "\n') == "ffi.rs:1: it is no program"


def test_what_a_host_exports_is_what_it_marks() -> None:
    text = (
        '#[unsafe(no_mangle)]\n#[inline(never)]\npub unsafe extern "C" fn port_a() {}\n'
        '#[no_mangle] extern "C" fn port_b() {}\nextern "C" fn system() {}\n'
        '// #[no_mangle] extern "C" fn dlopen() {}\n'
    )
    assert exported(text) == ["port_a", "port_b"]


def test_a_host_may_do_what_hosts_do() -> None:
    text = 'use std::ffi::c_void;\n// include_str! std::fs\n#[unsafe(no_mangle)]\npub extern "C" fn f() {}\n'
    text += "use tileir_kernels::{\n  abi::{Failure, guard},\n  call::Call, tensor::Tensor,\n};\n"
    text += "use crate::kernel::softmax;\nfn f() { tileir_kernels::kernel!(softmax::softmax(a)) }\n"
    assert foreign_code(text) is None
