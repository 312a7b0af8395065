"""Views: how memory is cut into tiles, and memory through them. Memory ops are ordered by tokens alone."""

from tileir_diff.dialect.spec import (
    HINTS,
    INBOUNDS,
    MEMORY_ORDERING,
    MEMORY_SCOPE,
    NO_MEMORY,
    TOKEN_ORDERED,
    AttributeSpec,
    op,
)

STATIC_SHAPE = AttributeSpec("static_shape", "operands", "ints", default=())
STATIC_STRIDES = AttributeSpec("static_strides", "operands", "ints", default=())

OPS = (
    op("make_tensor_view", 0x43, "base shape* strides*", "", STATIC_SHAPE, STATIC_STRIDES, effect=NO_MEMORY,
       custom="tensor_view",
       doc="A strided array: `make_tensor_view %p, shape = [%n, 8], strides = [8, 1] : tile<i32> -> "
           "tensor_view<?x8xf32, strides=[8,1]>`."),
    op("make_partition_view", 0x42, "tensor_view", "result",
       doc="Cuts an array into tiles: `make_partition_view %v : partition_view<tile=(4x2), "
           "tensor_view<...>>`."),
    op("make_strided_view", 0x74, "tensor_view", "result", since="13.3",
       doc="Tiles at a stride: `make_strided_view %v : strided_view<tile=(4), traversal_strides=[2], "
           "tensor_view<...>>`."),
    op("make_gather_scatter_view", 0x73, "tensor_view", "result", since="13.3",
       doc="Tiles of listed rows: `make_gather_scatter_view %v : gather_scatter_view<tile=(8x64), "
           "tensor_view<...>, sparse_dim=0>`."),
    op("get_index_space_shape", 0x2D, "view", "view -> results", results="result*", effect=NO_MEMORY,
       doc="Number of tiles in each dimension, unsigned: `%n:2 = get_index_space_shape %v : "
           "partition_view<...> -> tile<i64>`."),
    op("get_tensor_shape", 0x2F, "view", "view -> results", results="result*", effect=NO_MEMORY,
       doc="Extents of an array, unsigned: `%n:2 = get_tensor_shape %v : tensor_view<...> -> tile<i32>`."),
    op("load_view_tko", 0x3E, "view index* token?", "view, index -> tile, result_token", MEMORY_ORDERING,
       MEMORY_SCOPE, HINTS, INBOUNDS, results="tile result_token", effect=TOKEN_ORDERED, bracket="index",
       form="@memory_ordering @memory_scope $view[$index] token = $token @hints @inbounds",
       doc="Reads a tile: `%x, %t = load_view_tko weak %v[%i, %j] token = %t0 : partition_view<...>, "
           "tile<i32> -> tile<...>, token`."),
    op("store_view_tko", 0x66, "tile view index* token?", "tile, view, index -> result_token",
       MEMORY_ORDERING,
       MEMORY_SCOPE, HINTS, INBOUNDS, results="result_token", effect=TOKEN_ORDERED, bracket="index",
       form="@memory_ordering @memory_scope $tile, $view[$index] token = $token @hints @inbounds",
       doc="Writes a tile: `%t = store_view_tko weak %x, %v[%i] token = %t0 : tile<...>, "
           "partition_view<...>, tile<i32> -> token`."),
)  # fmt: skip
