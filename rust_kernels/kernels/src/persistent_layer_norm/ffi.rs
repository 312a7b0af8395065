//! Normalisation of each row of a matrix, a block for several tiles of whole rows.

use std::ffi::c_void;

use super::kernel::persistent_layer_norm;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Dtype, Tensor, tile_of, tiles_of};

static COMPUTED: Kernel = kernel!(persistent_layer_norm::computed(input, output, weight, bias, mean, rstd));
static GIVEN: Kernel =
    kernel!(persistent_layer_norm::given(input, output, weight, bias, mean, mean_size, rstd, rstd_size));
/// Rows of a tile.
const ROWS: i32 = 8;
/// Where the launch has no hint.
const WORKER_WARPS: i32 = 8;

/// `tile_rows`: the rows of a tile, a power of two; 0: the operator's own. `compute`: 1 computes `mean` and `rstd`, 0 takes them as they are.
///
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
    compute: i32,
    tile_rows: i32,
    mut hints: LaunchHints,
    target: &Target,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    // SAFETY: the caller's promise.
    let (weight, bias) = unsafe { (Tensor::read(weight, "weight")?, Tensor::read(bias, "bias")?) };
    // SAFETY: the caller's promise.
    let (mean, rstd) = unsafe { (Tensor::read(mean, "mean")?, Tensor::read(rstd, "rstd")?) };
    let [rows, columns, _] = input.matrix()?;
    if input.dtype == Dtype::F16 {
        return Err(Failure::new(Status::Dtype, "input: dtype must be f32 or bf16, for the result is rounded to bf16"));
    }
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
    let number = Generic::Number;
    let types = [input.dtype, weight.dtype].map(Generic::Type);
    let height = if tile_rows == 0 { ROWS } else { tile_rows };
    if height < 1 || height.count_ones() != 1 {
        return Err(Failure::new(Status::Value, format!("tile_rows: {height} is no power of two")));
    }
    let tiles = tiles_of(rows, height);
    let blocks = target.multiprocessors()?.min(tiles);
    let tiling = [height, tile_of(columns, "input")?, blocks].map(number);
    if hints.num_worker_warps == 0 {
        hints.num_worker_warps = WORKER_WARPS;
    }
    if hints.num_ctas == 0 {
        hints.num_ctas = 1;
    }
    match compute {
        1 => {
            let extents = [rows, columns, (eps as f32).to_bits().cast_signed()].map(number);
            let call = Call::new(&COMPUTED, [&types[..], &extents, &tiling].concat(), blocks, hints);
            Ok(call.view(&input).view(&output).view(&weight).view(&bias).view(&mean).view(&rstd))
        }
        0 => {
            let call = Call::new(&GIVEN, [&types[..], &[number(rows)], &tiling].concat(), blocks, hints);
            call.view(&input).view(&output).view(&weight).view(&bias).flat(&mean)?.flat(&rstd)
        }
        _ => Err(Failure::new(Status::Value, format!("compute: {compute} is neither 0 nor 1"))),
    }
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_persistent_layer_norm(
    out: *const TensorDesc,
    mean: *const TensorDesc,
    rstd: *const TensorDesc,
    input: *const TensorDesc,
    weight: *const TensorDesc,
    bias: *const TensorDesc,
    eps: f64,
    compute: i32,
    tile_rows: i32,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        let target = Target::of(device, stream);
        // SAFETY: the caller's promise.
        let hints = unsafe { hints.as_ref().copied().unwrap_or_default() };
        // SAFETY: likewise.
        let call = unsafe { plan(out, mean, rstd, input, weight, bias, eps, compute, tile_rows, hints, &target)? };
        target.run(&call)
    })
}
