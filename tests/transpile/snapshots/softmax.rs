//! softmax: translated from py.mlir.

#[cutile::module]
pub mod softmax {
    use cutile::core::*;

    /// A tile of 2 dimensions.
    unsafe fn load_2d<E: ElementType, const S: [i32; 2]>(
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
                None,
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

    #[cutile::entry(optimization_hints = (default = (occupancy = 4,),))]
    pub unsafe fn softmax(a: &Tensor<f16, { [-1, -1] }>, b: &Tensor<f16, { [-1, -1] }>) {
        let token: Token = new_token_unordered();
        let block_x: i32 = get_tile_block_id().0;
        let a_tiles: Partition<f16, { [64, 64] }> = unsafe {
            make_partition_view(a, shape![64, 64], padding::NegInf, dim_map::Identity, token)
        };
        let a_tile: Tile<f16, { [64, 64] }> = unsafe { load_2d(&a_tiles, block_x, 0i32, token) };
        let converted: Tile<f32, { [64, 64] }> = convert_tile(a_tile);
        let largest: Tile<f32, { [64] }> = reduce_max(converted, 1i32);
        let largest_2: Tile<f32, { [64, 1] }> = largest.reshape(shape![64, 1]);
        let largest_3: Tile<f32, { [64, 64] }> = largest_2.broadcast(shape![64, 64]);
        let exponential: Tile<f32, { [64, 64] }> = exp(converted - largest_3);
        let total: Tile<f32, { [64] }> = reduce_sum(exponential, 1i32);
        let total_2: Tile<f32, { [64, 1] }> = total.reshape(shape![64, 1]);
        let total_3: Tile<f32, { [64, 64] }> = total_2.broadcast(shape![64, 64]);
        let quotient: Tile<f32, { [64, 64] }> =
            divf(exponential, total_3, rounding::Approx, ftz::Enabled);
        let converted_2: Tile<f16, { [64, 64] }> = convert_tile(quotient);
        let b_tiles: Partition<f16, { [64, 64] }> = unsafe {
            make_partition_view(b, shape![64, 64], padding::None, dim_map::Identity, token)
        };
        unsafe { store_2d(&b_tiles, converted_2, block_x, 0i32, token) };
    }
}
