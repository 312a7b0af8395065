"""Launches compiled kernels of the reference through the driver, on torch's stream."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from pathlib import Path

FOREIGN_CUDA = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")


class DriverError(RuntimeError):
    """A call of the driver failed."""


def unpack(archive: Path, place: Path) -> Path:
    """The folder with what is in the archive. Ends the program where neither is here."""
    if not archive.exists() and not place.exists():
        sys.exit(f"{archive.name} is not here: `pack.py FOLDER` packs it, with this script, into FOLDER")
    if not place.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
    return place


def assemble(folder: Path, toolkit: Path) -> None:
    """Compiles the reference's bytecode, some at a time. Raises RuntimeError with what the assembler said."""
    arch = json.loads((folder / "launches.json").read_text())["arch"]
    env = {key: value for key, value in os.environ.items() if key not in FOREIGN_CUDA}

    def one(source: Path) -> None:
        command = [str(toolkit / "bin" / "tileiras"), "--gpu-name", arch, "-O3", "--lineinfo", str(source)]
        cubin = source.with_suffix(".cubin")
        done = subprocess.run(
            [*command, "-o", str(cubin)], env=env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{source.name}: {done.stdout}{done.stderr}")

    todo = [path for path in sorted(folder.glob("*.tirbc")) if not path.with_suffix(".cubin").exists()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, todo))


class References:
    """The reference's kernels, by case."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launches: dict[str, Any] = json.loads((folder / "launches.json").read_text())["launches"]
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.modules: dict[str, ctypes.c_void_p] = {}

    def prepare(self, case: str, tensors: dict[str, torch.Tensor]) -> Launch:
        """A launch that can be repeated: its arguments are fixed."""
        told = self.launches[case]
        words: list[Any] = []
        for name in told["args"]:
            if isinstance(name, int):
                words.append(ctypes.c_int32(name))
                continue
            tensor = tensors[name].view(-1) if told["flat"] else tensors[name]
            words.append(ctypes.c_uint64(tensor.data_ptr()))
            words += [ctypes.c_int32(number) for number in (*tensor.shape, *tensor.stride())]
        return Launch(
            self, self._function(told["bytecode"], told["entry"]), told["entry"], told["grid"], words
        )

    def _function(self, bytecode: str, entry: str) -> ctypes.c_void_p:
        if bytecode not in self.modules:
            image = (self.folder / bytecode).with_suffix(".cubin").read_bytes()
            module = ctypes.c_void_p()
            self.call("cuModuleLoadData", ctypes.byref(module), image)
            self.modules[bytecode] = module
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.modules[bytecode], entry.encode())
        return function

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.driver, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.driver.cuGetErrorName(status, ctypes.byref(text))
            raise DriverError(f"{name}: {(text.value or b'?').decode()}")


class Launch:
    """One kernel with its arguments."""

    def __init__(
        self, references: References, function: ctypes.c_void_p, entry: str, grid: list[int], words: list[Any]
    ) -> None:
        self.references, self.function, self.entry, self.grid = references, function, entry, grid
        self.words = words
        places = [ctypes.cast(ctypes.byref(word), ctypes.c_void_p) for word in words]
        self.places = (ctypes.c_void_p * len(places))(*places)

    def __call__(self) -> None:
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.references.call(
            "cuLaunchKernel", self.function, *self.grid, 1, 1, 1, 0, stream, self.places, None
        )
