//! What the row and element kernels share: lanes of pointers, bounds as cuTile Python's gather checks them.

#[cutile::module]
pub mod device {
    use cutile::core::*;

    /// The number of these bits.
    pub fn float_of(bits: i32) -> f32 {
        let bits: Tile<i32, { [] }> = scalar_to_tile(bits);
        let number: Tile<f32, { [] }> = bitcast(bits);
        tile_to_scalar(number)
    }

    pub fn minus_infinity() -> f32 {
        let number: Tile<f32, { [] }> = constant(f32::NEG_INFINITY, shape![]);
        tile_to_scalar(number)
    }

    /// The same number in all lanes, in 64 bits.
    pub fn wide<const N: i32>(number: i32) -> Tile<i64, { [N] }> {
        let scalar: Tile<i32, { [] }> = scalar_to_tile(number);
        let long: Tile<i64, { [] }> = exti(scalar);
        let one: Tile<i64, { [1] }> = long.reshape(shape![1]);
        one.broadcast(shape![N])
    }

    /// Which indices lie in `0..extent`: one unsigned comparison, as a negative index is a large one.
    pub fn within<const N: i32>(index: Tile<i64, { [N] }>, extent: i32) -> Tile<bool, { [N] }> {
        let end: Tile<i64, { [N] }> = wide::<N>(extent);
        let index: Tile<u64, { [N] }> = bitcast(index);
        let end: Tile<u64, { [N] }> = bitcast(end);
        cmpi(index, end, predicate::LessThan)
    }

    /// The addresses `base + offset`, in elements.
    pub fn addresses<E: ElementType, const N: i32>(
        base: *mut E,
        offset: Tile<i64, { [N] }>,
    ) -> PointerTile<*mut E, { [N] }> {
        let scalar: PointerTile<*mut E, { [] }> = pointer_to_tile(base);
        let one: PointerTile<*mut E, { [1] }> = scalar.reshape(shape![1]);
        let all: PointerTile<*mut E, { [N] }> = one.broadcast(shape![N]);
        all.offset_tile(offset)
    }

    /// Row `row`, columns `column`, of a matrix whose columns are adjacent.
    pub fn row_addresses<E: ElementType, const N: i32>(
        base: *mut E,
        row: i32,
        stride: i32,
        column: Tile<i32, { [N] }>,
    ) -> PointerTile<*mut E, { [N] }> {
        let row: Tile<i64, { [N] }> = wide::<N>(row);
        let stride: Tile<i64, { [N] }> = wide::<N>(stride);
        let column: Tile<i64, { [N] }> = exti(column);
        addresses(base, row * stride + column)
    }

    /// Which of them are elements of a matrix of these extents.
    pub fn row_mask<const N: i32>(
        row: i32,
        rows: i32,
        column: Tile<i32, { [N] }>,
        columns: i32,
    ) -> Tile<bool, { [N] }> {
        let row: Tile<i64, { [N] }> = wide::<N>(row);
        let row_inside: Tile<bool, { [N] }> = within(row, rows);
        let column: Tile<i64, { [N] }> = exti(column);
        let column_inside: Tile<bool, { [N] }> = within(column, columns);
        andi(row_inside, column_inside)
    }

    /// Loads where `mask` holds; `padding` elsewhere.
    pub unsafe fn gather<E: ElementType, const N: i32>(
        pointers: PointerTile<*mut E, { [N] }>,
        mask: Tile<bool, { [N] }>,
        padding: f32,
        token: Token,
    ) -> Tile<E, { [N] }> {
        let padding: E = convert_scalar(padding);
        let (tile, done): (Tile<E, { [N] }>, Token) = unsafe {
            load_ptr_tko(
                pointers,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(mask),
                Some(padding),
                Some(token),
                Latency::<0>,
            )
        };
        tile
    }

    /// Loads all lanes.
    pub unsafe fn gather_all<E: ElementType, const N: i32>(
        pointers: PointerTile<*mut E, { [N] }>,
        token: Token,
    ) -> Tile<E, { [N] }> {
        let (tile, done): (Tile<E, { [N] }>, Token) = unsafe {
            load_ptr_tko(pointers, ordering::Weak, None::<scope::TileBlock>, None, None, Some(token), Latency::<0>)
        };
        tile
    }

    /// Stores where `mask` holds.
    pub unsafe fn scatter<E: ElementType, const N: i32>(
        pointers: PointerTile<*mut E, { [N] }>,
        tile: Tile<E, { [N] }>,
        mask: Tile<bool, { [N] }>,
        token: Token,
    ) -> Token {
        let done: Token = unsafe {
            store_ptr_tko(
                pointers,
                tile,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(mask),
                Some(token),
                Latency::<0>,
            )
        };
        done
    }

    /// The numbers from `start` on.
    pub fn lanes_from<const N: i32>(start: i32) -> Tile<i32, { [N] }> {
        let lane: Tile<i32, { [N] }> = iota(shape![N]);
        let start: Tile<i32, { [N] }> = broadcast_scalar(start, shape![N]);
        start + lane
    }

    /// Which of them are less than `end`.
    pub fn below<const N: i32>(number: Tile<i32, { [N] }>, end: i32) -> Tile<bool, { [N] }> {
        let end: Tile<i32, { [N] }> = broadcast_scalar(end, shape![N]);
        cmpi(number, end, predicate::LessThan)
    }

    /// What lies at these places, zero beyond the tensor, plus a number: the sum is one of E. SHIFT: that number's bits.
    pub unsafe fn gather_shifted<E: ElementType, const N: i32, const SHIFT: i32>(
        base: *mut E,
        size: i32,
        place: Tile<i32, { [N] }>,
        token: Token,
    ) -> Tile<f32, { [N] }> {
        let place: Tile<i64, { [N] }> = exti(place);
        let source: PointerTile<*mut E, { [N] }> = addresses(base, place);
        let inside: Tile<bool, { [N] }> = within(place, size);
        let values: Tile<E, { [N] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let shift: f32 = float_of(SHIFT);
        let shift: E = convert_scalar(shift);
        let shift: Tile<E, { [N] }> = broadcast_scalar(shift, shape![N]);
        let values: Tile<f32, { [N] }> = convert_tile(values + shift);
        values
    }

    /// What lies at these places, in f32; zero beyond the tensor.
    pub unsafe fn gather_numbers<E: ElementType, const N: i32>(
        base: *mut E,
        size: i32,
        place: Tile<i32, { [N] }>,
        token: Token,
    ) -> Tile<f32, { [N] }> {
        let place: Tile<i64, { [N] }> = exti(place);
        let source: PointerTile<*mut E, { [N] }> = addresses(base, place);
        let inside: Tile<bool, { [N] }> = within(place, size);
        let numbers: Tile<E, { [N] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let numbers: Tile<f32, { [N] }> = convert_tile(numbers);
        numbers
    }

    /// Stores the one number of a row.
    pub unsafe fn store_scalar(base: *mut f32, size: i32, row: i32, value: Tile<f32, { [] }>, token: Token) {
        let row: Tile<i32, { [] }> = scalar_to_tile(row);
        let row: Tile<i64, { [] }> = exti(row);
        let size: Tile<i32, { [] }> = scalar_to_tile(size);
        let size: Tile<i64, { [] }> = exti(size);
        let index: Tile<u64, { [] }> = bitcast(row);
        let end: Tile<u64, { [] }> = bitcast(size);
        let inside: Tile<bool, { [] }> = cmpi(index, end, predicate::LessThan);
        let start: PointerTile<*mut f32, { [] }> = pointer_to_tile(base);
        let place: PointerTile<*mut f32, { [] }> = start.offset_tile(row);
        let stored: Token = unsafe {
            store_ptr_tko(
                place,
                value,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(inside),
                Some(token),
                Latency::<0>,
            )
        };
    }

    /// Stores all lanes.
    pub unsafe fn scatter_all<E: ElementType, const N: i32>(
        pointers: PointerTile<*mut E, { [N] }>,
        tile: Tile<E, { [N] }>,
        token: Token,
    ) -> Token {
        let done: Token = unsafe {
            store_ptr_tko(pointers, tile, ordering::Weak, None::<scope::TileBlock>, None, Some(token), Latency::<0>)
        };
        done
    }

    /// The quotient, rounded down.
    pub fn floor_div(dividend: i32, divisor: i32) -> i32 {
        let dividend: Tile<i32, { [] }> = scalar_to_tile(dividend);
        let divisor: Tile<i32, { [] }> = scalar_to_tile(divisor);
        let quotient: Tile<i32, { [] }> = divi(dividend, divisor, rounding::NegativeInf);
        tile_to_scalar(quotient)
    }

    /// What remains of it: with the sign of the divisor.
    pub fn floor_mod(dividend: i32, divisor: i32) -> i32 {
        let zero: Tile<i32, { [] }> = constant(0i32, shape![]);
        let dividend: Tile<i32, { [] }> = scalar_to_tile(dividend);
        let divisor: Tile<i32, { [] }> = scalar_to_tile(divisor);
        let rest: Tile<i32, { [] }> = remi(dividend, divisor);
        let below: Tile<bool, { [] }> = cmpi(rest, zero, predicate::LessThan);
        let negative: Tile<bool, { [] }> = cmpi(divisor, zero, predicate::LessThan);
        let differ: Tile<bool, { [] }> = xori(below, negative);
        let some: Tile<bool, { [] }> = cmpi(rest, zero, predicate::NotEqual);
        let wrong: Tile<bool, { [] }> = andi(differ, some);
        let floored: Tile<i32, { [] }> = select(wrong, rest + divisor, rest);
        tile_to_scalar(floored)
    }

    /// A tile of a matrix.
    pub unsafe fn load_tile_at<E: ElementType, const S: [i32; 2]>(
        view: &Partition<E, S>,
        row: i32,
        column: i32,
        token: Token,
    ) -> Tile<E, S> {
        let shape: Shape<S> = Shape::<S> { dims: &[] };
        let (tile, done): (Tile<E, S>, Token) = unsafe {
            load_view_raw(
                view,
                [row, column],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false],
                shape,
            )
        };
        tile
    }

    /// The same with a hint how long it may take.
    pub unsafe fn load_tile_within<E: ElementType, const S: [i32; 2], const LATENCY: i32>(
        view: &Partition<E, S>,
        row: i32,
        column: i32,
        token: Token,
    ) -> Tile<E, S> {
        let shape: Shape<S> = Shape::<S> { dims: &[] };
        let (tile, done): (Tile<E, S>, Token) = unsafe {
            load_view_raw(
                view,
                [row, column],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                Some(LATENCY),
                [false, false],
                shape,
            )
        };
        tile
    }

    /// Stores a tile of a matrix.
    pub unsafe fn store_tile_at<E: ElementType, const S: [i32; 2]>(
        view: &Partition<E, S>,
        tile: Tile<E, S>,
        row: i32,
        column: i32,
        token: Token,
    ) -> Token {
        let done: Token = unsafe {
            store_view_raw(
                view,
                tile,
                [row, column],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false],
            )
        };
        done
    }
}
