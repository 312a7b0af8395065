//! The kernels of this operator and its exported function.

pub mod ffi;
#[allow(unused_variables, unused_assignments, clippy::all)]
pub mod kernel;
