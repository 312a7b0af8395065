//! max(x, 0).

use super::kernel::relu;
use crate::abi::Outcome;
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::Tensor;
use crate::{export, kernel};

static ELEMENTS: Kernel = kernel!(relu::elements(input: flat, output: flat));
const TILE: i32 = 1024;

pub fn plan(output: &Tensor, input: &Tensor, at: &At) -> Outcome<Call> {
    let size = input.flat()?;
    output.same_dtype(input)?;
    output.same_shape(input)?;
    let blocks = size / TILE + i32::from(size % TILE != 0);
    let generics = vec![Generic::Type(input.dtype), Generic::Number(TILE)];
    Call::new(&ELEMENTS, generics, blocks, at.hints).flat(input)?.flat(output)
}

export!(tileir_relu(out; input));
