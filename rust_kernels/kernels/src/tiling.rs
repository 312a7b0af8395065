//! How a product of matrices is cut into tiles.

use crate::abi::{Failure, LaunchHints, Outcome, Status};
use crate::record::Target;
use crate::tensor::{MAX_TILE, tiles_of};

/// Extents of the tiles, the rows of tiles in a group of blocks, the hint of the loads; 0: the operator's own.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tiling {
    pub m: i32,
    pub n: i32,
    pub k: i32,
    pub group: i32,
    pub latency: i32,
}

/// The longest latency of a load that can be told.
const MAX_LATENCY: i32 = 10;

impl Tiling {
    /// This, with the numbers of `own` where it has none.
    pub fn or(self, own: Self) -> Outcome<Self> {
        let pick = |given: i32, own: i32| if given == 0 { own } else { given };
        let chosen = Self {
            m: pick(self.m, own.m),
            n: pick(self.n, own.n),
            k: pick(self.k, own.k),
            group: pick(self.group, own.group),
            latency: pick(self.latency, own.latency),
        };
        for (name, extent) in [("tile_m", chosen.m), ("tile_n", chosen.n), ("tile_k", chosen.k)] {
            if extent < 1 || extent.count_ones() != 1 {
                return Err(Failure::new(Status::Value, format!("{name}: {extent} is no power of two")));
            }
        }
        for (name, extent, other) in
            [("tile_m", chosen.m, chosen.n), ("tile_n", chosen.n, chosen.k), ("tile_k", chosen.k, chosen.m)]
        {
            if extent > MAX_TILE / other {
                let text = format!("{name}: a tile has at most {MAX_TILE} elements, not {extent} x {other}");
                return Err(Failure::new(Status::Value, text));
            }
        }
        if chosen.group < 1 {
            return Err(Failure::new(Status::Value, format!("group: {} is not above 0", chosen.group)));
        }
        if !(0..=MAX_LATENCY).contains(&chosen.latency) {
            let text = format!("latency: {} is not in 0..={MAX_LATENCY}", chosen.latency);
            return Err(Failure::new(Status::Value, text));
        }
        Ok(chosen)
    }

    /// The tiles of a product of these extents.
    pub fn tiles(&self, m: i32, n: i32) -> [i32; 2] {
        [tiles_of(m, self.m), tiles_of(n, self.n)]
    }
}

/// The blocks of a kernel each of which takes several tiles: all that run at once.
pub fn persistent_blocks(tiles: i32, hints: LaunchHints, target: &Target) -> Outcome<i32> {
    let clusters = target.multiprocessors()? / hints.num_ctas.max(1);
    Ok(clusters.max(1).min(tiles).saturating_mul(hints.occupancy.max(1)))
}

/// A form that an operator has, by its name.
pub fn flag(given: i32, name: &str) -> Outcome<bool> {
    match given {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::new(Status::Value, format!("{name}: {given} is neither 0 nor 1"))),
    }
}

/// Refuses transposed matrices.
pub fn untransposed(a: bool, b: bool) -> Outcome<()> {
    match (a, b) {
        (false, false) => Ok(()),
        (true, _) => Err(Failure::new(Status::Value, "transpose_a: the plain form has none")),
        (false, true) => Err(Failure::new(Status::Value, "transpose_b: the plain form has none")),
    }
}

/// The number of all tiles, for a grid in one dimension.
pub fn product(extents: &[i32]) -> Outcome<i32> {
    let product = extents.iter().try_fold(1i32, |product, extent| product.checked_mul(*extent));
    product.ok_or_else(|| Failure::new(Status::TooLarge, format!("out: {extents:?} are more than 2^31 tiles")))
}
