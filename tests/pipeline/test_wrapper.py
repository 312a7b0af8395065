"""What a wrapper may be: a call of the port's library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.real import port_of
from tileir_diff.pipeline.gates import launcher
from tileir_diff.pipeline.gates.wrapper import foreign_python
from tileir_diff.pipeline.workers.host import wrapper_text


def test_the_wrapper_of_the_mechanical_worker_is_one(tmp_path: Path) -> None:
    assert foreign_python(wrapper_text(port_of(tmp_path, "softmax").analysis())) is None


@pytest.mark.parametrize(
    "text",
    [
        "import ctypes as c\nfrom dataclasses import dataclass\nfrom collections.abc import Sequence\n",
        "from ctypes import POINTER, Structure, c_int, byref\n",
        "class A:\n    def __init__(self):\n        self.x = 1\n",
        "def call(library, arrays, scalars, device, stream):\n    raise ValueError(library.tileir_error())\n",
    ],
)  # fmt: skip
def test_what_a_call_needs_is_allowed(text: str) -> None:
    assert foreign_python(text) is None


@pytest.mark.parametrize(
    "line",
    [
        "import torch", "from torch import softmax", "import cuda.tile", "from . import reference",
        "import os.path", "m = ctypes\nm.memmove(1, 2, 3)",
        "import sys", "import ctypes.util", "from ctypes import CDLL", "from ctypes import *",
        "ctypes.CDLL(None).system",
        "import ctypes as c; c.CDLL(None)", "ctypes.memmove(1, 2, 3)", "ctypes.pythonapi.x",
        "x.from_address(1)",
        "open('x')", "eval('1')", "__import__('os')", "().__class__", "f = getattr", "type(library.port_x)",
        "x.__globals__", "__builtins__['open']", "def f(:", "(" * 5000, "x = '\0'", "from ctypes import cast",
        "import dataclasses; dataclasses.sys.modules['os']", "from dataclasses import sys", "import enum",
        "from dataclasses import *", "import typing as t; t.sys", "from typing import get_type_hints",
        "import math, typing; f = typing", "import collections; collections.abc.sys",
        "import collections.abc", "(x for x in y).gi_frame", "x.f_builtins['eval']",
        "match x:\n case Generator(gi_frame=y): pass", "match x:\n case C(__class__=y): pass",
    ],
)  # fmt: skip
def test_what_reaches_for_more_is_found_with_its_line(line: str) -> None:
    assert str(foreign_python(f'"""A wrapper."""\n{line}\n')).startswith(
        ("wrapper.py:2: ", "wrapper.py:1: ", "wrapper.py:3: ")
    )


def test_it_gets_the_functions_of_the_host_and_no_others() -> None:
    code = (
        "import ctypes, runpy, sys\n"
        f"names = runpy.run_path({launcher.__file__!r})\n"
        "made = names['Library'](ctypes.CDLL(None), ['getpid', 'no_such_function'])\n"
        "print([hasattr(made, each) for each in ('getpid', 'no_such_function', 'system', '_handle')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(done.stdout.lower()) == [True, False, False, False]
