"""Reductions, control flow and scoping: one broken and one valid snippet per rule."""

from __future__ import annotations

from .snippets import Case, func, module

_F, _I = "tile<f32>", "tile<i32>"


def _reduce(
    op: str = "reduce",
    source: str = "tile<8x16xf32>",
    result: str = "tile<8xf32>",
    dim: int = 1,
    identities: str = "0.0 : f32",
    arguments: str = f"%l: {_F}, %r: {_F}",
    body: str = f"yield %l : {_F}",
    results: str = "%0",
) -> str:
    attributes = f"dim={dim} {'reverse=false ' if op == 'scan' else ''}identities=[{identities}]"
    head = f"{results} = {op} %x {attributes} : {source} -> {result}"
    values = "%x: " + source + f", %h: tile<f16>, %c: tile<i1>, %p: tile<ptr<f32>>, %n: {_I}"
    return func(values, f"{head}\n({arguments}) {{\n{body}\n}}")


def _inside(line: str) -> str:
    return _reduce(body=f"{line}\nyield %l : {_F}")


_TWO = func(
    "%x: tile<8xf32>, %y: tile<8xf32>, %z: tile<4xf32>",
    "%0:2 = reduce %x, %y dim=0 identities=[0.0 : f32, 0.0 : f32]"
    " : tile<8xf32>, tile<8xf32> -> tile<f32>, tile<f32>\n"
    f"(%a: {_F}, %b: {_F}, %c: {_F}, %d: {_F}) {{\nyield %a, %c : {_F}, {_F}\n}}",
)

REDUCTIONS = [
    Case(
        "reduce/operand-shape",
        _TWO.replace("%x, %y", "%x, %z").replace(
            "tile<8xf32>, tile<8xf32> ->", "tile<8xf32>, tile<4xf32> ->"
        ),
        _TWO,
    ),
    Case("reduce/dim", _reduce(dim=2), _reduce(dim=1)),
    Case(
        "reduce/dim",
        _reduce("scan", result="tile<8x16xf32>", dim=2),
        _reduce("scan", result="tile<8x16xf32>", dim=0),
    ),
    Case("reduce/identity-type", _reduce(identities="0.0 : f16"), _reduce(identities="0.0 : f32")),
    Case(
        "reduce/identity-type",
        _reduce(identities="0 : i32"),
        _reduce(
            source="tile<8xf16>",
            result="tile<f16>",
            dim=0,
            identities="0.0 : bf16",
            arguments="%l: tile<f16>, %r: tile<f16>",
            body="yield %l : tile<f16>",
        ),
    ),
    Case("reduce/result-count", _reduce(result="tile<8xf32>, tile<8xf32>", results="%0:2"), _reduce()),
    Case("reduce/result-type", _reduce(result="tile<16xf32>"), _reduce(result="tile<16xf32>", dim=0)),
    Case("reduce/result-type", _reduce(result="tile<8xf16>"), _reduce()),
    Case("scan/result-type", _reduce("scan"), _reduce("scan", result="tile<8x16xf32>")),
    Case("reduce/region-arguments", _reduce(arguments=f"%l: {_F}"), _reduce()),
    Case(
        "reduce/region-arguments",
        _reduce(
            arguments="%l: tile<2xf32>, %r: tile<2xf32>",
            body="%y = constant <f32: 1.0> : tile<f32>\nyield %y : tile<f32>",
        ),
        _reduce(),
    ),
    Case("reduce/yield", _reduce(body="yield"), _reduce()),
    Case("reduce/yield", _reduce(body="yield %h : tile<f16>"), _reduce()),
    Case("reduce/yield", _reduce(body=f"yield %l, %r : {_F}, {_F}"), _reduce()),
    *(
        Case("reduce/body-effects", _inside(bad), _inside("%q = divi %n, %n signed : tile<i32>"))
        for bad in (
            "%q = assume bounded<0, ?>, %n : tile<i32>",
            'assert %c, "no" : tile<i1>',
            "%q, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token",
            '%t = print_tko "x" -> token',
            "for %i in (%n to %n, step %n) : tile<i32> {\n}",
            "loop {\nbreak\n}",
            'if %c {\n%t = print_tko "x" -> token\n}',
        )
    ),
    Case(
        "reduce/body-effects",
        _inside('%t = print_tko "x" -> token'),
        _inside("if %c {\n%q = make_token : token\n}"),
    ),
]

_VALUES = f"%a: {_I}, %l: tile<i64>, %x: {_F}, %h: tile<f16>, %c: tile<i1>"


def _for(
    body: str = "", carried: str = "", bounds: str = "%a to %a, step %a", type_: str = _I, results: str = ""
) -> str:
    return func(_VALUES, f"{results}for %i in ({bounds}) : {type_} {carried} {{\n{body}\n}}")


def _loop(body: str, carried: str = "", results: str = "") -> str:
    return func(_VALUES, f"{results}loop {carried} {{\n{body}\n}}")


def _if(then: str, otherwise: str | None = None, results: str = "", types: str = "") -> str:
    tail = "" if otherwise is None else f" else {{\n{otherwise}\n}}"
    return func(_VALUES, f"{results}if %c {types} {{\n{then}\n}}{tail}")


def _generic_if(label: str) -> str:
    branch = f'({{\n{label}\n"cuda_tile.yield"() : () -> ()\n}}, {{}})'
    return func(_VALUES, f'"cuda_tile.if"(%c) {branch} : (!cuda_tile.tile<i1>) -> ()')


_ITER = f"iter_values(%v = %x) -> ({_F})"
_LOOP_ITER = f"iter_values(%v = %x) : {_F}"
_TV = "tensor_view<8xf32, strides=[1]>"
_VALID_FOR = _for(f"continue %v : {_F}", _ITER, results="%r = ")
_GENERIC_FOR = (
    '%r = "cuda_tile.for"(%a, %a, %a, %x) ({\n^bb0(ARGUMENTS):\n'
    '"cuda_tile.continue"(%x) : (!cuda_tile.tile<f32>) -> ()\n})'
    " : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>)"
    " -> !cuda_tile.tile<f32>"
)


def _generic_for(arguments: str) -> str:
    return func(_VALUES, _GENERIC_FOR.replace("ARGUMENTS", arguments))


CONTROL = [
    Case(
        "for/bounds-type",
        func(
            _VALUES,
            '"cuda_tile.for"(%a, %a, %l) ({\n^bb0(%i: !cuda_tile.tile<i32>):\n'
            '"cuda_tile.continue"() : () -> ()\n})'
            " : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> ()",
        ),
        _for(bounds="%l to %l, step %l", type_="tile<i64>"),
    ),
    Case(
        "for/induction-variable",
        _generic_for("%i: !cuda_tile.tile<i64>, %v: !cuda_tile.tile<f32>"),
        _generic_for("%i: !cuda_tile.tile<i32>, %v: !cuda_tile.tile<f32>"),
    ),
    Case(
        "for/induction-variable",
        _generic_for("").replace("^bb0():\n", ""),
        _generic_for("%i: !cuda_tile.tile<i32>, %v: !cuda_tile.tile<f32>"),
    ),
    Case("loop/carried", _generic_for("%i: !cuda_tile.tile<i32>"), _VALID_FOR),
    Case("loop/carried", _generic_for("%i: !cuda_tile.tile<i32>, %v: !cuda_tile.tile<f16>"), _VALID_FOR),
    Case(
        "loop/carried-view",
        func(f"{_VALUES}, %t: {_TV}", f"loop iter_values(%v = %t) : {_TV} {{\nbreak\n}}"),
        func(f"{_VALUES}, %t: token", "loop iter_values(%v = %t) : token {\nbreak\n}"),
    ),
    Case(
        "loop/carried-view",
        func(
            f"{_VALUES}, %t: {_TV}",
            f"%r = if %c -> ({_TV}) {{\nyield %t : {_TV}\n}} else {{\nyield %t : {_TV}\n}}",
        ),
        func(
            f"{_VALUES}, %t: token",
            "%r = if %c -> (token) {\nyield %t : token\n} else {\nyield %t : token\n}",
        ),
    ),
    Case(
        "loop/carried-view",
        func(
            f"{_VALUES}, %t: {_TV}",
            f"%r = for %i in (%a to %a, step %a) : {_I} iter_values(%v = %t) -> ({_TV}) {{\n"
            f"continue %v : {_TV}\n}}",
        ),
        _VALID_FOR,
    ),
    Case("if/arguments", _generic_if("^bb0(%y: !cuda_tile.tile<f32>):"), _generic_if("^bb0:")),
    Case(
        "if/else-required",
        _if(f"yield %x : {_F}", results="%r = ", types=f"-> ({_F})"),
        _if(f"yield %x : {_F}", "return", "%r = ", f"-> ({_F})"),
    ),
    Case(
        "yield/operands",
        _if(f"yield %x : {_F}", "yield %h : tile<f16>", "%r = ", f"-> ({_F})"),
        _if(f"yield %x : {_F}", f"yield %x : {_F}", "%r = ", f"-> ({_F})"),
    ),
    Case("yield/operands", _if(f"yield %x : {_F}", ""), _if("", "")),
    Case("continue/operands", _for("continue %h : tile<f16>", _ITER, results="%r = "), _VALID_FOR),
    Case("continue/operands", _for(f"if %c {{\ncontinue %x : {_F}\n}}"), _for("if %c {\ncontinue\n}")),
    Case("continue/operands", _loop("continue", _LOOP_ITER), _loop(f"continue %v : {_F}", _LOOP_ITER)),
    Case("break/operands", _loop("break", f": {_F}", "%r = "), _loop(f"break %x : {_F}", f": {_F}", "%r = ")),
    Case(
        "break/operands",
        _loop("break %h : tile<f16>", f": {_F}", "%r = "),
        _loop(f"if %c {{\nbreak %x : {_F}\n}}\ncontinue", f": {_F}", "%r = "),
    ),
    Case("break/parent", _for("break"), _loop("break")),
    Case("break/parent", _if("break"), _loop("if %c {\nbreak\n}")),
    Case(
        "break/parent",
        _loop(f"for %j in (%a to %a, step %a) : {_I} {{\nif %c {{\nbreak\n}}\n}}"),
        _loop(f"for %j in (%a to %a, step %a) : {_I} {{\nif %c {{\ncontinue\n}}\n}}"),
    ),
    Case("continue/parent", _if("continue"), _for("if %c {\ncontinue\n}")),
    Case("yield/parent", _for("yield"), _for("continue")),
    Case("return/parent", _for("return"), _loop("return")),
    Case("return/parent", _for("if %c {\nreturn\n}"), _loop("if %c {\nreturn\n}")),
    Case("return/parent", _reduce(body=f"if %c {{\nreturn\n}}\nyield %l : {_F}"), _if("return")),
    Case(
        "return/operands",
        module(f"entry @k(%a: {_I}) {{\nreturn %a : {_I}\n}}"),
        module(f"entry @k(%a: {_I}) {{\nreturn\n}}"),
    ),
    Case(
        "return/operands",
        module(f"testing$func @f(%a: {_I}, %x: {_F}) -> {_I} {{\nreturn %x : {_F}\n}}"),
        module(f"testing$func @f(%a: {_I}, %x: {_F}) -> {_I} {{\nreturn %a : {_I}\n}}"),
    ),
    Case(
        "terminator/last",
        func(_VALUES, "return\n%y = negf %x : tile<f32>"),
        func(_VALUES, "%y = negf %x : tile<f32>"),
    ),
    Case(
        "terminator/missing",
        _reduce(body=f"%y = addf %l, %r : {_F}"),
        _reduce(body=f"%y = addf %l, %r : {_F}\nyield %y : {_F}"),
    ),
    Case(
        "yield/operands",
        _if("%y = negf %x : tile<f32>", f"yield %x : {_F}", "%r = ", f"-> ({_F})"),
        _if("%y = negf %x : tile<f32>", ""),
    ),
    Case(
        "continue/operands", _loop("%y = negf %x : tile<f32>", _LOOP_ITER), _loop("%y = negf %x : tile<f32>")
    ),
    Case(
        "op/operand-type", func(_VALUES, "if %x {\n}").replace("if %x", "if %a"), func(_VALUES, "if %c {\n}")
    ),
    Case("op/operand-type", _for(bounds="%x to %x, step %x", type_=_F), _for()),
]

VALUES = [
    Case(
        "ssa/type",
        func("%a: tile<4xi32>", f"%b = addi %a, %a : {wrong}"),
        func("%a: tile<4xi32>", "%b = addi %a, %a : tile<4xi32>"),
    )
    for wrong in ("tile<4xi64>", "tile<8xi32>")
]

CASES = [*REDUCTIONS, *CONTROL, *VALUES]
