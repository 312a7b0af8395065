//! y = x / rms(x) * (shift + weight) along each row; also writes 1 / rms(x).

#[cutile::module]
pub mod rms_norm {
    use crate::device::device::*;
    use cutile::core::*;

    /// Loads where `mask` holds, zero elsewhere, in f32; the next iteration's while this one computes.
    unsafe fn ahead<E: ElementType, const N: i32>(
        pointers: PointerTile<*mut E, { [N] }>,
        mask: Tile<bool, { [N] }>,
        token: Token,
    ) -> Tile<f32, { [N] }> {
        let zero: E = convert_scalar(0.0f32);
        let (tile, done): (Tile<E, { [N] }>, Token) = unsafe {
            load_ptr_tko(
                pointers,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(mask),
                Some(zero),
                Some(token),
                Latency::<1>,
            )
        };
        let values: Tile<f32, { [N] }> = convert_tile(tile);
        values
    }

    /// The same of all lanes.
    unsafe fn all_ahead<E: ElementType, const N: i32>(
        pointers: PointerTile<*mut E, { [N] }>,
        token: Token,
    ) -> Tile<f32, { [N] }> {
        let (tile, done): (Tile<E, { [N] }>, Token) = unsafe {
            load_ptr_tko(pointers, ordering::Weak, None::<scope::TileBlock>, None, None, Some(token), Latency::<1>)
        };
        let values: Tile<f32, { [N] }> = convert_tile(tile);
        values
    }

    /// One block a row, which is read twice. CHUNKS: tiles a row. MASKED: whether the last one ends after the row.
    /// EPS, SHIFT: the bits of f32 numbers.
    #[cutile::entry()]
    pub unsafe fn reload<
        E: ElementType,
        const COLUMNS: i32,
        const EPS: i32,
        const SHIFT: i32,
        const CHUNKS: i32,
        const TILE: i32,
        const MASKED: bool,
    >(
        input: *mut E,
        input_rows: i32,
        input_columns: i32,
        input_stride: i32,
        weight: *mut E,
        weight_size: i32,
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
        rstd: *mut f32,
        rstd_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let input_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(input_rows) };
        let input_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(input_columns) };
        let input_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(input_stride) };
        let weight_size: i32 = unsafe { assume_bounds_lower::<_, 0>(weight_size) };
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let rstd_size: i32 = unsafe { assume_bounds_lower::<_, 0>(rstd_size) };
        let row: i32 = get_tile_block_id().0;
        let lane: Tile<i32, { [TILE] }> = iota(shape![TILE]);

        let mut squares: Tile<f32, { [TILE] }> = constant(0.0f32, shape![TILE]);
        for chunk in 0i32..CHUNKS {
            let start: Tile<i32, { [TILE] }> = broadcast_scalar(chunk * TILE, shape![TILE]);
            let column: Tile<i32, { [TILE] }> = start + lane;
            let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
            let x: Tile<f32, { [TILE] }> = if MASKED {
                let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
                unsafe { ahead(source, inside, token) }
            } else {
                unsafe { all_ahead(source, token) }
            };
            squares = fma(x, x, squares, rounding::NearestEven, ftz::Disabled);
        }
        let total: Tile<f32, { [] }> = reduce_sum(squares, 0i32);
        let columns: f32 = convert_scalar(COLUMNS);
        let columns: Tile<f32, { [] }> = scalar_to_tile(columns);
        let eps: f32 = float_of(EPS);
        let eps: Tile<f32, { [] }> = scalar_to_tile(eps);
        let inverse: Tile<f32, { [] }> = rsqrt(total / columns + eps, ftz::Disabled);
        unsafe { store_scalar(rstd, rstd_size, row, inverse, token) };

        let factor: Tile<f32, { [1] }> = inverse.reshape(shape![1]);
        let factor: Tile<f32, { [TILE] }> = factor.broadcast(shape![TILE]);
        let shift: f32 = float_of(SHIFT);
        let shift: Tile<f32, { [TILE] }> = broadcast_scalar(shift, shape![TILE]);
        let mut stored: Token = token;
        for chunk in 0i32..CHUNKS {
            let start: Tile<i32, { [TILE] }> = broadcast_scalar(chunk * TILE, shape![TILE]);
            let column: Tile<i32, { [TILE] }> = start + lane;
            let long: Tile<i64, { [TILE] }> = exti(column);
            let weights: PointerTile<*mut E, { [TILE] }> = addresses(weight, long);
            let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
            let w: Tile<f32, { [TILE] }> = if MASKED {
                let inside: Tile<bool, { [TILE] }> = within(long, weight_size);
                unsafe { ahead(weights, inside, token) }
            } else {
                unsafe { all_ahead(weights, token) }
            };
            let x: Tile<f32, { [TILE] }> = if MASKED {
                let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
                unsafe { ahead(source, inside, token) }
            } else {
                unsafe { all_ahead(source, token) }
            };
            let result: Tile<E, { [TILE] }> = convert_tile(x * factor * (shift + w));
            let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, column, output_columns);
            let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, column);
            stored = unsafe {
                store_ptr_tko(
                    target,
                    result,
                    ordering::Weak,
                    None::<scope::TileBlock>,
                    Some(inside),
                    Some(stored),
                    Latency::<1>,
                )
            };
        }
    }

    /// One block a row, which is one tile and read once. MASKED: whether the tile ends after the row.
    /// EPS, SHIFT: the bits of f32 numbers.
    #[cutile::entry()]
    pub unsafe fn cached<
        E: ElementType,
        const COLUMNS: i32,
        const EPS: i32,
        const SHIFT: i32,
        const TILE: i32,
        const MASKED: bool,
    >(
        input: *mut E,
        input_rows: i32,
        input_columns: i32,
        input_stride: i32,
        weight: *mut E,
        weight_size: i32,
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
        rstd: *mut f32,
        rstd_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let input_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(input_rows) };
        let input_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(input_columns) };
        let input_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(input_stride) };
        let weight_size: i32 = unsafe { assume_bounds_lower::<_, 0>(weight_size) };
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let rstd_size: i32 = unsafe { assume_bounds_lower::<_, 0>(rstd_size) };
        let row: i32 = get_tile_block_id().0;
        let column: Tile<i32, { [TILE] }> = iota(shape![TILE]);
        let long: Tile<i64, { [TILE] }> = exti(column);

        let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
        let x: Tile<f32, { [TILE] }> = if MASKED {
            let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
            unsafe { ahead(source, inside, token) }
        } else {
            unsafe { all_ahead(source, token) }
        };
        let zero: Tile<f32, { [TILE] }> = constant(0.0f32, shape![TILE]);
        let squares: Tile<f32, { [TILE] }> = fma(x, x, zero, rounding::NearestEven, ftz::Disabled);
        let total: Tile<f32, { [] }> = reduce_sum(squares, 0i32);
        let columns: f32 = convert_scalar(COLUMNS);
        let columns: Tile<f32, { [] }> = scalar_to_tile(columns);
        let eps: f32 = float_of(EPS);
        let eps: Tile<f32, { [] }> = scalar_to_tile(eps);
        let inverse: Tile<f32, { [] }> = rsqrt(total / columns + eps, ftz::Disabled);
        unsafe { store_scalar(rstd, rstd_size, row, inverse, token) };

        let factor: Tile<f32, { [1] }> = inverse.reshape(shape![1]);
        let factor: Tile<f32, { [TILE] }> = factor.broadcast(shape![TILE]);
        let shift: f32 = float_of(SHIFT);
        let shift: Tile<f32, { [TILE] }> = broadcast_scalar(shift, shape![TILE]);
        let weights: PointerTile<*mut E, { [TILE] }> = addresses(weight, long);
        let w: Tile<f32, { [TILE] }> = if MASKED {
            let inside: Tile<bool, { [TILE] }> = within(long, weight_size);
            unsafe { ahead(weights, inside, token) }
        } else {
            unsafe { all_ahead(weights, token) }
        };
        let result: Tile<E, { [TILE] }> = convert_tile(x * factor * (shift + w));
        let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, column, output_columns);
        let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, column);
        let stored: Token = unsafe {
            store_ptr_tko(
                target,
                result,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(inside),
                Some(token),
                Latency::<1>,
            )
        };
    }

    /// Each block takes every `blocks`-th tile of ROWS whole rows, by views; the weights are read once.
    /// EPS, SHIFT: the bits of f32 numbers.
    #[cutile::entry()]
    pub unsafe fn persistent<E: ElementType, const ROWS: i32, const TILE: i32, const EPS: i32, const SHIFT: i32>(
        input: &Tensor<E, { [-1, -1] }>,
        output: &Tensor<E, { [-1, -1] }>,
        weight: &Tensor<E, { [-1] }>,
        rstd: &Tensor<f32, { [-1] }>,
    ) {
        let token: Token = new_token_unordered();
        let first: i32 = get_tile_block_id().0;
        let blocks: i32 = get_num_tile_blocks().0;
        let rows: Tile<i32, { [] }> = scalar_to_tile(input.shape()[0] + ROWS - 1i32);
        let each: Tile<i32, { [] }> = scalar_to_tile(ROWS);
        let tiles: Tile<i32, { [] }> = divi(rows, each, rounding::NegativeInf);
        let tiles: i32 = tile_to_scalar(tiles);
        let weights: Partition<E, { [TILE] }> =
            unsafe { make_partition_view(weight, shape![TILE], padding::Zero, dim_map::Identity, token) };
        let (w, loaded): (Tile<E, { [TILE] }>, Token) = unsafe {
            load_view_raw(
                &weights,
                [0i32],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false],
                shape![TILE],
            )
        };
        let w: Tile<f32, { [TILE] }> = convert_tile(w);
        let w: Tile<f32, { [1, TILE] }> = w.reshape(shape![1, TILE]);
        let shift: f32 = float_of(SHIFT);
        let shift: Tile<f32, { [1, TILE] }> = broadcast_scalar(shift, shape![1, TILE]);
        let w: Tile<f32, { [1, TILE] }> = shift + w;
        let w: Tile<f32, { [ROWS, TILE] }> = w.broadcast(shape![ROWS, TILE]);
        let columns: f32 = convert_scalar(input.shape()[1]);
        let columns: Tile<f32, { [ROWS, 1] }> = broadcast_scalar(columns, shape![ROWS, 1]);
        let eps: f32 = float_of(EPS);
        let eps: Tile<f32, { [ROWS, 1] }> = broadcast_scalar(eps, shape![ROWS, 1]);
        let source: Partition<E, { [ROWS, TILE] }> =
            unsafe { make_partition_view(input, shape![ROWS, TILE], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [ROWS, TILE] }> =
            unsafe { make_partition_view(output, shape![ROWS, TILE], padding::None, dim_map::Identity, token) };
        let inverses: Partition<f32, { [ROWS] }> =
            unsafe { make_partition_view(rstd, shape![ROWS], padding::None, dim_map::Identity, token) };

        for tile in (first..tiles).step_by(blocks as usize) {
            let (x, loaded): (Tile<E, { [ROWS, TILE] }>, Token) = unsafe {
                load_view_raw(
                    &source,
                    [tile, 0i32],
                    Some(token),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Enabled,
                    Some(10i32),
                    [false, false],
                    shape![ROWS, TILE],
                )
            };
            let x: Tile<f32, { [ROWS, TILE] }> = convert_tile(x);
            let total: Tile<f32, { [ROWS] }> = reduce_sum(x * x, 1i32);
            let total: Tile<f32, { [ROWS, 1] }> = total.reshape(shape![ROWS, 1]);
            let inverse: Tile<f32, { [ROWS, 1] }> = rsqrt(total / columns + eps, ftz::Disabled);
            let stored: Token = unsafe {
                store_view_raw(
                    &inverses,
                    inverse.reshape(shape![ROWS]),
                    [tile],
                    Some(token),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Disabled,
                    None,
                    [false],
                )
            };
            let factor: Tile<f32, { [ROWS, TILE] }> = inverse.broadcast(shape![ROWS, TILE]);
            let result: Tile<E, { [ROWS, TILE] }> = convert_tile(x * factor * w);
            let stored: Token = unsafe {
                store_view_raw(
                    &target,
                    result,
                    [tile, 0i32],
                    Some(token),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Disabled,
                    Some(3i32),
                    [false, false],
                )
            };
        }
    }
}
