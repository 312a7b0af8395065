//! Tile kernels in cuTile Rust behind a C ABI: one exported function an operator.
//!
//! A call checks its tensors, says which kernel it launches with which facts ([`call::Call`]), and enqueues it on the
//! caller's stream. Nothing is copied, allocated on the device or waited for. `include/tileir_kernels.h` is the ABI.

pub mod abi;
pub mod bmm;
pub mod call;
pub mod device;
pub mod dropout;
pub mod export;
pub mod geglu;
pub mod gelu;
pub mod gpu;
pub mod layer_norm;
pub mod layer_norm_legacy;
pub mod matmul;
pub mod memory;
pub mod persistent_layer_norm;
pub mod record;
pub mod relu;
pub mod rms_norm;
pub mod rope;
pub mod silu_and_mul;
pub mod softmax;
pub mod splitk_reduce;
pub mod swiglu;
pub mod tensor;
pub mod tiling;
pub mod transpose;
