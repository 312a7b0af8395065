//! vector_add: translated from py.mlir.

#[cutile::module]
pub mod vector_add {
    use cutile::core::*;

    /// The addresses of the elements at these offsets.
    fn addresses_1d<E: ElementType, const S: [i32; 1]>(
        base: *mut E,
        offset: Tile<i64, S>,
    ) -> PointerTile<*mut E, S> {
        let start: PointerTile<*mut E, { [] }> = pointer_to_tile(base);
        let one: PointerTile<*mut E, { [1] }> = start.reshape(shape![1]);
        let shape: Shape<S> = Shape::<S> { dims: &[] };
        let all: PointerTile<*mut E, S> = one.broadcast(shape);
        all.offset_tile(offset)
    }

    /// Compares unsigned numbers: a negative one is a large one.
    fn below_unsigned_1d<const S: [i32; 1]>(
        left: Tile<i64, S>,
        right: Tile<i64, S>,
    ) -> Tile<bool, S> {
        let left: Tile<u64, S> = bitcast(left);
        let right: Tile<u64, S> = bitcast(right);
        lt_tile(left, right)
    }

    /// Loads where the mask holds.
    unsafe fn gather_1d<E: ElementType, const S: [i32; 1]>(
        pointers: PointerTile<*mut E, S>,
        mask: Tile<bool, S>,
        padding: E,
        token: Token,
    ) -> Tile<E, S> {
        let (tile, done): (Tile<E, S>, Token) = unsafe {
            load_ptr_tko(
                pointers,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(mask),
                Some(padding),
                Some(token),
                Latency::<0>,
            )
        };
        tile
    }

    /// Stores where the mask holds.
    unsafe fn scatter_1d<E: ElementType, const S: [i32; 1]>(
        pointers: PointerTile<*mut E, S>,
        tile: Tile<E, S>,
        mask: Tile<bool, S>,
        token: Token,
    ) -> Token {
        let done: Token = unsafe {
            store_ptr_tko(
                pointers,
                tile,
                ordering::Weak,
                None::<scope::TileBlock>,
                Some(mask),
                Some(token),
                Latency::<0>,
            )
        };
        done
    }

    /// The same number in all elements, in 64 bits.
    fn wide_1d<const S: [i32; 1]>(number: i32, shape: Shape<S>) -> Tile<i64, S> {
        let scalar: Tile<i32, { [] }> = scalar_to_tile(number);
        let long: Tile<i64, { [] }> = exti(scalar);
        let one: Tile<i64, { [1] }> = long.reshape(shape![1]);
        one.broadcast(shape)
    }

    #[cutile::entry()]
    pub unsafe fn vector_add(
        a: *mut f32,
        a_extent_0: i32,
        b: *mut f32,
        b_extent_0: i32,
        c: *mut f32,
        c_extent_0: i32,
    ) {
        let token: Token = new_token_unordered();
        let a_extent_0: i32 = unsafe { assume_bounds_lower::<_, 0>(a_extent_0) };
        let b_extent_0: i32 = unsafe { assume_bounds_lower::<_, 0>(b_extent_0) };
        let c_extent_0: i32 = unsafe { assume_bounds_lower::<_, 0>(c_extent_0) };
        let block_x: i32 = get_tile_block_id().0;
        let product: i32 = block_x * 256i32;
        let lane: Tile<i32, { [256] }> = iota(shape![256]);
        let product_tile: Tile<i32, { [256] }> = broadcast_scalar(product, shape![256]);
        let wide: Tile<i64, { [256] }> = exti(product_tile + lane);
        let a_extent_wide: Tile<i64, { [256] }> = wide_1d(a_extent_0, shape![256]);
        let below: Tile<bool, { [256] }> = below_unsigned_1d(wide, a_extent_wide);
        let a_at: PointerTile<*mut f32, { [256] }> = addresses_1d(a, wide);
        let a_tile: Tile<f32, { [256] }> = unsafe { gather_1d(a_at, below, 0.0f32, token) };
        let b_extent_wide: Tile<i64, { [256] }> = wide_1d(b_extent_0, shape![256]);
        let below_2: Tile<bool, { [256] }> = below_unsigned_1d(wide, b_extent_wide);
        let b_at: PointerTile<*mut f32, { [256] }> = addresses_1d(b, wide);
        let b_tile: Tile<f32, { [256] }> = unsafe { gather_1d(b_at, below_2, 0.0f32, token) };
        let sum: Tile<f32, { [256] }> = a_tile + b_tile;
        let c_extent_wide: Tile<i64, { [256] }> = wide_1d(c_extent_0, shape![256]);
        let below_3: Tile<bool, { [256] }> = below_unsigned_1d(wide, c_extent_wide);
        let c_at: PointerTile<*mut f32, { [256] }> = addresses_1d(c, wide);
        unsafe { scatter_1d(c_at, sum, below_3, token) };
    }
}
