"""Atomic memory operations."""

from tileir_diff.dialect.spec import MEMORY_ORDERING, MEMORY_SCOPE, MODE, REQUIRED, TOKEN_ORDERED, op

SCOPE = MEMORY_SCOPE.with_(default=REQUIRED)

OPS = (
    op("atomic_cas_tko", 0x07, "pointers cmp value mask? token?",
       "pointers, cmp=value, mask -> result, result_token", MEMORY_ORDERING, SCOPE,
       results="result result_token", effect=TOKEN_ORDERED,
       form="@memory_ordering @memory_scope $pointers, $cmp, $value, $mask token=$token",
       doc="Compares bits and swaps: `%r, %t = atomic_cas_tko relaxed device %p, %c, %v : ... -> tile<i32>, "
           "token`."),
    op("atomic_rmw_tko", 0x08, "pointers arg mask? token?", "pointers, arg, mask -> result, result_token",
       MEMORY_ORDERING, SCOPE, MODE, results="result result_token", effect=TOKEN_ORDERED,
       form="@memory_ordering @memory_scope $pointers, @mode, $arg, $mask token=$token",
       doc="Reads, combines and writes: `%r, %t = atomic_rmw_tko relaxed device %p, addf, %x : ... -> "
           "tile<f32>, token`."),
    op("atomic_red_view_tko", 0x75, "view index* value token?", "value, view, index -> result_token",
       MEMORY_ORDERING, SCOPE, MODE, results="result_token", since="13.3", effect=TOKEN_ORDERED,
       bracket="index", form="@memory_ordering @memory_scope $view[$index], @mode, $value token = $token",
       doc="Combines a tile into memory: `%t = atomic_red_view_tko relaxed device %v[%i], addf, %x : ... -> "
           "token`."),
)  # fmt: skip
