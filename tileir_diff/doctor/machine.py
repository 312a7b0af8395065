"""Python and its packages, and the driver."""

from __future__ import annotations

import ctypes
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from tileir_diff import __version__
from tileir_diff.doctor.model import MISSING, NOTE, OK, WRONG, Check

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES: Final = (
    ("torch", "run, --exec", "run"),
    ("z3-solver", "--prove", "prove"),
    ("pyelftools", "--lower, classify --cubin", "lower"),
)
"""Name, what needs it, the extra that installs it."""
DRIVER: Final = "libcuda.so.1"


def checks() -> Iterator[Check]:
    """This tool, the packages that parts of it need, and the GPU."""
    yield Check("tileir-diff", OK, __version__, "")
    yield Check("Python", OK, f"{platform.python_version()} {sys.executable}", "")
    for name, needs, extra in PACKAGES:
        try:
            yield Check(name, OK, version(name), needs)
        except PackageNotFoundError:
            yield Check(name, MISSING, "", needs, f"pip install 'tileir-diff[{extra}]'")
    yield from _assembler_beside_torch()
    yield _driver()


def _assembler_beside_torch() -> Iterator[Check]:
    """torch pins a CUDA release, and pip takes an assembler of that one without a word."""
    try:
        installed, assembler = version("torch"), version("nvidia-cuda-tileiras")
    except PackageNotFoundError:
        return
    if tuple(map(int, assembler.split(".")[:2])) < (13, 3):
        advice = "keep the compilers in a folder of their own, and set TILEIR_TOOLCHAIN to it"
        found = f"{assembler} beside torch {installed}"
        yield Check("nvidia-cuda-tileiras", NOTE, found, "", f"too old for sm_90 and bytecode 13.3: {advice}")


def _driver() -> Check:
    """Its version and the GPUs, asked of the driver itself."""
    needs = "running compiled kernels"
    try:
        driver: Any = ctypes.CDLL(DRIVER)
    except OSError:
        return Check("driver", MISSING, "", needs, f"no {DRIVER}: kernels can be compiled here, not launched")
    found, count = ctypes.c_int(), ctypes.c_int()
    if driver.cuDriverGetVersion(ctypes.byref(found)) != 0:
        return Check("driver", WRONG, DRIVER, needs, "it does not say its version")
    said = f"CUDA {found.value // 1000}.{found.value % 1000 // 10}"
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status != 0 or count.value == 0:
        return Check("driver", WRONG, said, needs, f"no GPU answers (status {status})")
    names = ", ".join(_name(driver, index) for index in range(count.value))
    return Check("driver", OK, f"{said}, {names}", needs)


def _name(driver: Any, index: int) -> str:
    device, text = ctypes.c_int(), ctypes.create_string_buffer(100)
    driver.cuDeviceGet(ctypes.byref(device), index)
    driver.cuDeviceGetName(text, len(text), device)
    major, minor = ctypes.c_int(), ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
    driver.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
    return f"{text.value.decode('utf-8', 'replace')} (sm_{major.value}{minor.value})"
