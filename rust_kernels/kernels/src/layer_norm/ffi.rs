//! Normalisation of the channels of a tensor (N, channels, W), each for itself.

use std::ffi::c_void;

use super::kernel::layer_norm;
use crate::abi::{LaunchHints, Outcome, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Tensor, tile_of, tiles_of};

static VIEWS: Kernel = kernel!(layer_norm::views(input, output, weight, bias, mean, rstd));
static COLUMNS: Kernel = kernel!(layer_norm::columns(
    input,
    input_size,
    output,
    output_size,
    weight,
    weight_size,
    bias,
    bias_size,
    mean,
    mean_size,
    rstd,
    rstd_size
));
static ROWS: Kernel = kernel!(layer_norm::rows(
    input,
    input_size,
    output,
    output_size,
    weight,
    weight_size,
    bias,
    bias_size,
    mean,
    mean_size,
    rstd,
    rstd_size
));
/// Columns from which on views are the faster way.
const VIEW_COLUMNS: i32 = 16;
/// Most columns of a block.
const MAX_WIDTH: i32 = 1024;
/// Most channels of a tile of views.
const MAX_VIEW_TILE: i32 = 1024;
/// Bytes of a tile.
const TILE_BYTES: i32 = 65_536;

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
    let [rows, channels, columns] = input.extents()?;
    let elements = input.flat()?;
    output.same_dtype(&input)?;
    output.same_shape(&input)?;
    output.flat()?;
    for tensor in [&weight, &bias] {
        tensor.has_shape(&[channels], "input")?;
        tensor.flat()?;
    }
    bias.same_dtype(&weight)?;
    for tensor in [&mean, &rstd] {
        tensor.statistic(&[rows, columns])?;
    }
    let number = Generic::Number;
    let types = [input.dtype, weight.dtype].map(Generic::Type);
    let bits = [eps, shift].map(|value| number((value as f32).to_bits().cast_signed()));
    let width = tile_of(columns, "input")?.min(MAX_WIDTH);
    let tile = tile_of(channels, "input")?.min(TILE_BYTES / width / input.dtype.bytes());
    let grid = [rows, tiles_of(columns, width), 1];
    if columns >= VIEW_COLUMNS {
        let tiles = [tile.min(MAX_VIEW_TILE), width].map(number);
        let generics = [&types[..], &[number(channels)], &bits, &tiles].concat();
        let call = Call::new(&VIEWS, generics, rows, hints).on_grid(grid);
        return Ok(call.view(&input).view(&output).view(&weight).view(&bias).view(&mean).view(&rstd));
    }
    let call = if columns > 1 {
        let extents = [channels, columns].map(number);
        let sizes = [tile, width, elements, rows * columns, tile * width].map(number);
        Call::new(&COLUMNS, [&types[..], &extents, &bits, &sizes].concat(), rows, hints)
    } else {
        let sizes = [tile, elements].map(number);
        Call::new(&ROWS, [&types[..], &[number(channels)], &bits, &sizes].concat(), rows, hints)
    };
    call.on_grid(grid).flat(&input)?.flat(&output)?.flat(&weight)?.flat(&bias)?.flat(&mean)?.flat(&rstd)
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_layer_norm(
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
