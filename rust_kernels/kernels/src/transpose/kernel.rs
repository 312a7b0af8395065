//! The transpose of a matrix, a tile a block.

#[cutile::module]
pub mod transpose {
    use cutile::core::*;

    #[cutile::entry()]
    pub unsafe fn tiles<E: ElementType, const ROWS: i32, const COLUMNS: i32>(
        input: &Tensor<E, { [-1, -1] }>,
        output: &Tensor<E, { [-1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let block = get_tile_block_id();
        let source: Partition<E, { [ROWS, COLUMNS] }> =
            unsafe { make_partition_view(input, shape![ROWS, COLUMNS], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [COLUMNS, ROWS] }> =
            unsafe { make_partition_view(output, shape![COLUMNS, ROWS], padding::None, dim_map::Identity, token) };
        let (tile, loaded): (Tile<E, { [ROWS, COLUMNS] }>, Token) = unsafe {
            load_view_raw(
                &source,
                [block.0, block.1],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false],
                shape![ROWS, COLUMNS],
            )
        };
        let turned: Tile<E, { [COLUMNS, ROWS] }> = permute(tile, const_array![1, 0]);
        let stored: Token = unsafe {
            store_view_raw(
                &target,
                turned,
                [block.1, block.0],
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
