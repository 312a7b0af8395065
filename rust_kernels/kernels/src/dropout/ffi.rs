//! Dropout with a hash for a source of chance.

use cutile::half::{bf16, f16};

use super::kernel::dropout;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::{Dtype, Tensor};
use crate::{export, kernel};

static ELEMENTS: Kernel = kernel!(dropout::elements(input: flat, output: flat));
const TILE: i32 = 1024;

/// `probability`: with which an element becomes zero. `seed`: well mixed, for the hash hardly mixes it.
pub fn plan(output: &Tensor, input: &Tensor, probability: f64, seed: i32, at: &At) -> Outcome<Call> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(Failure::new(Status::Value, format!("probability: {probability} is not in 0 to 1")));
    }
    let size = input.flat()?;
    output.same_dtype(input)?;
    output.same_shape(input)?;
    let scale = if probability == 1.0 { 0.0 } else { rounded(1.0 / (1.0 - probability), input.dtype) };
    let bits = |number: f32| Generic::Number(number.to_bits().cast_signed());
    let blocks = size / TILE + i32::from(size % TILE != 0);
    let dtype = Generic::Type(input.dtype);
    let generics = vec![dtype, bits(probability as f32), bits(scale), Generic::Number(seed), Generic::Number(TILE)];
    Call::new(&ELEMENTS, generics, blocks, at.hints).flat(input)?.flat(output)
}

/// The number of the type that is next to this one.
fn rounded(number: f64, dtype: Dtype) -> f32 {
    match dtype {
        Dtype::F32 => number as f32,
        Dtype::F16 => f16::from_f64(number).to_f32(),
        Dtype::BF16 => bf16::from_f64(number).to_f32(),
    }
}

export!(tileir_dropout(out; input; probability: f64, seed: i32));
