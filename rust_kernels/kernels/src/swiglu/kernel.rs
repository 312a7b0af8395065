//! silu(gate) * up, one block a row.

#[cutile::module]
pub mod swiglu {
    use crate::device::device::*;
    use cutile::core::*;

    /// MASKED: whether a row ends before its tile does.
    #[cutile::entry(optimization_hints = (default = (occupancy = 1, num_worker_warps_per_cta = 8,),))]
    pub unsafe fn rows<E: ElementType, const TILE: i32, const MASKED: bool>(
        gate: *mut E,
        gate_rows: i32,
        gate_columns: i32,
        gate_stride: i32,
        up: *mut E,
        up_rows: i32,
        up_columns: i32,
        up_stride: i32,
        output: *mut E,
        output_rows: i32,
        output_columns: i32,
        output_stride: i32,
    ) {
        let token: Token = new_token_unordered();
        let gate_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(gate_rows) };
        let gate_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(gate_columns) };
        let gate_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(gate_stride) };
        let up_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(up_rows) };
        let up_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(up_columns) };
        let up_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(up_stride) };
        let output_rows: i32 = unsafe { assume_bounds_lower::<_, 0>(output_rows) };
        let output_columns: i32 = unsafe { assume_bounds_lower::<_, 0>(output_columns) };
        let output_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(output_stride) };
        let row: i32 = get_tile_block_id().0;
        let column: Tile<i32, { [TILE] }> = iota(shape![TILE]);

        let source: PointerTile<*mut E, { [TILE] }> = row_addresses(gate, row, gate_stride, column);
        let g: Tile<E, { [TILE] }> = if MASKED {
            let inside: Tile<bool, { [TILE] }> = row_mask(row, gate_rows, column, gate_columns);
            unsafe { gather(source, inside, 0.0f32, token) }
        } else {
            unsafe { gather_all(source, token) }
        };
        let source: PointerTile<*mut E, { [TILE] }> = row_addresses(up, row, up_stride, column);
        let u: Tile<E, { [TILE] }> = if MASKED {
            let inside: Tile<bool, { [TILE] }> = row_mask(row, up_rows, column, up_columns);
            unsafe { gather(source, inside, 0.0f32, token) }
        } else {
            unsafe { gather_all(source, token) }
        };

        let one: Tile<f32, { [TILE] }> = constant(1.0f32, shape![TILE]);
        let value: Tile<f32, { [TILE] }> = convert_tile(g);
        let denominator: Tile<f32, { [TILE] }> = one + exp(negf(value));
        let sigmoid: Tile<f32, { [TILE] }> = divf(one, denominator, rounding::Approx, ftz::Enabled);
        let silu: Tile<E, { [TILE] }> = convert_tile(value * sigmoid);
        let result: Tile<E, { [TILE] }> = silu * u;

        let target: PointerTile<*mut E, { [TILE] }> = row_addresses(output, row, output_stride, column);
        if MASKED {
            let inside: Tile<bool, { [TILE] }> = row_mask(row, output_rows, column, output_columns);
            let stored: Token = unsafe { scatter(target, result, inside, token) };
        } else {
            let stored: Token = unsafe { scatter_all(target, result, token) };
        }
    }
}
