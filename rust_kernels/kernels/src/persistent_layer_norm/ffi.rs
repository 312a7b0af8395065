//! Normalisation of each row of a matrix, a block for several tiles of whole rows.

use super::kernel::persistent_layer_norm;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Dtype, MAX_TILE, Tensor, tile_of, tiles_of};
use crate::{export, kernel};

static COMPUTED: Kernel = kernel!(persistent_layer_norm::computed(input, output, weight, bias, mean, rstd));
static GIVEN: Kernel = kernel!(persistent_layer_norm::given(input, output, weight, bias, mean: flat, rstd: flat));
/// Rows of a tile.
const ROWS: i32 = 8;
/// Where the launch has no hint.
const WORKER_WARPS: i32 = 8;

/// `tile_rows`: the rows of a tile, a power of two; 0: the operator's own. `compute`: 1 computes `mean` and `rstd`, 0 takes them as they are.
#[allow(clippy::too_many_arguments)]
pub fn plan(
    output: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    eps: f64,
    compute: i32,
    tile_rows: i32,
    at: &At,
) -> Outcome<Call> {
    let mut hints = at.hints;
    let [rows, columns, _] = input.matrix()?;
    if input.dtype == Dtype::F16 {
        return Err(Failure::new(Status::Dtype, "input: dtype must be f32 or bf16, for the result is rounded to bf16"));
    }
    output.same_dtype(input)?;
    output.same_shape(input)?;
    output.matrix()?;
    for tensor in [weight, bias] {
        tensor.has_shape(&[columns], "input")?;
        tensor.flat()?;
    }
    bias.same_dtype(weight)?;
    for tensor in [mean, rstd] {
        tensor.statistic(&[rows])?;
    }
    let number = Generic::Number;
    let types = [input.dtype, weight.dtype].map(Generic::Type);
    let height = if tile_rows == 0 { ROWS } else { tile_rows };
    if height < 1 || height.count_ones() != 1 {
        return Err(Failure::new(Status::Value, format!("tile_rows: {height} is no power of two")));
    }
    let tiles = tiles_of(rows, height);
    let blocks = at.target.multiprocessors()?.min(tiles);
    let width = tile_of(columns, "input")?;
    if height > MAX_TILE / width {
        let text = format!("tile_rows: a tile has at most {MAX_TILE} elements, no {height} rows of {width}");
        return Err(Failure::new(Status::Value, text));
    }
    let tiling = [height, width, blocks].map(number);
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
            Ok(call.view(input).view(output).view(weight).view(bias).view(mean).view(rstd))
        }
        0 => {
            let call = Call::new(&GIVEN, [&types[..], &[number(rows)], &tiling].concat(), blocks, hints);
            call.view(input).view(output).view(weight).view(bias).flat(mean)?.flat(rstd)
        }
        _ => Err(Failure::new(Status::Value, format!("compute: {compute} is neither 0 nor 1"))),
    }
}

export!(tileir_persistent_layer_norm(out, mean, rstd; input, weight, bias; eps: f64, compute: i32, tile_rows: i32));
