//! Launches on a device: finds or compiles the kernel, enqueues it on the caller's stream, does not wait.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};

use cutile::cuda_core::{Context, Function, IntoResult, launch_kernel, sys};
use cutile::tile_kernel::{ExecutionContext, compile_from_context};

use crate::abi::{Failure, LaunchHints, Outcome, Status};
use crate::call::{Call, Generic, MAX_WORDS, Word, with_large_stack};

/// What a compiled kernel depends on.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    entry: (&'static str, &'static str),
    generics: Vec<Generic>,
    facts: Vec<u8>,
    hints: LaunchHints,
    device: usize,
}

static CONTEXTS: LazyLock<Mutex<HashMap<usize, Arc<Context>>>> = LazyLock::new(Mutex::default);
static FUNCTIONS: LazyLock<RwLock<HashMap<Key, Arc<Function>>>> = LazyLock::new(RwLock::default);

/// The primary context of a device, kept for good.
fn context(device: usize) -> Outcome<Arc<Context>> {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&device) {
        return Ok(context.clone());
    }
    if let Some(error) = sys::cuda_driver_load_error() {
        return Err(Failure::new(Status::Device, format!("device: no CUDA driver: {error}")));
    }
    let before = current_context();
    let made = Context::new(device);
    restore_context(before);
    let context =
        made.map_err(|error| Failure::new(Status::Device, format!("device: {device} cannot be used: {error}")))?;
    contexts.insert(device, context.clone());
    Ok(context)
}

pub fn ordinal(device: i32) -> Outcome<usize> {
    usize::try_from(device).map_err(|_| Failure::new(Status::Device, format!("device: {device} is no device")))
}

/// The number of multiprocessors of a device.
pub fn multiprocessors(device: i32) -> Outcome<i32> {
    static COUNTS: LazyLock<RwLock<HashMap<usize, i32>>> = LazyLock::new(RwLock::default);
    let device = ordinal(device)?;
    if let Some(count) = COUNTS.read().unwrap_or_else(PoisonError::into_inner).get(&device) {
        return Ok(*count);
    }
    let before = current_context();
    let count = context(device).and_then(|context| {
        let count = context.multiprocessor_count();
        count.map_err(|error| Failure::new(Status::Device, format!("device: {device} cannot be asked: {error}")))
    });
    restore_context(before);
    let count = i32::try_from(count?).unwrap_or(i32::MAX);
    COUNTS.write().unwrap_or_else(PoisonError::into_inner).insert(device, count);
    Ok(count)
}

/// Enqueues a call.
pub fn launch(call: &Call, device: i32, stream: *mut c_void) -> Outcome<()> {
    let device = ordinal(device)?;
    let function = function(call, device)?;
    let mut cells = [0u64; MAX_WORDS];
    let mut places = [ptr::null_mut::<c_void>(); MAX_WORDS];
    let words = call.words();
    if words.len() > MAX_WORDS {
        return Err(call.refused("too many parameters"));
    }
    for (index, word) in words.iter().enumerate() {
        cells[index] = match word {
            Word::Pointer(address) => *address,
            Word::I32(number) => u64::from(number.cast_unsigned()),
            Word::F32(number) => u64::from(number.to_bits()),
        };
        places[index] = (&raw mut cells[index]).cast();
    }
    let before = current_context();
    let home = function.context().cu_ctx();
    if before != home {
        set_context(home)?;
    }
    // SAFETY: the function was compiled for these parameters, the cells outlive the call, and that addresses and stream
    // are valid is the caller's promise.
    let launched = unsafe {
        launch_kernel(function.cu_function(), call.grid, (1, 1, 1), 0, stream.cast(), &mut places[..words.len()])
    };
    if before != home {
        restore_context(before);
    }
    launched.map_err(|error| {
        let (module, entry) = (call.kernel.module, call.kernel.entry);
        Failure::new(Status::Launch, format!("{module}::{entry}: not launched: {error}"))
    })
}

fn function(call: &Call, device: usize) -> Outcome<Arc<Function>> {
    let key = Key {
        entry: (call.kernel.module, call.kernel.entry),
        generics: call.generics.clone(),
        facts: call.facts(),
        hints: call.hints,
        device,
    };
    if let Some(function) = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(function.clone());
    }
    let context = context(device)?;
    let function = with_large_stack(|| compile(call, &context))?;
    FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner).insert(key, function.clone());
    Ok(function)
}

fn compile(call: &Call, context: &Arc<Context>) -> Outcome<Arc<Function>> {
    context.bind_to_thread().map_err(|error| Failure::new(Status::Device, format!("device: {error}")))?;
    let here = ExecutionContext::new(context.default_stream());
    let (function, validator) = compile_from_context(
        &here,
        call.kernel.syntax,
        call.kernel.module,
        call.kernel.entry,
        &format!("{}_entry", call.kernel.entry),
        call.generic_texts(),
        call.stride_args(),
        call.spec_args(),
        call.scalar_hints(),
        None,
        call.options(),
        call.kernel.source_hash,
    )
    .map_err(|error| call.refused(&error.to_string()))?;
    if !validator.launch_checks.is_empty() {
        return Err(call.refused("it wants checks at launch, and kernels here do without"));
    }
    Ok(function)
}

fn current_context() -> sys::CUcontext {
    let mut context = ptr::null_mut();
    // SAFETY: writes one pointer. Without a current context or a driver it stays null.
    let _ = unsafe { sys::cuCtxGetCurrent(&mut context) };
    context
}

fn set_context(context: sys::CUcontext) -> Outcome<()> {
    // SAFETY: null, or a context that was current or that is kept for good.
    let done = unsafe { sys::cuCtxSetCurrent(context) }.result();
    done.map_err(|error| Failure::new(Status::Device, format!("device: its context cannot be made current: {error}")))
}

/// The caller finds the thread as it left it.
fn restore_context(context: sys::CUcontext) {
    if context != current_context() {
        let _ = set_context(context);
    }
}
