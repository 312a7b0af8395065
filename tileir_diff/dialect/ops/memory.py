"""Memory through tiles of pointers. Ordered by tokens alone."""

from tileir_diff.dialect.spec import (
    HINTS,
    MEMORY_ORDERING,
    MEMORY_SCOPE,
    REQUIRED,
    TOKEN_ORDERED,
    UNKNOWN,
    AttributeSpec,
    op,
)

NUM_ELEM = AttributeSpec("num_elem", "pair", "int", default=REQUIRED, key="num_elem", odsname="num_elem")
ALIGNMENT = AttributeSpec("alignment", "pair", "int", default=REQUIRED, key="alignment", odsname="alignment")
IS_GLOBAL = AttributeSpec("is_global", "flag", "bool", ("global",), False, odsname="global")

OPS = (
    op("load_ptr_tko", 0x3D, "source mask? padding? token?", "source, mask, padding -> tile, result_token",
       MEMORY_ORDERING, MEMORY_SCOPE, HINTS, results="tile result_token", effect=TOKEN_ORDERED,
       form="@memory_ordering @memory_scope $source, $mask, $padding token=$token @hints",
       custom="pointer_load",
       doc="Reads where the mask is set: `%x, %t = load_ptr_tko weak %p, %m, %pad token=%t0 : ... -> ..., "
           "token`."),
    op("store_ptr_tko", 0x65, "destination value mask? token?", "destination, value, mask -> result_token",
       MEMORY_ORDERING, MEMORY_SCOPE, HINTS, results="result_token", effect=TOKEN_ORDERED,
       form="@memory_ordering @memory_scope $destination, $value, $mask token=$token @hints",
       doc="Writes where the mask is set: `%t = store_ptr_tko weak %p, %x, %m token=%t0 : ... -> token`."),
    op("alloca", 0x71, "", "result", NUM_ELEM, ALIGNMENT, IS_GLOBAL, since="13.3", effect=UNKNOWN,
       form="@num_elem, @alignment @is_global",
       doc="Memory for the block: `alloca num_elem = 64, alignment = 128 global : tile<ptr<f32>>`."),
)  # fmt: skip
