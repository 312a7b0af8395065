"""Module, entries, globals, constants, block ids."""

from tileir_diff.dialect.spec import HINTS, REQUIRED, SYM_NAME, SYMBOL, TERMINATOR, UNKNOWN, AttributeSpec, op

PRODUCER = AttributeSpec("producer", "generic", "string", odsname="producer", since="13.3")
FUNCTION_TYPE = AttributeSpec("function_type", "operands", "type", odsname="function_type")
VISIBILITY = AttributeSpec(
    "visibility",
    "keyword",
    "enum",
    ("public", "private"),
    "public",
    odsname="symbol_visibility",
    since="13.3",
)
CONSTANT = AttributeSpec("constant", "flag", "bool", default=False, odsname="constant", since="13.3")
ALIGNMENT = AttributeSpec("alignment", "pair", "int", default=0, key="alignment", odsname="alignment")
TYPE = AttributeSpec("type", "operands", "type")
ELEMENTS = AttributeSpec("value", "elements", "elements", default=REQUIRED, odsname="value")
GLOBAL_NAME = AttributeSpec("sym_name", "symbol", "string", default=REQUIRED, odsname="name")

OPS = (
    op("module", 0x4B, "", "", SYM_NAME.with_(default=""), PRODUCER, results="", effect=UNKNOWN, regions=1,
       custom="module", doc="Holds globals and entries: `cuda_tile.module @m { ... }`."),
    op("entry", 0x16, "", "", SYM_NAME, FUNCTION_TYPE, HINTS, results="", effect=UNKNOWN, regions=1,
       terminator="return", implicit=True, custom="function",
       doc="A kernel; its block arguments are its parameters: `entry @k(%a: tile<ptr<f32>>) { ... }`."),
    op("testing$func", 0x3001, "", "", SYM_NAME, FUNCTION_TYPE, results="", effect=UNKNOWN, regions=1,
       terminator="return", implicit=True, custom="function",
       doc="A function of the dialect's own tests: `testing$func @f(%a: tile<i32>) -> tile<i32> { ... }`."),
    op("global", 0x31, "", "result", VISIBILITY, CONSTANT, SYM_NAME, ALIGNMENT, ELEMENTS.with_(default=None),
       TYPE, results="", effect=SYMBOL, custom="elements",
       doc="A variable in device memory: `global private constant @g alignment = 16 <f32: [1.0, 2.0]> : "
           "tile<2xf32>`."),
    op("get_global", 0x2C, "", "result", GLOBAL_NAME,
       doc="Address of a global: `get_global @g : tile<ptr<f32>>`."),
    op("get_tile_block_id", 0x30, "", "results", results="blockId_x blockId_y blockId_z",
       doc="Position of this block in the grid, unsigned: `%x, %y, %z = get_tile_block_id : tile<i32>`."),
    op("get_num_tile_blocks", 0x2E, "", "results", results="gridSize_x gridSize_y gridSize_z",
       doc="Size of the grid, unsigned: `%x, %y, %z = get_num_tile_blocks : tile<i32>`."),
    op("constant", 0x10, "", "result", ELEMENTS, custom="elements",
       doc="A literal: `constant <i32: 42> : tile<4xi32>`."),
    op("return", 0x5C, "operands*", "operands", results="", effect=TERMINATOR,
       doc="Ends an entry: `return`."),
)  # fmt: skip
