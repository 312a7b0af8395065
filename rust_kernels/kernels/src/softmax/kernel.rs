//! Softmax along the rows of a matrix: four ways to fetch a row.

#[cutile::module]
pub mod softmax {
    use crate::device::device::*;
    use cutile::core::*;

    /// A row that is one tile, in f32; lanes beyond its end hold minus infinity.
    fn normalise<const N: i32>(values: Tile<f32, { [N] }>) -> Tile<f32, { [N] }> {
        let largest: Tile<f32, { [] }> = reduce_max(values, 0i32);
        let largest: Tile<f32, { [1] }> = largest.reshape(shape![1]);
        let largest: Tile<f32, { [N] }> = largest.broadcast(shape![N]);
        let numerator: Tile<f32, { [N] }> = unsafe { exp_with_rounding(values - largest, rounding::Approx) };
        let total: Tile<f32, { [] }> = reduce_sum(numerator, 0i32);
        let total: Tile<f32, { [1] }> = total.reshape(shape![1]);
        let total: Tile<f32, { [N] }> = total.broadcast(shape![N]);
        divf(numerator, total, rounding::Approx, ftz::Enabled)
    }

    /// Each block takes every `blocks`-th row, by masked loads and stores.
    #[cutile::entry(optimization_hints = (default = (occupancy = 4,),))]
    pub unsafe fn rows<E: ElementType, const ROWS: i32, const TILE: i32>(
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
        input: *mut E,
        input_rows: i32,
        input_columns: i32,
        input_stride: i32,
    ) {
        let token: Token = new_token_unordered();
        let lowest: f32 = minus_infinity();
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let input_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(input_rows) };
        let input_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(input_columns) };
        let input_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(input_stride) };
        let first: i32 = get_tile_block_id().0;
        let blocks: i32 = get_num_tile_blocks().0;
        let column: Tile<i32, { [TILE] }> = iota(shape![TILE]);

        let mut stored: Token = token;
        for row in (first..ROWS).step_by(blocks as usize) {
            let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
            let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
            let tile: Tile<E, { [TILE] }> = unsafe { gather(source, inside, lowest, token) };
            let values: Tile<f32, { [TILE] }> = convert_tile(tile);
            let quotient: Tile<f32, { [TILE] }> = normalise(values);
            let result: Tile<E, { [TILE] }> = convert_tile(quotient);
            let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, column, output_columns);
            let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, column);
            stored = unsafe { scatter(target, result, inside, stored) };
        }
    }

    /// One block a row. MASKED: whether a row ends before its tile does.
    #[cutile::entry()]
    pub unsafe fn one_row<E: ElementType, const TILE: i32, const MASKED: bool>(
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
        input: *mut E,
        input_rows: i32,
        input_columns: i32,
        input_stride: i32,
    ) {
        let token: Token = new_token_unordered();
        let lowest: f32 = minus_infinity();
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let input_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(input_rows) };
        let input_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(input_columns) };
        let input_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(input_stride) };
        let row: i32 = get_tile_block_id().0;
        let column: Tile<i32, { [TILE] }> = iota(shape![TILE]);

        let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
        let tile: Tile<E, { [TILE] }> = if MASKED {
            let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
            unsafe { gather(source, inside, lowest, token) }
        } else {
            unsafe { gather_all(source, token) }
        };
        let values: Tile<f32, { [TILE] }> = convert_tile(tile);
        let quotient: Tile<f32, { [TILE] }> = normalise(values);
        let result: Tile<E, { [TILE] }> = convert_tile(quotient);
        let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, column);
        if MASKED {
            let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, column, output_columns);
            let stored: Token = unsafe { scatter(target, result, inside, token) };
        } else {
            let stored: Token = unsafe { scatter_all(target, result, token) };
        }
    }

    /// Each block takes every `blocks`-th row, by views: the tensor memory accelerator where there is one.
    #[cutile::entry(optimization_hints = (default = (occupancy = 2,),))]
    pub unsafe fn views<E: ElementType, const ROWS: i32, const TILE: i32>(
        output: &Tensor<E, { [-1, -1] }>,
        input: &Tensor<E, { [-1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let first: i32 = get_tile_block_id().0;
        let blocks: i32 = get_num_tile_blocks().0;
        let source: Partition<E, { [1, TILE] }> =
            unsafe { make_partition_view(input, shape![1, TILE], padding::NegInf, dim_map::Identity, token) };
        let target: Partition<E, { [1, TILE] }> =
            unsafe { make_partition_view(output, shape![1, TILE], padding::None, dim_map::Identity, token) };

        for row in (first..ROWS).step_by(blocks as usize) {
            let (tile, loaded): (Tile<E, { [1, TILE] }>, Token) = unsafe {
                load_view_raw(
                    &source,
                    [row, 0i32],
                    Some(token),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Enabled,
                    None,
                    [false, false],
                    shape![1, TILE],
                )
            };
            let values: Tile<f32, { [1, TILE] }> = convert_tile(tile);
            let largest: Tile<f32, { [1] }> = reduce_max(values, 1i32);
            let largest: Tile<f32, { [1, 1] }> = largest.reshape(shape![1, 1]);
            let largest: Tile<f32, { [1, TILE] }> = largest.broadcast(shape![1, TILE]);
            let numerator: Tile<f32, { [1, TILE] }> = unsafe { exp_with_rounding(values - largest, rounding::Approx) };
            let total: Tile<f32, { [1] }> = reduce_sum(numerator, 1i32);
            let total: Tile<f32, { [1, 1] }> = total.reshape(shape![1, 1]);
            let total: Tile<f32, { [1, TILE] }> = total.broadcast(shape![1, TILE]);
            let quotient: Tile<f32, { [1, TILE] }> = divf(numerator, total, rounding::Approx, ftz::Enabled);
            let result: Tile<E, { [1, TILE] }> = convert_tile(quotient);
            let stored: Token = unsafe {
                store_view_raw(
                    &target,
                    result,
                    [row, 0i32],
                    Some(token),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Enabled,
                    None,
                    [false, false],
                )
            };
        }
    }

    /// Rows longer than a tile, in three passes: maximum, sum, quotient. CHUNKS: tiles a row.
    #[cutile::entry(optimization_hints = (default = (occupancy = 4,),))]
    pub unsafe fn chunked<E: ElementType, const ROWS: i32, const CHUNKS: i32, const TILE: i32>(
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
        input: *mut E,
        input_rows: i32,
        input_columns: i32,
        input_stride: i32,
    ) {
        let token: Token = new_token_unordered();
        let lowest: f32 = minus_infinity();
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let input_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(input_rows) };
        let input_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(input_columns) };
        let input_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(input_stride) };
        let first: i32 = get_tile_block_id().0;
        let blocks: i32 = get_num_tile_blocks().0;
        let lane: Tile<i32, { [TILE] }> = iota(shape![TILE]);

        let mut stored: Token = token;
        for row in (first..ROWS).step_by(blocks as usize) {
            let mut largest: Tile<f32, { [1] }> = constant(f32::NEG_INFINITY, shape![1]);
            for chunk in 0i32..CHUNKS {
                let start: Tile<i32, { [TILE] }> = broadcast_scalar(chunk * TILE, shape![TILE]);
                let column: Tile<i32, { [TILE] }> = start + lane;
                let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
                let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
                let tile: Tile<E, { [TILE] }> = unsafe { gather(source, inside, lowest, token) };
                let values: Tile<f32, { [TILE] }> = convert_tile(tile);
                let here: Tile<f32, { [] }> = reduce_max(values, 0i32);
                let here: Tile<f32, { [1] }> = here.reshape(shape![1]);
                largest = maxf(largest, here, nan::Disabled, ftz::Disabled);
            }
            let largest: Tile<f32, { [TILE] }> = largest.broadcast(shape![TILE]);

            let mut total: Tile<f32, { [1] }> = constant(0.0f32, shape![1]);
            for chunk in 0i32..CHUNKS {
                let start: Tile<i32, { [TILE] }> = broadcast_scalar(chunk * TILE, shape![TILE]);
                let column: Tile<i32, { [TILE] }> = start + lane;
                let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
                let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
                let tile: Tile<E, { [TILE] }> = unsafe { gather(source, inside, lowest, token) };
                let values: Tile<f32, { [TILE] }> = convert_tile(tile);
                let numerator: Tile<f32, { [TILE] }> = unsafe { exp_with_rounding(values - largest, rounding::Approx) };
                let here: Tile<f32, { [] }> = reduce_sum(numerator, 0i32);
                let here: Tile<f32, { [1] }> = here.reshape(shape![1]);
                total = total + here;
            }
            let one: Tile<f32, { [1] }> = constant(1.0f32, shape![1]);
            let inverse: Tile<f32, { [1] }> = divf(one, total, rounding::Approx, ftz::Enabled);
            let inverse: Tile<f32, { [TILE] }> = inverse.broadcast(shape![TILE]);

            for chunk in 0i32..CHUNKS {
                let start: Tile<i32, { [TILE] }> = broadcast_scalar(chunk * TILE, shape![TILE]);
                let column: Tile<i32, { [TILE] }> = start + lane;
                let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, column, input_columns);
                let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, column);
                let tile: Tile<E, { [TILE] }> = unsafe { gather(source, inside, lowest, token) };
                let values: Tile<f32, { [TILE] }> = convert_tile(tile);
                let numerator: Tile<f32, { [TILE] }> = unsafe { exp_with_rounding(values - largest, rounding::Approx) };
                let result: Tile<E, { [TILE] }> = convert_tile(numerator * inverse);
                let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, column, output_columns);
                let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, column);
                stored = unsafe { scatter(target, result, inside, stored) };
            }
        }
    }
}
