"""How much the comparison finds, and how often it cries wolf.

    python -m benchmarks.score corpus FOLDER...            a dump against itself and its re-exports
    python -m benchmarks.score self FOLDER...              mutants of a dump against the dump
    python -m benchmarks.score pairs FOLDER...             pairs of two front ends against their notes
    python -m benchmarks.score mutants-on-pairs FOLDER...  mutants of one side of a pair against the other

Exit status 0 whatever the figures: thresholds belong to whoever reads them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.data import Pair, default_folder, dumps, pairs, re_exports
from benchmarks.judge import Found, Outcome, counterparts, judge_texts
from benchmarks.mutate import DEFECT, HARMLESS, HINT, MODES, UNSEEN, Mutant, Rejects, mutants
from benchmarks.notes import supported
from benchmarks.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.execute.screen import Screen

NOWHERE: Mapping[int, frozenset[int]] = {}
DEFECT_COLUMNS = ("found", "critical", "one_critical", "on_line", "one_on_line", "family", "crashed")
HINT_COLUMNS = ("warned", "family", "no_critical", "crashed")
HARMLESS_COLUMNS = ("silent", "passed", "crashed")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.score", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("what", choices=("corpus", "self", "pairs", "mutants-on-pairs"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--per-kind", type=int, default=1, help="mutants of each kind in one dump")
    parser.add_argument("--per-file", type=int, help="mutants of one dump in all")
    parser.add_argument("--sample", type=int, help="only so many dumps or pairs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no dump after so long")
    parser.add_argument("--kinds", default="", help="only these kinds of mutants, comma-separated")
    parser.add_argument("--no-launch", action="store_true", help="give no launch facts for pairs")
    parser.add_argument(
        "--no-screen", action="store_true", help="do not run mutants to see whether they differ"
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--failures", type=Path, help="write every miss and false alarm here")
    parser.add_argument("--keep", type=Path, help="write the text of missed mutants into this folder")
    options = parser.parse_args(arguments)
    if not options.folders:
        options.folders = [default_folder("pairs" if "pairs" in options.what else "corpus")]
    start = time.perf_counter()
    scores = {
        "corpus": score_corpus,
        "self": score_self,
        "pairs": score_pairs,
        "mutants-on-pairs": score_mutants_on_pairs,
    }[options.what](options)
    print_scores(scores, options, time.perf_counter() - start)
    return 0


def print_scores(scores: list[Tally], options: argparse.Namespace, seconds: float) -> None:
    for score in scores:
        if score.rows:
            print(score.text(), end="\n\n")
    print(f"{seconds:.0f} s")
    if options.json:
        figures: dict[str, Any] = {"what": options.what, "seconds": round(seconds, 1)}
        figures["tables"] = [score.json() for score in scores]
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    failures = "\n\n".join(text for text in (score.failures() for score in scores) if text)
    if options.failures:
        options.failures.write_text(failures + "\n", encoding="utf-8")


# ---- a dump against itself


def score_corpus(options: argparse.Namespace) -> list[Tally]:
    tally = Tally("same kernel", ("silent", "passed", "crashed"))
    for path in dumps(options.folders, options.sample, options.seed):
        text = path.read_text(encoding="utf-8")
        _harmless(tally, "itself", path.name, judge_texts(text, text))
        # Equal bytes may end a comparison early: with other names and one more op, nothing can.
        for mutant in mutants(text, str(path), kinds=("same.rename",)):
            for again in mutants(mutant.text, str(path), kinds=("same.dead-code",)):
                _harmless(tally, "itself, other text", path.name, judge_texts(text, again.text))
    for folder in options.folders:
        for newer, older in re_exports(folder):
            outcome = judge_texts(newer.read_text(encoding="utf-8"), older.read_text(encoding="utf-8"))
            _harmless(tally, "re-export", f"{newer.name} {older.name}", outcome)
    return [tally]


def _harmless(tally: Tally, kind: str, name: str, outcome: Outcome) -> None:
    row = tally.row(kind)
    silent = not outcome.critical and not outcome.warned and not outcome.error
    row.add(silent=silent, passed=silent and outcome.verdict.startswith("PASS"), crashed=bool(outcome.error))
    if not silent or not outcome.verdict.startswith("PASS"):
        row.failures.append(describe(name, outcome))


def describe(name: str, outcome: Outcome, mutant: Mutant | None = None) -> str:
    lines = [f"{name}: {outcome.verdict}"]
    if mutant is not None:
        text = mutant.text.splitlines()
        lines[0] = f"{name} [{mutant.kind}] {mutant.what}: {outcome.verdict}"
        if mutant.cls != HARMLESS or len(mutant.lines) < 12:
            lines += [
                f"    {number}: {text[number - 1].strip()[:240]}"
                for number in mutant.lines
                if number <= len(text)
            ]
    if outcome.error:
        lines += [f"    ! {line}" for line in outcome.error.strip().splitlines()[-6:]]
    shown = [finding for finding in outcome.findings if finding.severity != "info"]
    lines += [f"    > {finding}" for finding in shown[:6]]
    return "\n".join(lines)


# ---- mutants


def score_self(options: argparse.Namespace) -> list[Tally]:
    scorer = Scorer(options)
    # In random order, so that a run that is cut short has seen a bit of everything.
    paths = dumps(options.folders, options.sample, options.seed)
    random.Random(options.seed).shuffle(paths)
    for path in paths:
        if time.perf_counter() - scorer.start > options.seconds:
            break
        text = path.read_text(encoding="utf-8")
        base = judge_texts(text, text)
        scorer.score(text, text, str(path), path.name, base, None, scorer.screen(text))
    return scorer.tallies()


def score_mutants_on_pairs(options: argparse.Namespace) -> list[Tally]:
    scorer = Scorer(options)
    chosen = pairs(options.folders, options.sample, options.seed)
    random.Random(options.seed).shuffle(chosen)
    for pair in chosen:
        if time.perf_counter() - scorer.start > options.seconds:
            break
        launch = None if options.no_launch else pair.launch
        reference = pair.reference.read_text(encoding="utf-8")
        generated = pair.generated.read_text(encoding="utf-8")
        base = judge_texts(reference, generated, launch)
        scorer.pair_class = str(pair.meta.get("class", "unknown"))
        scorer.counterparts = counterparts(reference, generated, launch)
        screen = scorer.screen(generated, pair if launch else None)
        scorer.score(reference, generated, f"{pair.name}/gen.mlir", pair.name, base, launch, screen)
    return scorer.tallies()


class Scorer:
    """Scores the mutants of a generated side against its reference."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.start = time.perf_counter()
        self.defects = Tally("single defects", DEFECT_COLUMNS)
        self.doubtful = Tally("doubtful defects", DEFECT_COLUMNS)
        self.by_class = Tally("defects by class of pair", DEFECT_COLUMNS)
        self.hints = Tally("cost hints", HINT_COLUMNS)
        self.doubtful_hints = Tally("doubtful cost hints", HINT_COLUMNS)
        self.harmless = Tally("harmless rewrites", HARMLESS_COLUMNS)
        self.doubtful_harmless = Tally("doubtful rewrites", HARMLESS_COLUMNS)
        self.rejects = Rejects()
        self.counterparts: Mapping[int, frozenset[int]] = NOWHERE
        self.pair_class = ""
        """Class of the pair that is scored; empty for a dump against itself."""
        self.screened = self.unscreened = 0
        self._can_run = importlib.util.find_spec("numpy") is not None
        if not self._can_run and not options.no_screen:
            print("numpy is missing: mutants are not run, some that mean nothing will count", file=sys.stderr)

    def screen(self, text: str, pair: Pair | None = None) -> Screen | None:
        """Runs of the dump that is mutated; None where it cannot be run, or where numpy is missing."""
        if self.options.no_screen or not self._can_run:
            return None
        from benchmarks.execute.launches import recorded
        from benchmarks.execute.screen import Screen

        launch = None
        if pair is not None and pair.launch is not None:
            launch = recorded(pair.launch, pair.meta, "generated")
        screen = Screen(text, [launch] if launch is not None else None)
        self.screened += bool(screen.runs)
        self.unscreened += not screen.runs
        return screen if screen.runs else None

    def tallies(self) -> list[Tally]:
        for kind, count in sorted(self.rejects.counts.items()):
            print(f"rejected {kind}: {count}, such as {self.rejects.examples[kind]}", file=sys.stderr)
        print(
            f"run to see whether mutants differ: {self.screened} dumps, not run: {self.unscreened}",
            file=sys.stderr,
        )
        certain = [self.defects, self.by_class, self.hints, self.harmless]
        return [*certain, self.doubtful, self.doubtful_hints, self.doubtful_harmless]

    def score(
        self,
        reference: str,
        generated: str,
        path: str,
        name: str,
        base: Outcome,
        launch: Path | None,
        screen: Screen | None,
    ) -> None:
        for mutant in mutants(
            generated,
            path,
            per_kind=self.options.per_kind,
            per_file=self.options.per_file,
            seed=self.options.seed,
            kinds=[kind for kind in self.options.kinds.split(",") if kind],
            rejects=self.rejects,
            screen=screen,
        ):
            if (
                launch is not None
                and screen is None
                and mutant.kind not in UNSEEN | MODES
                and mutant.cls == DEFECT
            ):
                mutant = replace(mutant, doubt="not run with this launch, which may hide it")
            outcome = judge_texts(reference, mutant.text, launch)
            if mutant.cls == DEFECT:
                self._defect(mutant, outcome, base, name)
            elif mutant.cls == HINT:
                self._hint(mutant, outcome, base, name)
            else:
                self._rewrite(mutant, outcome, base, name)

    def _defect(self, mutant: Mutant, outcome: Outcome, base: Outcome, name: str) -> None:
        row = (self.doubtful if mutant.doubt else self.defects).row(mutant.kind)
        fresh = new_findings(outcome, base, mutant)
        critical = [finding for finding in fresh if finding.severity == "critical"]
        loud = [finding for finding in fresh if finding.severity != "info"]
        on_line = bool(critical) and at_the_place(critical[0], mutant, self.counterparts)
        family = any(finding.family in mutant.families for finding in critical)
        flags = {
            "found": bool(loud),
            "critical": bool(critical),
            "one_critical": len(critical) == 1,
            "on_line": on_line,
            "one_on_line": on_line and len(critical) == 1,
            "family": family,
            "crashed": bool(outcome.error),
        }
        row.add(**flags)
        if self.pair_class and not mutant.doubt:
            self.by_class.row(self.pair_class).add(**flags)
        if not (len(critical) == 1 and on_line and family):
            label = (
                "MISSED"
                if not critical
                else "ELSEWHERE"
                if not on_line
                else "MANY"
                if len(critical) > 1
                else "FAMILY"
            )
            doubt = f" [doubt: {mutant.doubt}]" if mutant.doubt else ""
            row.failures.append(f"{label} {describe(name, outcome, mutant)}{doubt}")
            if not critical:
                self._keep(mutant, name)

    def _hint(self, mutant: Mutant, outcome: Outcome, base: Outcome, name: str) -> None:
        # The other side of a pair may promise no more than what is left.
        doubtful = mutant.doubt or (self.pair_class and mutant.kind.startswith("div-by"))
        row = (self.doubtful_hints if doubtful else self.hints).row(mutant.kind)
        fresh = new_findings(outcome, base, mutant)
        warned = [finding for finding in fresh if finding.severity == "warn"]
        critical = [finding for finding in fresh if finding.severity == "critical"]
        family = any(finding.family in mutant.families for finding in warned)
        row.add(warned=bool(warned), family=family, no_critical=not critical, crashed=bool(outcome.error))
        if not family or critical:
            row.failures.append(describe(name, outcome, mutant))

    def _rewrite(self, mutant: Mutant, outcome: Outcome, base: Outcome, name: str) -> None:
        row = (self.doubtful_harmless if mutant.doubt else self.harmless).row(mutant.kind)
        # Findings may move and be worded otherwise with the text: only their number by rule must stay.
        now = Counter(finding.rule for finding in outcome.findings if finding.severity != "info")
        before = Counter(finding.rule for finding in base.findings if finding.severity != "info")
        silent = not outcome.error and not now - before
        row.add(silent=silent, passed=silent and outcome.failed == base.failed, crashed=bool(outcome.error))
        if not silent or outcome.failed != base.failed:
            row.failures.append(describe(name, outcome, mutant))
            self._keep(mutant, name)

    def _keep(self, mutant: Mutant, name: str) -> None:
        folder: Path | None = self.options.keep
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{mutant.kind}__{name.removesuffix('.mlir')}.mlir").write_text(
                mutant.text, encoding="utf-8"
            )


def new_findings(outcome: Outcome, base: Outcome, mutant: Mutant) -> list[Found]:
    """Findings that the comparison without the mutation does not have, in order.

    One that is only worded otherwise, in place of one that is gone, tells nothing new, unless at a changed
    line.
    """
    old = Counter(finding.key() for finding in base.findings)
    changed: list[Found] = []
    for finding in outcome.findings:
        key = finding.key(mutant.line_before)
        if old[key] > 0:
            old[key] -= 1
        else:
            changed.append(finding)
    gone = Counter(finding.place() for finding in base.findings if old[finding.key()] > 0)
    fresh: list[Found] = []
    for finding in changed:
        place = finding.place(mutant.line_before)
        if gone[place] > 0 and finding.generated_line not in mutant.lines:
            gone[place] -= 1
        else:
            fresh.append(finding)
    return fresh


def at_the_place(
    finding: Found, mutant: Mutant, counterparts: Mapping[int, frozenset[int]] = NOWHERE
) -> bool:
    """Whether a finding points at a changed line: of the mutant, or of the other side where it has none
    there.

    `counterparts`: by line of the generated side before the mutation, the lines of what it is paired with;
    empty where the other side is the same text.
    """
    if finding.generated_line:
        return finding.generated_line in mutant.lines
    lines = mutant.reference_lines
    return any(finding.reference_line in counterparts.get(line, (line,)) for line in lines)


# ---- pairs


def score_pairs(options: argparse.Namespace) -> list[Tally]:
    tallies: list[Tally] = []
    for with_launch in (True, False):
        if with_launch and options.no_launch:
            continue
        title = "pairs with launch" if with_launch else "pairs without launch"
        same = Tally(f"{title}: same", ("not_failed", "silent", "crashed"))
        other = Tally(f"{title}: other", ("failed", "right_family", "only_supported", "crashed"))
        for pair in pairs(options.folders, options.sample, options.seed):
            outcome = judge_texts(
                pair.reference.read_text(encoding="utf-8"),
                pair.generated.read_text(encoding="utf-8"),
                pair.launch if with_launch else None,
            )
            _pair(pair, outcome, same, other)
        tallies += [same, other]
    return tallies


def _pair(pair: Pair, outcome: Outcome, same: Tally, other: Tally) -> None:
    kind = str(pair.meta.get("class", "unknown"))
    detail = describe(f"{pair.name} {pair.meta.get('why', '')}", outcome)
    if kind == "same":
        ok = not outcome.failed and not outcome.error
        row = same.row(str(pair.meta.get("op", "same")))
        row.add(not_failed=ok, silent=ok and not outcome.critical, crashed=bool(outcome.error))
        if not ok:
            row.failures.append(detail)
        return
    families, unknown = supported(list(pair.meta.get("why", [])))
    row = other.row(kind)
    critical = outcome.critical
    right = families is None or any(finding.family in families for finding in critical)
    strange = [] if families is None else [finding for finding in critical if finding.family not in families]
    row.add(
        failed=outcome.failed,
        right_family=outcome.failed and right,
        only_supported=outcome.failed and not strange,
        crashed=bool(outcome.error),
    )
    if not outcome.failed or not right or strange or unknown:
        row.failures.append(detail + "".join(f"\n    ? note not in the table: {note}" for note in unknown))


if __name__ == "__main__":
    raise SystemExit(main())
