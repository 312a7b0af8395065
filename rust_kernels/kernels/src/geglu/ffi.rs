//! Left half times GELU of the right half.

use std::ffi::c_void;

use super::kernel::geglu;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::gelu::ffi::is_tanh;
use crate::kernel;
use crate::record::Target;
use crate::tensor::Tensor;

static ELEMENTS: Kernel = kernel!(geglu::elements(output, output_size, input, input_size));
const TILE: i32 = 256;

/// `dim`: the dimension that is split, counted from the end if negative. `approximate`: as of GELU.
///
/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(
    out: *const TensorDesc,
    input: *const TensorDesc,
    dim: i32,
    approximate: i32,
    hints: LaunchHints,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    let tanh = is_tanh(approximate)?;
    let rank = input.shape.len() as i32;
    let Some(axis) = (-rank..rank).contains(&dim).then(|| dim.rem_euclid(rank) as usize) else {
        return Err(Failure::new(Status::Value, format!("dim: {dim} is no dimension of input, which has {rank}")));
    };
    if input.shape[axis] % 2 != 0 {
        let text = format!("input: dimension {axis} of {:?} has no two halves", input.shape);
        return Err(Failure::new(Status::Shape, text));
    }
    let size = input.flat()?;
    output.same_dtype(&input)?;
    let mut half = input.shape.clone();
    half[axis] /= 2;
    output.has_shape(&half, "input")?;
    output.flat()?;
    let inner: i32 = half[axis..].iter().product();
    // All of the first dimension is one piece: it is never stepped over.
    let strides = if axis == 0 { [0, 0] } else { [2 * inner, inner] };
    let number = Generic::Number;
    let [input_stride, output_stride] = strides.map(number);
    let dtype = Generic::Type(input.dtype);
    let generics = vec![dtype, number(inner), input_stride, output_stride, number(TILE), Generic::Flag(tanh)];
    let blocks = (size / 2).div_euclid(TILE) + i32::from((size / 2) % TILE != 0);
    Call::new(&ELEMENTS, generics, blocks, hints).flat(&output)?.flat(&input)
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_geglu(
    out: *const TensorDesc,
    input: *const TensorDesc,
    dim: i32,
    approximate: i32,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let call = unsafe { plan(out, input, dim, approximate, hints.as_ref().copied().unwrap_or_default())? };
        Target::of(device, stream).run(&call)
    })
}
