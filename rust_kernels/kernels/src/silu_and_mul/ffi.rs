//! silu of the left half of each row times its right half.

use std::ffi::c_void;

use super::kernel::silu_and_mul;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Tensor, tile_of};

static ROWS: Kernel = kernel!(silu_and_mul::rows(
    input,
    input_rows,
    input_columns,
    input_stride,
    output,
    output_rows,
    output_columns,
    output_stride
));

/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(out: *const TensorDesc, input: *const TensorDesc, hints: LaunchHints) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    let [rows, columns, _] = input.matrix()?;
    if columns % 2 != 0 {
        return Err(Failure::new(Status::Shape, format!("input: a row of {columns} has no two halves")));
    }
    let width = columns / 2;
    output.same_dtype(&input)?;
    output.has_shape(&[rows, width], "input")?;
    let tile = tile_of(width, "input")?;
    let generics = vec![Generic::Type(input.dtype), Generic::Number(tile), Generic::Number(width)];
    Call::new(&ROWS, generics, rows, hints).matrix(&input)?.matrix(&output)
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_silu_and_mul(
    out: *const TensorDesc,
    input: *const TensorDesc,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let call = unsafe { plan(out, input, hints.as_ref().copied().unwrap_or_default())? };
        Target::of(device, stream).run(&call)
    })
}
