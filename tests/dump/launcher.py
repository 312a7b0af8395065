"""A launch without a GPU: a driver that says yes to everything, and an assembler that keeps what it gets."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tileir_diff.toolchain import find_tool
from tileir_diff.toolchain.cargo import cargo_environment
from tileir_diff.toolchain.find import toolkit

DRIVER = """\
#include <stdint.h>
#include <string.h>
typedef int R;
R cuDriverGetVersion(int *v) { *v = 13040; return 0; }
R cuDeviceGetCount(int *n) { *n = 1; return 0; }
R cuDeviceGet(int *d, int i) { *d = i; return 0; }
R cuCtxGetDevice(int *d) { *d = 0; return 0; }
R cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 10 : a == 76 ? 0 : 1; return 0; }
R cuDeviceGetName(char *s, int n, int d) { strncpy(s, "none", n); return 0; }
R cuCtxGetCurrent(void **c) { *c = (void *)16; return 0; }
R cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)16; return 0; }
R cuStreamCreate(void **s, unsigned f) { *s = (void *)32; return 0; }
R cuStreamCreateWithPriority(void **s, unsigned f, int p) { *s = (void *)32; return 0; }
R cuModuleLoadData(void **m, const void *i) { *m = (void *)48; return 0; }
R cuModuleGetFunction(void **f, void *m, const char *n) { *f = (void *)64; return 0; }
"""
ASSEMBLER = """\
#!/bin/sh
for each in "$@"; do
  if [ -f "$each" ]; then cp "$each" "$KEEP/$(date +%s%N).kept"; fi
done
exec {tileiras} "$@"
"""
PROGRAM = """\
use cutile::cutile_compiler::hints::CompileOptions;
use cutile::half::bf16;
use cutile::prelude::*;
use cutile::cuda_async::device_buffer::DevicePointer;
use cutile::cuda_core::Stream;
use kernels::softmax::softmax::softmax;
use kernels::vector_add::vector_add::vector_add;

fn main() {
    let context = Context::new(0).unwrap();
    let stream = unsafe { Stream::borrow_raw(std::ptr::null_mut(), &context) };
    let options = || CompileOptions::default().opt_level(3);
    let pointer = |address: u64| unsafe { DevicePointer::<f32>::from_cu_deviceptr((1 << 40) + address) };
    for (address, n) in [(16, 1000), (4, 1001), (128, 0)] {
        let launch = unsafe { vector_add(pointer(address), pointer(16), pointer(8), n) };
        let launch = launch.generics(vec!["256".into()]).grid((4, 1, 1)).compile_options(options());
        let done = unsafe { launch.async_on(&stream) };
        println!("{}", done.is_ok());
    }
    let cases = [(16, [200, 60], [60, 1]), (2, [208, 64], [1, 208]), (8, [1, 64], [72, 1])];
    for (address, shape, strides) in cases {
        let tensor = |address: u64| unsafe {
            let (shape, strides) = (shape.to_vec(), strides.to_vec());
            Tensor::<bf16>::borrow_raw_parts((1 << 40) + address, context.clone(), shape, strides)
        };
        let (x, y) = (tensor(address), tensor(512));
        let launch = unsafe { softmax(&x, &y) };
        let generics = vec!["bf16".into(), "64".into(), "64".into()];
        let launch = launch.generics(generics).grid((4, 1, 1)).compile_options(options().occupancy(2));
        let done = unsafe { launch.async_on(&stream) };
        println!("{}", done.is_ok());
    }
    std::process::exit(0);
}
"""
LIKES: tuple[tuple[str, tuple[str, ...], dict[str, int]], ...] = (
    *(
        ("vector_add", (f"x=f32[1000]:{align}", "y=f32[1000]:16", "z=f32[1000]:8", f"n={n}", "TILE=256"), {})
        for align, n in ((16, 1000), (4, 1001), (128, 0))
    ),
    *(
        ("softmax", (f"x=bf16{spec}:{align}", f"y=bf16{spec}:512", "ROWS=64", "COLS=64"), {"occupancy": 2})
        for spec, align in (("[200,60]", 16), ("[208,64](1,208)", 2), ("[1,64](72,1)", 8))
    ),
)
"""What the program launches, in order: entry, arguments and options."""


def launched(crate: Path) -> tuple[list[bytes], str]:
    """The bytecode that the program's launches hand to the assembler, in order, and what it printed."""
    (crate / "launch.rs").write_text(PROGRAM)
    with (crate / "Cargo.toml").open("a") as manifest:
        manifest.write('\n[[bin]]\nname = "launch"\npath = "launch.rs"\n')
    kept = crate / "kept"
    kept.mkdir()
    tileiras = crate / "tileiras"
    tileiras.write_text(ASSEMBLER.format(tileiras=find_tool("tileiras")))
    tileiras.chmod(0o755)
    env = cargo_environment() | {
        "CUTILE_TILEIRAS_PATH": str(tileiras), "KEEP": str(kept), "LD_LIBRARY_PATH": str(_driver(crate)),
    }  # fmt: skip
    call = ["cargo", "run", "--quiet", "--bin", "launch"]
    done = subprocess.run(call, cwd=crate, env=env, capture_output=True, text=True, check=False)
    return [path.read_bytes() for path in sorted(kept.iterdir())], done.stdout + done.stderr


def _driver(folder: Path) -> Path:
    """A folder with a `libcuda.so.1`: every function of the header, most of which only return success."""
    cuda = toolkit()
    assert cuda is not None
    header = (cuda / "include" / "cuda.h").read_text()
    functions = re.findall(r"\b(cu[A-Z]\w+)\s*\(", header)
    versions = re.findall(r"#define\s+cu\w+\s+(cu[A-Z]\w+)", header)
    defined = set(re.findall(r"^R (\w+)", DRIVER, re.MULTILINE))
    plain = "".join(f"R {name}(void) {{ return 0; }}\n" for name in sorted({*functions, *versions} - defined))
    place = folder / "driver"
    place.mkdir()
    (place / "stub.c").write_text(DRIVER + plain)
    compiler = os.environ.get("CC", "cc")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-w", "-o", str(place / "libcuda.so.1"), str(place / "stub.c")],
        check=True,
    )
    return place
