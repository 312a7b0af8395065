//! The Gaussian error linear unit, TILE elements a block, in the element type of its operand.
//!
//! Both forms take the error function's tanh approximation; they differ in how tanh itself is computed.

#[cutile::module]
pub mod gelu {
    use crate::device::device::*;
    use cutile::core::*;

    const SQRT_2_OVER_PI: f32 = 0.7978846f32;
    const CUBIC: f32 = 0.044715f32;

    /// A number in all lanes, rounded to the element type.
    fn lanes<E: ElementType, const N: i32>(number: f32) -> Tile<E, { [N] }> {
        let number: E = convert_scalar(number);
        broadcast_scalar(number, shape![N])
    }

    /// x * Phi(x), tanh by way of a sigmoid.
    pub fn gelu_by_sigmoid<E: ElementType, const N: i32>(x: Tile<E, { [N] }>) -> Tile<E, { [N] }> {
        let half: Tile<E, { [N] }> = lanes::<E, N>(0.5f32);
        let one: Tile<E, { [N] }> = lanes::<E, N>(1.0f32);
        let two: Tile<E, { [N] }> = lanes::<E, N>(2.0f32);
        let scale: Tile<E, { [N] }> = lanes::<E, N>(SQRT_2_OVER_PI);
        let cubic: Tile<E, { [N] }> = lanes::<E, N>(CUBIC);
        let inner: Tile<E, { [N] }> = scale * fma(cubic, x * x * x, x, rounding::NearestEven, ftz::Disabled);
        let sigmoid: Tile<E, { [N] }> = one / (one + exp(negf(two * inner)));
        let tanh_inner: Tile<E, { [N] }> = fma(two, sigmoid, negf(one), rounding::NearestEven, ftz::Disabled);
        x * (half * (one + tanh_inner))
    }

    /// 0.5 x (1 + tanh(..)).
    pub fn gelu_by_tanh<E: ElementType, const N: i32>(x: Tile<E, { [N] }>) -> Tile<E, { [N] }> {
        let half: Tile<E, { [N] }> = lanes::<E, N>(0.5f32);
        let one: Tile<E, { [N] }> = lanes::<E, N>(1.0f32);
        let scale: Tile<E, { [N] }> = lanes::<E, N>(SQRT_2_OVER_PI);
        let cubic: Tile<E, { [N] }> = lanes::<E, N>(CUBIC);
        let inner: Tile<E, { [N] }> = scale * fma(cubic * x * x, x, x, rounding::NearestEven, ftz::Disabled);
        half * x * (one + tanh(inner))
    }

    #[cutile::entry()]
    pub unsafe fn elements<E: ElementType, const TILE: i32, const TANH: bool>(
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
        let index: Tile<i32, { [TILE] }> = lane + start;
        let index: Tile<i64, { [TILE] }> = exti(index);

        let source: PointerTile<*mut E, { [TILE] }> = addresses(input, index);
        let inside: Tile<bool, { [TILE] }> = within(index, input_size);
        let value: Tile<E, { [TILE] }> = unsafe { gather(source, inside, 0.0f32, token) };
        let result: Tile<E, { [TILE] }> = if TANH { gelu_by_tanh(value) } else { gelu_by_sigmoid(value) };
        let target: PointerTile<*mut E, { [TILE] }> = addresses(output, index);
        let inside: Tile<bool, { [TILE] }> = within(index, output_size);
        let stored: Token = unsafe { scatter(target, result, inside, token) };
    }
}
