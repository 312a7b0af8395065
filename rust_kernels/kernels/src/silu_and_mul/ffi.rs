//! silu of the left half of each row times its right half.

use super::kernel::silu_and_mul;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Tensor, tile_of};
use crate::{export, kernel};

static ROWS: Kernel = kernel!(silu_and_mul::rows(input: matrix, output: matrix));

pub fn plan(output: &Tensor, input: &Tensor, at: &At) -> Outcome<Call> {
    let [rows, columns, _] = input.matrix()?;
    if columns % 2 != 0 {
        return Err(Failure::new(Status::Shape, format!("input: a row of {columns} has no two halves")));
    }
    let width = columns / 2;
    output.same_dtype(input)?;
    output.has_shape(&[rows, width], "input")?;
    let tile = tile_of(width, "input")?;
    let generics = vec![Generic::Type(input.dtype), Generic::Number(tile), Generic::Number(width)];
    Call::new(&ROWS, generics, rows, at.hints).matrix(input)?.matrix(output)
}

export!(tileir_silu_and_mul(out; input));
