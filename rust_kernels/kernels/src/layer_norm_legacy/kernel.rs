//! y = (x - mean) / deviation * (shift + weight) + bias along each row; also writes mean and 1 / deviation.

#[cutile::module]
pub mod layer_norm_legacy {
    use crate::device::device::*;
    use cutile::core::*;

    /// These columns of a row in f32, zero beyond its end.
    unsafe fn part_of_row<E: ElementType, const TILE: i32>(
        base: *mut E,
        rows: i32,
        columns: i32,
        stride: i32,
        row: i32,
        column: Tile<i32, { [TILE] }>,
        token: Token,
    ) -> Tile<f32, { [TILE] }> {
        let inside: Tile<bool, { [TILE] }> = row_mask(row, rows, column, columns);
        let source: PointerTile<*mut E, { [TILE] }> = row_addresses(base, row, stride, column);
        let values: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let values: Tile<f32, { [TILE] }> = convert_tile(values);
        values
    }

    /// One block a row, which is read three times in tiles. EPS, SHIFT: the bits of f32 numbers. F: of weight and bias.
    #[cutile::entry()]
    pub unsafe fn rows<
        E: ElementType,
        F: ElementType,
        const COLUMNS: i32,
        const EPS: i32,
        const SHIFT: i32,
        const TILE: i32,
    >(
        input: *mut E,
        input_rows: i32,
        input_columns: i32,
        input_stride: i32,
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
        weight: *mut F,
        weight_size: i32,
        bias: *mut F,
        bias_size: i32,
        mean: *mut f32,
        mean_size: i32,
        rstd: *mut f32,
        rstd_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let input_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(input_rows) };
        let input_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(input_columns) };
        let input_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(input_stride) };
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let weight_size: i32 = unsafe { assume_bounds_lower::<_, 0>(weight_size) };
        let bias_size: i32 = unsafe { assume_bounds_lower::<_, 0>(bias_size) };
        let mean_size: i32 = unsafe { assume_bounds_lower::<_, 0>(mean_size) };
        let rstd_size: i32 = unsafe { assume_bounds_lower::<_, 0>(rstd_size) };
        let row: i32 = get_tile_block_id().0;
        let zero: Tile<f32, { [TILE] }> = constant(0.0f32, shape![TILE]);

        let mut sums: Tile<f32, { [TILE] }> = zero;
        for first in (0i32..COLUMNS).step_by(TILE as usize) {
            let column: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let x: Tile<f32, { [TILE] }> =
                unsafe { part_of_row(input, input_rows, input_columns, input_stride, row, column, token) };
            sums = sums + x;
        }
        let total: Tile<f32, { [] }> = reduce_sum(sums, 0i32);
        let count: f32 = convert_scalar(COLUMNS);
        let count: Tile<f32, { [] }> = scalar_to_tile(count);
        let average: Tile<f32, { [] }> = total / count;

        let centre: Tile<f32, { [1] }> = average.reshape(shape![1]);
        let centre: Tile<f32, { [TILE] }> = centre.broadcast(shape![TILE]);
        let mut squares: Tile<f32, { [TILE] }> = zero;
        for first in (0i32..COLUMNS).step_by(TILE as usize) {
            let column: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let x: Tile<f32, { [TILE] }> =
                unsafe { part_of_row(input, input_rows, input_columns, input_stride, row, column, token) };
            let centred: Tile<f32, { [TILE] }> = select(below(column, COLUMNS), x - centre, zero);
            squares = fma(centred, centred, squares, rounding::NearestEven, ftz::Disabled);
        }
        let total: Tile<f32, { [] }> = reduce_sum(squares, 0i32);
        let eps: f32 = float_of(EPS);
        let eps: Tile<f32, { [] }> = scalar_to_tile(eps);
        let inverse: Tile<f32, { [] }> = rsqrt(total / count + eps, ftz::Disabled);
        unsafe { store_scalar(mean, mean_size, row, average, token) };
        unsafe { store_scalar(rstd, rstd_size, row, inverse, token) };

        let inverse: Tile<f32, { [1] }> = inverse.reshape(shape![1]);
        let inverse: Tile<f32, { [TILE] }> = inverse.broadcast(shape![TILE]);
        let mut stored: Token = token;
        for first in (0i32..COLUMNS).step_by(TILE as usize) {
            let column: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let w: Tile<f32, { [TILE] }> =
                unsafe { gather_shifted::<F, TILE, SHIFT>(weight, weight_size, column, token) };
            let b: Tile<f32, { [TILE] }> = unsafe { gather_numbers(bias, bias_size, column, token) };
            let x: Tile<f32, { [TILE] }> =
                unsafe { part_of_row(input, input_rows, input_columns, input_stride, row, column, token) };
            let y: Tile<f32, { [TILE] }> = fma((x - centre) * inverse, w, b, rounding::NearestEven, ftz::Disabled);
            let result: Tile<E, { [TILE] }> = convert_tile(y);
            let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, column, output_columns);
            let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, column);
            stored = unsafe { scatter(target, result, inside, stored) };
        }
    }
}
