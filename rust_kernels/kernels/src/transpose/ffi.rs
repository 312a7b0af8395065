//! The transpose of a matrix.

use std::ffi::c_void;

use super::kernel::transpose;
use crate::abi::{LaunchHints, Outcome, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Tensor, tiles_of};

static TILES: Kernel = kernel!(transpose::tiles(input, output));
const TILE: i32 = 64;
/// The tile of a matrix of 16-bit elements both of whose extents are at least `LARGE`.
const LARGE_TILE: i32 = 128;
const LARGE: i32 = 4096;

/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(out: *const TensorDesc, input: *const TensorDesc, hints: LaunchHints) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    let [rows, columns, _] = input.matrix()?;
    output.same_dtype(&input)?;
    output.has_shape(&[columns, rows], "input")?;
    output.matrix()?;
    let large = input.dtype.bytes() == 2 && rows.min(columns) >= LARGE;
    let tile = if large { LARGE_TILE } else { TILE };
    let generics = vec![Generic::Type(input.dtype), Generic::Number(tile), Generic::Number(tile)];
    let blocks = [tiles_of(rows, tile), tiles_of(columns, tile), 1];
    Ok(Call::new(&TILES, generics, 1, hints).on_grid(blocks).view(&input).view(&output))
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_transpose(
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
