//! Left half times GELU of the right half.

use super::kernel::geglu;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::gelu::ffi::is_tanh;
use crate::tensor::Tensor;
use crate::{export, kernel};

static ELEMENTS: Kernel = kernel!(geglu::elements(output: flat, input: flat));
const TILE: i32 = 256;

/// `dim`: the dimension that is split, counted from the end if negative. `approximate`: as of GELU.
pub fn plan(output: &Tensor, input: &Tensor, dim: i32, approximate: i32, at: &At) -> Outcome<Call> {
    let tanh = is_tanh(approximate)?;
    let rank = input.shape.len() as i32;
    let Some(axis) = (-rank..rank).contains(&dim).then(|| dim.rem_euclid(rank) as usize) else {
        return Err(Failure::new(Status::Value, format!("dim: {dim} is no dimension of input, which has {rank}")));
    };
    if input.shape[axis] % 2 != 0 {
        let text = format!("input: dimension {axis} of {:?} has no two halves", input.shape);
        return Err(Failure::new(Status::Shape, text));
    }
    let size = input.flat()?;
    output.same_dtype(input)?;
    let mut half = input.shape;
    half[axis] /= 2;
    output.has_shape(&half, "input")?;
    output.flat()?;
    let inner: i32 = half[axis..].iter().product();
    // All of the first dimension is one piece: it is never stepped over.
    let strides = if axis == 0 { [0, 0] } else { [2 * inner, inner] };
    let number = Generic::Number;
    let [input_stride, output_stride] = strides.map(number);
    let dtype = Generic::Type(input.dtype);
    let generics = vec![dtype, number(inner), input_stride, output_stride, number(TILE), Generic::Flag(tanh)];
    let blocks = (size / 2).div_euclid(TILE) + i32::from((size / 2) % TILE != 0);
    Call::new(&ELEMENTS, generics, blocks, at.hints).flat(output)?.flat(input)
}

export!(tileir_geglu(out; input; dim: i32, approximate: i32));
