//! Tensors of a call, checked. Every refusal names the argument.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::abi::{Failure, MAX_RANK, Outcome, Status, TensorDesc};

/// Element types, by their code in a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Dtype {
    F32 = 0,
    F16 = 1,
    BF16 = 2,
}

/// Elements that a tile of Tile IR may have.
pub const MAX_TILE: i32 = 1 << 24;

impl Dtype {
    /// The name that cuTile Rust knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
        }
    }

    pub fn bytes(self) -> i32 {
        if self == Self::F32 { 4 } else { 2 }
    }

    fn from_code(code: i32) -> Option<Self> {
        [Self::F32, Self::F16, Self::BF16].into_iter().find(|dtype| *dtype as i32 == code)
    }
}

/// Extents or strides, one a dimension. Held in place: what a call allocates, each launch pays for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Dims {
    numbers: [i32; MAX_RANK],
    rank: usize,
}

impl Deref for Dims {
    type Target = [i32];

    fn deref(&self) -> &[i32] {
        &self.numbers[..self.rank]
    }
}

impl DerefMut for Dims {
    fn deref_mut(&mut self) -> &mut [i32] {
        &mut self.numbers[..self.rank]
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(text)
    }
}

/// A tensor of known type with elements, whose extents and strides fit 32 bits.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub name: &'static str,
    pub pointer: u64,
    pub dtype: Dtype,
    pub shape: Dims,
    pub strides: Dims,
}

impl Tensor {
    /// Reads a descriptor.
    ///
    /// # Safety
    /// `descriptor` is null or points to a `TensorDesc`.
    pub unsafe fn read(descriptor: *const TensorDesc, name: &'static str) -> Outcome<Self> {
        // SAFETY: the caller's promise.
        let Some(given) = (unsafe { descriptor.as_ref() }) else {
            return Err(Failure::new(Status::Null, format!("{name}: no tensor is given")));
        };
        let Some(dtype) = Dtype::from_code(given.dtype) else {
            let text = format!("{name}: dtype must be f32, f16 or bf16 (code {})", given.dtype);
            return Err(Failure::new(Status::Dtype, text));
        };
        let rank = usize::try_from(given.ndim).ok().filter(|rank| *rank <= MAX_RANK);
        let Some(rank) = rank else {
            let text = format!("{name}: {} dimensions; at most {MAX_RANK} are supported", given.ndim);
            return Err(Failure::new(Status::Rank, text));
        };
        let (shape, strides) = (&given.shape[..rank], &given.strides[..rank]);
        if shape.contains(&0) {
            return Err(Failure::new(Status::Empty, format!("{name}: it has no elements, its shape is {shape:?}")));
        }
        if given.ptr == 0 {
            return Err(Failure::new(Status::Null, format!("{name}: its address is null")));
        }
        if !given.ptr.is_multiple_of(u64::from(dtype.bytes().unsigned_abs())) {
            let text = format!("{name}: its address {:#x} is no multiple of an element's size", given.ptr);
            return Err(Failure::new(Status::Stride, text));
        }
        Ok(Self { name, pointer: given.ptr, dtype, shape: narrow(shape, name)?, strides: narrow(strides, name)? })
    }

    /// Its rows, columns and row stride. The columns must be adjacent.
    pub fn matrix(&self) -> Outcome<[i32; 3]> {
        let [rows, columns] = self.shape[..] else { return Err(self.rank_is_not("2")) };
        self.columns_adjacent()?;
        Ok([rows, columns, self.strides[0]])
    }

    /// Refuses gaps between the elements along the last dimension.
    pub fn columns_adjacent(&self) -> Outcome<()> {
        match (self.shape.last(), self.strides.last()) {
            (Some(extent), Some(step)) if *extent != 1 && *step != 1 => {
                let text = format!("{}: the elements of a row must be adjacent, their stride is {step}", self.name);
                Err(Failure::new(Status::Stride, text))
            }
            _ => Ok(()),
        }
    }

    /// Its extents, where it has that many.
    pub fn extents<const N: usize>(&self) -> Outcome<[i32; N]> {
        self.shape[..].try_into().map_err(|_| self.rank_is_not(&N.to_string()))
    }

    /// Refuses what a view can't be told of: adjacent elements anywhere but along the last dimensions.
    pub fn rows_adjacent(&self) -> Outcome<()> {
        if self.strides.iter().skip_while(|step| **step != 1).all(|step| *step == 1) {
            return Ok(());
        }
        let text =
            format!("{}: only along the last dimension may the stride be 1, not in {:?}", self.name, self.strides);
        Err(Failure::new(Status::Stride, text))
    }

    /// The number of its elements, whatever its shape. They must be adjacent, and in order.
    pub fn flat(&self) -> Outcome<i32> {
        let mut size: i32 = 1;
        for (extent, step) in self.shape.iter().zip(self.strides.iter()).rev() {
            if *step != size && *extent != 1 {
                let text = format!("{}: its elements must be adjacent, its strides are {:?}", self.name, self.strides);
                return Err(Failure::new(Status::Stride, text));
            }
            let Some(product) = size.checked_mul(*extent) else {
                let text = format!("{}: {:?} are more than 2^31 elements", self.name, self.shape);
                return Err(Failure::new(Status::TooLarge, text));
            };
            size = product;
        }
        Ok(size)
    }

    pub fn same_dtype(&self, other: &Self) -> Outcome<()> {
        if self.dtype == other.dtype {
            return Ok(());
        }
        let (mine, others) = (self.dtype.name(), other.dtype.name());
        let text = format!("{}: dtype {mine} is not that of {}, {others}", self.name, other.name);
        Err(Failure::new(Status::Dtype, text))
    }

    pub fn same_shape(&self, other: &Self) -> Outcome<()> {
        self.has_shape(&other.shape, other.name)
    }

    /// `from`: the argument that the shape follows from.
    pub fn has_shape(&self, shape: &[i32], from: &str) -> Outcome<()> {
        if *self.shape == *shape {
            return Ok(());
        }
        let text = format!("{}: shape {:?}, but {shape:?} follows from {from}", self.name, self.shape);
        Err(Failure::new(Status::Shape, text))
    }

    /// Refuses what is no packed tensor in f32 of this shape, which follows from the input.
    pub fn statistic(&self, shape: &[i32]) -> Outcome<()> {
        if self.dtype != Dtype::F32 {
            let text = format!("{}: dtype must be f32, not {}", self.name, self.dtype.name());
            return Err(Failure::new(Status::Dtype, text));
        }
        self.has_shape(shape, "input")?;
        self.flat()?;
        Ok(())
    }

    fn rank_is_not(&self, wanted: &str) -> Failure {
        let text = format!("{}: {} dimensions, not {wanted}", self.name, self.shape.len());
        Failure::new(Status::Rank, text)
    }
}

/// At most `MAX_RANK` numbers.
fn narrow(numbers: &[i64], name: &str) -> Outcome<Dims> {
    let mut narrowed = Dims { rank: numbers.len(), ..Dims::default() };
    for (place, number) in narrowed.iter_mut().zip(numbers) {
        let Some(fits) = i32::try_from(*number).ok().filter(|number| *number >= 0) else {
            let text = format!("{name}: an extent or stride of {numbers:?} is not in 0..2^31");
            return Err(Failure::new(Status::TooLarge, text));
        };
        *place = fits;
    }
    Ok(narrowed)
}

/// How many tiles cover an extent.
pub fn tiles_of(extent: i32, tile: i32) -> i32 {
    extent / tile + i32::from(extent % tile != 0)
}

/// The number of elements of a tile that holds a whole row.
pub fn tile_of(columns: i32, name: &str) -> Outcome<i32> {
    if columns > MAX_TILE {
        return Err(Failure::new(Status::TooLarge, format!("{name}: no tile holds a row of {columns}")));
    }
    Ok(tile_up_to(columns, MAX_TILE))
}

/// The number of elements of a tile that holds a row, or of the largest that is wanted.
pub fn tile_up_to(columns: i32, largest: i32) -> i32 {
    if columns > largest { largest } else { columns.unsigned_abs().next_power_of_two().cast_signed() }
}
