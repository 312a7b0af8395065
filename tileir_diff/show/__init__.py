"""`tileir-diff show`: what a kernel does, as a table for people or as data for other tools.

`--format json` prints `tileir-show/1`, one object:

- `schema`, `path`, `format` (of the dump), `front_end` ("cutile-rust 0.5.0", or empty), `approximations`
  (what the
  printer of the dump lost), `kernels`: one object an entry, in order:
- `entry`, `line`, `ops` (how many), `hints` ({architecture: {key: value}}).
- `arguments`: [{`index`, `name`, `type`, `roles`}]; a role is "A.base", "A.shape0", "A.stride1" or words
  ("bound of the mask on A", "loop bound", "value", "unused"). A size that several arrays share has several
  roles.
- `arrays`: [{`name`, `argument` (index of the base), `element`, `shape`, `strides` (numbers, names,
  expressions; empty if
  no view describes the array), `use` ("read", "write", "atomic", joined by ", "; "unused")}].
- `grid`: {`block_id`, `num_tile_blocks`}: lists of the axes "x", "y", "z" that are used.
- `memory`: [{`line`, `op`, `kind` (load, store, atomic), `family` (partition, strided, gather, pointer),
  `array`, `tile`
  (shape), `element`, `at`, `mask`, `bounds`, `padding`, `ordering`, `scope`, `mode`, `inbounds`, `hints`,
  `loops` (lines, outermost first), `guard`, `reached`, `used`, `source` ("file:line" or null), `view` (its
  type, views only)}], in order.
  `at` is "[tile index, ..]" of a partition view, "[element, ..]" of the others, or the offset in elements
  of pointers.
  Lanes are `i0`, `i1`, ..; iterations of loops `it0`, ..; blocks `block.x`, ...
- `reductions`: [{`line`, `op` (reduce, scan), `axis`, `extent`, `shape`, `elements`, `combiner`,
  `identities`, `reverse`, `used`}].
- `mma`: [{`line`, `op`, `lhs`, `rhs` (shapes), `element` (two), `accumulator`, `scales`, `fast_acc`,
  `signed`}].
- `loops`: [{`line`, `op` (for, loop), `depth`, `name` ("it0"), `lower`, `upper`, `step`, `unsigned`,
  `persistent` (for only),
  `trips` (number, expression or null), `carried` (types)}].
- `branches`: [{`line`, `condition`, `else`, `results`, `exits`, `depth`}].
- `conversions`, `float_modes`, `constants`: counts over live ops, each sorted.
- `promises`: [{`value`, `promises`, `lines`}]; `checks`: [{`line`, `op`, `text`, `values`}] (asserts and
  prints).
- `dead_code`: {`count`, `ops`}; constants, tokens and promises are not counted.
- `normal_form`: whether addresses and masks are in normal form; `notes`: what was taken for granted or is
  not modelled.
- `lints`: [{`rule`, `severity`, `line`, `column`, `op`, `message`, `fix`}]; `lints_skipped`: rules that
  could not look.

Expressions are for people and may be cut ("…"); numbers, shapes, families and lines are for programs.
"""

from __future__ import annotations

__all__ = ["show_command"]


def show_command(
    path: str,
    *,
    entry: str | None = None,
    format: str = "text",  # noqa: A002 (the name of the command's own option)
    lint: bool = True,
    color: bool | str = False,
) -> int:
    """Prints what the kernels of one dump do, and returns the exit status: 0, or 2 for input that is no
    valid Tile IR.

    `path` is a file or "-"; `entry` shows one kernel only; `format` is "text" or "json"; `lint` adds the
    lints; `color` is True, False, or "auto", "always", "never".
    """
    import json
    import os
    import sys

    from tileir_diff.dialect import parse_text
    from tileir_diff.dialect.verifier import verify
    from tileir_diff.errors import InputError
    from tileir_diff.ingest import read_source
    from tileir_diff.report.color import Painter, wants_color
    from tileir_diff.show.summary import summarise
    from tileir_diff.show.text import render

    try:
        source = read_source(path)
        module = parse_text(source.text, source.path)
        broken = verify(module)
        if broken:
            first = broken[0]
            lines = source.text.split("\n")
            quoted = lines[first.line - 1] if 0 < first.line <= len(lines) else None
            raise InputError(first.message, source.path, first.line, first.column, quoted, first.rule)
        if not module.entries:
            raise InputError("no kernel in it: nothing to show", source.path)
        summary = summarise(module, source.path, source.text, entry=entry, lint=lint)
        if not summary["kernels"]:
            known = ", ".join(f"@{each.symbol}" for each in module.entries)
            raise InputError(f"no entry '@{str(entry).removeprefix('@')}'; there are {known}", source.path)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    from tileir_diff.cli.output import emit

    if format == "json":
        emit(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", None)
        return 0
    chosen = wants_color(color, sys.stdout, os.environ) if isinstance(color, str) else color
    emit(render(summary, Painter(chosen)), None)
    return 0
