//! max(x, 0), TILE elements a block.

#[cutile::module]
pub mod relu {
    use crate::device::device::*;
    use cutile::core::*;

    #[cutile::entry()]
    pub unsafe fn elements<E: ElementType, const TILE: i32>(
        input: *mut E,
        input_size: i32,
        output: *mut E,
        output_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let input_size: i32 = unsafe { assume_bounds_lower::<_, 0>(input_size) };
        let output_size: i32 = unsafe { assume_bounds_lower::<_, 0>(output_size) };
        let start: i32 = get_tile_block_id().0 * TILE;
        let start: Tile<i32, { [TILE] }> = broadcast_scalar(start, shape![TILE]);
        let lane: Tile<i32, { [TILE] }> = iota(shape![TILE]);
        let index: Tile<i32, { [TILE] }> = start + lane;
        let index: Tile<i64, { [TILE] }> = exti(index);

        let source: PointerTile<*mut E, { [TILE] }> = addresses(input, index);
        let inside: Tile<bool, { [TILE] }> = within(index, input_size);
        let tile: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let value: Tile<f32, { [TILE] }> = convert_tile(tile);
        let zero: Tile<f32, { [TILE] }> = constant(0.0f32, shape![TILE]);
        let positive: Tile<f32, { [TILE] }> = maxf(value, zero, nan::Disabled, ftz::Disabled);
        let result: Tile<E, { [TILE] }> = convert_tile(positive);
        let target: PointerTile<*mut E, { [TILE] }> = addresses(output, index);
        let inside: Tile<bool, { [TILE] }> = within(index, output_size);
        let stored: Token = unsafe { scatter(target, result, inside, token) };
    }
}
