//! matmul: translated from py.mlir.

#[cutile::module]
pub mod matmul {
    use cutile::core::*;

    /// The quotient, rounded down.
    fn floor_div(dividend: i32, divisor: i32) -> i32 {
        let dividend: Tile<i32, { [] }> = scalar_to_tile(dividend);
        let divisor: Tile<i32, { [] }> = scalar_to_tile(divisor);
        let quotient: Tile<i32, { [] }> = divi(dividend, divisor, rounding::NegativeInf);
        tile_to_scalar(quotient)
    }

    /// What remains of it: with the sign of the divisor.
    fn floor_mod(dividend: i32, divisor: i32) -> i32 {
        let rest: i32 = dividend % divisor;
        let wrong: bool = ((rest < 0i32) ^ (divisor < 0i32)) & (rest != 0i32);
        let wrong: Tile<bool, { [] }> = scalar_to_tile(wrong);
        let raised: i32 = rest + divisor;
        let raised: Tile<i32, { [] }> = scalar_to_tile(raised);
        let rest: Tile<i32, { [] }> = scalar_to_tile(rest);
        let floored: Tile<i32, { [] }> = select(wrong, raised, rest);
        tile_to_scalar(floored)
    }

    /// A tile of 2 dimensions; latency 3.
    unsafe fn load_2d_latency_3<E: ElementType, const S: [i32; 2]>(
        view: &Partition<E, S>,
        i: i32,
        j: i32,
        token: Token,
    ) -> Tile<E, S> {
        let shape: Shape<S> = Shape::<S> { dims: &[] };
        let (tile, done): (Tile<E, S>, Token) = unsafe {
            load_view_raw(
                view,
                [i, j],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                Some(3i32),
                [false, false],
                shape,
            )
        };
        tile
    }

    /// Stores a tile of 2 dimensions.
    unsafe fn store_2d<E: ElementType, const S: [i32; 2]>(
        view: &Partition<E, S>,
        tile: Tile<E, S>,
        i: i32,
        j: i32,
        token: Token,
    ) -> Token {
        let done: Token = unsafe {
            store_view_raw(
                view,
                tile,
                [i, j],
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

    #[cutile::entry(optimization_hints = (default = (num_cta_in_cga = 2,),))]
    pub unsafe fn matmul(
        a: &Tensor<f32, { [-1, -1] }>,
        b: &Tensor<f32, { [-1, -1] }>,
        c: &Tensor<f32, { [-1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let a_extent_0: i32 = a.shape()[0];
        let b_extent_1: i32 = b.shape()[1];
        let tiles: i32 = ceil_div(a_extent_0, 128i32);
        let tiles_2: i32 = ceil_div(b_extent_1, 128i32);
        let product: i32 = 4i32 * tiles_2;
        let block_x: i32 = get_tile_block_id().0;
        let quotient: i32 = floor_div(block_x, product);
        let product_2: i32 = quotient * 4i32;
        let smaller: i32 = min(tiles - product_2, 4i32);
        let remainder: i32 = floor_mod(block_x, product);
        let remainder_2: i32 = floor_mod(remainder, smaller);
        let sum: i32 = product_2 + remainder_2;
        let quotient_2: i32 = floor_div(remainder, smaller);
        let a_tiles: Partition<f32, { [128, 32] }> = unsafe {
            make_partition_view(a, shape![128, 32], padding::None, dim_map::Identity, token)
        };
        let a_tiles_along_1: i32 = num_tiles(&a_tiles, 1);
        let a_tiles_2: Partition<f32, { [128, 32] }> = unsafe {
            make_partition_view(a, shape![128, 32], padding::Zero, dim_map::Identity, token)
        };
        let b_tiles: Partition<f32, { [32, 128] }> = unsafe {
            make_partition_view(b, shape![32, 128], padding::Zero, dim_map::Identity, token)
        };
        let mut carried: Tile<f32, { [128, 128] }> = constant(0.0f32, shape![128, 128]);
        for index in 0i32..a_tiles_along_1 {
            let a_tile: Tile<f32, { [128, 32] }> =
                unsafe { load_2d_latency_3(&a_tiles_2, sum, index, token) };
            let b_tile: Tile<f32, { [32, 128] }> =
                unsafe { load_2d_latency_3(&b_tiles, index, quotient_2, token) };
            let converted: Tile<tf32, { [128, 32] }> = convert_tile(a_tile);
            let converted_2: Tile<tf32, { [32, 128] }> = convert_tile(b_tile);
            carried = mma(converted, converted_2, carried);
        }
        let c_tiles: Partition<f32, { [128, 128] }> = unsafe {
            make_partition_view(c, shape![128, 128], padding::None, dim_map::Identity, token)
        };
        unsafe { store_2d(&c_tiles, carried, sum, quotient_2, token) };
    }
}
