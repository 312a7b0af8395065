//! What crosses the C boundary: tensor descriptors, hints, status codes, the text of the last error.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Dimensions that a descriptor has room for.
pub const MAX_RANK: usize = 8;

/// A tensor that the caller owns. Strides are in elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TensorDesc {
    pub ptr: u64,
    pub ndim: i32,
    pub shape: [i64; MAX_RANK],
    pub strides: [i64; MAX_RANK],
    pub dtype: i32,
}

/// Hints of one launch to the assembler, instead of the kernel's own; 0: the kernel's own.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LaunchHints {
    pub occupancy: i32,
    pub num_ctas: i32,
    pub num_worker_warps: i32,
}

impl LaunchHints {
    /// Refuses what the assembler would ignore.
    pub fn checked(self) -> Outcome<Self> {
        let power = |number: i32, most: i32| number == 0 || (number.count_ones() == 1 && (1..=most).contains(&number));
        let told = [
            ("occupancy", self.occupancy, (0..=32).contains(&self.occupancy), "in 0..=32"),
            ("num_ctas", self.num_ctas, power(self.num_ctas, 16), "0 or a power of two up to 16"),
            (
                "num_worker_warps",
                self.num_worker_warps,
                power(self.num_worker_warps, 32),
                "0 or a power of two up to 32",
            ),
        ];
        match told.into_iter().find(|(_, _, fits, _)| !fits) {
            Some((name, number, _, wanted)) => {
                Err(Failure::new(Status::Value, format!("hints: {name}, {number}, is not {wanted}")))
            }
            None => Ok(self),
        }
    }
}

/// What an exported function returns.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    /// A pointer is null that must not be: the descriptor or the tensor's memory.
    Null = 1,
    Dtype = 2,
    Rank = 3,
    Shape = 4,
    /// Elements that must be adjacent are not.
    Stride = 5,
    Empty = 6,
    /// An extent or a stride does not fit 32 bits.
    TooLarge = 7,
    /// An option has a value that is not one of its values.
    Value = 8,
    /// No driver, or no such device.
    Device = 9,
    /// The kernel does not compile here: no assembler, or one that refuses it.
    Compile = 10,
    Launch = 11,
    /// A fault of this library.
    Panic = 12,
}

/// Why a call was not launched. The text names the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub status: Status,
    pub text: String,
}

impl Failure {
    pub fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

pub type Outcome<T> = Result<T, Failure>;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// Runs the body of an exported function: no panic leaves it, and what failed is kept for `tileir_error`.
pub fn guard(body: impl FnOnce() -> Outcome<()>) -> i32 {
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|cause| {
        Err(Failure::new(Status::Panic, format!("a fault of this library: {}", panic_text(&*cause))))
    });
    match outcome {
        Ok(()) => Status::Ok as i32,
        Err(failure) => {
            let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
            LAST_ERROR.with_borrow_mut(|last| *last = text);
            failure.status as i32
        }
    }
}

/// What a panic said.
pub fn panic_text(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it said nothing".to_string())
}

/// The text of the last call of this thread that failed. Valid until the next call that fails.
#[unsafe(no_mangle)]
pub extern "C" fn tileir_error() -> *const c_char {
    LAST_ERROR.with_borrow(|last| last.as_ptr())
}

/// The size of `TensorDesc` that this library was built with: a caller compares it with its own.
#[unsafe(no_mangle)]
pub extern "C" fn tileir_tensor_desc_size() -> usize {
    size_of::<TensorDesc>()
}
