"""A host without a model: one exported function that launches the variant that its tensors fit, a wrapper.

It is on the safe side: it knows the shapes, strides and grids of the analysis, and refuses all others.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tileir_diff.errors import InputError
from tileir_diff.pipeline.workers.names import module_name

if TYPE_CHECKING:
    from tileir_diff.pipeline.artifacts import Analysis, Array, Variant
    from tileir_diff.pipeline.gates.common import Given

DTYPES: Final = {"f32": "F32", "f16": "F16", "bf16": "BF16"}
"""Element types that the C boundary of tileir_kernels has."""
FFI: Final = """\
//! {operator}: what a call launches, by its tensors. Other shapes than those of the analysis are refused.

use std::ffi::c_void;

{uses}
use tileir_kernels::abi::{{Failure, LaunchHints, Outcome, Status, TensorDesc, guard}};
use tileir_kernels::call::{{Call, Generic, Kernel}};
use tileir_kernels::kernel;
use tileir_kernels::record::Target;
use tileir_kernels::tensor::{{Dtype, Tensor}};

const HINTS: LaunchHints = LaunchHints {{ occupancy: 0, num_ctas: 0, num_worker_warps: 0 }};

{statics}

fn fits(tensor: &Tensor, dtype: Dtype, align: u64, shape: &[i32], strides: &[i32]) -> bool {{
    let placed = tensor.dtype == dtype && tensor.pointer % align == 0;
    placed && *tensor.shape == *shape && *tensor.strides == *strides
}}

/// # Safety
/// `tensors` holds {count} descriptors, each null or valid; `numbers` holds {numbers}.
#[allow(unused_variables)]
unsafe fn plan(tensors: *const *const TensorDesc, numbers: *const f64) -> Outcome<Call> {{
    // SAFETY: the caller's promise.
    let (tensors, numbers) = unsafe {{ (std::slice::from_raw_parts(tensors, {count}), numbers) }};
{reads}
{variants}
    Err(Failure::new(Status::Shape, format!("no variant takes {{:?}}", {first}.shape)))
}}

/// See [`plan`].
///
/// # Safety
/// The pointers are valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn port_{operator}(
    tensors: *const *const TensorDesc,
    numbers: *const f64,
    device: i32,
    stream: *mut c_void,
) -> i32 {{
    // SAFETY: the caller's promise.
    guard(|| Target::of(device, stream).run(&unsafe {{ plan(tensors, numbers)? }}))
}}
"""
WRAPPER: Final = '''\
"""{operator}, from Python: hands tensors to the port's library."""

import ctypes

ORDER = {order}
DTYPES = {{"f32": 0, "f16": 1, "bf16": 2}}
RANK = 8


class TensorDesc(ctypes.Structure):
    _fields_ = [
        ("ptr", ctypes.c_uint64),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_int64 * RANK),
        ("strides", ctypes.c_int64 * RANK),
        ("dtype", ctypes.c_int32),
    ]


def describe(array):
    rank = len(array.shape)
    shape, strides = (ctypes.c_int64 * RANK)(*array.shape), (ctypes.c_int64 * RANK)(*array.strides)
    return TensorDesc(array.ptr, rank, shape, strides, DTYPES[array.dtype])


def call(library, arrays, scalars, device, stream):
    """Launches; the status of the library, 0 where nothing went wrong."""
    described = [describe(arrays[name]) for name in ORDER]
    tensors = (ctypes.POINTER(TensorDesc) * len(described))(*map(ctypes.pointer, described))
    numbers = (ctypes.c_double * max(1, len(scalars)))(*scalars)
    return library.port_{operator}(tensors, numbers, device, ctypes.c_void_p(stream))
'''


def wrapper_text(analysis: Analysis) -> str:
    """wrapper.py."""
    return WRAPPER.format(operator=_function(analysis), order=json.dumps(_order(analysis)))


def ffi_text(given: Given, analysis: Analysis) -> str:
    """ffi.rs. Raises InputError for variants that take different arrays, and for types of no tensor."""
    order = _order(analysis)
    told = [json.loads(given.text(f"generated/{variant.name}.json")) for variant in analysis.variants]
    modules = list(dict.fromkeys(_module(each) for each in told))
    pairs = list(zip(analysis.variants, told, strict=True))
    names = {array: f"t{at}" for at, array in enumerate(order)}
    numbers = max(sum("number" in source for source in each["sources"].values()) for each in told)
    return FFI.format(
        operator=_function(analysis),
        uses="\n".join(f"use crate::kernel::{module};" for module in modules),
        statics="\n".join(_static(variant, each) for variant, each in pairs),
        count=len(order),
        numbers=numbers,
        reads="\n".join(
            f'    let {names[array]} = unsafe {{ Tensor::read(tensors[{at}], "{array}")? }};'
            for at, array in enumerate(order)
        ),
        variants="\n".join(_variant(variant, each, names) for variant, each in pairs),
        first=names[order[0]],
    )


def _order(analysis: Analysis) -> list[str]:
    """The arrays of a call. Raises InputError where variants differ in them."""
    orders = [list(variant.arrays) for variant in analysis.variants]
    if any(sorted(each) != sorted(orders[0]) for each in orders):
        raise InputError("its variants take different arrays: no template covers that", "analysis.json")
    return orders[0]


def _function(analysis: Analysis) -> str:
    return module_name(analysis.operator).replace(".", "_")


def _module(told: dict[str, Any]) -> str:
    return str(told["kernel"]).split("::")[-2]


def _static(variant: Variant, told: dict[str, Any]) -> str:
    module, entry = str(told["kernel"]).split("::")[-2:]
    parameters = ", ".join(each["name"] for each in told["arguments"])
    return f"static {_constant(variant)}: Kernel = kernel!({module}::{entry}({parameters}));"


def _constant(variant: Variant) -> str:
    return module_name(variant.name).upper()


def _variant(variant: Variant, told: dict[str, Any], names: dict[str, str]) -> str:
    tests = " && ".join(
        f"fits(&{names[name]}, {_fit(name, array)})" for name, array in variant.arrays.items()
    )
    generics = ", ".join(_generic(text) for text in told["generics"])
    calls = "".join(f".{_pass(variant, each, told['sources'], names)}" for each in told["arguments"])
    grid = ", ".join(map(str, variant.grid))
    return (
        f"    if {tests} {{\n"
        f"        let call = Call::new(&{_constant(variant)}, vec![{generics}], 1, HINTS);\n"
        f"        return Ok(call.on_grid([{grid}]){calls});\n"
        f"    }}"
    )


def _fit(name: str, array: Array) -> str:
    if array.dtype not in DTYPES:
        raise InputError(f"{name} is of {array.dtype}: a tensor is of {', '.join(DTYPES)}", "analysis.json")
    shape, strides = ", ".join(map(str, array.shape)), ", ".join(map(str, array.strides))
    return f"Dtype::{DTYPES[array.dtype]}, {array.align}, &[{shape}], &[{strides}]"


def _generic(text: str) -> str:
    if text in DTYPES:
        return f"Generic::Type(Dtype::{DTYPES[text]})"
    return f"Generic::Flag({text})" if text in ("true", "false") else f"Generic::Number({text})"


def _pass(variant: Variant, argument: dict[str, Any], sources: dict[str, str], names: dict[str, str]) -> str:
    """How one parameter gets its value."""
    source = sources.get(argument["name"])
    if source is None:
        raise InputError(f"{variant.name}: no template knows what {argument['name']} gets", "analysis.json")
    array, _, part = (
        source.rpartition(".") if source.rpartition(".")[2][:-1] in ("shape", "stride") else (source, "", "")
    )
    if array.startswith("number "):
        at = array.removeprefix("number ")
        if argument["dtype"] not in ("f32", "i32"):
            raise InputError(f"{argument['name']} is no number of f32 or i32", "analysis.json")
        how, type_ = ("float", "f32") if argument["dtype"] == "f32" else ("number", "i32")
        return f"{how}(unsafe {{ *numbers.add({at}) }} as {type_})"
    tensor = names[array]
    if argument["kind"] == "scalar":
        field = "shape" if part.startswith("shape") else "strides"
        return f"number({tensor}.{field}[{part[-1]}])"
    return f"{'pointer' if argument['kind'] == 'pointer' else 'view'}(&{tensor})"
