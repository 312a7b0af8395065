"""Entries and their arguments.

## What it does

Pairs the entries of two modules, and the arguments of two entries: pointers, sizes and strides by the
array they belong to, scalars by their use, or all as `--args` and `--launch` say.
The order and number of arguments may differ; what each side uses must have a counterpart.
One size of the generated kernel may stand for several of the reference, but not for two of one array:
it would be right for square arrays only. Nor may two sizes, or strides, of one array have changed places
where the argument list says which is which.

## Why it matters

An entry on one side only was not ported. Two arguments exchanged make the kernel read the wrong array.

## Example

The reference's entry `@backward` has no counterpart: `entry-signature/entry-missing`.
The port compares the column with the number of rows: `entry-signature/square`.

## Known problems

Scalars that are used alike cannot be told apart; name them with `--args`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.rules.model import Detail

if TYPE_CHECKING:
    from collections.abc import Mapping

DETAILS: Mapping[str, Detail] = {
    "argument": Detail(
        impact="logic",
        message="argument {actual} stands where the reference uses {expected}",
        effect="another array or scalar is used",
        fix="use the argument that corresponds to {expected}, or say so with --args",
    ),
    "entry-extra": Detail(
        impact="logic",
        message="entry {actual} has no counterpart in the reference",
        effect="a kernel was compared with nothing",
        fix="remove the entry, add it to the reference, or select one with --entry",
    ),
    "entry-missing": Detail(
        impact="logic",
        message="the reference's entry {expected} has no counterpart",
        effect="a kernel of the reference was not ported",
        fix="port the entry, or select one with --entry",
    ),
    "extra": Detail(
        impact="none",
        message="argument {actual} has no counterpart in the reference",
        effect="none on results as long as the host passes it",
        fix="nothing to do",
    ),
    "missing": Detail(
        impact="logic",
        message="the reference's argument {expected} has no counterpart",
        effect="the kernel cannot depend on what the reference depends on",
        fix="take the argument, or name its counterpart with --args",
    ),
    "square": Detail(
        impact="logic",
        message="right only for square arrays: it takes {actual}",
        effect="another result, or an access out of bounds, for each array whose two sizes differ",
        fix="compare each index with the size of its dimension{at}, or give a launch where both are equal",
    ),
    "type": Detail(
        impact="logic",
        message="argument of type {actual}; in the reference {expected}",
        effect="the host's bytes are read as another type",
        fix="declare the argument as {expected}",
    ),
}
