//! Joins partial results of attention over parts of the keys, weighted by their sums of exponentials.

#[cutile::module]
pub mod splitk_reduce {
    use crate::device::device::*;
    use cutile::core::*;

    /// A block for one head of one batch and TILE of its elements. SPLITS: a power of two that holds all parts; beyond
    /// them lies zero with the weight zero. DOT: sum by a matrix product.
    #[cutile::entry(optimization_hints = (default = (occupancy = 4,), sm_80 = (occupancy = 2,),))]
    pub unsafe fn heads<E: ElementType, const SPLITS: i32, const TILE: i32, const DOT: bool>(
        parts: &Tensor<E, { [-1, -1, -1, -1] }>,
        lse: *mut f32,
        lse_batches: i32,
        lse_heads: i32,
        lse_splits: i32,
        lse_batch_stride: i32,
        lse_head_stride: i32,
        output: &Tensor<E, { [-1, -1, -1] }>,
    ) {
        let token: Token = new_token_unordered();
        let lowest: f32 = minus_infinity();
        let lse_batches: i32 = unsafe { assume_bounds_lower::<_, 0>(lse_batches) };
        let lse_heads: i32 = unsafe { assume_bounds_lower::<_, 0>(lse_heads) };
        let lse_splits: i32 = unsafe { assume_bounds_lower::<_, 0>(lse_splits) };
        let lse_batch_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(lse_batch_stride) };
        let lse_head_stride: i32 = unsafe { assume_bounds_lower::<_, 0>(lse_head_stride) };
        let block = get_tile_block_id();
        let (batch, head, tile): (i32, i32, i32) = (block.0, block.1, block.2);
        let source: Partition<E, { [1, 1, SPLITS, TILE] }> =
            unsafe { make_partition_view(parts, shape![1, 1, SPLITS, TILE], padding::Zero, dim_map::Identity, token) };
        let target: Partition<E, { [1, 1, TILE] }> =
            unsafe { make_partition_view(output, shape![1, 1, TILE], padding::None, dim_map::Identity, token) };

        let (part, loaded): (Tile<E, { [1, 1, SPLITS, TILE] }>, Token) = unsafe {
            load_view_raw(
                &source,
                [batch, head, 0i32, tile],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                Some(2i32),
                [false, false, false, false],
                shape![1, 1, SPLITS, TILE],
            )
        };
        let part: Tile<E, { [SPLITS, TILE] }> = part.reshape(shape![SPLITS, TILE]);

        let split: Tile<i32, { [SPLITS] }> = iota(shape![SPLITS]);
        let split: Tile<i64, { [SPLITS] }> = exti(split);
        let wide_batch: Tile<i64, { [SPLITS] }> = wide::<SPLITS>(batch);
        let wide_head: Tile<i64, { [SPLITS] }> = wide::<SPLITS>(head);
        let in_batches: Tile<bool, { [SPLITS] }> = within(wide_batch, lse_batches);
        let in_heads: Tile<bool, { [SPLITS] }> = within(wide_head, lse_heads);
        let in_splits: Tile<bool, { [SPLITS] }> = within(split, lse_splits);
        let inside: Tile<bool, { [SPLITS] }> = andi(in_batches, in_heads);
        let inside: Tile<bool, { [SPLITS] }> = andi(inside, in_splits);
        let batch_stride: Tile<i64, { [SPLITS] }> = wide::<SPLITS>(lse_batch_stride);
        let head_stride: Tile<i64, { [SPLITS] }> = wide::<SPLITS>(lse_head_stride);
        let offset: Tile<i64, { [SPLITS] }> = wide_batch * batch_stride + wide_head * head_stride + split;
        let places: PointerTile<*mut f32, { [SPLITS] }> = addresses(lse, offset);
        let logarithm: Tile<f32, { [SPLITS] }> = unsafe { gather(places, inside, lowest, token) };

        let largest: Tile<f32, { [] }> = reduce_max(logarithm, 0i32);
        let largest: Tile<f32, { [1] }> = largest.reshape(shape![1]);
        let largest: Tile<f32, { [SPLITS] }> = largest.broadcast(shape![SPLITS]);
        let weight: Tile<f32, { [SPLITS] }> = exp2(logarithm - largest, ftz::Disabled);
        let total: Tile<f32, { [] }> = reduce_sum(weight, 0i32);
        let sum: Tile<f32, { [TILE] }> = if DOT {
            let weight: Tile<f32, { [1, SPLITS] }> = weight.reshape(shape![1, SPLITS]);
            let part: Tile<f32, { [SPLITS, TILE] }> = convert_tile(part);
            let sum: Tile<f32, { [1, TILE] }> = constant(0.0f32, shape![1, TILE]);
            let sum: Tile<f32, { [1, TILE] }> = mma(weight, part, sum);
            sum.reshape(shape![TILE])
        } else {
            let weight: Tile<f32, { [SPLITS, 1] }> = weight.reshape(shape![SPLITS, 1]);
            let part: Tile<f32, { [SPLITS, TILE] }> = convert_tile(part);
            let weight: Tile<f32, { [SPLITS, TILE] }> = weight.broadcast(shape![SPLITS, TILE]);
            let sum: Tile<f32, { [TILE] }> = reduce_sum(part * weight, 0i32);
            sum
        };
        let total: Tile<f32, { [1] }> = total.reshape(shape![1]);
        let total: Tile<f32, { [TILE] }> = total.broadcast(shape![TILE]);
        let result: Tile<E, { [TILE] }> = convert_tile(sum / total);
        let stored: Token = unsafe {
            store_view_raw(
                &target,
                result.reshape(shape![1, 1, TILE]),
                [batch, head, tile],
                Some(token),
                ordering::Weak,
                scope::TileBlock,
                tma::Enabled,
                Some(2i32),
                [false, false, false],
            )
        };
    }
}
