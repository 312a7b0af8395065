//! max(x, 0).

use std::ffi::c_void;

use super::kernel::relu;
use crate::abi::{LaunchHints, Outcome, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::Tensor;

static ELEMENTS: Kernel = kernel!(relu::elements(input, input_size, output, output_size));
const TILE: i32 = 1024;

/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(out: *const TensorDesc, input: *const TensorDesc, hints: LaunchHints) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    let size = input.flat()?;
    output.same_dtype(&input)?;
    output.same_shape(&input)?;
    let blocks = size / TILE + i32::from(size % TILE != 0);
    let generics = vec![Generic::Type(input.dtype), Generic::Number(TILE)];
    Call::new(&ELEMENTS, generics, blocks, hints).flat(&input)?.flat(&output)
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_relu(
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
