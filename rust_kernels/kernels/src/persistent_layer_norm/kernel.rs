//! y = (x - mean) / deviation * weight + bias along each row, rounded to bf16, by views.

#[cutile::module]
pub mod persistent_layer_norm {
    use crate::device::device::*;
    use cutile::core::*;

    /// A number for each column, in f32.
    unsafe fn of_columns<F: ElementType, const TILE: i32>(
        source: &Partition<F, { [TILE] }>,
        token: Token,
    ) -> Tile<f32, { [1, TILE] }> {
        let (numbers, loaded): (Tile<F, { [TILE] }>, Token) = unsafe {
            load_view_raw(
                source,
                [0i32],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false],
                shape![TILE],
            )
        };
        let numbers: Tile<f32, { [TILE] }> = convert_tile(numbers);
        numbers.reshape(shape![1, TILE])
    }

    /// ROWS whole rows, in f32.
    unsafe fn load_rows<E: ElementType, const ROWS: i32, const TILE: i32>(
        source: &Partition<E, { [ROWS, TILE] }>,
        tile: i32,
        token: Token,
    ) -> Tile<f32, { [ROWS, TILE] }> {
        let (rows, loaded): (Tile<E, { [ROWS, TILE] }>, Token) = unsafe {
            load_view_raw(
                source,
                [tile, 0i32],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                Some(4i32),
                [false, false],
                shape![ROWS, TILE],
            )
        };
        let rows: Tile<f32, { [ROWS, TILE] }> = convert_tile(rows);
        rows
    }

    /// Stores a number for each of ROWS rows.
    unsafe fn store_statistic<const ROWS: i32>(
        target: &Partition<f32, { [ROWS] }>,
        values: Tile<f32, { [ROWS] }>,
        tile: i32,
        token: Token,
    ) {
        let stored: Token = unsafe {
            store_view_raw(
                target,
                values,
                [tile],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Disabled,
                None,
                [false],
            )
        };
    }

    /// Normalises ROWS rows and stores them, rounded to bf16.
    unsafe fn normalise<E: ElementType, const ROWS: i32, const TILE: i32>(
        target: &Partition<E, { [ROWS, TILE] }>,
        x: Tile<f32, { [ROWS, TILE] }>,
        mean: Tile<f32, { [ROWS] }>,
        inverse: Tile<f32, { [ROWS] }>,
        w: Tile<f32, { [1, TILE] }>,
        b: Tile<f32, { [1, TILE] }>,
        tile: i32,
        token: Token,
    ) {
        let mean: Tile<f32, { [ROWS, 1] }> = mean.reshape(shape![ROWS, 1]);
        let mean: Tile<f32, { [ROWS, TILE] }> = mean.broadcast(shape![ROWS, TILE]);
        let inverse: Tile<f32, { [ROWS, 1] }> = inverse.reshape(shape![ROWS, 1]);
        let inverse: Tile<f32, { [ROWS, TILE] }> = inverse.broadcast(shape![ROWS, TILE]);
        let w: Tile<f32, { [ROWS, TILE] }> = w.broadcast(shape![ROWS, TILE]);
        let b: Tile<f32, { [ROWS, TILE] }> = b.broadcast(shape![ROWS, TILE]);
        let y: Tile<f32, { [ROWS, TILE] }> = fma((x - mean) * inverse, w, b, rounding::NearestEven, ftz::Disabled);
        let rounded: Tile<bf16, { [ROWS, TILE] }> = convert_tile(y);
        let result: Tile<E, { [ROWS, TILE] }> = convert_tile(rounded);
        let stored: Token = unsafe {
            store_view_raw(
                target,
                result,
                [tile, 0i32],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Disabled,
                None,
                [false, false],
            )
        };
    }

    /// Each block takes every `BLOCKS`-th tile of ROWS rows; also writes mean and 1 / deviation. HEIGHT, WIDTH: of the
    /// matrix; EPS: the bits of an f32 number; F: of weight and bias.
    #[cutile::entry()]
    pub unsafe fn computed<
        E: ElementType,
        F: ElementType,
        const HEIGHT: i32,
        const WIDTH: i32,
        const EPS: i32,
        const ROWS: i32,
        const TILE: i32,
        const BLOCKS: i32,
    >(
        input: &Tensor<E, { [-1, -1] }>,
        output: &Tensor<E, { [-1, -1] }>,
        weight: &Tensor<F, { [-1] }>,
        bias: &Tensor<F, { [-1] }>,
        mean: &Tensor<f32, { [-1] }>,
        rstd: &Tensor<f32, { [-1] }>,
    ) {
        let token: Token = new_token_unordered();
        let first: i32 = get_tile_block_id().0;
        let weights: Partition<F, { [TILE] }> =
            unsafe { make_partition_view(weight, shape![TILE], padding::Zero, dim_map::Identity, token) };
        let w: Tile<f32, { [1, TILE] }> = unsafe { of_columns(&weights, token) };
        let biases: Partition<F, { [TILE] }> =
            unsafe { make_partition_view(bias, shape![TILE], padding::Zero, dim_map::Identity, token) };
        let b: Tile<f32, { [1, TILE] }> = unsafe { of_columns(&biases, token) };
        let source: Partition<E, { [ROWS, TILE] }> =
            unsafe { make_partition_view(input, shape![ROWS, TILE], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [ROWS, TILE] }> =
            unsafe { make_partition_view(output, shape![ROWS, TILE], padding::None, dim_map::Identity, token) };
        let means: Partition<f32, { [ROWS] }> =
            unsafe { make_partition_view(mean, shape![ROWS], padding::None, dim_map::Identity, token) };
        let inverses: Partition<f32, { [ROWS] }> =
            unsafe { make_partition_view(rstd, shape![ROWS], padding::None, dim_map::Identity, token) };
        let count: f32 = convert_scalar(WIDTH);
        let count: Tile<f32, { [ROWS] }> = broadcast_scalar(count, shape![ROWS]);
        let eps: f32 = float_of(EPS);
        let eps: Tile<f32, { [ROWS] }> = broadcast_scalar(eps, shape![ROWS]);

        for tile in (first..ceil_div(HEIGHT, ROWS)).step_by(BLOCKS as usize) {
            let x: Tile<f32, { [ROWS, TILE] }> = unsafe { load_rows(&source, tile, token) };
            let squares: Tile<f32, { [ROWS] }> = reduce_sum(x * x, 1i32);
            let total: Tile<f32, { [ROWS] }> = reduce_sum(x, 1i32);
            let average: Tile<f32, { [ROWS] }> = total / count;
            let variance: Tile<f32, { [ROWS] }> =
                fma(negf(average), average, squares / count, rounding::NearestEven, ftz::Disabled);
            let inverse: Tile<f32, { [ROWS] }> = rsqrt(variance + eps, ftz::Disabled);
            unsafe { store_statistic(&means, average, tile, token) };
            unsafe { store_statistic(&inverses, inverse, tile, token) };
            unsafe { normalise(&target, x, average, inverse, w, b, tile, token) };
        }
    }

    /// The same with mean and 1 / deviation that are given.
    #[cutile::entry()]
    pub unsafe fn given<
        E: ElementType,
        F: ElementType,
        const HEIGHT: i32,
        const ROWS: i32,
        const TILE: i32,
        const BLOCKS: i32,
    >(
        input: &Tensor<E, { [-1, -1] }>,
        output: &Tensor<E, { [-1, -1] }>,
        weight: &Tensor<F, { [-1] }>,
        bias: &Tensor<F, { [-1] }>,
        mean: *mut f32,
        mean_size: i32,
        rstd: *mut f32,
        rstd_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let mean_size: i32 = unsafe { assume_bounds_lower::<_, 0>(mean_size) };
        let rstd_size: i32 = unsafe { assume_bounds_lower::<_, 0>(rstd_size) };
        let first: i32 = get_tile_block_id().0;
        let weights: Partition<F, { [TILE] }> =
            unsafe { make_partition_view(weight, shape![TILE], padding::Zero, dim_map::Identity, token) };
        let w: Tile<f32, { [1, TILE] }> = unsafe { of_columns(&weights, token) };
        let biases: Partition<F, { [TILE] }> =
            unsafe { make_partition_view(bias, shape![TILE], padding::Zero, dim_map::Identity, token) };
        let b: Tile<f32, { [1, TILE] }> = unsafe { of_columns(&biases, token) };
        let source: Partition<E, { [ROWS, TILE] }> =
            unsafe { make_partition_view(input, shape![ROWS, TILE], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [ROWS, TILE] }> =
            unsafe { make_partition_view(output, shape![ROWS, TILE], padding::None, dim_map::Identity, token) };

        for tile in (first..ceil_div(HEIGHT, ROWS)).step_by(BLOCKS as usize) {
            let row: Tile<i32, { [ROWS] }> = lanes_from::<ROWS>(tile * ROWS);
            let x: Tile<f32, { [ROWS, TILE] }> = unsafe { load_rows(&source, tile, token) };
            let average: Tile<f32, { [ROWS] }> = unsafe { gather_numbers(mean, mean_size, row, token) };
            let inverse: Tile<f32, { [ROWS] }> = unsafe { gather_numbers(rstd, rstd_size, row, token) };
            unsafe { normalise(&target, x, average, inverse, w, b, tile, token) };
        }
    }
}
