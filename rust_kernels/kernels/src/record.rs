//! Instead of launching, writes what would be launched: for machines without a GPU, and to compile ahead.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cutile::cutile_compiler::cuda_tile_runtime_utils::{
    TileirasOptions, compile_bytecode_cached, selected_bytecode_version,
};
use cutile::jit_cache::{self, FileSystemJitStore};

use crate::abi::{Failure, Outcome, Status, guard};
use crate::call::{Call, Word, with_large_stack};
use crate::gpu;

/// Where calls go. A host that could print it would know that it is recorded.
#[derive(Clone)]
pub enum Target {
    Gpu { device: i32, stream: *mut c_void },
    Record(Recording),
}

/// A device that is only described, and the folder for what would be launched on it.
#[derive(Clone)]
pub struct Recording {
    pub folder: PathBuf,
    pub arch: String,
    pub multiprocessors: i32,
    /// Whether the kernels are assembled too, into the cache that is open.
    pub assemble: bool,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

impl Target {
    /// The device and stream of a call, or the recording of this thread.
    pub fn of(device: i32, stream: *mut c_void) -> Self {
        RECORDING.with_borrow(|recording| match recording {
            Some(recording) => Self::Record(recording.clone()),
            None => Self::Gpu { device, stream },
        })
    }

    pub fn multiprocessors(&self) -> Outcome<i32> {
        match self {
            Self::Gpu { device, .. } => gpu::multiprocessors(*device),
            Self::Record(recording) => Ok(recording.multiprocessors),
        }
    }

    pub fn run(&self, call: &Call) -> Outcome<()> {
        match self {
            Self::Gpu { device, stream } => gpu::launch(call, *device, *stream),
            Self::Record(recording) => with_large_stack(|| recording.write(call)),
        }
    }
}

impl Recording {
    /// Writes bytecode and launch as `NUMBER-ENTRY.tirbc` and `.json`.
    fn write(&self, call: &Call) -> Outcome<()> {
        let bytecode = call.compile(&self.arch)?.bytecode().map_err(|error| call.refused(&error.to_string()))?;
        let number = (0..).find(|number| !self.place(call, *number, "json").exists()).unwrap_or(0);
        let written = fs::write(self.place(call, number, "tirbc"), &bytecode)
            .and_then(|()| fs::write(self.place(call, number, "json"), self.launch_json(call)));
        written.map_err(|error| Failure::new(Status::Value, format!("folder: {}: {error}", self.folder.display())))?;
        if self.assemble { self.assemble(call, &bytecode) } else { Ok(()) }
    }

    fn place(&self, call: &Call, number: usize, suffix: &str) -> PathBuf {
        let (module, entry) = (call.kernel.module, call.kernel.entry);
        self.folder.join(format!("{number:03}-{module}-{entry}.{suffix}"))
    }

    fn launch_json(&self, call: &Call) -> String {
        let arguments: Vec<String> = call.words().into_iter().map(word_json).collect();
        let generics: Vec<String> = call.generic_texts().iter().map(|text| format!("\"{text}\"")).collect();
        let (x, y, z) = call.grid;
        format!(
            "{{\"kernel\": \"{}::{}\", \"entry\": \"{}_entry\", \"arch\": \"{}\", \"generics\": [{}], \
             \"grid\": [{x}, {y}, {z}], \"args\": [{}]}}\n",
            call.kernel.module,
            call.kernel.entry,
            call.kernel.entry,
            self.arch,
            generics.join(", "),
            arguments.join(", ")
        )
    }

    fn assemble(&self, call: &Call, bytecode: &[u8]) -> Outcome<()> {
        let version = selected_bytecode_version().map_err(|error| call.refused(&error.to_string()))?;
        let options = TileirasOptions::from_compile_options(&call.options());
        let assembled = compile_bytecode_cached(bytecode, version, &self.arch, &options);
        assembled.map(|_| ()).map_err(|error| call.refused(&error.to_string()))
    }
}

fn word_json(word: Word) -> String {
    match word {
        Word::Pointer(address) => format!("{{\"ptr\": {address}}}"),
        Word::I32(number) => format!("{{\"i32\": {number}}}"),
        Word::F32(number) => format!("{{\"f32\": {number:?}}}"),
    }
}

/// From now on calls of this thread write what they would launch on a device of `arch` with so many multiprocessors
/// into `folder`, and launch nothing. `folder` null: calls launch again. With `assemble` the kernels are also compiled
/// for `arch` and kept in the cache that `tileir_cache` opened.
///
/// # Safety
/// The strings are null or end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_record(
    folder: *const c_char,
    arch: *const c_char,
    multiprocessors: i32,
    assemble: i32,
) -> i32 {
    guard(|| {
        let recording = if folder.is_null() {
            None
        } else {
            // SAFETY: the caller's promise.
            let (folder, arch) = unsafe { (text(folder, "folder")?, text(arch, "arch")?) };
            if !Path::new(&folder).is_dir() {
                return Err(Failure::new(Status::Value, format!("folder: {folder} is no folder")));
            }
            if !arch.strip_prefix("sm_").is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit())) {
                return Err(Failure::new(Status::Value, format!("arch: {arch:?} is no architecture such as sm_90")));
            }
            if multiprocessors < 1 {
                let text = format!("multiprocessors: {multiprocessors} is not above 0");
                return Err(Failure::new(Status::Value, text));
            }
            Some(Recording { folder: folder.into(), arch, multiprocessors, assemble: assemble != 0 })
        };
        RECORDING.set(recording);
        Ok(())
    })
}

/// Keeps compiled kernels in `folder`, and looks there before compiling.
///
/// # Safety
/// `folder` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileir_cache(folder: *const c_char) -> i32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let folder = unsafe { text(folder, "folder")? };
        let store = FileSystemJitStore::new(&folder);
        let store = store.map_err(|error| Failure::new(Status::Value, format!("folder: {folder}: {error}")))?;
        jit_cache::enable(Arc::new(store));
        Ok(())
    })
}

unsafe fn text(given: *const c_char, name: &str) -> Outcome<String> {
    if given.is_null() {
        return Err(Failure::new(Status::Null, format!("{name}: null")));
    }
    // SAFETY: not null, and ends with a zero by the caller's promise.
    let text = unsafe { CStr::from_ptr(given) }.to_str();
    text.map(str::to_string).map_err(|_| Failure::new(Status::Value, format!("{name}: not UTF-8")))
}
