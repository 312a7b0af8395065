//! Softmax of each row of a matrix.

use super::kernel::softmax;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Tensor, tile_of, tile_up_to};
use crate::{export, kernel};

static ROWS: Kernel = kernel!(softmax::rows(output: matrix, input: matrix));
static ONE_ROW: Kernel = kernel!(softmax::one_row(output: matrix, input: matrix));
static VIEWS: Kernel = kernel!(softmax::views(output, input));
static CHUNKED: Kernel = kernel!(softmax::chunked(output: matrix, input: matrix));
/// The longest tile of the chunked form.
const MAX_TILE: i32 = 8192;
/// Blocks for each multiprocessor, where the launch has no hint.
const OCCUPANCY: i32 = 4;
const VIEW_OCCUPANCY: i32 = 2;

/// `variant`: 0 masked loads, a block for several rows; 1 views, likewise; 2 in chunks; 3 one block a row.
pub fn plan(output: &Tensor, input: &Tensor, variant: i32, at: &At) -> Outcome<Call> {
    let [rows, columns, _] = input.matrix()?;
    output.same_dtype(input)?;
    output.same_shape(input)?;
    output.matrix()?;
    let dtype = Generic::Type(input.dtype);
    let tile = if variant == 2 { tile_up_to(columns, MAX_TILE) } else { tile_of(columns, "input")? };
    let number = Generic::Number;
    let blocks = |each: i32| Ok(at.target.multiprocessors()?.saturating_mul(each).min(rows));
    match variant {
        0 => Call::new(&ROWS, vec![dtype, number(rows), number(tile)], blocks(OCCUPANCY)?, at.hints)
            .matrix(output)?
            .matrix(input),
        1 => {
            let each = if at.hints.occupancy > 0 { at.hints.occupancy } else { VIEW_OCCUPANCY };
            let generics = vec![dtype, number(rows), number(tile)];
            Ok(Call::new(&VIEWS, generics, blocks(each)?, at.hints).view(output).view(input))
        }
        2 => {
            let chunks = columns.div_euclid(tile) + i32::from(columns % tile != 0);
            let generics = vec![dtype, number(rows), number(chunks), number(tile)];
            Call::new(&CHUNKED, generics, blocks(OCCUPANCY)?, at.hints).matrix(output)?.matrix(input)
        }
        3 => {
            let generics = vec![dtype, number(tile), Generic::Flag(tile != columns)];
            Call::new(&ONE_ROW, generics, rows, at.hints).matrix(output)?.matrix(input)
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is not one of 0 to 3"))),
    }
}

export!(tileir_softmax(out; input; variant: i32));
