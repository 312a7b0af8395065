//! Normalisation of each row of a matrix, which one block reads three times.

use std::ffi::c_void;

use super::kernel::layer_norm_legacy;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::Tensor;

static ROWS: Kernel = kernel!(layer_norm_legacy::rows(
    input,
    input_rows,
    input_columns,
    input_stride,
    output,
    output_rows,
    output_columns,
    output_stride,
    weight,
    weight_size,
    bias,
    bias_size,
    mean,
    mean_size,
    rstd,
    rstd_size
));
/// Bytes of the longest row.
const MAX_BYTES: i32 = 65_536;

/// # Safety
/// The descriptors are null or valid.
#[allow(clippy::too_many_arguments)]
pub unsafe fn plan(
    out: *const TensorDesc,
    mean: *const TensorDesc,
    rstd: *const TensorDesc,
    input: *const TensorDesc,
    weight: *const TensorDesc,
    bias: *const TensorDesc,
    eps: f64,
    shift: f64,
    hints: LaunchHints,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    // SAFETY: the caller's promise.
    let (weight, bias) = unsafe { (Tensor::read(weight, "weight")?, Tensor::read(bias, "bias")?) };
    // SAFETY: the caller's promise.
    let (mean, rstd) = unsafe { (Tensor::read(mean, "mean")?, Tensor::read(rstd, "rstd")?) };
    let [rows, columns, _] = input.matrix()?;
    output.same_dtype(&input)?;
    output.same_shape(&input)?;
    output.matrix()?;
    for tensor in [&weight, &bias] {
        tensor.has_shape(&[columns], "input")?;
        tensor.flat()?;
    }
    bias.same_dtype(&weight)?;
    for tensor in [&mean, &rstd] {
        tensor.statistic(&[rows])?;
    }
    let longest = MAX_BYTES / input.dtype.bytes();
    if columns > longest {
        let text = format!("input: a row of {columns} is longer than {longest}");
        return Err(Failure::new(Status::TooLarge, text));
    }
    let tile = 1 << columns.ilog2();
    let number = Generic::Number;
    let types = [input.dtype, weight.dtype].map(Generic::Type);
    let bits = [eps, shift].map(|value| number((value as f32).to_bits().cast_signed()));
    let generics = [&types[..], &[number(columns)], &bits, &[number(tile)]].concat();
    let call = Call::new(&ROWS, generics, rows, hints).matrix(&input)?.matrix(&output)?;
    call.flat(&weight)?.flat(&bias)?.flat(&mean)?.flat(&rstd)
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_layer_norm_legacy(
    out: *const TensorDesc,
    mean: *const TensorDesc,
    rstd: *const TensorDesc,
    input: *const TensorDesc,
    weight: *const TensorDesc,
    bias: *const TensorDesc,
    eps: f64,
    shift: f64,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let hints = unsafe { hints.as_ref().copied().unwrap_or_default() };
        // SAFETY: likewise.
        let call = unsafe { plan(out, mean, rstd, input, weight, bias, eps, shift, hints)? };
        Target::of(device, stream).run(&call)
    })
}
