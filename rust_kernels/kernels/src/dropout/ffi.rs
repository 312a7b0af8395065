//! Dropout with a hash for a source of chance.

use std::ffi::c_void;

use cutile::half::{bf16, f16};

use super::kernel::dropout;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Dtype, Tensor};

static ELEMENTS: Kernel = kernel!(dropout::elements(input, input_size, output, output_size));
const TILE: i32 = 1024;

/// `probability`: with which an element becomes zero. `seed`: well mixed, for the hash hardly mixes it.
///
/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(
    out: *const TensorDesc,
    input: *const TensorDesc,
    probability: f64,
    seed: i32,
    hints: LaunchHints,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    if !(0.0..=1.0).contains(&probability) {
        return Err(Failure::new(Status::Value, format!("probability: {probability} is not in 0 to 1")));
    }
    let size = input.flat()?;
    output.same_dtype(&input)?;
    output.same_shape(&input)?;
    let scale = if probability == 1.0 { 0.0 } else { rounded(1.0 / (1.0 - probability), input.dtype) };
    let bits = |number: f32| Generic::Number(number.to_bits().cast_signed());
    let blocks = size / TILE + i32::from(size % TILE != 0);
    let dtype = Generic::Type(input.dtype);
    let generics = vec![dtype, bits(probability as f32), bits(scale), Generic::Number(seed), Generic::Number(TILE)];
    Call::new(&ELEMENTS, generics, blocks, hints).flat(&input)?.flat(&output)
}

/// The number of the type that is next to this one.
fn rounded(number: f64, dtype: Dtype) -> f32 {
    match dtype {
        Dtype::F32 => number as f32,
        Dtype::F16 => f16::from_f64(number).to_f32(),
        Dtype::BF16 => bf16::from_f64(number).to_f32(),
    }
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_dropout(
    out: *const TensorDesc,
    input: *const TensorDesc,
    probability: f64,
    seed: i32,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let call = unsafe { plan(out, input, probability, seed, hints.as_ref().copied().unwrap_or_default())? };
        Target::of(device, stream).run(&call)
    })
}
