//! The transpose of a matrix.

use super::kernel::transpose;
use crate::abi::Outcome;
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::memory::separate;
use crate::tensor::{Tensor, tiles_of};
use crate::{export, kernel};

static TILES: Kernel = kernel!(transpose::tiles(input, output));
const TILE: i32 = 64;
/// The tile of a matrix of 16-bit elements both of whose extents are at least `LARGE`.
const LARGE_TILE: i32 = 128;
const LARGE: i32 = 4096;

pub fn plan(output: &Tensor, input: &Tensor, at: &At) -> Outcome<Call> {
    let [rows, columns, _] = input.matrix()?;
    output.same_dtype(input)?;
    output.has_shape(&[columns, rows], "input")?;
    output.matrix()?;
    separate(output, &[input])?;
    let large = input.dtype.bytes() == 2 && rows.min(columns) >= LARGE;
    let tile = if large { LARGE_TILE } else { TILE };
    let generics = vec![Generic::Type(input.dtype), Generic::Number(tile), Generic::Number(tile)];
    let blocks = [tiles_of(rows, tile), tiles_of(columns, tile), 1];
    Ok(Call::new(&TILES, generics, 1, at.hints).on_grid(blocks).view(input).view(output))
}

export!(tileir_transpose(out; input));
