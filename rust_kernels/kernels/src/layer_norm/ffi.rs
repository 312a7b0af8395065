//! Normalisation of the channels of a tensor (N, channels, W), each for itself.

use super::kernel::layer_norm;
use crate::abi::Outcome;
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Tensor, tile_up_to, tiles_of};
use crate::{export, kernel};

static VIEWS: Kernel = kernel!(layer_norm::views(input, output, weight, bias, mean, rstd));
static COLUMNS: Kernel =
    kernel!(layer_norm::columns(input: flat, output: flat, weight: flat, bias: flat, mean: flat, rstd: flat));
static ROWS: Kernel =
    kernel!(layer_norm::rows(input: flat, output: flat, weight: flat, bias: flat, mean: flat, rstd: flat));
/// Columns from which on views are the faster way.
const VIEW_COLUMNS: i32 = 16;
/// Most columns of a block.
const MAX_WIDTH: i32 = 1024;
/// Most channels of a tile of views.
const MAX_VIEW_TILE: i32 = 1024;
/// Bytes of a tile.
const TILE_BYTES: i32 = 65_536;

#[allow(clippy::too_many_arguments)]
pub fn plan(
    output: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    eps: f64,
    shift: f64,
    at: &At,
) -> Outcome<Call> {
    let [rows, channels, columns] = input.extents()?;
    let elements = input.flat()?;
    output.same_dtype(input)?;
    output.same_shape(input)?;
    output.flat()?;
    for tensor in [weight, bias] {
        tensor.has_shape(&[channels], "input")?;
        tensor.flat()?;
    }
    bias.same_dtype(weight)?;
    for tensor in [mean, rstd] {
        tensor.statistic(&[rows, columns])?;
    }
    let number = Generic::Number;
    let types = [input.dtype, weight.dtype].map(Generic::Type);
    let bits = [eps, shift].map(Generic::bits);
    let width = tile_up_to(columns, MAX_WIDTH);
    let tile = tile_up_to(channels, TILE_BYTES / width / input.dtype.bytes());
    let grid = [rows, tiles_of(columns, width), 1];
    if columns >= VIEW_COLUMNS {
        let tiles = [tile.min(MAX_VIEW_TILE), width].map(number);
        let generics = [&types[..], &[number(channels)], &bits, &tiles].concat();
        let call = Call::new(&VIEWS, generics, rows, at.hints).on_grid(grid);
        return Ok(call.view(input).view(output).view(weight).view(bias).view(mean).view(rstd));
    }
    let call = if columns > 1 {
        let extents = [channels, columns].map(number);
        let sizes = [tile, width, elements, rows * columns].map(number);
        Call::new(&COLUMNS, [&types[..], &extents, &bits, &sizes].concat(), rows, at.hints)
    } else {
        let sizes = [tile, elements].map(number);
        Call::new(&ROWS, [&types[..], &[number(channels)], &bits, &sizes].concat(), rows, at.hints)
    };
    call.on_grid(grid).flat(input)?.flat(output)?.flat(weight)?.flat(bias)?.flat(mean)?.flat(rstd)
}

export!(tileir_layer_norm(out, mean, rstd; input, weight, bias; eps: f64, shift: f64));
