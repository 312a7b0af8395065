"""What the words of a report mean that are no names of rules: `explain` prints them, and `docs/reference.md`.

In a phrase, `…` stands for what differs from report to report: a line, a value, a name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERDICTS = {
    "PASS": "no difference that matters was found; exit status 0",
    "PASS_WITH_NOTES": "nothing that counts as critical was found, but there are warnings, conditions on "
    "the host, parts that were not checked, or findings that were waived or ignored; exit status 0, and 1 "
    "with --strict for the first three",
    "FAIL_FIXABLE": "at least one critical finding that the kernel or the host can mend; exit status 1",
    "FAIL_COMPILER_BUG": "all critical findings are the front end's or the assembler's; exit status 1",
    "BLOCKED": "nothing was compared: an input cannot be read or breaks a constraint of the dialect, or "
    "the call is wrong; exit status 2",
}
SEVERITIES = {
    "critical": "makes the comparison fail: its impact is at least that of --fail-on",
    "warn": "does not make it fail, but with --strict: its impact is below --fail-on, and not none",
    "info": "cannot matter, and is told so that nobody looks for it: its impact is none",
    "waived": "accepted by a waiver of the settings, with its reason; shown, and not counted as critical "
    "or warn",
    "ignored": "taken out by --select or --ignore: counted by rule, and not shown",
}
IMPACTS = {
    "none": "cannot change results or cost",
    "hint": "changes cost only: speed, registers, use of TMA",
    "edge": "changes results for NaN, infinities, signed zeros, subnormals or empty input only",
    "ulp": "rounds otherwise: results differ in their last digits",
    "precision": "computes in a coarser type, or with a coarser approximation",
    "bounds": "a lane outside of an array is read, written, or left undetermined",
    "assume": "the compiler is promised what the other side does not promise, and what nothing proves: "
    "undefined behaviour where it is false",
    "logic": "another result for ordinary input, or not understood",
}
STATUSES = {
    "DIFFERS": "both sides have it, and it is not the same",
    "MISSING": "the reference has it, the generated side does not",
    "EXTRA": "the generated side has it, the reference does not",
    "SEMANTIC_EQUIV": "written otherwise, and shown to do the same: by a proof (--prove) or by runs "
    "(--exec); `evidence` says which",
}
CAUSES = {
    "translation": "the port is written otherwise than the reference: not said in the report, since most are",
    "known-gap": "this version of the front end cannot express it, as the catalogue of known gaps says",
    "frontend-bug": "the front end made another dump of the source than it should; `classify` finds it",
    "tileiras-bug": "the assembler made other code of the dump than it should; `classify` finds it",
    "host": "what launches the kernel passes another argument or grid than it should",
    "equivalent": "written otherwise, and the same",
    "equivalent-if": "the same if the host guarantees the conditions that are listed; of `classify`",
    "unknown": "not found out",
}
OWNERS = {
    "kernel": "whoever writes the port has to act",
    "host": "whoever writes what launches the port has to act",
    "frontend": "the authors of the front end have to act",
    "tileiras": "the authors of the assembler have to act",
}
SECTIONS = {
    "assumed": "what the result rests on and nothing shows: where it is false, the result may be too",
    "conditions on the host": "on arguments and grid, under which both sides are the same: a launch that "
    "breaks one may show a difference. Those that few launches keep (`holds only if`) come first",
    "not checked": "what was not compared, and why",
    "arguments": "which parameters of the two kernels were taken for each other, and how that was found",
    "treated as equal": "what is written otherwise and counts as the same by a named equivalence; "
    "--equivalences lists it",
    "notices": "settings that decide, waivers that expired or were not needed, and what could not be done",
    "also at": "other lines of the generated dump where the same finding shows",
    "evidence": "how it is known, beyond the two lines that are shown",
    "effect": "what the difference can do at worst",
    "fix": "what to change so that both sides are the same",
    "alike": "the share of the ops of two entries that have a like one on the other side; it decides nothing",
}
PHRASES = {
    # conditions
    "holds only if …": "a condition on the host that few launches keep: both sides are the same where it is "
    "true, and differ where it is not",
    # evidence
    "found by trial": "in the dump as it is, values differ in several places that no single line explains; "
    "the generated side was evaluated again with a change of one op, and with this change what differed is "
    "equal. `changed to …` is what the op was changed to; the reference need not be written so",
    "no effect at the launch given; another one shows it": "with the sizes of --launch both sides do the "
    "same (a size fills the tiles, say); there are other sizes for which they do not",
    "true at this launch, where the value is …; nothing makes it so at another": "the promise holds for "
    "the value that --launch gives, and is not checked by anything at another launch",
    "false here: …": "the promise is about a value that is known, and does not fit it",
    "rows of the array overlap": "a stride is shorter than what lies along the dimension below it, so that "
    "two elements share an address",
    "reads before the loop, also where it makes no trip": "a load that the reference has inside a loop "
    "stands before it, and is done also where the loop has nothing to do",
    "reads where the reference reads nothing; the value has no influence": "a lane is read that the "
    "reference masks off; what comes of it is not used",
    "reads a tile of another shape, whether or not all is used": "the access itself is out of bounds; lanes "
    "that are dropped later are read all the same",
    "reads …, whether or not the value is used": "the access itself is out of bounds; no result need show it",
    "the quotients differ where … is negative": "rounding down and rounding towards zero are the same for "
    "all other numbers",
    "equal at all tested points but for rounding, …": "both formulas were computed for some numbers, and "
    "are the same function but for the last digits; a test with numbers, no proof",
    "equal at all tested points, rounded by the same ops: differs for …": "both formulas were computed for "
    "some numbers, and gave the same but for the special ones that are named",
    "one side overflows where an input is …": "both formulas were computed for some numbers; for this one "
    "only one of them is finite",
    "with what the reference has, both sides are the same": "the launch gives the port another argument or "
    "grid than the reference, and nothing else differs",
    "or it is the kernel that takes its arguments in this order": "the launch or the kernel may be mended: "
    "values of arguments are exchanged between the two",
    "… of … elements differ": "two tables of numbers; the first that differs is told",
    "leaves where the reference goes on": "the condition to leave a loop is turned around",
    "the address of a load comes from it, so it may read anywhere": "the value that differs is an index",
    "the reference keeps the address of this load in bounds, whether or not the value is used": "as an "
    "index it is limited in the reference only",
    "line … overwrites it before anything reads it": "the store that differs has no effect",
    "the same was stored there just before": "the store that differs has no effect",
    "the indices of two dimensions are exchanged": "each index is right, and stands at the other's place",
    "the two axes of the tile are exchanged": "the tile is read or written transposed",
    "known gap …": "an entry of the catalogue of what a front end cannot express",
    # assumed
    "the result holds for the launch given: …": "arguments and grid of --launch were used to show that "
    "both sides are the same; at another launch they may not be",
    "the launch facts given hold: …": "what --launch says of some arguments was used, and is not checked",
    "arrays … do not overlap": "pointers that are different arguments, or have different names in the "
    "launch, are taken for arrays that share no memory",
    "…: index arithmetic in … does not wrap before it is …": "32-bit indices are taken to be small enough; "
    "then the order of widening and arithmetic makes no difference",
    "…: sizes and tile counts that index arithmetic divides by are positive": "a size of zero or less "
    "would make the quotient another one",
    "…: signed arithmetic of tile C++ does not wrap, as the language promises": "overflow of signed "
    "integers is undefined in C++, so that the flag is no promise of the port's own",
    "…: unsigned loop bounds are taken as non-negative": "read as unsigned, a negative bound would be a "
    "large number",
    "…: the loop has no break: what stands below it is not reached": "what follows a loop without end "
    "does not count",
    "@…: the launch is not one of it, and was not used": "the launch file names other entries",
    "…: the iterations of the loop access different elements": "accesses of two iterations are not ordered "
    "against each other, since their index moves with the loop",
    # conditions on the host
    "… for all blocks launched": "the condition on the block's index holds for every block of the grid",
    "… for all blocks and lanes launched": "and for every lane, and each iteration of a loop, of each block",
    "… is a multiple of …": "stated to the compiler by what specialises the kernel at its launch, such as "
    "the launcher of cuTile Rust; a value that is none must not reach this kernel",
    "… fits …": "the number is not too large for the integers that the generated side computes it in",
    "…: tested by the … only, at line …": "only this side asks for the condition before it does anything",
    "… is not negative": "a negative value would be read as a large number, or rounded otherwise, on one "
    "side only",
    "… >= 0: …": "what a negative value would change on one side only",
    "…, by …; by its name it is …": "two arguments are paired by what is done with them, and a third has "
    "the name: one of both may be a mistake of the kernel",
    "…, by …; by its place it is …": "two arguments are paired by what is done with them, and the generated "
    "one stands where its array has another size or stride: one of both may be a mistake of the kernel",
    "… = 1, like that of the …": "the launch gives one block along this axis for one side, and nothing for "
    "the other",
    # not checked
    "which values …: it is open while accesses differ in where they are": "arguments were given "
    "the values with which the least differs; mend what differs, and they are told as conditions on the "
    "host",
    "whether what the load of line … reads lies in the array: its lanes are others": "it reads a tile that "
    "the reference reads in other pieces, under a mask of its own; --exec runs it",
    "whether the indices that differ fit the integers that they are computed in": "mend what differs, and "
    "what must fit is told as a condition on the host",
    "… has no model; equal only to itself": "the comparison does not know what the op does",
    # arguments
    "given": "arguments paired since --args, or the launch, says so",
    "by role": "arguments paired as the same base, size or stride of arrays that correspond",
    "by name": "arguments paired since they have the same name in the source",
    "by use": "arguments paired since both kernels do the same with them",
    "reference values": "parameters of the reference that are a number in the generated kernel, or at the "
    "launch",
    "generated values": "parameters of the generated kernel that are a number in the reference",
    "reference only": "parameters that the generated kernel has no counterpart for, and need not have one",
    "generated only": "parameters that the reference has no counterpart for, and need not have one",
}

GLOSSARY: Mapping[str, Mapping[str, str]] = {
    "verdict": VERDICTS,
    "severity": SEVERITIES,
    "impact": IMPACTS,
    "status": STATUSES,
    "cause": CAUSES,
    "owner": OWNERS,
    "part of a report": SECTIONS,
    "phrase": PHRASES,
}
"""By kind, each word and what it means. A word may be of several kinds: `host`."""


def words() -> Iterator[str]:
    """All words, each once, in the order of the glossary."""
    return iter(dict.fromkeys(word for kind in GLOSSARY.values() for word in kind))


def listed(only: str | None = None) -> str:
    """All words and phrases with what they mean, by kind; or those of one kind."""
    blocks = (
        "".join([f"# {kind}\n\n", *(_lines(*entry) for entry in entries.items())])
        for kind, entries in GLOSSARY.items()
        if only in (None, kind)
    )
    return "\n".join(blocks)


def page(word: str) -> str | None:
    """What a word means, of each kind that it is; None if no report uses it.

    Upper and lower case are one, `_` and `-` too. A phrase is found by any sentence that it stands for.
    """
    wanted = _plain(word)
    found = (
        _lines(f"{known} ({kind})", meaning)
        for kind, entries in GLOSSARY.items()
        for known, meaning in entries.items()
        if _plain(known) == wanted or (kind == "phrase" and is_phrase(known, word))
    )
    return "".join(found) or None


def is_phrase(phrase: str, sentence: str) -> bool:
    """Whether a sentence of a report is what the phrase stands for, or begins with it."""
    pattern = ".+".join(re.escape(part) for part in phrase.split("…"))
    return re.match(pattern, sentence, re.IGNORECASE) is not None


def _plain(word: str) -> str:
    return word.strip(" …").casefold().replace("-", "_").replace(" ", "_")


def _lines(word: str, meaning: str) -> str:
    from textwrap import fill  # only who asks for words needs it

    return fill(f"{word}: {meaning}", 100, subsequent_indent="    ", break_on_hyphens=False) + "\n"
