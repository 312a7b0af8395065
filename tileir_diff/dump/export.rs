//! Compiles the kernels of the crate that it is linked with to Tile IR bytecode. `tileir-diff` writes a package
//! around it, builds it and asks it; no kernel has to be registered, for cutile's linker registry has them all.
//!
//! `list` prints every entry with its signature. `export` reads {"jobs": [..]} from standard input, writes the
//! bytecode of each to its `output`, and prints a list with null or a message for each.

use std::io::Read;

use cutile::compile_api::KernelCompiler;
use cutile::cutile_compiler::ast::{syn, Module};
use cutile::cutile_compiler::hints::{CompileOptions, DebugInfoLevel};
use cutile::cutile_compiler::registry::CUTILE_MODULES;
use cutile::cutile_compiler::specialization::{compute_spec, DivHint, SpecializationBits};
use serde_json::{json, Value};
use syn::__private::quote::ToTokens; // the one that this syn uses
use syn::{Expr, FnArg, GenericArgument, GenericParam, Item, ItemFn, PathArguments, Type};

/// The compiler recurses deeply.
const STACK_BYTES: usize = 256 << 20;
/// The crate whose own kernels are not the user's.
const FRAMEWORK: &str = "cutile";

fn main() {
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap();
    if let Err(message) = worker.join().unwrap() {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), String> {
    let answer = match std::env::args().nth(1).as_deref() {
        Some("list") => Value::Array(entries()),
        Some("export") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
            let request: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            Value::Array(list(&request["jobs"]).iter().map(attempt).collect())
        }
        _ => return Err("list or export?".to_string()),
    };
    println!("{answer}");
    Ok(())
}

fn entries() -> Vec<Value> {
    let mut found = Vec::new();
    for module in CUTILE_MODULES {
        if module.absolute_path.split("::").next() == Some(FRAMEWORK) {
            continue;
        }
        let built = (module.build)();
        let Some((_, items)) = &built.ast().content else { continue };
        for item in items {
            match item {
                Item::Fn(function) if is_entry(function) => found.push(describe(module.absolute_path, function)),
                _ => {}
            }
        }
    }
    found
}

fn is_entry(function: &ItemFn) -> bool {
    function.attrs.iter().any(|attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "entry"))
}

fn describe(module: &str, function: &ItemFn) -> Value {
    let parameters: Vec<Value> = function.sig.inputs.iter().filter_map(parameter).collect();
    let generics: Vec<Value> = function.sig.generics.params.iter().filter_map(generic).collect();
    json!({"module": module, "name": function.sig.ident.to_string(), "parameters": parameters, "generics": generics})
}

fn generic(parameter: &GenericParam) -> Option<Value> {
    match parameter {
        GenericParam::Type(given) => Some(json!({"name": given.ident.to_string(), "type": ""})),
        GenericParam::Const(given) => Some(json!({"name": given.ident.to_string(), "type": words(&given.ty)})),
        GenericParam::Lifetime(_) => None,
    }
}

fn parameter(argument: &FnArg) -> Option<Value> {
    let FnArg::Typed(typed) = argument else { return None };
    let name = words(&typed.pat).trim_start_matches("mut ").to_string();
    let (kind, element, rank) = match &*typed.ty {
        Type::Reference(reference) => {
            let kind = if reference.mutability.is_some() { "output" } else { "tensor" };
            let (element, rank) = tensor(&reference.elem);
            (kind, element, rank)
        }
        Type::Ptr(pointer) => ("pointer", words(&pointer.elem), None),
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "MappedPartitionMut") => {
            let (element, rank) = tensor(&typed.ty);
            ("output", element, rank)
        }
        other => ("scalar", words(other), None),
    };
    Some(json!({"name": name, "kind": kind, "type": words(&typed.ty), "element": element, "rank": rank}))
}

/// Element type and rank of `Tensor<E, {[..]}>`; no rank where a const array generic has the shape.
fn tensor(tensor: &Type) -> (String, Option<usize>) {
    let Type::Path(path) = tensor else { return (String::new(), None) };
    let Some(last) = path.path.segments.last() else { return (String::new(), None) };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return (String::new(), None) };
    let element = arguments.args.first().map(words).unwrap_or_default();
    let rank = arguments.args.iter().nth(1).and_then(|shape| match shape {
        GenericArgument::Const(Expr::Block(block)) => match block.block.stmts.as_slice() {
            [syn::Stmt::Expr(Expr::Array(array), _)] => Some(array.elems.len()),
            _ => None,
        },
        _ => None,
    });
    (element, rank)
}

fn words(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

fn attempt(job: &Value) -> Value {
    // the compiler panics on some wrong input
    match std::panic::catch_unwind(|| compile(job)) {
        Ok(Ok(())) => Value::Null,
        Ok(Err(message)) => Value::String(message),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let said = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Value::String(format!("the compiler panicked: {}", said.unwrap_or_default()))
        }
    }
}

/// A job: {module, entry, target, generics, tensors: [{name, align, shape, strides}], pointers: [{name, align}],
/// integers: [{name, value}], options: {occupancy, ..}, grid, output}.
fn compile(job: &Value) -> Result<(), String> {
    let path = text(&job["module"]);
    let module = CUTILE_MODULES.iter().find(|module| module.absolute_path == path).ok_or("no such module")?;
    let build: fn() -> Module = module.build;
    let tensors = list(&job["tensors"]);
    let strides: Vec<(&str, Vec<i32>)> =
        tensors.iter().map(|tensor| (text(&tensor["name"]), numbers(&tensor["strides"]).into_iter().map(unit).collect())).collect();
    let strides: Vec<(&str, &[i32])> = strides.iter().map(|(name, each)| (*name, each.as_slice())).collect();
    let specs: Vec<(&str, SpecializationBits)> = tensors.iter().map(|tensor| (text(&tensor["name"]), bits(tensor))).collect();
    let mut hints: Vec<(&str, DivHint)> = Vec::new();
    for pointer in list(&job["pointers"]) {
        hints.push((text(&pointer["name"]), DivHint::from_ptr(address(pointer))));
    }
    for integer in list(&job["integers"]) {
        // a launch looks at the lowest 32 bits only
        let value: i64 = text(&integer["value"]).parse().map_err(|_| "an integer does not fit in 64 bits")?;
        hints.push((text(&integer["name"]), DivHint::from_value(value as i32)));
    }
    let generics = list(&job["generics"]).iter().map(|each| text(each).to_string()).collect();
    let mut compiler = KernelCompiler::new(build, build().name(), text(&job["entry"]))
        .target(text(&job["target"]))
        .generics(generics)
        .strides(&strides)
        .spec_args(&specs)
        .scalar_hints(&hints)
        .options(options(&job["options"]));
    if let [x, y, z] = numbers(&job["grid"])[..] {
        compiler = compiler.grid((x as u32, y as u32, z as u32));
    }
    let compiled = compiler.compile().map_err(|error| error.to_string())?;
    let bytecode = compiled.bytecode().map_err(|error| error.to_string())?;
    std::fs::write(text(&job["output"]), bytecode).map_err(|error| error.to_string())
}

/// What an optimised launch sets, whatever the profile this program was built with.
fn options(given: &Value) -> CompileOptions {
    let mut options = CompileOptions::default().debug_info(DebugInfoLevel::None);
    let value = |name: &str| given[name].as_i64().map(|value| value as i32);
    options.occupancy = value("occupancy");
    options.num_cta_in_cga = value("num_cta_in_cga");
    options.max_divisibility = value("max_divisibility");
    options.num_worker_warps_per_cta = value("num_worker_warps_per_cta");
    options.min_ctas_per_sm = value("min_ctas_per_sm");
    options
}

fn bits(tensor: &Value) -> SpecializationBits {
    let bytes = tensor["bytes"].as_i64().unwrap_or(1) as i32;
    compute_spec(address(tensor), &numbers(&tensor["shape"]), &numbers(&tensor["strides"]), bytes)
}

/// What a launch says of a stride: that it is one, or nothing.
fn unit(stride: i32) -> i32 {
    if stride == 1 { 1 } else { -1 }
}

/// An address that is a multiple of `align` and of nothing more.
fn address(argument: &Value) -> u64 {
    (1 << 40) + argument["align"].as_u64().unwrap_or(1)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn numbers(value: &Value) -> Vec<i32> {
    list(value).iter().map(|each| each.as_i64().unwrap_or_default() as i32).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
