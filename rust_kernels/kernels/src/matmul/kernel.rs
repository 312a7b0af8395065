//! Products of two matrices. TF32: multiply in tf32.

#[cutile::module]
pub mod matmul {
    use crate::device::device::*;
    use cutile::core::*;

    /// x y + product.
    fn multiply<E: ElementType, const BM: i32, const BN: i32, const BK: i32, const TF32: bool>(
        x: Tile<E, { [BM, BK] }>,
        y: Tile<E, { [BK, BN] }>,
        product: Tile<f32, { [BM, BN] }>,
    ) -> Tile<f32, { [BM, BN] }> {
        if TF32 {
            let x: Tile<tf32, { [BM, BK] }> = convert_tile(x);
            let y: Tile<tf32, { [BK, BN] }> = convert_tile(y);
            mma(x, y, product)
        } else {
            mma(x, y, product)
        }
    }

    /// One tile of the product a block, blocks in groups of eight rows of tiles.
    #[cutile::entry()]
    pub unsafe fn plain<E: ElementType, const BM: i32, const BN: i32, const BK: i32, const TF32: bool>(
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        c: &Tensor<E, { [-1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let whole: Partition<E, { [BM, BK] }> =
            unsafe { make_partition_view(a, shape![BM, BK], padding::None, dim_map::Identity, token) };
        let view_a: Partition<E, { [BM, BK] }> =
            unsafe { make_partition_view(a, shape![BM, BK], padding::Zero, dim_map::Identity, token) };
        let view_b: Partition<E, { [BK, BN] }> =
            unsafe { make_partition_view(b, shape![BK, BN], padding::Zero, dim_map::Identity, token) };
        let view_c: Partition<E, { [BM, BN] }> =
            unsafe { make_partition_view(c, shape![BM, BN], padding::None, dim_map::Identity, token) };

        let block: i32 = get_tile_block_id().0;
        let tiles_m: i32 = ceil_div(a.shape()[0], BM);
        let tiles_n: i32 = ceil_div(b.shape()[1], BN);
        let group: i32 = 8i32;
        let in_group: i32 = group * tiles_n;
        let first: i32 = floor_div(block, in_group) * group;
        let rows: i32 = min(tiles_m - first, group);
        let m: i32 = first + floor_mod(block, rows);
        let n: i32 = floor_div(floor_mod(block, in_group), rows);

        let steps: i32 = num_tiles(&whole, 1i32);
        let mut product: Tile<f32, { [BM, BN] }> = constant(0.0f32, shape![BM, BN]);
        for k in 0i32..steps {
            let x: Tile<E, { [BM, BK] }> = unsafe { load_tile_at(&view_a, m, k, token) };
            let y: Tile<E, { [BK, BN] }> = unsafe { load_tile_at(&view_b, k, n, token) };
            product = multiply::<E, BM, BN, BK, TF32>(x, y, product);
        }
        let result: Tile<E, { [BM, BN] }> = convert_tile(product);
        let stored: Token = unsafe { store_tile_at(&view_c, result, m, n, token) };
    }

    /// Each block takes every `blocks`-th tile of the product, in groups of GROUP rows of tiles. A lies as (K, M) with
    /// TRANSPOSE_A, B as (N, K) with TRANSPOSE_B. LATENCY: hint of the loads, none below 1.
    #[cutile::entry()]
    pub unsafe fn persistent<
        E: ElementType,
        const BM: i32,
        const BN: i32,
        const BK: i32,
        const TF32: bool,
        const TRANSPOSE_A: bool,
        const TRANSPOSE_B: bool,
        const GROUP: i32,
        const LATENCY: i32,
    >(
        a: &Tensor<E, { [-1, -1] }>,
        b: &Tensor<E, { [-1, -1] }>,
        c: &Tensor<E, { [-1, -1] }>,
        m_extent: i32,
        n_extent: i32,
        k_extent: i32,
    ) {
        let token: Token = new_token_unordered();
        let view_a: Partition<E, { [BM, BK] }> =
            unsafe { make_partition_view(a, shape![BM, BK], padding::Zero, dim_map::Identity, token) };
        let turned_a: Partition<E, { [BK, BM] }> =
            unsafe { make_partition_view(a, shape![BK, BM], padding::Zero, dim_map::Identity, token) };
        let view_b: Partition<E, { [BK, BN] }> =
            unsafe { make_partition_view(b, shape![BK, BN], padding::Zero, dim_map::Identity, token) };
        let turned_b: Partition<E, { [BN, BK] }> =
            unsafe { make_partition_view(b, shape![BN, BK], padding::Zero, dim_map::Identity, token) };
        let view_c: Partition<E, { [BM, BN] }> =
            unsafe { make_partition_view(c, shape![BM, BN], padding::None, dim_map::Identity, token) };

        let block: i32 = get_tile_block_id().0;
        let blocks: i32 = get_num_tile_blocks().0;
        let tiles_m: i32 = ceil_div(m_extent, BM);
        let tiles_n: i32 = ceil_div(n_extent, BN);
        let steps: i32 = ceil_div(k_extent, BK);
        let in_group: i32 = GROUP * tiles_n;

        let mut stored: Token = token;
        for tile in (block..tiles_m * tiles_n).step_by(blocks as usize) {
            let first: i32 = floor_div(tile, in_group) * GROUP;
            let rows: i32 = min(tiles_m - first, GROUP);
            let m: i32 = first + floor_mod(tile, rows);
            let n: i32 = floor_div(floor_mod(tile, in_group), rows);

            let mut product: Tile<f32, { [BM, BN] }> = constant(0.0f32, shape![BM, BN]);
            for k in 0i32..steps {
                let x: Tile<E, { [BM, BK] }> = if TRANSPOSE_A {
                    let x: Tile<E, { [BK, BM] }> = if LATENCY >= 1 {
                        unsafe { load_tile_within::<E, { [BK, BM] }, LATENCY>(&turned_a, k, m, token) }
                    } else {
                        unsafe { load_tile_at(&turned_a, k, m, token) }
                    };
                    permute(x, const_array![1, 0])
                } else {
                    let x: Tile<E, { [BM, BK] }> = if LATENCY >= 1 {
                        unsafe { load_tile_within::<E, { [BM, BK] }, LATENCY>(&view_a, m, k, token) }
                    } else {
                        unsafe { load_tile_at(&view_a, m, k, token) }
                    };
                    x
                };
                let y: Tile<E, { [BK, BN] }> = if TRANSPOSE_B {
                    let y: Tile<E, { [BN, BK] }> = if LATENCY >= 1 {
                        unsafe { load_tile_within::<E, { [BN, BK] }, LATENCY>(&turned_b, n, k, token) }
                    } else {
                        unsafe { load_tile_at(&turned_b, n, k, token) }
                    };
                    permute(y, const_array![1, 0])
                } else {
                    let y: Tile<E, { [BK, BN] }> = if LATENCY >= 1 {
                        unsafe { load_tile_within::<E, { [BK, BN] }, LATENCY>(&view_b, k, n, token) }
                    } else {
                        unsafe { load_tile_at(&view_b, k, n, token) }
                    };
                    y
                };
                product = multiply::<E, BM, BN, BK, TF32>(x, y, product);
            }
            let result: Tile<E, { [BM, BN] }> = convert_tile(product);
            stored = unsafe { store_tile_at(&view_c, result, m, n, stored) };
        }
    }
}
