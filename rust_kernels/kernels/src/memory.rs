//! Memory that tensors of a call share. Blocks run in any order, so what one writes no other may read or write.

use crate::abi::{Failure, MAX_RANK, Outcome, Status};
use crate::tensor::Tensor;

/// Refuses outputs that have several elements at one address, or share memory with one another, or with an input that does
/// not start at the same address with the same strides: of such a one, each block reads what it then writes.
pub fn apart(outputs: &[&Tensor], inputs: &[&Tensor]) -> Outcome<()> {
    for (index, output) in outputs.iter().enumerate() {
        if overlaps(output) {
            let text = format!("{}: elements of it share memory, its strides are {:?}", output.name, output.strides);
            return Err(Failure::new(Status::Stride, text));
        }
        separate(output, &outputs[..index])?;
        for input in inputs.iter().filter(|input| !in_place(output, input)) {
            separate(output, &[input])?;
        }
    }
    Ok(())
}

/// Refuses an output that shares memory with one of these, also where that is in its very place.
pub fn separate(output: &Tensor, others: &[&Tensor]) -> Outcome<()> {
    match others.iter().find(|other| holds(output, other.pointer) || holds(other, output.pointer)) {
        Some(other) => {
            Err(Failure::new(Status::Value, format!("{}: it shares memory with {}", output.name, other.name)))
        }
        None => Ok(()),
    }
}

fn in_place(output: &Tensor, input: &Tensor) -> bool {
    (output.pointer, output.dtype, output.strides) == (input.pointer, input.dtype, input.strides)
}

/// Steps in elements and extents of the dimensions along which there is more than one, by step.
fn dimensions(tensor: &Tensor) -> ([(i32, i32); MAX_RANK], usize) {
    let mut sorted = [(0, 0); MAX_RANK];
    let mut count = 0;
    for (step, extent) in tensor.strides.iter().zip(tensor.shape.iter()).filter(|(_, extent)| **extent > 1) {
        sorted[count] = (*step, *extent);
        count += 1;
    }
    sorted[..count].sort_unstable();
    (sorted, count)
}

/// Whether a step of some dimension does not get past the elements of those with shorter steps.
fn overlaps(tensor: &Tensor) -> bool {
    let (sorted, count) = dimensions(tensor);
    let mut last = 0i64;
    sorted[..count].iter().any(|(step, extent)| {
        let within = i64::from(*step) <= last;
        last = last.saturating_add(i64::from(*step) * i64::from(extent - 1));
        within
    })
}

/// Whether an element lies at this address. Of tensors that overlap with themselves, only some elements are seen.
fn holds(tensor: &Tensor, address: u64) -> bool {
    let Some(mut rest) = address.checked_sub(tensor.pointer) else { return false };
    let bytes = u64::from(tensor.dtype.bytes().unsigned_abs());
    let (sorted, count) = dimensions(tensor);
    for (step, extent) in sorted[..count].iter().rev().filter(|(step, _)| *step > 0) {
        let step = u64::from(step.unsigned_abs()) * bytes;
        rest -= step * (rest / step).min(u64::from(extent.unsigned_abs() - 1));
    }
    rest < bytes
}
