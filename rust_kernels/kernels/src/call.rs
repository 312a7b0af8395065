//! One launch, described: which kernel, with which constants, facts and hints, on what. Export and launch both start here,
//! so an exported kernel is the one that a launch would compile.

use cutile::compile_api::{CompileArtifacts, KernelCompiler};
use cutile::cutile_compiler::ast::Module;
use cutile::cutile_compiler::specialization::{DivHint, SpecializationBits, compute_spec};
use cutile::tile_kernel::CompileOptions;

use crate::abi::{Failure, LaunchHints, MAX_RANK, Outcome, Status, panic_text};
use crate::tensor::{Dims, Dtype, Tensor};

/// Parameters that an entry may have.
pub const MAX_WORDS: usize = 64;

/// cuTile's compiler recurses deeply.
const STACK_BYTES: usize = 256 << 20;

/// An entry of a kernel module.
#[derive(Debug)]
pub struct Kernel {
    pub module: &'static str,
    pub entry: &'static str,
    /// Its parameters in order.
    pub parameters: &'static [&'static str],
    pub syntax: fn() -> Module,
    pub source_hash: &'static str,
}

/// Names an entry: `kernel!(module::entry(parameter, ..))`, where `module` is in scope. `x: matrix` stands for the four
/// parameters of [`Call::matrix`], `x: flat` for the two of [`Call::flat`].
#[macro_export]
macro_rules! kernel {
    ($module:ident :: $entry:ident ($($parameters:tt)*)) => {
        $crate::kernel!(@ $module $entry [] $($parameters)*)
    };
    (@ $module:ident $entry:ident [$($name:expr,)*] $x:ident: matrix $(, $($rest:tt)*)?) => {
        $crate::kernel!(@ $module $entry [
            $($name,)*
            stringify!($x),
            concat!(stringify!($x), "_rows"),
            concat!(stringify!($x), "_columns"),
            concat!(stringify!($x), "_stride"),
        ] $($($rest)*)?)
    };
    (@ $module:ident $entry:ident [$($name:expr,)*] $x:ident: flat $(, $($rest:tt)*)?) => {
        $crate::kernel!(@ $module $entry [
            $($name,)* stringify!($x), concat!(stringify!($x), "_size"),
        ] $($($rest)*)?)
    };
    (@ $module:ident $entry:ident [$($name:expr,)*] $x:ident $(, $($rest:tt)*)?) => {
        $crate::kernel!(@ $module $entry [$($name,)* stringify!($x),] $($($rest)*)?)
    };
    (@ $module:ident $entry:ident [$($name:expr,)*]) => {
        $crate::call::Kernel {
            module: stringify!($module),
            entry: stringify!($entry),
            parameters: &[$($name),*],
            syntax: $module::__module_ast_self,
            source_hash: $module::_SOURCE_HASH,
        }
    };
}

/// A compile-time parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generic {
    Type(Dtype),
    Number(i32),
    Flag(bool),
}

impl Generic {
    /// A number in f32, by its bits: cuTile Rust has no parameters of that type.
    pub fn bits(number: f64) -> Self {
        Self::Number((number as f32).to_bits().cast_signed())
    }

    fn text(self) -> String {
        match self {
            Self::Type(dtype) => dtype.name().to_string(),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }
}

/// An argument of an entry, as its Rust parameter sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Pointer(u64),
    I32(i32),
    F32(f32),
    View { pointer: u64, shape: Dims, strides: Dims, element_bytes: i32 },
}

/// A number that the entry gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Word {
    Pointer(u64),
    I32(i32),
    F32(f32),
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Call {
    pub kernel: &'static Kernel,
    pub generics: Vec<Generic>,
    pub arguments: Vec<Argument>,
    pub grid: (u32, u32, u32),
    pub hints: LaunchHints,
}

impl Call {
    pub fn new(kernel: &'static Kernel, generics: Vec<Generic>, blocks: i32, hints: LaunchHints) -> Self {
        Self { kernel, generics, arguments: Vec::with_capacity(16), grid: (blocks.unsigned_abs(), 1, 1), hints }
    }

    /// Launches on these blocks instead of a row of them.
    pub fn on_grid(mut self, blocks: [i32; 3]) -> Self {
        self.grid = blocks.map(i32::unsigned_abs).into();
        self
    }

    /// Passes a matrix as pointer, rows, columns and row stride.
    pub fn matrix(mut self, tensor: &Tensor) -> Outcome<Self> {
        let [rows, columns, stride] = tensor.matrix()?;
        self.arguments.push(Argument::Pointer(tensor.pointer));
        self.arguments.extend([rows, columns, stride].map(Argument::I32));
        Ok(self)
    }

    /// Passes a tensor whose shape does not matter as pointer and number of elements.
    pub fn flat(mut self, tensor: &Tensor) -> Outcome<Self> {
        let size = tensor.flat()?;
        self.arguments.extend([Argument::Pointer(tensor.pointer), Argument::I32(size)]);
        Ok(self)
    }

    /// Passes a tensor for views: cuTile's `&Tensor`.
    pub fn view(mut self, tensor: &Tensor) -> Self {
        self.arguments.push(Argument::View {
            pointer: tensor.pointer,
            shape: tensor.shape,
            strides: tensor.strides,
            element_bytes: tensor.dtype.bytes(),
        });
        self
    }

    /// Passes the address of a tensor alone.
    pub fn pointer(mut self, tensor: &Tensor) -> Self {
        self.arguments.push(Argument::Pointer(tensor.pointer));
        self
    }

    pub fn number(mut self, value: i32) -> Self {
        self.arguments.push(Argument::I32(value));
        self
    }

    pub fn float(mut self, value: f32) -> Self {
        self.arguments.push(Argument::F32(value));
        self
    }

    /// What the entry gets, in order.
    pub fn words(&self) -> Vec<Word> {
        let mut words = Vec::with_capacity(MAX_WORDS);
        for argument in &self.arguments {
            match argument {
                Argument::Pointer(address) => words.push(Word::Pointer(*address)),
                Argument::I32(number) => words.push(Word::I32(*number)),
                Argument::F32(number) => words.push(Word::F32(*number)),
                Argument::View { pointer, shape, strides, .. } => {
                    words.push(Word::Pointer(*pointer));
                    words.extend(shape.iter().chain(strides.iter()).map(|number| Word::I32(*number)));
                }
            }
        }
        words
    }

    /// What a launch states of its arguments: as much as a specialisation depends on, in few bytes.
    pub fn facts(&self) -> Vec<u8> {
        let mut facts = Vec::with_capacity(MAX_WORDS);
        let power = |bits: u32| bits.min(4) as u8;
        for argument in &self.arguments {
            match argument {
                Argument::Pointer(address) => facts.push(power(address.trailing_zeros())),
                Argument::I32(number) => facts.push(power(number.trailing_zeros())),
                Argument::F32(_) => {}
                Argument::View { pointer, shape, strides, .. } => {
                    facts.push(power(pointer.trailing_zeros()));
                    facts.extend(shape.iter().map(|extent| power(extent.trailing_zeros())));
                    facts.extend(strides.iter().map(|step| power(step.trailing_zeros()) | u8::from(*step == 1) << 7));
                    facts.push(u8::from(disjoint(shape, strides)));
                }
            }
        }
        facts
    }

    pub fn generic_texts(&self) -> Vec<String> {
        self.generics.iter().map(|generic| generic.text()).collect()
    }

    pub fn stride_args(&self) -> Vec<(String, Vec<i32>)> {
        let ones = |strides: &[i32]| strides.iter().map(|step| if *step == 1 { 1 } else { -1 }).collect();
        self.named(|argument| match argument {
            Argument::View { strides, .. } => Some(ones(strides)),
            _ => None,
        })
    }

    pub fn spec_args(&self) -> Vec<(String, SpecializationBits)> {
        self.named(spec)
    }

    pub fn scalar_hints(&self) -> Vec<(String, DivHint)> {
        self.named(|argument| match argument {
            Argument::Pointer(address) => Some(DivHint::from_ptr(*address)),
            Argument::I32(number) => Some(DivHint::from_value(*number)),
            _ => None,
        })
    }

    fn named<T>(&self, pick: impl Fn(&Argument) -> Option<T>) -> Vec<(String, T)> {
        let parameters = self.kernel.parameters.iter().zip(&self.arguments);
        parameters.filter_map(|(name, argument)| Some((name.to_string(), pick(argument)?))).collect()
    }

    /// Optimised, whatever the profile of this build.
    pub fn options(&self) -> CompileOptions {
        let mut options = CompileOptions::default().opt_level(3);
        if self.hints.occupancy > 0 {
            options = options.occupancy(self.hints.occupancy);
        }
        if self.hints.num_ctas > 0 {
            options = options.num_cta_in_cga(self.hints.num_ctas);
        }
        if self.hints.num_worker_warps > 0 {
            options = options.num_worker_warps_per_cta(self.hints.num_worker_warps);
        }
        options
    }

    /// The Tile IR that a launch on `arch` would compile. Needs no GPU.
    pub fn compile(&self, arch: &str) -> Outcome<CompileArtifacts> {
        let strides = self.stride_args();
        let strides: Vec<(&str, &[i32])> =
            strides.iter().map(|(name, list)| (name.as_str(), list.as_slice())).collect();
        let specs = self.spec_args();
        let specs: Vec<(&str, SpecializationBits)> =
            specs.iter().map(|(name, bits)| (name.as_str(), bits.clone())).collect();
        let hints = self.scalar_hints();
        let hints: Vec<(&str, DivHint)> = hints.iter().map(|(name, hint)| (name.as_str(), *hint)).collect();
        let compiled = KernelCompiler::new(self.kernel.syntax, self.kernel.module, self.kernel.entry)
            .target(arch)
            .generics(self.generic_texts())
            .strides(&strides)
            .spec_args(&specs)
            .scalar_hints(&hints)
            .options(self.options())
            .compile();
        compiled.map_err(|error| self.refused(&error.to_string()))
    }

    pub fn refused(&self, text: &str) -> Failure {
        Failure::new(Status::Compile, format!("{}::{}: {text}", self.kernel.module, self.kernel.entry))
    }
}

/// Whether no two elements of a view share an address, as cuTile tells it in `elements_disjoint`.
pub fn disjoint(shape: &[i32], strides: &[i32]) -> bool {
    let mut sorted = [(0, 0); MAX_RANK];
    let sorted = &mut sorted[..shape.len()];
    for (place, pair) in sorted.iter_mut().zip(strides.iter().zip(shape)) {
        *place = (*pair.0, *pair.1);
    }
    sorted.sort_unstable();
    let apart = |pair: &[(i32, i32)]| pair[1].0 > 0 && pair[1].0 >= pair[0].0.wrapping_mul(pair[0].1);
    sorted.first().is_none_or(|(step, _)| *step > 0) && sorted.windows(2).all(apart)
}

fn spec(argument: &Argument) -> Option<SpecializationBits> {
    match argument {
        Argument::View { pointer, shape, strides, element_bytes } => {
            Some(compute_spec(*pointer, shape, strides, *element_bytes))
        }
        _ => None,
    }
}

/// Runs `work` where the stack is large enough for cuTile's compiler, and waits for it.
pub fn with_large_stack<T: Send>(work: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let worker =
            worker.map_err(|error| Failure::new(Status::Compile, format!("no thread to compile in: {error}")))?;
        worker.join().unwrap_or_else(|cause| {
            Err(Failure::new(Status::Compile, format!("cuTile's compiler failed: {}", panic_text(&*cause))))
        })
    })
}
