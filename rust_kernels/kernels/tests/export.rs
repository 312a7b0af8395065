//! Every kernel compiles to Tile IR that the disassembler verifies, in every type and form, with no check left in it.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use cutile::cutile_compiler::specialization::compute_spec;
use tileir_kernels::abi::{Failure, LaunchHints, MAX_RANK, Outcome, Status, TensorDesc};
use tileir_kernels::call::{Call, disjoint, with_large_stack};
use tileir_kernels::export::At;
use tileir_kernels::record::{Recording, Target};
use tileir_kernels::tensor::{Dtype, Tensor};
use tileir_kernels::tiling::Tiling;
use tileir_kernels::{
    bmm, dropout, geglu, gelu, layer_norm, layer_norm_legacy, matmul, persistent_layer_norm, relu, rms_norm, rope,
    silu_and_mul,
};
use tileir_kernels::{softmax, splitk_reduce, swiglu, transpose};

const DTYPES: [Dtype; 3] = [Dtype::F32, Dtype::F16, Dtype::BF16];
const ARCH: &str = "sm_90";
const NO_HINTS: LaunchHints = LaunchHints { occupancy: 0, num_ctas: 0, num_worker_warps: 0 };

/// How many tensors there are: each has memory of its own.
static TENSORS: AtomicU64 = AtomicU64::new(1);

/// A contiguous tensor at an aligned address that is never touched.
fn tensor(dtype: Dtype, shape: &[i64]) -> Tensor {
    unsafe { Tensor::read(&descriptor(dtype, shape), "tensor") }.unwrap()
}

fn descriptor(dtype: Dtype, shape: &[i64]) -> TensorDesc {
    let mut desc = TensorDesc {
        ptr: TENSORS.fetch_add(1, Ordering::Relaxed) << 40,
        ndim: shape.len() as i32,
        shape: [0; MAX_RANK],
        strides: [0; MAX_RANK],
        dtype: dtype as i32,
    };
    let mut step = 1;
    for axis in (0..shape.len()).rev() {
        (desc.shape[axis], desc.strides[axis]) = (shape[axis], step);
        step *= shape[axis];
    }
    desc
}

/// On a device that is only described.
fn with(hints: LaunchHints) -> At {
    let recording =
        Recording { folder: std::env::temp_dir(), arch: ARCH.into(), multiprocessors: 132, assemble: false };
    At { hints, target: Target::Record(recording) }
}

fn at() -> At {
    with(NO_HINTS)
}

/// Compiles a call and lets the disassembler verify it, where there is one.
fn check(call: &Call) -> Outcome<()> {
    let compiled = call.compile(ARCH)?;
    let checks = compiled.check_counts();
    assert_eq!((checks.discharged, checks.hoisted, checks.in_place), (0, 0, 0), "{call:?}");
    assert!(compiled.launch_checks().is_empty(), "{call:?}");
    let bytecode = compiled.bytecode().map_err(|error| call.refused(&error.to_string()))?;
    let file = std::env::temp_dir().join(format!("{}-{:p}.tirbc", std::process::id(), call));
    std::fs::write(&file, bytecode).unwrap();
    let disassembled = Command::new("tileirdisasm").arg(&file).output();
    std::fs::remove_file(&file).unwrap();
    let Ok(output) = disassembled else { return Ok(()) };
    assert!(output.status.success(), "{call:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("entry @{}_entry", call.kernel.entry)), "{text}");
    // One argument for each word of a launch.
    let head = text.lines().find(|line| line.contains("entry @")).unwrap();
    assert_eq!(head.matches("%arg").count(), call.words().len(), "{head}");
    Ok(())
}

fn for_each_dtype(plan: impl Fn(Dtype) -> Outcome<Call> + Sync) {
    for dtype in DTYPES {
        let call = plan(dtype).unwrap();
        with_large_stack(|| check(&call)).unwrap();
    }
}

#[test]
fn softmax_in_all_forms() {
    for (variant, columns) in [(0, 1000), (1, 1000), (2, 10_000), (3, 1000), (3, 1024)] {
        for_each_dtype(|dtype| {
            let matrix = tensor(dtype, &[64, columns]);
            softmax::ffi::plan(&matrix, &matrix, variant, &at())
        });
    }
}

#[test]
fn silu_and_mul_of_ragged_rows() {
    for_each_dtype(|dtype| silu_and_mul::ffi::plan(&tensor(dtype, &[64, 1000]), &tensor(dtype, &[64, 2000]), &at()));
}

#[test]
fn swiglu_with_and_without_mask() {
    for columns in [1000, 1024] {
        for_each_dtype(|dtype| {
            let matrix = tensor(dtype, &[64, columns]);
            swiglu::ffi::plan(&matrix, &matrix, &matrix, &at())
        });
    }
}

#[test]
fn relu_of_a_ragged_vector() {
    for_each_dtype(|dtype| {
        let vector = tensor(dtype, &[10_001]);
        relu::ffi::plan(&vector, &vector, &at())
    });
}

#[test]
fn gelu_in_both_forms() {
    for approximate in [0, 1] {
        for_each_dtype(|dtype| {
            let vector = tensor(dtype, &[10_001]);
            gelu::ffi::plan(&vector, &vector, approximate, &at())
        });
    }
}

#[test]
fn geglu_of_inner_and_outer_halves() {
    for (dim, approximate) in [(-1, 0), (-1, 1), (0, 0)] {
        for_each_dtype(|dtype| {
            let half = if dim == 0 { [4, 10, 30] } else { [8, 10, 15] };
            geglu::ffi::plan(&tensor(dtype, &half), &tensor(dtype, &[8, 10, 30]), dim, approximate, &at())
        });
    }
}

#[test]
fn dropout_of_some_and_of_all() {
    for probability in [0.3, 1.0] {
        for_each_dtype(|dtype| {
            let vector = tensor(dtype, &[10_001]);
            dropout::ffi::plan(&vector, &vector, probability, 1234, &at())
        });
    }
}

#[test]
fn rms_norm_in_all_forms() {
    for (variant, columns) in [(0, 3000), (0, 512), (1, 3000), (1, 512), (2, 3000), (2, 512)] {
        for_each_dtype(|dtype| {
            let (matrix, weight) = (tensor(dtype, &[67, columns]), tensor(dtype, &[columns]));
            let rstd = tensor(Dtype::F32, &[67]);
            rms_norm::ffi::plan(&matrix, &rstd, &matrix, &weight, 1e-5, 1.0, variant, &at())
        });
    }
}

#[test]
fn layer_norm_in_all_forms() {
    for columns in [40, 5, 1] {
        for_each_dtype(|dtype| {
            let (input, weight) = (tensor(dtype, &[3, 1100, columns]), tensor(dtype, &[1100]));
            let numbers = tensor(Dtype::F32, &[3, columns]);
            layer_norm::ffi::plan(&input, &numbers, &numbers, &input, &weight, &weight, 1e-5, 1.0, &at())
        });
    }
}

#[test]
fn layer_norm_legacy_of_ragged_rows() {
    for_each_dtype(|dtype| {
        let (matrix, weight) = (tensor(dtype, &[67, 1000]), tensor(dtype, &[1000]));
        let numbers = tensor(Dtype::F32, &[67]);
        layer_norm_legacy::ffi::plan(&matrix, &numbers, &numbers, &matrix, &weight, &weight, 1e-5, 1.0, &at())
    });
}

#[test]
fn persistent_layer_norm_in_both_forms() {
    let numbers = tensor(Dtype::F32, &[67]);
    let plan = |dtype, compute, tile_rows| {
        let (matrix, weight) = (tensor(dtype, &[67, 1000]), tensor(dtype, &[1000]));
        persistent_layer_norm::ffi::plan(
            &matrix,
            &numbers,
            &numbers,
            &matrix,
            &weight,
            &weight,
            1e-5,
            compute,
            tile_rows,
            &at(),
        )
    };
    for compute in [0, 1] {
        for dtype in [Dtype::F32, Dtype::BF16] {
            let call = plan(dtype, compute, 4 * (1 - compute)).unwrap();
            with_large_stack(|| check(&call)).unwrap();
        }
    }
    assert_eq!(refusal(plan(Dtype::F16, 1, 0)).0, Status::Dtype);
    assert_eq!(refusal(plan(Dtype::F32, 2, 0)).0, Status::Value);
    for tile_rows in [-8, 12] {
        let (status, text) = refusal(plan(Dtype::F32, 1, tile_rows));
        assert_eq!((status, &text[..10]), (Status::Value, "tile_rows:"));
    }
}

#[test]
fn rope_of_all_and_of_a_part() {
    for (rotated, sequences) in [(0, 1), (32, 2)] {
        for_each_dtype(|dtype| {
            let (query, key) = (tensor(dtype, &[2, 6, 37, 128]), tensor(dtype, &[2, 3, 37, 128]));
            let angles = tensor(dtype, &[sequences, 37, 128]);
            rope::ffi::plan(&query, &key, &angles, &angles, rotated, &at())
        });
    }
    for_each_dtype(|dtype| {
        let (query, angles) = (tensor(dtype, &[2, 6, 37, 128]), tensor(Dtype::F32, &[1, 37, 128]));
        rope::ffi::plan(&query, &query, &angles, &angles, 0, &at())
    });
}

#[test]
fn splitk_reduce_by_a_sum_and_by_a_product() {
    for parts in [7, 24] {
        for_each_dtype(|dtype| {
            let (out, given) = (tensor(dtype, &[3, 5, 100]), tensor(dtype, &[3, 5, parts, 100]));
            splitk_reduce::ffi::plan(&out, &given, &tensor(Dtype::F32, &[3, 5, parts]), &at())
        });
    }
}

/// The forms of a product: variant, transposes.
const PRODUCTS: [(i32, [i32; 2]); 5] = [(0, [0, 0]), (1, [0, 0]), (1, [0, 1]), (1, [1, 0]), (1, [1, 1])];

/// A, B and their product, 100 x 200.
fn product(dtype: Dtype, transposes: [i32; 2], batch: &[i64]) -> [Tensor; 3] {
    let shaped = |turned: i32, rows: i64, columns: i64| {
        tensor(dtype, &[batch, &if turned == 1 { [columns, rows] } else { [rows, columns] }[..]].concat())
    };
    [shaped(transposes[0], 100, 70), shaped(transposes[1], 70, 200), shaped(0, 100, 200)]
}

#[test]
fn matmul_in_all_forms() {
    for (variant, transposes) in PRODUCTS {
        for_each_dtype(|dtype| {
            let [a, b, out] = product(dtype, transposes, &[]);
            matmul::ffi::plan(&out, &a, &b, transposes[0], transposes[1], Tiling::default(), variant, &at())
        });
    }
    let cut = Tiling { m: 64, n: 256, k: 32, group: 4, latency: 2 };
    let [a, b, out] = product(Dtype::F16, [1, 1], &[]);
    let call = matmul::ffi::plan(&out, &a, &b, 1, 1, cut, 1, &at()).unwrap();
    with_large_stack(|| check(&call)).unwrap();
}

#[test]
fn bmm_in_all_forms() {
    for (variant, transposes) in PRODUCTS {
        for_each_dtype(|dtype| {
            let [a, b, out] = product(dtype, transposes, &[3]);
            bmm::ffi::plan(&out, &a, &b, transposes[0], transposes[1], Tiling::default(), variant, &at())
        });
    }
}

#[test]
fn a_persistent_product_fills_the_device() {
    let [out, a, b] = [0; 3].map(|_| tensor(Dtype::F16, &[4096, 4096]));
    let plan =
        |hints: LaunchHints| matmul::ffi::plan(&out, &a, &b, 0, 0, Tiling::default(), 1, &with(hints)).unwrap().grid;
    assert_eq!(plan(NO_HINTS), (132, 1, 1));
    assert_eq!(plan(LaunchHints { occupancy: 2, num_ctas: 4, num_worker_warps: 0 }), (66, 1, 1));
}

#[test]
fn transpose_in_both_tiles() {
    for rows in [100, 5000] {
        for_each_dtype(|dtype| {
            transpose::ffi::plan(&tensor(dtype, &[4096, rows]), &tensor(dtype, &[rows, 4096]), &at())
        });
    }
}

fn refusal(outcome: Outcome<Call>) -> (Status, String) {
    let Failure { status, text } = outcome.err().unwrap();
    (status, text)
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let input = descriptor(Dtype::F16, &[64, 1000]);
    let plan = |output: *const TensorDesc, input: *const TensorDesc| {
        let (input, output) = unsafe { (Tensor::read(input, "input")?, Tensor::read(output, "out")?) };
        softmax::ffi::plan(&output, &input, 0, &at())
    };
    let change = |edit: fn(&mut TensorDesc)| {
        let mut changed = input;
        edit(&mut changed);
        refusal(plan(&changed, &input))
    };
    assert_eq!(refusal(plan(std::ptr::null(), &input)).0, Status::Null);
    assert_eq!(change(|output| output.ptr = 0), (Status::Null, "out: its address is null".into()));
    assert_eq!(change(|output| output.dtype = 77).0, Status::Dtype);
    assert_eq!(change(|output| output.dtype = Dtype::F32 as i32).0, Status::Dtype);
    assert_eq!(change(|output| output.ndim = 9).0, Status::Rank);
    assert_eq!(change(|output| output.ndim = -1).0, Status::Rank);
    assert_eq!(change(|output| output.ndim = 1).0, Status::Shape);
    assert_eq!(change(|output| output.shape[0] = 63).0, Status::Shape);
    assert_eq!(change(|output| output.shape[1] = 0).0, Status::Empty);
    assert_eq!(change(|output| output.strides[1] = 2).0, Status::Stride);
    assert_eq!(change(|output| output.strides[0] = 1 << 31).0, Status::TooLarge);
    assert_eq!(change(|output| output.strides[0] = -1000).0, Status::TooLarge);
    for (_, text) in [change(|output| output.shape[1] = 0), change(|output| output.strides[1] = 2)] {
        assert!(text.starts_with("out: "), "{text}");
    }
    let matrix = tensor(Dtype::F16, &[64, 1000]);
    let variant = softmax::ffi::plan(&matrix, &matrix, 4, &at());
    assert_eq!(refusal(variant), (Status::Value, "variant: 4 is not one of 0 to 3".into()));
}

#[test]
fn a_view_is_disjoint_where_cutile_says_so() {
    let numbers = [-1, 0, 1, 2, 3, 6];
    let pairs: Vec<[i32; 2]> = numbers.iter().flat_map(|a| numbers.map(|b| [*a, b])).collect();
    for shape in &pairs {
        for strides in &pairs {
            let theirs = compute_spec(64, shape, strides, 4).elements_disjoint;
            assert_eq!(disjoint(shape, strides), theirs, "{shape:?} {strides:?}");
        }
        assert_eq!(disjoint(&shape[..1], &shape[1..]), compute_spec(64, &shape[..1], &shape[1..], 4).elements_disjoint);
    }
    assert!(disjoint(&[], &[]) && disjoint(&[4, 5, 6], &[30, 6, 1]) && !disjoint(&[4, 5, 6], &[30, 5, 1]));
}
