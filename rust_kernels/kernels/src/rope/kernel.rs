//! Rotary position embedding, in place: in each row of a head, the pair of an element of the first half and its
//! counterpart in the second is rotated by the angle of its position.

#[cutile::module]
pub mod rope {
    use cutile::core::*;

    /// The first HALF cosines or sines of a position.
    unsafe fn factors<C: ElementType, const HALF: i32>(
        source: &Partition<C, { [1, 1, HALF] }>,
        batch: i32,
        position: i32,
        token: Token,
    ) -> Tile<C, { [1, HALF] }> {
        let (tile, loaded): (Tile<C, { [1, 1, HALF] }>, Token) = unsafe {
            load_view_raw(
                source,
                [batch, position, 0i32],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false, false],
                shape![1, 1, HALF],
            )
        };
        let row: Tile<C, { [1, HALF] }> = tile.reshape(shape![1, HALF]);
        row
    }

    /// One half of all heads at a position, and the token of the load.
    unsafe fn load_half<E: ElementType, const HEADS: i32, const HALF: i32>(
        source: &Partition<E, { [1, HEADS, 1, HALF] }>,
        batch: i32,
        position: i32,
        half: i32,
        token: Token,
    ) -> (Tile<E, { [HEADS, HALF] }>, Token) {
        let (tile, loaded): (Tile<E, { [1, HEADS, 1, HALF] }>, Token) = unsafe {
            load_view_raw(
                source,
                [batch, 0i32, position, half],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false, false, false],
                shape![1, HEADS, 1, HALF],
            )
        };
        let half: Tile<E, { [HEADS, HALF] }> = tile.reshape(shape![HEADS, HALF]);
        (half, loaded)
    }

    /// Writes one half of all heads at a position.
    unsafe fn store_half<E: ElementType, W: ElementType, const HEADS: i32, const HALF: i32>(
        target: &Partition<E, { [1, HEADS, 1, HALF] }>,
        value: Tile<W, { [HEADS, HALF] }>,
        batch: i32,
        position: i32,
        half: i32,
        token: Token,
    ) -> Token {
        let value: Tile<E, { [HEADS, HALF] }> = convert_tile(value);
        let value: Tile<E, { [1, HEADS, 1, HALF] }> = value.reshape(shape![1, HEADS, 1, HALF]);
        let stored: Token = unsafe {
            store_view_raw(
                target,
                value,
                [batch, 0i32, position, half],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                None,
                [false, false, false, false],
            )
        };
        stored
    }

    /// Rotates all heads at a position.
    unsafe fn rotate<E: ElementType, W: ElementType, const HEADS: i32, const HALF: i32>(
        source: &Partition<E, { [1, HEADS, 1, HALF] }>,
        target: &Partition<E, { [1, HEADS, 1, HALF] }>,
        cos: Tile<W, { [1, HALF] }>,
        sin: Tile<W, { [1, HALF] }>,
        batch: i32,
        position: i32,
        token: Token,
    ) {
        let (left, loaded): (Tile<E, { [HEADS, HALF] }>, Token) =
            unsafe { load_half(source, batch, position, 0i32, token) };
        let first: Token = join_tokens(&[token, loaded]);
        let (right, loaded): (Tile<E, { [HEADS, HALF] }>, Token) =
            unsafe { load_half(source, batch, position, 1i32, token) };
        let both: Token = join_tokens(&[first, loaded]);
        let left: Tile<W, { [HEADS, HALF] }> = convert_tile(left);
        let right: Tile<W, { [HEADS, HALF] }> = convert_tile(right);
        let cos: Tile<W, { [HEADS, HALF] }> = cos.broadcast(shape![HEADS, HALF]);
        let sin: Tile<W, { [HEADS, HALF] }> = sin.broadcast(shape![HEADS, HALF]);
        let turned: Tile<W, { [HEADS, HALF] }> =
            fma(left, cos, negf(right * sin), rounding::NearestEven, ftz::Disabled);
        let stored: Token = unsafe { store_half(target, turned, batch, position, 0i32, both) };
        let turned: Tile<W, { [HEADS, HALF] }> = fma(right, cos, left * sin, rounding::NearestEven, ftz::Disabled);
        let stored: Token = unsafe { store_half(target, turned, batch, position, 1i32, stored) };
    }

    /// One block a position of a sequence. BATCHES: of `cos` and `sin`; LENGTH: of a sequence; HEADS, KEY_HEADS: of
    /// `query` and `key`, up to a power of two; HALF: of what is rotated. E: of `query` and `key`; C: of `cos` and `sin`;
    /// W: the wider one, in which is computed.
    #[cutile::entry()]
    pub unsafe fn rotation<
        E: ElementType,
        C: ElementType,
        W: ElementType,
        const BATCHES: i32,
        const LENGTH: i32,
        const HEADS: i32,
        const KEY_HEADS: i32,
        const HALF: i32,
    >(
        query: &Tensor<E, { [-1, -1, -1, -1] }>,
        key: &Tensor<E, { [-1, -1, -1, -1] }>,
        cos: &Tensor<C, { [-1, -1, -1] }>,
        sin: &Tensor<C, { [-1, -1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let block: i32 = get_tile_block_id().0;
        let batch: i32 = block / LENGTH;
        let position: i32 = block % LENGTH;
        let angles: i32 = if BATCHES == 1 { 0i32 } else { batch };
        let source: Partition<C, { [1, 1, HALF] }> =
            unsafe { make_partition_view(cos, shape![1, 1, HALF], padding::Zero, dim_map::Identity, token) };
        let cos: Tile<C, { [1, HALF] }> = unsafe { factors(&source, angles, position, token) };
        let cos: Tile<W, { [1, HALF] }> = convert_tile(cos);
        let source: Partition<C, { [1, 1, HALF] }> =
            unsafe { make_partition_view(sin, shape![1, 1, HALF], padding::Zero, dim_map::Identity, token) };
        let sin: Tile<C, { [1, HALF] }> = unsafe { factors(&source, angles, position, token) };
        let sin: Tile<W, { [1, HALF] }> = convert_tile(sin);

        let source: Partition<E, { [1, HEADS, 1, HALF] }> =
            unsafe { make_partition_view(query, shape![1, HEADS, 1, HALF], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [1, HEADS, 1, HALF] }> =
            unsafe { make_partition_view(query, shape![1, HEADS, 1, HALF], padding::None, dim_map::Identity, token) };
        unsafe { rotate(&source, &target, cos, sin, batch, position, token) };
        let source: Partition<E, { [1, KEY_HEADS, 1, HALF] }> =
            unsafe { make_partition_view(key, shape![1, KEY_HEADS, 1, HALF], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [1, KEY_HEADS, 1, HALF] }> =
            unsafe { make_partition_view(key, shape![1, KEY_HEADS, 1, HALF], padding::None, dim_map::Identity, token) };
        unsafe { rotate(&source, &target, cos, sin, batch, position, token) };
    }
}
