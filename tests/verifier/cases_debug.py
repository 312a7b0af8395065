"""Debug scopes, as `-g` prints them."""

from __future__ import annotations

from .snippets import Case

_TABLE = """\
#di_file = #cuda_tile.di_file<"a.py" in "/x">
#loc = loc("/x/a.py":3:0)
#loc1 = loc("/x/a.py":5:2)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "src", linkageName = "k", UNIT>
#di_subprogram1 = #cuda_tile.di_subprogram<file = #di_file, line = 9, name = "o", linkageName = "o", UNIT>
#di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, AT>
#di_lexical_block1 = #cuda_tile.di_lexical_block<scope = #di_subprogram1, AT>
#unknown = loc(unknown)
#kernel = #cuda_tile.di_loc<#loc in #di_subprogram>
#inside = #cuda_tile.di_loc<#loc1 in #di_lexical_block>
#foreign = #cuda_tile.di_loc<#loc1 in #di_subprogram1>
#foreign_block = #cuda_tile.di_loc<#loc1 in #di_lexical_block1>
#inlined = loc(callsite(#foreign at #inside))
#outlined = loc(callsite(#inside at #foreign))
#inlined_twice = loc(callsite(#foreign at #inlined))
""".replace("UNIT", "compileUnit = #di_compile_unit, scopeLine = 4").replace(
    "AT>", "file = #di_file, line = 4, column = 1>"
)


def _dump(kernel: str, op: str, name: str = "k", above: str = "") -> str:
    body = f"%c = constant <f32: 1.0> : tile<f32> loc({op})\nreturn loc(#unknown)\n"
    return f"{above}entry @{name}() {{\n{body}}} loc({kernel})\n{_TABLE}"


_GLOBAL = "global @g <f32: 1.0> : tile<2xf32> loc({})\n"

CASES = [
    Case("debug/kernel-call-site", _dump("#inlined", "#unknown"), _dump("#kernel", "#inlined")),
    Case("debug/kernel-scope", _dump("#inside", "#unknown"), _dump("#kernel", "#inside")),
    Case("debug/linkage-name", _dump("#kernel", "#kernel", "renamed"), _dump("#kernel", "#kernel")),
    Case("debug/op-scope", _dump("#kernel", "#foreign"), _dump("#kernel", "#inlined_twice")),
    Case("debug/op-scope", _dump("#kernel", "#foreign_block"), _dump("#kernel", "#unknown")),
    Case("debug/op-scope", _dump("#kernel", "#outlined"), _dump("#kernel", "#loc1")),
    Case("debug/op-scope", _dump("#unknown", "#kernel"), _dump("#unknown", "#unknown")),
    Case(
        "debug/global-scope",
        _dump("#kernel", "#inside", above=_GLOBAL.format("#kernel")),
        _dump("#kernel", "#inside", above=_GLOBAL.format("#unknown")),
    ),
]
