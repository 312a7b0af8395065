//! silu(gate) * up.

use std::ffi::c_void;

use super::kernel::swiglu;
use crate::abi::{LaunchHints, Outcome, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Tensor, tile_of};

static ROWS: Kernel = kernel!(swiglu::rows(
    gate,
    gate_rows,
    gate_columns,
    gate_stride,
    up,
    up_rows,
    up_columns,
    up_stride,
    output,
    output_rows,
    output_columns,
    output_stride
));

/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(
    out: *const TensorDesc,
    gate: *const TensorDesc,
    up: *const TensorDesc,
    hints: LaunchHints,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (gate, up, output) =
        unsafe { (Tensor::read(gate, "gate")?, Tensor::read(up, "up")?, Tensor::read(out, "out")?) };
    let [rows, columns, _] = gate.matrix()?;
    for other in [&up, &output] {
        other.same_dtype(&gate)?;
        other.same_shape(&gate)?;
    }
    let tile = tile_of(columns, "gate")?;
    let generics = vec![Generic::Type(gate.dtype), Generic::Number(tile), Generic::Flag(tile != columns)];
    Call::new(&ROWS, generics, rows, hints).matrix(&gate)?.matrix(&up)?.matrix(&output)
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_swiglu(
    out: *const TensorDesc,
    gate: *const TensorDesc,
    up: *const TensorDesc,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let call = unsafe { plan(out, gate, up, hints.as_ref().copied().unwrap_or_default())? };
        Target::of(device, stream).run(&call)
    })
}
