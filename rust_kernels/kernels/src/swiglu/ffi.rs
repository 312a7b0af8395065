//! silu(gate) * up.

use super::kernel::swiglu;
use crate::abi::Outcome;
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Tensor, tile_of};
use crate::{export, kernel};

static ROWS: Kernel = kernel!(swiglu::rows(gate: matrix, up: matrix, output: matrix));

pub fn plan(output: &Tensor, gate: &Tensor, up: &Tensor, at: &At) -> Outcome<Call> {
    let [rows, columns, _] = gate.matrix()?;
    for other in [up, output] {
        other.same_dtype(gate)?;
        other.same_shape(gate)?;
    }
    let tile = tile_of(columns, "gate")?;
    let generics = vec![Generic::Type(gate.dtype), Generic::Number(tile), Generic::Flag(tile != columns)];
    Call::new(&ROWS, generics, rows, at.hints).matrix(gate)?.matrix(up)?.matrix(output)
}

export!(tileir_swiglu(out; gate, up));
