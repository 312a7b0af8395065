//! The product of two matrices.

use super::kernel::matmul;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::memory::separate;
use crate::tensor::{Dtype, Tensor};
use crate::tiling::{Tiling, flag, persistent_blocks, product, untransposed};
use crate::{export, kernel};

static PLAIN: Kernel = kernel!(matmul::plain(a, b, c));
static PERSISTENT: Kernel = kernel!(matmul::persistent(a, b, c, m_extent, n_extent, k_extent));
const PLAIN_TILING: Tiling = Tiling { m: 128, n: 128, k: 32, group: 8, latency: 0 };
const PERSISTENT_TILING: Tiling = Tiling { k: 64, ..PLAIN_TILING };

/// `variant`: 0 a block a tile; 1 a block for several tiles, A given as (K, M) or B as (N, K) where the transposes say so.
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
    let ([first, second, _], [third, fourth, _]) = (a.matrix()?, b.matrix()?);
    let (m, k) = if turn_a { (second, first) } else { (first, second) };
    let n = if turn_b { third } else { fourth };
    b.same_dtype(a)?;
    b.has_shape(&if turn_b { [n, k] } else { [k, n] }, "a")?;
    output.same_dtype(a)?;
    output.has_shape(&[m, n], "a and b")?;
    output.matrix()?;
    separate(output, &[a, b])?;
    let tf32 = Generic::Flag(a.dtype == Dtype::F32);
    let generics = |tiling: &Tiling| {
        let [m, n, k] = [tiling.m, tiling.n, tiling.k].map(Generic::Number);
        vec![Generic::Type(a.dtype), m, n, k, tf32]
    };
    match variant {
        0 => {
            untransposed(turn_a, turn_b)?;
            let tiling = tiling.or(PLAIN_TILING)?;
            let blocks = product(&tiling.tiles(m, n))?;
            Ok(Call::new(&PLAIN, generics(&tiling), blocks, at.hints).view(a).view(b).view(output))
        }
        1 => {
            let tiling = tiling.or(PERSISTENT_TILING)?;
            let blocks = persistent_blocks(product(&tiling.tiles(m, n))?, at.hints, &at.target)?;
            let mut generics = generics(&tiling);
            generics.extend([Generic::Flag(turn_a), Generic::Flag(turn_b)]);
            generics.extend([tiling.group, tiling.latency].map(Generic::Number));
            let call = Call::new(&PERSISTENT, generics, blocks, at.hints).view(a).view(b).view(output);
            Ok(call.number(m).number(n).number(k))
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is neither 0 nor 1"))),
    }
}

export!(tileir_matmul(out; a, b; transpose_a: i32, transpose_b: i32, tiling: *const Tiling, variant: i32));
