//! The products of two matrices, many at a time.

use super::kernel::bmm;
use crate::abi::{Failure, LaunchHints, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::memory::separate;
use crate::tensor::Tensor;
use crate::tiling::{Tiling, flag, persistent_blocks, product, untransposed};
use crate::{export, kernel};

static PLAIN: Kernel = kernel!(bmm::plain(a, b, c));
static PERSISTENT: Kernel = kernel!(bmm::persistent(a, b, c, batch));
const PLAIN_TILING: Tiling = Tiling { m: 128, n: 128, k: 32, group: 8, latency: 3 };
const PERSISTENT_TILING: Tiling = Tiling { k: 64, ..PLAIN_TILING };
/// Blocks in a cluster of the persistent form, where the launch has no hint.
const CTAS: i32 = 2;

/// `variant`: 0 a block a tile; 1 a block for several tiles, the A given as (K, M) or the B as (N, K) where the
/// transposes say so.
#[allow(clippy::too_many_arguments)]
pub fn plan(
    output: &Tensor,
    a: &Tensor,
    b: &Tensor,
    transpose_a: i32,
    transpose_b: i32,
    tiling: Tiling,
    variant: i32,
    at: &At,
) -> Outcome<Call> {
    let [turn_a, turn_b] = [flag(transpose_a, "transpose_a")?, flag(transpose_b, "transpose_b")?];
    let ([batch, first, second], [_, third, fourth]) = (a.extents()?, b.extents()?);
    let (m, k) = if turn_a { (second, first) } else { (first, second) };
    let n = if turn_b { third } else { fourth };
    a.rows_adjacent()?;
    b.same_dtype(a)?;
    b.has_shape(&if turn_b { [batch, n, k] } else { [batch, k, n] }, "a")?;
    b.rows_adjacent()?;
    output.same_dtype(a)?;
    output.has_shape(&[batch, m, n], "a and b")?;
    output.rows_adjacent()?;
    separate(output, &[a, b])?;
    let (dtype, number) = (Generic::Type(a.dtype), Generic::Number);
    match variant {
        0 => {
            untransposed(turn_a, turn_b)?;
            let tiling = tiling.or(PLAIN_TILING)?;
            let [rows, columns] = tiling.tiles(m, n);
            let generics = vec![dtype, number(tiling.m), number(tiling.n), number(tiling.k)];
            let call = Call::new(&PLAIN, generics, 1, at.hints).on_grid([rows, columns, batch]);
            Ok(call.view(a).view(b).view(output))
        }
        1 => {
            let tiling = tiling.or(PERSISTENT_TILING)?;
            let hints =
                LaunchHints { num_ctas: if at.hints.num_ctas > 0 { at.hints.num_ctas } else { CTAS }, ..at.hints };
            let [rows, columns] = tiling.tiles(m, n);
            let blocks = persistent_blocks(product(&[rows, columns, batch])?, hints, &at.target)?;
            let numbers = [m, n, k, tiling.m, tiling.n, tiling.k, tiling.group, tiling.latency].map(number);
            let generics = [&[dtype], &numbers[..], &[Generic::Flag(turn_a), Generic::Flag(turn_b)]].concat();
            Ok(Call::new(&PERSISTENT, generics, blocks, hints).view(a).view(b).view(output).number(batch))
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is neither 0 nor 1"))),
    }
}

export!(tileir_bmm(out; a, b; transpose_a: i32, transpose_b: i32, tiling: *const Tiling, variant: i32));
