//! Left half times GELU of the right half of the split dimension, TILE elements of the output a block.

#[cutile::module]
pub mod geglu {
    use crate::device::device::*;
    use crate::gelu::kernel::gelu::*;
    use cutile::core::*;

    /// The remainder of a floor division, of the sign of `b`.
    fn modulo<const N: i32>(a: Tile<i32, { [N] }>, b: Tile<i32, { [N] }>) -> Tile<i32, { [N] }> {
        let zero: Tile<i32, { [N] }> = constant(0i32, shape![N]);
        let remainder: Tile<i32, { [N] }> = remi(a, b);
        let signs_differ: Tile<bool, { [N] }> = xori(lt_tile(remainder, zero), lt_tile(b, zero));
        let wrong: Tile<bool, { [N] }> = andi(signs_differ, ne_tile(remainder, zero));
        select(wrong, remainder + b, remainder)
    }

    /// INNER: elements of a half, for each index of the dimensions before the split one; they are INPUT_STRIDE apart in
    /// the input and OUTPUT_STRIDE in the output.
    #[cutile::entry()]
    pub unsafe fn elements<
        E: ElementType,
        const INNER: i32,
        const INPUT_STRIDE: i32,
        const OUTPUT_STRIDE: i32,
        const TILE: i32,
        const TANH: bool,
    >(
        output: *mut E,
        output_size: i32,
        input: *mut E,
        input_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let output_size: i32 = unsafe { assume_bounds_lower::<_, 0>(output_size) };
        let input_size: i32 = unsafe { assume_bounds_lower::<_, 0>(input_size) };
        let start: i32 = get_tile_block_id().0 * TILE;
        let start: Tile<i32, { [TILE] }> = broadcast_scalar(start, shape![TILE]);
        let lane: Tile<i32, { [TILE] }> = iota(shape![TILE]);
        let index: Tile<i32, { [TILE] }> = start + lane;
        let inner: Tile<i32, { [TILE] }> = broadcast_scalar(INNER, shape![TILE]);
        let outer: Tile<i32, { [TILE] }> = divi(index, inner, rounding::NegativeInf);
        let within_half: Tile<i32, { [TILE] }> = modulo(index, inner);
        let input_stride: Tile<i32, { [TILE] }> = broadcast_scalar(INPUT_STRIDE, shape![TILE]);
        let output_stride: Tile<i32, { [TILE] }> = broadcast_scalar(OUTPUT_STRIDE, shape![TILE]);
        let left: Tile<i32, { [TILE] }> = outer * input_stride + within_half;
        let right: Tile<i32, { [TILE] }> = left + inner;
        let place: Tile<i32, { [TILE] }> = outer * output_stride + within_half;

        let left: Tile<i64, { [TILE] }> = exti(left);
        let source: PointerTile<*mut E, { [TILE] }> = addresses(input, left);
        let inside: Tile<bool, { [TILE] }> = within(left, input_size);
        let a: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let right: Tile<i64, { [TILE] }> = exti(right);
        let source: PointerTile<*mut E, { [TILE] }> = addresses(input, right);
        let inside: Tile<bool, { [TILE] }> = within(right, input_size);
        let b: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };

        let activated: Tile<E, { [TILE] }> = if TANH { gelu_by_tanh(b) } else { gelu_by_sigmoid(b) };
        let result: Tile<E, { [TILE] }> = a * activated;
        let place: Tile<i64, { [TILE] }> = exti(place);
        let target: PointerTile<*mut E, { [TILE] }> = addresses(output, place);
        let inside: Tile<bool, { [TILE] }> = within(place, output_size);
        let stored: Token = unsafe { scatter(target, result, inside, token) };
    }
}
