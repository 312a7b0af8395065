//! Partial results of attention over parts of the keys, joined.

use super::kernel::splitk_reduce;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::memory::separate;
use crate::tensor::{Dtype, Tensor, tile_of, tile_up_to, tiles_of};
use crate::{export, kernel};

static HEADS: Kernel = kernel!(splitk_reduce::heads(
    parts,
    lse,
    lse_batches,
    lse_heads,
    lse_splits,
    lse_batch_stride,
    lse_head_stride,
    output
));
const MAX_TILE: i32 = 128;
/// From so many parts on they are summed by a matrix product, on devices of capability 9 and later.
const DOT_FROM: i32 = 16;

pub fn plan(output: &Tensor, parts: &Tensor, lse: &Tensor, at: &At) -> Outcome<Call> {
    let [batches, heads, splits, columns] = parts.extents()?;
    parts.rows_adjacent()?;
    if lse.dtype != Dtype::F32 {
        return Err(Failure::new(Status::Dtype, format!("lse: dtype must be f32, not {}", lse.dtype.name())));
    }
    lse.has_shape(&[batches, heads, splits], "parts")?;
    lse.columns_adjacent()?;
    output.same_dtype(parts)?;
    output.has_shape(&[batches, heads, columns], "parts")?;
    output.rows_adjacent()?;
    separate(output, &[parts, lse])?;
    let (lanes, tile) = (tile_of(splits, "parts")?, tile_up_to(columns, MAX_TILE));
    let number = Generic::Number;
    let generics = vec![Generic::Type(parts.dtype), number(lanes), number(tile), Generic::Flag(lanes >= DOT_FROM)];
    let mut call = Call::new(&HEADS, generics, 1, at.hints)
        .on_grid([batches, heads, tiles_of(columns, tile)])
        .view(parts)
        .pointer(lse);
    for value in [batches, heads, splits, lse.strides[0], lse.strides[1]] {
        call = call.number(value);
    }
    Ok(call.view(output))
}

export!(tileir_splitk_reduce(out; parts, lse));
