//! Dropout, TILE elements a block: an element stays where a hash of its index and of the seed says so.

#[cutile::module]
pub mod dropout {
    use crate::device::device::*;
    use cutile::core::*;

    /// PROBABILITY, SCALE: the bits of f32 numbers. SCALE is a number of the element type: what kept elements are
    /// multiplied by.
    #[cutile::entry()]
    pub unsafe fn elements<
        E: ElementType,
        const PROBABILITY: i32,
        const SCALE: i32,
        const SEED: i32,
        const TILE: i32,
    >(
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
        let index: Tile<i32, { [TILE] }> = lane + start;
        let long: Tile<i64, { [TILE] }> = exti(index);

        let source: PointerTile<*mut E, { [TILE] }> = addresses(input, long);
        let inside: Tile<bool, { [TILE] }> = within(long, input_size);
        let value: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };

        let multiplier: Tile<i32, { [TILE] }> = constant(1103515245i32, shape![TILE]);
        let seed: Tile<i32, { [TILE] }> = broadcast_scalar(SEED, shape![TILE]);
        let sixteen: Tile<i32, { [TILE] }> = constant(16i32, shape![TILE]);
        let eight: Tile<i32, { [TILE] }> = constant(8i32, shape![TILE]);
        let four: Tile<i32, { [TILE] }> = constant(4i32, shape![TILE]);
        let positive: Tile<i32, { [TILE] }> = constant(2147483647i32, shape![TILE]);
        let mixed: Tile<i32, { [TILE] }> = index * multiplier + seed;
        let hash: Tile<i32, { [TILE] }> = mixed ^ (mixed >> sixteen);
        let hash: Tile<i32, { [TILE] }> = hash ^ (hash << eight);
        let hash: Tile<i32, { [TILE] }> = hash ^ (hash >> four);
        let number: Tile<f32, { [TILE] }> = convert_tile(hash & positive);
        let range: Tile<f32, { [TILE] }> = constant(2147483647.0f32, shape![TILE]);
        let probability: f32 = float_of(PROBABILITY);
        let probability: Tile<f32, { [TILE] }> = broadcast_scalar(probability, shape![TILE]);
        let kept: Tile<bool, { [TILE] }> = gt_tile(number / range, probability);

        let scale: f32 = float_of(SCALE);
        let scale: E = convert_scalar(scale);
        let scale: Tile<E, { [TILE] }> = broadcast_scalar(scale, shape![TILE]);
        let zero: Tile<E, { [TILE] }> = constant(E::ZERO, shape![TILE]);
        let result: Tile<E, { [TILE] }> = select(kept, value * scale, zero);
        let target: PointerTile<*mut E, { [TILE] }> = addresses(output, long);
        let inside: Tile<bool, { [TILE] }> = within(long, output_size);
        let stored: Token = unsafe { scatter(target, result, inside, token) };
    }
}
