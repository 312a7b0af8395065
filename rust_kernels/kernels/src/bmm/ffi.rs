//! The products of two matrices, many at a time.

use std::ffi::c_void;

use super::kernel::bmm;
use crate::abi::{Failure, LaunchHints, Outcome, Status, TensorDesc, guard};
use crate::call::{Call, Generic, Kernel};
use crate::kernel;
use crate::record::Target;
use crate::tensor::Tensor;
use crate::tiling::{Tiling, flag, persistent_blocks, product};

static PLAIN: Kernel = kernel!(bmm::plain(a, b, c));
static PERSISTENT: Kernel = kernel!(bmm::persistent(a, b, c, batch));
const PLAIN_TILING: Tiling = Tiling { m: 128, n: 128, k: 32, group: 8, latency: 3 };
const PERSISTENT_TILING: Tiling = Tiling { k: 64, ..PLAIN_TILING };
/// Blocks in a cluster of the persistent form, where the launch has no hint.
const CTAS: i32 = 2;

/// `variant`: 0 a block a tile; 1 a block for several tiles, the A given as (K, M) or the B as (N, K) where `transposes`
/// say so.
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
    let ([batch, first, second], [_, third, fourth]) = (a.extents()?, b.extents()?);
    let (m, k) = if turn_a { (second, first) } else { (first, second) };
    let n = if turn_b { third } else { fourth };
    a.rows_adjacent()?;
    b.same_dtype(&a)?;
    b.has_shape(&if turn_b { [batch, n, k] } else { [batch, k, n] }, "a")?;
    b.rows_adjacent()?;
    c.same_dtype(&a)?;
    c.has_shape(&[batch, m, n], "a and b")?;
    c.rows_adjacent()?;
    let (dtype, number) = (Generic::Type(a.dtype), Generic::Number);
    match variant {
        0 => {
            for (name, turned) in [("transpose_a", turn_a), ("transpose_b", turn_b)] {
                if turned {
                    return Err(Failure::new(Status::Value, format!("{name}: the plain form has none")));
                }
            }
            let tiling = tiling.or(PLAIN_TILING)?;
            let [rows, columns] = tiling.tiles(m, n);
            let generics = vec![dtype, number(tiling.m), number(tiling.n), number(tiling.k)];
            let call = Call::new(&PLAIN, generics, 1, hints).on_grid([rows, columns, batch]);
            Ok(call.view(&a).view(&b).view(&c))
        }
        1 => {
            let tiling = tiling.or(PERSISTENT_TILING)?;
            let hints = LaunchHints { num_ctas: if hints.num_ctas > 0 { hints.num_ctas } else { CTAS }, ..hints };
            let [rows, columns] = tiling.tiles(m, n);
            let blocks = persistent_blocks(product(&[rows, columns, batch])?, hints, target)?;
            let numbers = [m, n, k, tiling.m, tiling.n, tiling.k, tiling.group, tiling.latency].map(number);
            let generics = [&[dtype], &numbers[..], &[Generic::Flag(turn_a), Generic::Flag(turn_b)]].concat();
            Ok(Call::new(&PERSISTENT, generics, blocks, hints).view(&a).view(&b).view(&c).number(batch))
        }
        _ => Err(Failure::new(Status::Value, format!("variant: {variant} is neither 0 nor 1"))),
    }
}

/// See [`plan`].
///
/// # Safety
/// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_bmm(
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
