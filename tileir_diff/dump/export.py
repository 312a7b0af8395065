"""Exports kernels of cuTile Python as bytecode. A process of its own runs this, with cuTile Python at hand.

Standard input: {"folder", "jobs": [..]}. A job has "arch", "bytecode_version", "output" (a path) and either
"module", "kernel", "arguments" and perhaps "hints", or "module", "call" and "processors". Standard output:
for each job {"made": [..]}, one for each kernel with its symbol, what was promised of its arguments and, of a
call, the grid; or {"error": text}. It imports nothing of this package but the file beside it.
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
    request = json.load(sys.stdin)
    sys.path.insert(0, request["folder"])
    answers: list[dict[str, Any]] = []
    for job in request["jobs"]:
        try:
            made = recorded(job) if "call" in job else [export(job)]
            answers.append({"made": made, "version": version("cuda-tile")})
        except RefusedError as error:
            answers.append({"error": str(error)})
        except SystemExit as error:
            answers.append({"error": f"it called exit({'' if error.code is None else repr(error.code)})"})
        except Exception as error:  # of the kernel's module, or of cuTile Python
            answers.append({"error": f"{type(error).__name__}: {error}"})
    print(json.dumps(answers))
    return 0


def export(job: dict[str, Any]) -> dict[str, Any]:
    """One kernel for arguments that are described."""
    kernel = find(job["module"], job["kernel"])
    given = {argument["name"]: argument for argument in job["arguments"]}
    names = list(inspect.signature(kernel._pyfunc).parameters)
    lacking = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if unknown and not job["spare"]:
        raise RefusedError(f"no parameter is called {unknown[0]}; {job['kernel']} takes {', '.join(names)}")
    if lacking:
        raise RefusedError(f"no --like for {', '.join(lacking)}; {job['kernel']} takes {', '.join(names)}")
    annotations = kernel._annotated_function.parameter_annotations
    ordered = [as_launched(given[name], each) for name, each in zip(names, annotations, strict=True)]
    promised = [promises(argument) for argument in ordered]
    folded = any(1 in argument["shape"] for argument in ordered)
    convention = CallingConvention.cutile_python_v2() if folded else CallingConvention.cutile_python_v1()
    parameters = [constraint(each, facts) for each, facts in zip(ordered, promised, strict=True)]
    signature = KernelSignature(parameters, convention).with_mangled_symbol(job["kernel"])
    hints = job.get("hints")
    write(kernel.replace_hints(**hints) if hints else kernel, signature, job, job["output"])
    specialised = [{**each, **facts} for each, facts in zip(ordered, promised, strict=True)]
    return {"entry": signature.symbol, "kernel": job["kernel"], "arguments": specialised}


def recorded(job: dict[str, Any]) -> list[dict[str, Any]]:
    """The kernels that a host function launches."""
    path = Path(__file__).with_name("record.py")
    module = types.ModuleType("_tileir_record")
    exec(compile(path.read_text("utf-8"), str(path), "exec"), vars(module))
    found = module.record(lambda: load(job["module"]), job["call"], job["arch"], job["processors"])
    made: list[dict[str, Any]] = []
    for index, launch in enumerate(found.launches):
        write(launch["kernel"], launch["signature"], job, f"{job['output']}.{index}")
        made.append(
            {
                "entry": launch["signature"].symbol,
                "module": launch["kernel"]._pyfunc.__module__,
                "kernel": launch["kernel"]._pyfunc.__name__,
                "grid": launch["grid"],
                "processors": found.processors,
                "first_of_search": found.first_chosen,
                "arguments": launch["arguments"],
            }
        )
    return made


def write(kernel: Any, signature: Any, job: dict[str, Any], output: str) -> None:
    export_kernel(
        kernel, [signature], output, gpu_code=job["arch"], output_format="tileir_bytecode",
        bytecode_version=job["bytecode_version"],
    )  # fmt: skip


def load(module: str) -> Any:
    """The module: a file, or the name of an importable one."""
    if module.endswith(".py"):
        if not Path(module).is_file():
            raise RefusedError(f"{module}: no such file")
        loaded = types.ModuleType(Path(module).stem)
        loaded.__file__ = module  # as it was written: source locations name it
        sys.modules[loaded.__name__] = loaded
        exec(compile(Path(module).read_text("utf-8"), module, "exec"), vars(loaded))
        return loaded
    return importlib.import_module(module)


def find(module: str, name: str) -> Any:
    """The kernel object of a module."""
    loaded = load(module)
    kernel = getattr(loaded, name, None)
    kernels = sorted(key for key, value in vars(loaded).items() if isinstance(value, ct.kernel))
    if not isinstance(kernel, ct.kernel):
        raise RefusedError(f"{module} has no kernel {name}; it has {', '.join(kernels) or 'none'}")
    return kernel


def as_launched(argument: dict[str, Any], annotation: Any) -> dict[str, Any]:
    """A number for a parameter that is not annotated as a constant is passed when the kernel is launched."""
    value = argument["value"]
    if argument["kind"] != "constant" or getattr(annotation, "constant", True):
        return argument
    if not isinstance(value, (bool, int, float)):
        raise RefusedError(f"{argument['name']} is not annotated as a constant, and takes no {value!r}")
    wide = getattr(annotation, "scalar", None) is not None
    dtype = (
        "bool" if isinstance(value, bool) else "f32" if isinstance(value, float) else "i64" if wide else "i32"
    )
    if dtype == "i32" and not -WIDE <= value < WIDE:
        raise RefusedError(f"{argument['name']}={value} does not fit in 32 bits")
    return {**argument, "kind": "scalar", "dtype": dtype}


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
