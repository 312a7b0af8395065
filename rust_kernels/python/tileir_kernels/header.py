"""The C header, made of `cdef.h`: `python -m tileir_kernels.header FILE` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

from tileir_kernels.library import CDEF

HEAD = """/* Tile kernels in cuTile Rust. Generated from python/tileir_kernels/cdef.h: edit that. */
#ifndef TILEIR_KERNELS_H
#define TILEIR_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

"""
TAIL = """
#ifdef __cplusplus
}
#endif

#endif
"""


def header() -> str:
    """The text of `include/tileir_kernels.h`."""
    return f"{HEAD}{CDEF}{TAIL}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(header(), "utf-8")
