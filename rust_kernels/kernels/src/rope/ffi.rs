//! Rotary position embedding of query and key, in place.

use super::kernel::rope;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Dtype, Tensor, tile_of};
use crate::{export, kernel};

static ROTATION: Kernel = kernel!(rope::rotation(query, key, cos, sin));
/// Where the launch has no hint.
const OCCUPANCY: i32 = 9;

/// `rotated`: how many of the last dimension's elements, from the first on; 0: all.
pub fn plan(query: &Tensor, key: &Tensor, cos: &Tensor, sin: &Tensor, rotated: i32, at: &At) -> Outcome<Call> {
    let mut hints = at.hints;
    let [batches, heads, length, size] = query.extents()?;
    let [_, key_heads, ..]: [i32; 4] = key.extents()?;
    key.same_dtype(query)?;
    key.has_shape(&[batches, key_heads, length, size], "query")?;
    let half = if rotated == 0 { size / 2 } else { rotated / 2 };
    if rotated < 0 || rotated > size || half.count_ones() != 1 {
        let text = format!("rotated: half of {rotated} (0: of {size}) is no power of two within {}", size / 2);
        return Err(Failure::new(Status::Value, text));
    }
    let [angles, _, factors] = cos.extents()?;
    let angles = if angles == 1 { 1 } else { batches };
    cos.has_shape(&[angles, length, factors.max(half)], "query")?;
    sin.same_dtype(cos)?;
    sin.same_shape(cos)?;
    let wide = match (query.dtype, cos.dtype) {
        (Dtype::F32, _) => Dtype::F32,
        (mine, others) if mine == others => mine,
        (_, Dtype::F32) => Dtype::F32,
        _ => return Err(cos.same_dtype(query).unwrap_err()),
    };
    for tensor in [query, key, cos, sin] {
        tensor.rows_adjacent()?;
    }
    let number = Generic::Number;
    let types = [query.dtype, cos.dtype, wide].map(Generic::Type);
    let tiles = [tile_of(heads, "query")?, tile_of(key_heads, "key")?, half];
    let generics = [&types[..], &[angles, length].map(number), &tiles.map(number)].concat();
    if hints.occupancy == 0 {
        hints.occupancy = OCCUPANCY;
    }
    let Some(blocks) = batches.checked_mul(length) else {
        return Err(Failure::new(Status::TooLarge, format!("query: {batches} times {length} positions are too many")));
    };
    Ok(Call::new(&ROTATION, generics, blocks, hints).view(query).view(key).view(cos).view(sin))
}

export!(tileir_rope(query, key; cos, sin; rotated: i32));
