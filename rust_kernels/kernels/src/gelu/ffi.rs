//! The Gaussian error linear unit.

use super::kernel::gelu;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::Tensor;
use crate::{export, kernel};

static ELEMENTS: Kernel = kernel!(gelu::elements(output: flat, input: flat));
/// From so many elements on a launch is bound by memory, and takes the wide tile.
const MANY: i32 = 1 << 24;
const NARROW_TILE: i32 = 1024;
const WIDE_TILE: i32 = 4096;

/// `approximate`: 0 tanh by way of a sigmoid, 1 tanh.
pub fn plan(output: &Tensor, input: &Tensor, approximate: i32, at: &At) -> Outcome<Call> {
    let size = input.flat()?;
    output.same_dtype(input)?;
    output.same_shape(input)?;
    let tanh = is_tanh(approximate)?;
    let tile = if size >= MANY { WIDE_TILE } else { NARROW_TILE };
    let blocks = size / tile + i32::from(size % tile != 0);
    let generics = vec![Generic::Type(input.dtype), Generic::Number(tile), Generic::Flag(tanh)];
    Call::new(&ELEMENTS, generics, blocks, at.hints).flat(output)?.flat(input)
}

/// The form of GELU that `approximate` asks for.
pub fn is_tanh(approximate: i32) -> Outcome<bool> {
    match approximate {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::new(Status::Value, format!("approximate: {approximate} is neither 0 nor 1"))),
    }
}

export!(tileir_gelu(out; input; approximate: i32));
