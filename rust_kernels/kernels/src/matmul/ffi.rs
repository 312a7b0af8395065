//! The product of two matrices.

use std::ffi::c_void;

use super::kernel::matmul;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::{Dtype, Tensor};
use crate::tiling::{Tiling, flag, persistent_blocks, product};

static PLAIN: Kernel = kernel!(matmul::plain(a, b, c));
static PERSISTENT: Kernel = kernel!(matmul::persistent(a, b, c, m_extent, n_extent, k_extent));
const PLAIN_TILING: Tiling = Tiling { m: 128, n: 128, k: 32, group: 8, latency: 0 };
const PERSISTENT_TILING: Tiling = Tiling { k: 64, ..PLAIN_TILING };

/// `variant`: 0 a block a tile; 1 a block for several tiles, A given as (K, M) or B as (N, K) where `transposes` say so.
///
/// # Safety
/// The descriptors are null or valid.
#[allow(clippy::too_many_arguments)]
pub unsafe fn plan(
    out: *const TensorDesc,
    a: *const TensorDesc,
    b: *const TensorDesc,
    transposes: [i32; 2],
    tiling: Tiling,
    variant: i32,
    hints: LaunchHints,
    target: &Target,
) -> Outcome<Call> {
    // SAFETY: the caller's promise.
    let (a, b, c) = unsafe { (Tensor::read(a, "a")?, Tensor::read(b, "b")?, Tensor::read(out, "out")?) };
    let [turn_a, turn_b] = [flag(transposes[0], "transpose_a")?, flag(transposes[1], "transpose_b")?];
    let ([first, second, _], [third, fourth, _]) = (a.matrix()?, b.matrix()?);
    let (m, k) = if turn_a { (second, first) } else { (first, second) };
    let n = if turn_b { third } else { fourth };
    b.same_dtype(&a)?;
    b.has_shape(&if turn_b { [n, k] } else { [k, n] }, "a")?;
    c.same_dtype(&a)?;
    c.has_shape(&[m, n], "a and b")?;
    c.matrix()?;
    let tf32 = Generic::Flag(a.dtype == Dtype::F32);
    let generics = |tiling: &Tiling| {
        let [m, n, k] = [tiling.m, tiling.n, tiling.k].map(Generic::Number);
        vec![Generic::Type(a.dtype), m, n, k, tf32]
    };
    match variant {
        0 => {
            for (name, turned) in [("transpose_a", turn_a), ("transpose_b", turn_b)] {
                if turned {
                    return Err(Failure::new(Status::Value, format!("{name}: the plain form has none")));
                }
            }
            let tiling = tiling.or(PLAIN_TILING)?;
            let blocks = product(&tiling.tiles(m, n))?;
            Ok(Call::new(&PLAIN, generics(&tiling), blocks, hints).view(&a).view(&b).view(&c))
        }
        1 => {
            let tiling = tiling.or(PERSISTENT_TILING)?;
            let blocks = persistent_blocks(product(&tiling.tiles(m, n))?, hints, target)?;
            let mut generics = generics(&tiling);
            generics.extend([Generic::Flag(turn_a), Generic::Flag(turn_b)]);
            generics.extend([tiling.group, tiling.latency].map(Generic::Number));
            let call = Call::new(&PERSISTENT, generics, blocks, hints).view(&a).view(&b).view(&c);
            Ok(call.number(m).number(n).number(k))
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is neither 0 nor 1"))),
    }
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_matmul(
    out: *const TensorDesc,
    a: *const TensorDesc,
    b: *const TensorDesc,
    transpose_a: i32,
    transpose_b: i32,
    tiling: *const Tiling,
    variant: i32,
    hints: *const LaunchHints,
    device: i32,
    stream: *mut c_void,
) -> i32 {
    guard(|| {
        let target = Target::of(device, stream);
        // SAFETY: the caller's promise.
        let (tiling, hints) =
            unsafe { (tiling.as_ref().copied().unwrap_or_default(), hints.as_ref().copied().unwrap_or_default()) };
        // SAFETY: likewise.
        let call = unsafe { plan(out, a, b, [transpose_a, transpose_b], tiling, variant, hints, &target)? };
        target.run(&call)
    })
}
