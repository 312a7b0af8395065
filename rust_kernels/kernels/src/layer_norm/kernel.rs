//! y = (x - mean) / deviation * (shift + weight) + bias over the channels of (N, channels, W); also writes mean and
//! 1 / deviation. Three ways to fetch the channels, in tiles of TILE of them, three times.

#[cutile::module]
pub mod layer_norm {
    use crate::device::device::*;
    use cutile::core::*;

    /// A number of all channels together, by their count.
    fn per_channel<const S: [i32; 1]>(total: Tile<f32, S>, channels: i32) -> Tile<f32, S> {
        let shape: Shape<S> = Shape::<S> { dims: &[] };
        let count: f32 = convert_scalar(channels);
        let count: Tile<f32, S> = broadcast_scalar(count, shape);
        total / count
    }

    /// 1 / deviation. EPS: the bits of an f32 number.
    fn inverse_of<const N: i32, const EPS: i32>(variance: Tile<f32, { [N] }>) -> Tile<f32, { [N] }> {
        let eps: f32 = float_of(EPS);
        let eps: Tile<f32, { [N] }> = broadcast_scalar(eps, shape![N]);
        rsqrt(variance + eps, ftz::Disabled)
    }

    /// TILE channels of WIDTH columns, in f32.
    unsafe fn load_block<E: ElementType, const TILE: i32, const WIDTH: i32>(
        source: &Partition<E, { [1, TILE, WIDTH] }>,
        row: i32,
        tile: i32,
        column: i32,
        token: Token,
    ) -> Tile<f32, { [TILE, WIDTH] }> {
        let (block, loaded): (Tile<E, { [1, TILE, WIDTH] }>, Token) = unsafe {
            load_view_raw(
                source,
                [row, tile, column],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false, false],
                shape![1, TILE, WIDTH],
            )
        };
        let block: Tile<E, { [TILE, WIDTH] }> = block.reshape(shape![TILE, WIDTH]);
        let values: Tile<f32, { [TILE, WIDTH] }> = convert_tile(block);
        values
    }

    /// A number for each of TILE channels, in f32.
    unsafe fn load_factors<F: ElementType, const TILE: i32>(
        source: &Partition<F, { [TILE] }>,
        tile: i32,
        token: Token,
    ) -> Tile<f32, { [TILE, 1] }> {
        let (factors, loaded): (Tile<F, { [TILE] }>, Token) = unsafe {
            load_view_raw(
                source,
                [tile],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false],
                shape![TILE],
            )
        };
        let factors: Tile<f32, { [TILE] }> = convert_tile(factors);
        factors.reshape(shape![TILE, 1])
    }

    /// Stores a number for each of WIDTH columns.
    unsafe fn store_columns<const WIDTH: i32>(
        target: &Partition<f32, { [1, WIDTH] }>,
        values: Tile<f32, { [WIDTH] }>,
        row: i32,
        column: i32,
        token: Token,
    ) {
        let stored: Token = unsafe {
            store_view_raw(
                target,
                values.reshape(shape![1, WIDTH]),
                [row, column],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Disabled,
                None,
                [false, false],
            )
        };
    }

    /// Many columns, by views; a block WIDTH of them. EPS, SHIFT: the bits of f32 numbers. F: of weight and bias.
    #[cutile::entry()]
    pub unsafe fn views<
        E: ElementType,
        F: ElementType,
        const CHANNELS: i32,
        const EPS: i32,
        const SHIFT: i32,
        const TILE: i32,
        const WIDTH: i32,
    >(
        input: &Tensor<E, { [-1, -1, -1] }>,
        output: &Tensor<E, { [-1, -1, -1] }>,
        weight: &Tensor<F, { [-1] }>,
        bias: &Tensor<F, { [-1] }>,
        mean: &Tensor<f32, { [-1, -1] }>,
        rstd: &Tensor<f32, { [-1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let block = get_tile_block_id();
        let row: i32 = block.0;
        let column: i32 = block.1;
        let source: Partition<E, { [1, TILE, WIDTH] }> =
            unsafe { make_partition_view(input, shape![1, TILE, WIDTH], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [1, TILE, WIDTH] }> =
            unsafe { make_partition_view(output, shape![1, TILE, WIDTH], padding::None, dim_map::Identity, token) };
        let weights: Partition<F, { [TILE] }> =
            unsafe { make_partition_view(weight, shape![TILE], padding::Zero, dim_map::Identity, token) };
        let biases: Partition<F, { [TILE] }> =
            unsafe { make_partition_view(bias, shape![TILE], padding::Zero, dim_map::Identity, token) };
        let means: Partition<f32, { [1, WIDTH] }> =
            unsafe { make_partition_view(mean, shape![1, WIDTH], padding::None, dim_map::Identity, token) };
        let inverses: Partition<f32, { [1, WIDTH] }> =
            unsafe { make_partition_view(rstd, shape![1, WIDTH], padding::None, dim_map::Identity, token) };
        let zero: Tile<f32, { [TILE, WIDTH] }> = constant(0.0f32, shape![TILE, WIDTH]);

        let mut sums: Tile<f32, { [TILE, WIDTH] }> = zero;
        for start in (0i32..CHANNELS).step_by(TILE as usize) {
            let x: Tile<f32, { [TILE, WIDTH] }> = unsafe { load_block(&source, row, start / TILE, column, token) };
            sums = sums + x;
        }
        let total: Tile<f32, { [WIDTH] }> = reduce_sum(sums, 0i32);
        let mean: Tile<f32, { [WIDTH] }> = per_channel(total, CHANNELS);
        unsafe { store_columns(&means, mean, row, column, token) };

        let mean: Tile<f32, { [1, WIDTH] }> = mean.reshape(shape![1, WIDTH]);
        let mean: Tile<f32, { [TILE, WIDTH] }> = mean.broadcast(shape![TILE, WIDTH]);
        let mut squares: Tile<f32, { [TILE, WIDTH] }> = zero;
        for start in (0i32..CHANNELS).step_by(TILE as usize) {
            let x: Tile<f32, { [TILE, WIDTH] }> = unsafe { load_block(&source, row, start / TILE, column, token) };
            let channel: Tile<i32, { [TILE] }> = lanes_from::<TILE>(start);
            let inside: Tile<bool, { [TILE] }> = below(channel, CHANNELS);
            let inside: Tile<bool, { [TILE, 1] }> = inside.reshape(shape![TILE, 1]);
            let inside: Tile<bool, { [TILE, WIDTH] }> = inside.broadcast(shape![TILE, WIDTH]);
            let centred: Tile<f32, { [TILE, WIDTH] }> = select(inside, x - mean, zero);
            squares = fma(centred, centred, squares, rounding::NearestEven, ftz::Disabled);
        }
        let total: Tile<f32, { [WIDTH] }> = reduce_sum(squares, 0i32);
        let variance: Tile<f32, { [WIDTH] }> = per_channel(total, CHANNELS);
        let inverse: Tile<f32, { [WIDTH] }> = inverse_of::<WIDTH, EPS>(variance);
        unsafe { store_columns(&inverses, inverse, row, column, token) };

        let inverse: Tile<f32, { [1, WIDTH] }> = inverse.reshape(shape![1, WIDTH]);
        let inverse: Tile<f32, { [TILE, WIDTH] }> = inverse.broadcast(shape![TILE, WIDTH]);
        let shift: f32 = float_of(SHIFT);
        let shift: Tile<f32, { [TILE, 1] }> = broadcast_scalar(shift, shape![TILE, 1]);
        let mut stored: Token = token;
        for start in (0i32..CHANNELS).step_by(TILE as usize) {
            let x: Tile<f32, { [TILE, WIDTH] }> = unsafe { load_block(&source, row, start / TILE, column, token) };
            let w: Tile<f32, { [TILE, 1] }> = unsafe { load_factors(&weights, start / TILE, token) };
            let w: Tile<f32, { [TILE, 1] }> = w + shift;
            let w: Tile<f32, { [TILE, WIDTH] }> = w.broadcast(shape![TILE, WIDTH]);
            let b: Tile<f32, { [TILE, 1] }> = unsafe { load_factors(&biases, start / TILE, token) };
            let b: Tile<f32, { [TILE, WIDTH] }> = b.broadcast(shape![TILE, WIDTH]);
            let y: Tile<f32, { [TILE, WIDTH] }> = fma((x - mean) * inverse, w, b, rounding::NearestEven, ftz::Disabled);
            let result: Tile<E, { [TILE, WIDTH] }> = convert_tile(y);
            stored = unsafe {
                store_view_raw(
                    &target,
                    result.reshape(shape![1, TILE, WIDTH]),
                    [row, start / TILE, column],
                    Some(stored),
                    ordering::Weak,
                    scope::TileBlock,
                    tma::Disabled,
                    None,
                    [false, false, false],
                )
            };
        }
    }

    /// Where TILE channels of WIDTH columns lie. STRIDE: from one channel to the next; `row`: where the row starts.
    fn places_of<const TILE: i32, const WIDTH: i32, const STRIDE: i32>(
        row: i32,
        channel: Tile<i32, { [TILE] }>,
        column: Tile<i32, { [WIDTH] }>,
    ) -> Tile<i32, { [TILE, WIDTH] }> {
        let stride: Tile<i32, { [TILE, 1] }> = broadcast_scalar(STRIDE, shape![TILE, 1]);
        let channel: Tile<i32, { [TILE, 1] }> = channel.reshape(shape![TILE, 1]);
        let channel: Tile<i32, { [TILE, 1] }> = channel * stride;
        let channel: Tile<i32, { [TILE, WIDTH] }> = channel.broadcast(shape![TILE, WIDTH]);
        let column: Tile<i32, { [1, WIDTH] }> = column.reshape(shape![1, WIDTH]);
        let column: Tile<i32, { [TILE, WIDTH] }> = column.broadcast(shape![TILE, WIDTH]);
        let row: Tile<i32, { [TILE, WIDTH] }> = broadcast_scalar(row, shape![TILE, WIDTH]);
        row + (channel + column)
    }

    /// Which of them are elements of the row.
    fn elements_of<const TILE: i32, const WIDTH: i32>(
        channel: Tile<bool, { [TILE] }>,
        column: Tile<bool, { [WIDTH] }>,
    ) -> Tile<bool, { [TILE, WIDTH] }> {
        let channel: Tile<bool, { [TILE, 1] }> = channel.reshape(shape![TILE, 1]);
        let channel: Tile<bool, { [TILE, WIDTH] }> = channel.broadcast(shape![TILE, WIDTH]);
        let column: Tile<bool, { [1, WIDTH] }> = column.reshape(shape![1, WIDTH]);
        let column: Tile<bool, { [TILE, WIDTH] }> = column.broadcast(shape![TILE, WIDTH]);
        andi(channel, column)
    }

    /// Which places lie in a tensor of `size` elements.
    fn within_block<const TILE: i32, const WIDTH: i32>(
        place: Tile<i64, { [TILE, WIDTH] }>,
        size: i32,
    ) -> Tile<bool, { [TILE, WIDTH] }> {
        let size: Tile<i32, { [] }> = scalar_to_tile(size);
        let end: Tile<i64, { [] }> = exti(size);
        let end: Tile<i64, { [1, 1] }> = end.reshape(shape![1, 1]);
        let end: Tile<i64, { [TILE, WIDTH] }> = end.broadcast(shape![TILE, WIDTH]);
        let place: Tile<u64, { [TILE, WIDTH] }> = bitcast(place);
        let end: Tile<u64, { [TILE, WIDTH] }> = bitcast(end);
        cmpi(place, end, predicate::LessThan)
    }

    /// The addresses of these places.
    fn block_addresses<E: ElementType, const TILE: i32, const WIDTH: i32>(
        base: *mut E,
        place: Tile<i64, { [TILE, WIDTH] }>,
    ) -> PointerTile<*mut E, { [TILE, WIDTH] }> {
        let scalar: PointerTile<*mut E, { [] }> = pointer_to_tile(base);
        let one: PointerTile<*mut E, { [1, 1] }> = scalar.reshape(shape![1, 1]);
        let all: PointerTile<*mut E, { [TILE, WIDTH] }> = one.broadcast(shape![TILE, WIDTH]);
        all.offset_tile(place)
    }

    /// `load_ptr_tko` of two dimensions whose padding is a tile, as the operation has it. That of cuTile Rust takes a
    /// number, and makes a tile of one dimension of it, which is not valid here.
    #[cuda_tile::op(name = "cuda_tile.load_ptr_tko", since = "V13_2", params = ["source"])]
    unsafe fn load_padded<E: ElementType, const TILE: i32, const WIDTH: i32>(
        source: PointerTile<*mut E, { [TILE, WIDTH] }>,
        memory_ordering: ordering::Weak,
        memory_scope: Option<scope::TileBlock>,
        mask: Option<Tile<bool, { [TILE, WIDTH] }>>,
        padding: Option<Tile<E, { [TILE, WIDTH] }>>,
        token: Option<Token>,
        latency: Latency<0>,
    ) -> (Tile<E, { [TILE, WIDTH] }>, Token) {
        unreachable!()
    }

    /// What lies at these places, in f32; zero beyond the tensor.
    unsafe fn gather_block<E: ElementType, const TILE: i32, const WIDTH: i32>(
        base: *mut E,
        size: i32,
        place: Tile<i32, { [TILE, WIDTH] }>,
        token: Token,
    ) -> Tile<f32, { [TILE, WIDTH] }> {
        let place: Tile<i64, { [TILE, WIDTH] }> = exti(place);
        let source: PointerTile<*mut E, { [TILE, WIDTH] }> = block_addresses(base, place);
        let inside: Tile<bool, { [TILE, WIDTH] }> = within_block(place, size);
        let zero: Tile<E, { [TILE, WIDTH] }> = constant(E::ZERO, shape![TILE, WIDTH]);
        let (block, done): (Tile<E, { [TILE, WIDTH] }>, Token) = unsafe {
            load_padded(
                source,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(inside),
                Some(zero),
                Some(token),
                Latency::<0>,
            )
        };
        let values: Tile<f32, { [TILE, WIDTH] }> = convert_tile(block);
        values
    }

    /// Stores a number for each of WIDTH columns, by masked stores.
    unsafe fn scatter_columns<const WIDTH: i32>(
        base: *mut f32,
        size: i32,
        place: Tile<i32, { [WIDTH] }>,
        values: Tile<f32, { [WIDTH] }>,
        token: Token,
    ) {
        let place: Tile<i64, { [WIDTH] }> = exti(place);
        let target: PointerTile<*mut f32, { [WIDTH] }> = addresses(base, place);
        let inside: Tile<bool, { [WIDTH] }> = within(place, size);
        let stored: Token = unsafe { scatter(target, values, inside, token) };
    }

    /// Few columns, by masked loads of all in memory's order; a block WIDTH of them. COLUMNS: how many there are;
    /// ELEMENTS, STATISTICS: of the input, and of `mean` and `rstd`.
    #[cutile::entry()]
    pub unsafe fn columns<
        E: ElementType,
        F: ElementType,
        const CHANNELS: i32,
        const COLUMNS: i32,
        const EPS: i32,
        const SHIFT: i32,
        const TILE: i32,
        const WIDTH: i32,
        const ELEMENTS: i32,
        const STATISTICS: i32,
    >(
        input: *mut E,
        input_size: i32,
        output: *mut E,
        output_size: i32,
        weight: *mut F,
        weight_size: i32,
        bias: *mut F,
        bias_size: i32,
        mean: *mut f32,
        mean_size: i32,
        rstd: *mut f32,
        rstd_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let input_size: i32 = unsafe { assume_bounds_lower::<_, 0>(input_size) };
        let output_size: i32 = unsafe { assume_bounds_lower::<_, 0>(output_size) };
        let weight_size: i32 = unsafe { assume_bounds_lower::<_, 0>(weight_size) };
        let bias_size: i32 = unsafe { assume_bounds_lower::<_, 0>(bias_size) };
        let mean_size: i32 = unsafe { assume_bounds_lower::<_, 0>(mean_size) };
        let rstd_size: i32 = unsafe { assume_bounds_lower::<_, 0>(rstd_size) };
        let block = get_tile_block_id();
        let row: i32 = block.0;
        let column: Tile<i32, { [WIDTH] }> = lanes_from::<WIDTH>(block.1 * WIDTH);
        let there: Tile<bool, { [WIDTH] }> = below(column, COLUMNS);
        let start: i32 = row * (CHANNELS * COLUMNS);
        let zero: Tile<f32, { [TILE, WIDTH] }> = constant(0.0f32, shape![TILE, WIDTH]);

        let mut sums: Tile<f32, { [TILE, WIDTH] }> = zero;
        for first in (0i32..CHANNELS).step_by(TILE as usize) {
            let channel: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let place: Tile<i32, { [TILE, WIDTH] }> = places_of::<TILE, WIDTH, COLUMNS>(start, channel, column);
            let inside: Tile<bool, { [TILE, WIDTH] }> = elements_of(below(channel, CHANNELS), there);
            let x: Tile<f32, { [TILE, WIDTH] }> = unsafe { gather_block(input, input_size, place, token) };
            sums = sums + select(inside, x, zero);
        }
        let total: Tile<f32, { [WIDTH] }> = reduce_sum(sums, 0i32);
        let average: Tile<f32, { [WIDTH] }> = per_channel(total, CHANNELS);
        let first: Tile<i32, { [WIDTH] }> = broadcast_scalar(row * COLUMNS, shape![WIDTH]);
        let nowhere: Tile<i32, { [WIDTH] }> = broadcast_scalar(STATISTICS, shape![WIDTH]);
        let slot: Tile<i32, { [WIDTH] }> = select(there, first + column, nowhere);
        unsafe { scatter_columns(mean, mean_size, slot, average, token) };

        let average: Tile<f32, { [1, WIDTH] }> = average.reshape(shape![1, WIDTH]);
        let average: Tile<f32, { [TILE, WIDTH] }> = average.broadcast(shape![TILE, WIDTH]);
        let mut squares: Tile<f32, { [TILE, WIDTH] }> = zero;
        for first in (0i32..CHANNELS).step_by(TILE as usize) {
            let channel: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let place: Tile<i32, { [TILE, WIDTH] }> = places_of::<TILE, WIDTH, COLUMNS>(start, channel, column);
            let inside: Tile<bool, { [TILE, WIDTH] }> = elements_of(below(channel, CHANNELS), there);
            let x: Tile<f32, { [TILE, WIDTH] }> = unsafe { gather_block(input, input_size, place, token) };
            let centred: Tile<f32, { [TILE, WIDTH] }> = select(inside, x - average, zero);
            squares = fma(centred, centred, squares, rounding::NearestEven, ftz::Disabled);
        }
        let total: Tile<f32, { [WIDTH] }> = reduce_sum(squares, 0i32);
        let variance: Tile<f32, { [WIDTH] }> = per_channel(total, CHANNELS);
        let inverse: Tile<f32, { [WIDTH] }> = inverse_of::<WIDTH, EPS>(variance);
        unsafe { scatter_columns(rstd, rstd_size, slot, inverse, token) };

        let inverse: Tile<f32, { [1, WIDTH] }> = inverse.reshape(shape![1, WIDTH]);
        let inverse: Tile<f32, { [TILE, WIDTH] }> = inverse.broadcast(shape![TILE, WIDTH]);
        let nowhere: Tile<i32, { [TILE, WIDTH] }> = broadcast_scalar(ELEMENTS, shape![TILE, WIDTH]);
        let mut stored: Token = token;
        for first in (0i32..CHANNELS).step_by(TILE as usize) {
            let channel: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let place: Tile<i32, { [TILE, WIDTH] }> = places_of::<TILE, WIDTH, COLUMNS>(start, channel, column);
            let inside: Tile<bool, { [TILE, WIDTH] }> = elements_of(below(channel, CHANNELS), there);
            let x: Tile<f32, { [TILE, WIDTH] }> = unsafe { gather_block(input, input_size, place, token) };
            let w: Tile<f32, { [TILE] }> =
                unsafe { gather_shifted::<F, TILE, SHIFT>(weight, weight_size, channel, token) };
            let w: Tile<f32, { [TILE, 1] }> = w.reshape(shape![TILE, 1]);
            let w: Tile<f32, { [TILE, WIDTH] }> = w.broadcast(shape![TILE, WIDTH]);
            let b: Tile<f32, { [TILE] }> = unsafe { gather_numbers(bias, bias_size, channel, token) };
            let b: Tile<f32, { [TILE, 1] }> = b.reshape(shape![TILE, 1]);
            let b: Tile<f32, { [TILE, WIDTH] }> = b.broadcast(shape![TILE, WIDTH]);
            let y: Tile<f32, { [TILE, WIDTH] }> =
                fma((x - average) * inverse, w, b, rounding::NearestEven, ftz::Disabled);
            let result: Tile<E, { [TILE, WIDTH] }> = convert_tile(y);
            let place: Tile<i32, { [TILE, WIDTH] }> = select(inside, place, nowhere);
            let place: Tile<i64, { [TILE, WIDTH] }> = exti(place);
            let target: PointerTile<*mut E, { [TILE, WIDTH] }> = block_addresses(output, place);
            let inside: Tile<bool, { [TILE, WIDTH] }> = within_block(place, output_size);
            stored = unsafe {
                store_ptr_tko(
                    target,
                    result,
                    ordering::Weak,
                    None::<scope::TileBlock>,
                    Some(inside),
                    Some(stored),
                    Latency::<0>,
                )
            };
        }
    }

    /// Where these channels of a row that has nothing else lie.
    fn places_in_row<const TILE: i32>(row: i32, channel: Tile<i32, { [TILE] }>) -> Tile<i32, { [TILE] }> {
        let row: Tile<i32, { [TILE] }> = broadcast_scalar(row, shape![TILE]);
        row + channel
    }

    /// One column, which is all of a row, by masked loads; a block one row.
    #[cutile::entry()]
    pub unsafe fn rows<
        E: ElementType,
        F: ElementType,
        const CHANNELS: i32,
        const EPS: i32,
        const SHIFT: i32,
        const TILE: i32,
        const ELEMENTS: i32,
    >(
        input: *mut E,
        input_size: i32,
        output: *mut E,
        output_size: i32,
        weight: *mut F,
        weight_size: i32,
        bias: *mut F,
        bias_size: i32,
        mean: *mut f32,
        mean_size: i32,
        rstd: *mut f32,
        rstd_size: i32,
    ) {
        let token: Token = new_token_unordered();
        let input_size: i32 = unsafe { assume_bounds_lower::<_, 0>(input_size) };
        let output_size: i32 = unsafe { assume_bounds_lower::<_, 0>(output_size) };
        let weight_size: i32 = unsafe { assume_bounds_lower::<_, 0>(weight_size) };
        let bias_size: i32 = unsafe { assume_bounds_lower::<_, 0>(bias_size) };
        let mean_size: i32 = unsafe { assume_bounds_lower::<_, 0>(mean_size) };
        let rstd_size: i32 = unsafe { assume_bounds_lower::<_, 0>(rstd_size) };
        let row: i32 = get_tile_block_id().0;
        let start: i32 = row * CHANNELS;
        let zero: Tile<f32, { [TILE] }> = constant(0.0f32, shape![TILE]);

        let mut sums: Tile<f32, { [TILE] }> = zero;
        for first in (0i32..CHANNELS).step_by(TILE as usize) {
            let channel: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let place: Tile<i32, { [TILE] }> = places_in_row(start, channel);
            let x: Tile<f32, { [TILE] }> = unsafe { gather_numbers(input, input_size, place, token) };
            sums = sums + select(below(channel, CHANNELS), x, zero);
        }
        let total: Tile<f32, { [] }> = reduce_sum(sums, 0i32);
        let count: f32 = convert_scalar(CHANNELS);
        let count: Tile<f32, { [] }> = scalar_to_tile(count);
        let average: Tile<f32, { [] }> = total / count;
        unsafe { store_scalar(mean, mean_size, row, average, token) };

        let average: Tile<f32, { [1] }> = average.reshape(shape![1]);
        let average: Tile<f32, { [TILE] }> = average.broadcast(shape![TILE]);
        let mut squares: Tile<f32, { [TILE] }> = zero;
        for first in (0i32..CHANNELS).step_by(TILE as usize) {
            let channel: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let place: Tile<i32, { [TILE] }> = places_in_row(start, channel);
            let x: Tile<f32, { [TILE] }> = unsafe { gather_numbers(input, input_size, place, token) };
            let centred: Tile<f32, { [TILE] }> = select(below(channel, CHANNELS), x - average, zero);
            squares = fma(centred, centred, squares, rounding::NearestEven, ftz::Disabled);
        }
        let total: Tile<f32, { [] }> = reduce_sum(squares, 0i32);
        let eps: f32 = float_of(EPS);
        let eps: Tile<f32, { [] }> = scalar_to_tile(eps);
        let inverse: Tile<f32, { [] }> = rsqrt(total / count + eps, ftz::Disabled);
        unsafe { store_scalar(rstd, rstd_size, row, inverse, token) };

        let inverse: Tile<f32, { [1] }> = inverse.reshape(shape![1]);
        let inverse: Tile<f32, { [TILE] }> = inverse.broadcast(shape![TILE]);
        let nowhere: Tile<i32, { [TILE] }> = broadcast_scalar(ELEMENTS, shape![TILE]);
        let mut stored: Token = token;
        for first in (0i32..CHANNELS).step_by(TILE as usize) {
            let channel: Tile<i32, { [TILE] }> = lanes_from::<TILE>(first);
            let place: Tile<i32, { [TILE] }> = places_in_row(start, channel);
            let x: Tile<f32, { [TILE] }> = unsafe { gather_numbers(input, input_size, place, token) };
            let w: Tile<f32, { [TILE] }> =
                unsafe { gather_shifted::<F, TILE, SHIFT>(weight, weight_size, channel, token) };
            let b: Tile<f32, { [TILE] }> = unsafe { gather_numbers(bias, bias_size, channel, token) };
            let y: Tile<f32, { [TILE] }> = fma((x - average) * inverse, w, b, rounding::NearestEven, ftz::Disabled);
            let result: Tile<E, { [TILE] }> = convert_tile(y);
            let place: Tile<i32, { [TILE] }> = select(below(channel, CHANNELS), place, nowhere);
            let place: Tile<i64, { [TILE] }> = exti(place);
            let target: PointerTile<*mut E, { [TILE] }> = addresses(output, place);
            stored = unsafe { scatter(target, result, within(place, output_size), stored) };
        }
    }
}
