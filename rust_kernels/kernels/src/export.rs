//! The exported function of an operator: the same around every plan.

use crate::abi::LaunchHints;
use crate::record::Target;

/// How a call is launched, and where.
pub struct At {
    pub hints: LaunchHints,
    pub target: Target,
}

/// What crosses the boundary beside tensors.
pub trait Given {
    type Value;

    /// # Safety
    /// A pointer is null or valid.
    unsafe fn value(self) -> Self::Value;
}

impl Given for i32 {
    type Value = Self;

    unsafe fn value(self) -> Self {
        self
    }
}

impl Given for f64 {
    type Value = Self;

    unsafe fn value(self) -> Self {
        self
    }
}

/// Null stands for what the operator chooses.
impl<T: Copy + Default> Given for *const T {
    type Value = T;

    unsafe fn value(self) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.as_ref() }.copied().unwrap_or_default()
    }
}

/// Exports `plan` of the module: `export!(name(outputs; inputs; option: type, ..))`, in C in this order.
///
/// Inputs are read first: what is wrong with them is often wrong with the outputs, too, and theirs is the name to tell.
#[macro_export]
macro_rules! export {
    ($name:ident($($output:ident),+; $($input:ident),+ $(; $($option:ident: $type:ty),+)?)) => {
        /// See [`plan`].
        ///
        /// # Safety
        /// The pointers are null or valid; the tensors lie on the device and live until the stream has passed the call.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C" fn $name(
            $($output: *const $crate::abi::TensorDesc,)+
            $($input: *const $crate::abi::TensorDesc,)+
            $($($option: $type,)+)?
            hints: *const $crate::abi::LaunchHints,
            device: i32,
            stream: *mut ::std::ffi::c_void,
        ) -> i32 {
            $crate::abi::guard(|| {
                // SAFETY: the caller's promise.
                unsafe {
                    $(let $input = $crate::tensor::Tensor::read($input, stringify!($input))?;)+
                    $(let $output = $crate::tensor::Tensor::read($output, stringify!($output))?;)+
                    let target = $crate::record::Target::of(device, stream);
                    let at = $crate::export::At { hints: $crate::export::Given::value(hints).checked()?, target };
                    let call = plan($(&$output,)+ $(&$input,)+ $($($crate::export::Given::value($option),)+)? &at)?;
                    $crate::memory::apart(&[$(&$output),+], &[$(&$input),+])?;
                    at.target.run(&call)
                }
            })
        }
    };
}
