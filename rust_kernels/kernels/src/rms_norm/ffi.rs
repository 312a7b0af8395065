//! Division of each row by the root of its mean square.

use super::kernel::rms_norm;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Tensor, tile_of};
use crate::{export, kernel};

static RELOAD: Kernel = kernel!(rms_norm::reload(input: matrix, weight: flat, output: matrix, rstd: flat));
static CACHED: Kernel = kernel!(rms_norm::cached(input: matrix, weight: flat, output: matrix, rstd: flat));
static PERSISTENT: Kernel = kernel!(rms_norm::persistent(input, output, weight, rstd));
/// Bytes of a tile of a row that is read in tiles.
const TILE_BYTES: i32 = 4096;

/// `variant`: 0 one block a row, which it reads twice; 1 views, a block for several tiles of whole rows; 2 one block a
/// row, which it reads once.
#[allow(clippy::too_many_arguments)]
pub fn plan(
    output: &Tensor,
    rstd: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    eps: f64,
    shift: f64,
    variant: i32,
    at: &At,
) -> Outcome<Call> {
    let [rows, columns, _] = input.matrix()?;
    weight.same_dtype(input)?;
    weight.has_shape(&[columns], "input")?;
    weight.flat()?;
    output.same_dtype(input)?;
    output.same_shape(input)?;
    output.matrix()?;
    rstd.statistic(&[rows])?;
    let bits = Generic::bits;
    let (dtype, number) = (Generic::Type(input.dtype), Generic::Number);
    let tile = tile_of(columns, "input")?;
    match variant {
        0 => {
            let tile = tile.min(TILE_BYTES / input.dtype.bytes());
            let (chunks, masked) = (columns / tile + i32::from(columns % tile != 0), columns % tile != 0);
            let constants = [number(columns), bits(eps), bits(shift), number(chunks), number(tile)];
            let generics = [&[dtype], &constants[..], &[Generic::Flag(masked)]].concat();
            Call::new(&RELOAD, generics, rows, at.hints).matrix(input)?.flat(weight)?.matrix(output)?.flat(rstd)
        }
        1 => {
            let each = match tile {
                ..=1024 => 16,
                16_384.. => 2,
                _ => 4,
            };
            let blocks = at.target.multiprocessors()?.min(rows / each + i32::from(rows % each != 0));
            let generics = vec![dtype, number(each), number(tile), bits(eps), bits(shift)];
            Ok(Call::new(&PERSISTENT, generics, blocks, at.hints).view(input).view(output).view(weight).view(rstd))
        }
        2 => {
            let constants = [number(columns), bits(eps), bits(shift), number(tile)];
            let generics = [&[dtype], &constants[..], &[Generic::Flag(tile != columns)]].concat();
            Call::new(&CACHED, generics, rows, at.hints).matrix(input)?.flat(weight)?.matrix(output)?.flat(rstd)
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is not one of 0 to 2"))),
    }
}

export!(tileir_rms_norm(out, rstd; input, weight; eps: f64, shift: f64, variant: i32));
