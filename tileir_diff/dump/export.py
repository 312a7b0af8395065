"""Exports one cuTile Python kernel as bytecode. A process of its own runs this, with cuTile Python at hand.

Standard input: {"module", "kernel", "folder", "arguments", "arch", "bytecode_version", "output"}. Standard
output: the symbol, the version of cuTile Python and what was promised of each argument, as JSON. It imports
nothing of this package.
"""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import importlib
import inspect
import json
import sys
import types
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

NAMES = {
    "bool": "bool_", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32",
    "u32": "uint32", "i64": "int64", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32",
    "f64": "float64", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip
# What a launch states of its arrays: extents that are multiples of 16, addresses and strides of 16 bytes.
EXTENT, BYTES = 16, 16
WIDE = 1 << 31


class RefusedError(Exception):
    """What the user has to change, in words."""


def main() -> int:
    job = json.load(sys.stdin)
    try:
        print(json.dumps(export(job)))
    except RefusedError as error:
        print(error, file=sys.stderr)
        return 3
    except Exception as error:  # of the kernel's module, or of cuTile Python
        print(f"{type(error).__name__}:", str(error), file=sys.stderr)
        return 3
    return 0


def export(job: dict[str, Any]) -> dict[str, Any]:
    kernel = find(job["module"], job["kernel"], job["folder"])
    given = {argument["name"]: argument for argument in job["arguments"]}
    names = list(inspect.signature(kernel._pyfunc).parameters)
    lacking = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if lacking or unknown:
        wrong = f"no --like for {', '.join(lacking)}" if lacking else f"no parameter is called {unknown[0]}"
        raise RefusedError(f"{wrong}; {job['kernel']} takes {', '.join(names)}")
    ordered = [given[name] for name in names]
    promised = [promises(argument) for argument in ordered]
    folded = any(1 in argument["shape"] for argument in ordered)
    convention = CallingConvention.cutile_python_v2() if folded else CallingConvention.cutile_python_v1()
    parameters = [constraint(each, facts) for each, facts in zip(ordered, promised, strict=True)]
    signature = KernelSignature(parameters, convention).with_mangled_symbol(job["kernel"])
    export_kernel(
        kernel, [signature], job["output"], gpu_code=job["arch"], output_format="tileir_bytecode",
        bytecode_version=job["bytecode_version"],
    )  # fmt: skip
    specialised = [{**each, **facts} for each, facts in zip(ordered, promised, strict=True)]
    return {"version": version("cuda-tile"), "entry": signature.symbol, "arguments": specialised}


def find(module: str, name: str, folder: str) -> Any:
    """The kernel object; `module` is a file or the name of an importable module."""
    sys.path.insert(0, folder)
    if module.endswith(".py"):
        if not Path(module).is_file():
            raise RefusedError(f"{module}: no such file")
        loaded = types.ModuleType(Path(module).stem)
        loaded.__file__ = module  # as it was written: source locations name it
        sys.modules[loaded.__name__] = loaded
        exec(compile(Path(module).read_text("utf-8"), module, "exec"), vars(loaded))
    else:
        loaded = importlib.import_module(module)
    kernel = getattr(loaded, name, None)
    kernels = sorted(key for key, value in vars(loaded).items() if isinstance(value, ct.kernel))
    if not isinstance(kernel, ct.kernel):
        raise RefusedError(f"{module} has no kernel {name}; it has {', '.join(kernels) or 'none'}")
    return kernel


def promises(argument: dict[str, Any]) -> dict[str, Any]:
    """What a launch with this argument states of it."""
    if argument["kind"] != "array":
        return {}
    shape, strides = argument["shape"], argument["strides"]
    elements = BYTES // argument["bytes"]
    far = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) >= WIDE
    return {
        "index": "i64" if far or max(shape) >= WIDE else "i32",
        "stride_constant": [1 if stride == 1 else None for stride in strides],
        "stride_divisible_by": [
            elements if stride != 1 and stride % elements == 0 else 1 for stride in strides
        ],
        "shape_constant": [1 if extent == 1 else None for extent in shape],
        "shape_divisible_by": [EXTENT if extent % EXTENT == 0 else 1 for extent in shape],
        "base_divisible_by": BYTES if argument["align"] % BYTES == 0 else 1,
    }


def constraint(argument: dict[str, Any], facts: dict[str, Any]) -> Any:
    if argument["kind"] == "constant":
        return argument["value"]
    dtype = getattr(ct, NAMES[argument["dtype"]])
    if argument["kind"] == "scalar":
        return ScalarConstraint(dtype)
    return ArrayConstraint(
        dtype,
        len(argument["shape"]),
        index_dtype=ct.int64 if facts["index"] == "i64" else ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=facts["stride_constant"],
        stride_divisible_by=facts["stride_divisible_by"],
        shape_constant=facts["shape_constant"],
        shape_divisible_by=facts["shape_divisible_by"],
        base_addr_divisible_by=facts["base_divisible_by"],
    )


if __name__ == "__main__":
    sys.exit(main())
