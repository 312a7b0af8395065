//! silu(left half) * right half, one block a row.

#[cutile::module]
pub mod silu_and_mul {
    use crate::device::device::*;
    use cutile::core::*;

    const LOG2_E: f32 = 1.442695f32;

    /// WIDTH: columns of the output, half of those of the input.
    #[cutile::entry()]
    pub unsafe fn rows<E: ElementType, const TILE: i32, const WIDTH: i32>(
        input: *mut E,
        input_rows: i32,
        input_columns: i32,
        input_stride: i32,
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
    ) {
        let token: Token = new_token_unordered();
        let input_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(input_rows) };
        let input_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(input_columns) };
        let input_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(input_stride) };
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let row: i32 = get_tile_block_id().0;
        let left: Tile<i32, { [TILE] }> = iota(shape![TILE]);
        let width: Tile<i32, { [TILE] }> = broadcast_scalar(WIDTH, shape![TILE]);
        let right: Tile<i32, { [TILE] }> = left + width;

        let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, left, input_columns);
        let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, left);
        let a: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let inside: Tile<bool, { [TILE] }> = row_mask(row, input_rows, right, input_columns);
        let source: PointerTile<*mut E, { [TILE] }> = row_addresses(input, row, input_stride, right);
        let b: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let a: Tile<f32, { [TILE] }> = convert_tile(a);
        let b: Tile<f32, { [TILE] }> = convert_tile(b);

        let log2_e: Tile<f32, { [TILE] }> = constant(LOG2_E, shape![TILE]);
        let one: Tile<f32, { [TILE] }> = constant(1.0f32, shape![TILE]);
        let exponent: Tile<f32, { [TILE] }> = mulf(negf(a), log2_e, rounding::NearestEven, ftz::Enabled);
        let denominator: Tile<f32, { [TILE] }> = one + exp2(exponent, ftz::Enabled);
        let sigmoid: Tile<f32, { [TILE] }> = divf(one, denominator, rounding::Approx, ftz::Enabled);
        let silu: Tile<f32, { [TILE] }> = a * sigmoid;
        let result: Tile<E, { [TILE] }> = convert_tile(silu * b);

        let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, left, output_columns);
        let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, left);
        let stored: Token = unsafe { scatter(target, result, inside, token) };
    }
}
