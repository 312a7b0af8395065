//! Normalisation of each row of a matrix, which one block reads three times.

use super::kernel::layer_norm_legacy;
use crate::abi::{Failure, Outcome, Status};
use crate::call::{Call, Generic, Kernel};
use crate::export::At;
use crate::tensor::Tensor;
use crate::{export, kernel};

static ROWS: Kernel =
    kernel!(layer_norm_legacy::rows(input: matrix, output: matrix, weight: flat, bias: flat, mean: flat, rstd: flat));
/// Bytes of the longest row.
const MAX_BYTES: i32 = 65_536;

#[allow(clippy::too_many_arguments)]
pub fn plan(
    output: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    eps: f64,
    shift: f64,
    at: &At,
) -> Outcome<Call> {
    let [rows, columns, _] = input.matrix()?;
    output.same_dtype(input)?;
    output.same_shape(input)?;
    output.matrix()?;
    for tensor in [weight, bias] {
        tensor.has_shape(&[columns], "input")?;
        tensor.flat()?;
    }
    bias.same_dtype(weight)?;
    for tensor in [mean, rstd] {
        tensor.statistic(&[rows])?;
    }
    let longest = MAX_BYTES / input.dtype.bytes();
    if columns > longest {
        let text = format!("input: a row of {columns} is longer than {longest}");
        return Err(Failure::new(Status::TooLarge, text));
    }
    let tile = 1 << columns.ilog2();
    let number = Generic::Number;
    let types = [input.dtype, weight.dtype].map(Generic::Type);
    let bits = [eps, shift].map(Generic::bits);
    let generics = [&types[..], &[number(columns)], &bits, &[number(tile)]].concat();
    let call = Call::new(&ROWS, generics, rows, at.hints).matrix(input)?.matrix(output)?;
    call.flat(weight)?.flat(bias)?.flat(mean)?.flat(rstd)
}

export!(tileir_layer_norm_legacy(out, mean, rstd; input, weight, bias; eps: f64, shift: f64));
