//! Products of two matrices, many at a time.

#[cutile::module]
pub mod bmm {
    use crate::device::device::*;
    use cutile::core::*;

    /// A tile of one of the matrices. LATENCY: hint how long it may take, none below 1.
    unsafe fn load<E: ElementType, const ROWS: i32, const COLUMNS: i32, const LATENCY: i32>(
        view: &Partition<E, { [1, ROWS, COLUMNS] }>,
        which: i32,
        row: i32,
        column: i32,
        token: Token,
    ) -> Tile<E, { [1, ROWS, COLUMNS] }> {
        if LATENCY >= 1 {
            let (tile, done): (Tile<E, { [1, ROWS, COLUMNS] }>, Token) = unsafe {
                load_view_raw(
                    view,
                    [which, row, column],
                    Some(token),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Enabled,
                    Some(LATENCY),
                    [false, false, false],
                    shape![1, ROWS, COLUMNS],
                )
            };
            tile
        } else {
            let (tile, done): (Tile<E, { [1, ROWS, COLUMNS] }>, Token) = unsafe {
                load_view_raw(
                    view,
                    [which, row, column],
                    Some(token),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Enabled,
                    None,
                    [false, false, false],
                    shape![1, ROWS, COLUMNS],
                )
            };
            tile
        }
    }

    /// One tile of one product a block.
    #[cutile::entry()]
    pub unsafe fn plain<E: ElementType, const BM: i32, const BN: i32, const BK: i32>(
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        c: &Tensor<E, { [-1, -1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let block = get_tile_block_id();
        let (m, n, which): (i32, i32, i32) = (block.0, block.1, block.2);
        let whole: Partition<E, { [1, BM, BK] }> =
            unsafe { make_partition_view(a, shape![1, BM, BK], padding::None, dim_map::Identity, token) };
        let view_a: Partition<E, { [1, BM, BK] }> =
            unsafe { make_partition_view(a, shape![1, BM, BK], padding::Zero, dim_map::Identity, token) };
        let view_b: Partition<E, { [1, BK, BN] }> =
            unsafe { make_partition_view(b, shape![1, BK, BN], padding::Zero, dim_map::Identity, token) };
        let view_c: Partition<E, { [1, BM, BN] }> =
            unsafe { make_partition_view(c, shape![1, BM, BN], padding::None, dim_map::Identity, token) };

        let steps: i32 = num_tiles(&whole, 2i32);
        let mut product: Tile<f32, { [BM, BN] }> = constant(0.0f32, shape![BM, BN]);
        for k in 0i32..steps {
            let x: Tile<E, { [1, BM, BK] }> = unsafe { load::<E, BM, BK, 0>(&view_a, which, m, k, token) };
            let x: Tile<E, { [BM, BK] }> = x.reshape(shape![BM, BK]);
            let y: Tile<E, { [1, BK, BN] }> = unsafe { load::<E, BK, BN, 0>(&view_b, which, k, n, token) };
            let y: Tile<E, { [BK, BN] }> = y.reshape(shape![BK, BN]);
            product = mma(x, y, product);
        }
        let result: Tile<E, { [BM, BN] }> = convert_tile(product);
        let stored: Token = unsafe {
            store_view_raw(
                &view_c,
                result.reshape(shape![1, BM, BN]),
                [which, m, n],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false, false],
            )
        };
    }

    /// Each block takes every `blocks`-th tile of all products, in groups of GROUP rows of tiles. The matrices A lie as
    /// (K, M) with TRANSPOSE_A, B as (N, K) with TRANSPOSE_B. LATENCY: hint of the loads and the store.
    #[cutile::entry()]
    pub unsafe fn persistent<
        E: ElementType,
        const M: i32,
        const N: i32,
        const K: i32,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const GROUP: i32,
        const LATENCY: i32,
        const TRANSPOSE_A: bool,
        const TRANSPOSE_B: bool,
    >(
        a: &Tensor<E, { [-1, -1, -1] }>,
        b: &Tensor<E, { [-1, -1, -1] }>,
        c: &Tensor<E, { [-1, -1, -1] }>,
        batch: i32,
    ) {
        let token: Token = new_token_unordered();
        let view_a: Partition<E, { [1, BM, BK] }> =
            unsafe { make_partition_view(a, shape![1, BM, BK], padding::Zero, dim_map::Identity, token) };
        let turned_a: Partition<E, { [1, BK, BM] }> =
            unsafe { make_partition_view(a, shape![1, BK, BM], padding::Zero, dim_map::Identity, token) };
        let view_b: Partition<E, { [1, BK, BN] }> =
            unsafe { make_partition_view(b, shape![1, BK, BN], padding::Zero, dim_map::Identity, token) };
        let turned_b: Partition<E, { [1, BN, BK] }> =
            unsafe { make_partition_view(b, shape![1, BN, BK], padding::Zero, dim_map::Identity, token) };
        let view_c: Partition<E, { [1, BM, BN] }> =
            unsafe { make_partition_view(c, shape![1, BM, BN], padding::None, dim_map::Identity, token) };

        let block: i32 = get_tile_block_id().0;
        let blocks: i32 = get_num_tile_blocks().0;
        let tiles_m: i32 = ceil_div(M, BM);
        let tiles_n: i32 = ceil_div(N, BN);
        let steps: i32 = ceil_div(K, BK);
        let in_product: i32 = tiles_m * tiles_n;
        let in_group: i32 = GROUP * tiles_n;

        let mut stored: Token = token;
        for tile in (block..in_product * batch).step_by(blocks as usize) {
            let which: i32 = floor_div(tile, in_product);
            let tile: i32 = floor_mod(tile, in_product);
            let first: i32 = floor_div(tile, in_group) * GROUP;
            let rows: i32 = min(tiles_m - first, GROUP);
            let m: i32 = first + floor_mod(tile, rows);
            let n: i32 = floor_div(floor_mod(tile, in_group), rows);

            let mut product: Tile<f32, { [BM, BN] }> = constant(0.0f32, shape![BM, BN]);
            for k in 0i32..steps {
                let x: Tile<E, { [1, BM, BK] }> = if TRANSPOSE_A {
                    let x: Tile<E, { [1, BK, BM] }> =
                        unsafe { load::<E, BK, BM, LATENCY>(&turned_a, which, k, m, token) };
                    permute(x, const_array![0, 2, 1])
                } else {
                    unsafe { load::<E, BM, BK, LATENCY>(&view_a, which, m, k, token) }
                };
                let x: Tile<E, { [BM, BK] }> = x.reshape(shape![BM, BK]);
                let y: Tile<E, { [1, BK, BN] }> = if TRANSPOSE_B {
                    let y: Tile<E, { [1, BN, BK] }> =
                        unsafe { load::<E, BN, BK, LATENCY>(&turned_b, which, n, k, token) };
                    permute(y, const_array![0, 2, 1])
                } else {
                    unsafe { load::<E, BK, BN, LATENCY>(&view_b, which, k, n, token) }
                };
                let y: Tile<E, { [BK, BN] }> = y.reshape(shape![BK, BN]);
                product = mma(x, y, product);
            }
            let result: Tile<E, { [BM, BN] }> = convert_tile(product);
            stored = unsafe {
                store_view_raw(
                    &view_c,
                    result.reshape(shape![1, BM, BN]),
                    [which, m, n],
                    Some(stored),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Enabled,
                    Some(LATENCY),
                    [false, false, false],
                )
            };
        }
    }
}
