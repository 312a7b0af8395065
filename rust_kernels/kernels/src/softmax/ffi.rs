//! Softmax of each row of a matrix.

use std::ffi::c_void;

use super::kernel::softmax;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Tensor, tile_of};

static ROWS: Kernel = kernel!(softmax::rows(
    output,
    output_rows,
    output_columns,
    output_stride,
    input,
    input_rows,
    input_columns,
    input_stride
));
static ONE_ROW: Kernel = kernel!(softmax::one_row(
    output,
    output_rows,
    output_columns,
    output_stride,
    input,
    input_rows,
    input_columns,
    input_stride
));
static VIEWS: Kernel = kernel!(softmax::views(output, input));
static CHUNKED: Kernel = kernel!(softmax::chunked(
    output,
    output_rows,
    output_columns,
    output_stride,
    input,
    input_rows,
    input_columns,
    input_stride
));
/// The longest tile of the chunked form.
const MAX_TILE: i32 = 8192;
/// Blocks for each multiprocessor, where the launch has no hint.
const OCCUPANCY: i32 = 4;
const VIEW_OCCUPANCY: i32 = 2;

/// `variant`: 0 masked loads, a block for several rows; 1 views, likewise; 2 in chunks; 3 one block a row.
///
/// # Safety
/// The descriptors are null or valid.
pub unsafe fn plan(
    out: *const TensorDesc,
    input: *const TensorDesc,
    variant: i32,
    hints: LaunchHints,
    target: &Target,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(out, "out")?) };
    let [rows, columns, _] = input.matrix()?;
    output.same_dtype(&input)?;
    output.same_shape(&input)?;
    output.matrix()?;
    let (dtype, tile) = (Generic::Type(input.dtype), tile_of(columns, "input")?);
    let number = Generic::Number;
    let blocks = |each: i32| Ok(target.multiprocessors()?.saturating_mul(each).min(rows));
    match variant {
        0 => Call::new(&ROWS, vec![dtype, number(rows), number(tile)], blocks(OCCUPANCY)?, hints)
            .matrix(&output)?
            .matrix(&input),
        1 => {
            let each = if hints.occupancy > 0 { hints.occupancy } else { VIEW_OCCUPANCY };
            let generics = vec![dtype, number(rows), number(tile)];
            Ok(Call::new(&VIEWS, generics, blocks(each)?, hints).view(&output).view(&input))
        }
        2 => {
            let tile = tile.min(MAX_TILE);
            let chunks = columns.div_euclid(tile) + i32::from(columns % tile != 0);
            let generics = vec![dtype, number(rows), number(chunks), number(tile)];
            Call::new(&CHUNKED, generics, blocks(OCCUPANCY)?, hints).matrix(&output)?.matrix(&input)
        }
        3 => {
            let generics = vec![dtype, number(tile), Generic::Flag(tile != columns)];
            Call::new(&ONE_ROW, generics, rows, hints).matrix(&output)?.matrix(&input)
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is not one of 0 to 3"))),
    }
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_softmax(
    out: *const TensorDesc,
    input: *const TensorDesc,
    variant: i32,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        let target = Target::of(device, stream);
        // SAFETY: the caller's promise.
        let call = unsafe { plan(out, input, variant, hints.as_ref().copied().unwrap_or_default(), &target)? };
        target.run(&call)
    })
}
