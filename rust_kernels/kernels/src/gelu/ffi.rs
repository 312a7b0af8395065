//! The Gaussian error linear unit.

use std::ffi::c_void;

use super::kernel::gelu;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::Tensor;

static ELEMENTS: Kernel = kernel!(gelu::elements(output, output_size, input, input_size));
/// From so many elements on a launch is bound by memory, and takes the wide tile.
const MANY: i32 = 1 << 24;
const NARROW_TILE: i32 = 1024;
const WIDE_TILE: i32 = 4096;

/// `approximate`: 0 tanh by way of a sigmoid, 1 tanh.
///
/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(
    out: *const TensorDesc,
    input: *const TensorDesc,
    approximate: i32,
    hints: LaunchHints,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    let size = input.flat()?;
    output.same_dtype(&input)?;
    output.same_shape(&input)?;
    let tanh = is_tanh(approximate)?;
    let tile = if size >= MANY { WIDE_TILE } else { NARROW_TILE };
    let blocks = size / tile + i32::from(size % tile != 0);
    let generics = vec![Generic::Type(input.dtype), Generic::Number(tile), Generic::Flag(tanh)];
    Call::new(&ELEMENTS, generics, blocks, hints).flat(&output)?.flat(&input)
}

/// The form of GELU that `approximate` asks for.
pub fn is_tanh(approximate: i32) -> Outcome<bool> {
    match approximate {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::new(Status::Value, format!("approximate: {approximate} is neither 0 nor 1"))),
    }
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_gelu(
    out: *const TensorDesc,
    input: *const TensorDesc,
    approximate: i32,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let call = unsafe { plan(out, input, approximate, hints.as_ref().copied().unwrap_or_default())? };
        Target::of(device, stream).run(&call)
    })
}
