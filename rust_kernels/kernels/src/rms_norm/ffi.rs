//! Division of each row by the root of its mean square.

use std::ffi::c_void;

use super::kernel::rms_norm;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Tensor, tile_of};

static RELOAD: Kernel = kernel!(rms_norm::reload(
    input,
    input_rows,
    input_columns,
    input_stride,
    weight,
    weight_size,
    output,
    output_rows,
    output_columns,
    output_stride,
    rstd,
    rstd_size
));
static CACHED: Kernel = kernel!(rms_norm::cached(
    input,
    input_rows,
    input_columns,
    input_stride,
    weight,
    weight_size,
    output,
    output_rows,
    output_columns,
    output_stride,
    rstd,
    rstd_size
));
static PERSISTENT: Kernel = kernel!(rms_norm::persistent(input, output, weight, rstd));
/// Bytes of a tile of a row that is read in tiles.
const TILE_BYTES: i32 = 4096;

/// `variant`: 0 one block a row, which it reads twice; 1 views, a block for several tiles of whole rows; 2 one block a
/// row, which it reads once.
///
/// # Safety
/// The descriptors are null or valid.
#[allow(clippy::too_many_arguments)]
pub unsafe fn plan(
    out: *const TensorDesc,
    rstd: *const TensorDesc,
    input: *const TensorDesc,
    weight: *const TensorDesc,
    eps: f64,
    shift: f64,
    variant: i32,
    hints: LaunchHints,
    target: &Target,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, weight) = unsafe { (Tensor::read(input, "input")?, Tensor::read(weight, "weight")?) };
    // SAFETY: the caller's promise.
    let (output, rstd) = unsafe { (Tensor::read(out, "out")?, Tensor::read(rstd, "rstd")?) };
    let [rows, columns, _] = input.matrix()?;
    weight.same_dtype(&input)?;
    weight.has_shape(&[columns], "input")?;
    weight.flat()?;
    output.same_dtype(&input)?;
    output.same_shape(&input)?;
    output.matrix()?;
    rstd.statistic(&[rows])?;
    let bits = |number: f64| Generic::Number((number as f32).to_bits().cast_signed());
    let (dtype, number) = (Generic::Type(input.dtype), Generic::Number);
    let tile = tile_of(columns, "input")?;
    match variant {
        0 => {
            let tile = tile.min(TILE_BYTES / input.dtype.bytes());
            let (chunks, masked) = (columns / tile + i32::from(columns % tile != 0), columns % tile != 0);
            let constants = [number(columns), bits(eps), bits(shift), number(chunks), number(tile)];
            let generics = [&[dtype], &constants[..], &[Generic::Flag(masked)]].concat();
            Call::new(&RELOAD, generics, rows, hints).matrix(&input)?.flat(&weight)?.matrix(&output)?.flat(&rstd)
        }
        1 => {
            let each = match tile {
                ..=1024 => 16,
                16_384.. => 2,
                _ => 4,
            };
            let blocks = target.multiprocessors()?.min(rows / each + i32::from(rows % each != 0));
            let generics = vec![dtype, number(each), number(tile), bits(eps), bits(shift)];
            Ok(Call::new(&PERSISTENT, generics, blocks, hints).view(&input).view(&output).view(&weight).view(&rstd))
        }
        2 => {
            let constants = [number(columns), bits(eps), bits(shift), number(tile)];
            let generics = [&[dtype], &constants[..], &[Generic::Flag(tile != columns)]].concat();
            Call::new(&CACHED, generics, rows, hints).matrix(&input)?.flat(&weight)?.matrix(&output)?.flat(&rstd)
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is not one of 0 to 2"))),
    }
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_rms_norm(
    out: *const TensorDesc,
    rstd: *const TensorDesc,
    input: *const TensorDesc,
    weight: *const TensorDesc,
    eps: f64,
    shift: f64,
    variant: i32,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        let target = Target::of(device, stream);
        // SAFETY: the caller's promise.
        let hints = unsafe { hints.as_ref().copied().unwrap_or_default() };
        // SAFETY: likewise.
        let call = unsafe { plan(out, rstd, input, weight, eps, shift, variant, hints, &target)? };
        target.run(&call)
    })
}
