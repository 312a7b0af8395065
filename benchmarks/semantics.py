"""Runs of both sides against what is known of them: `python -m benchmarks.semantics pairs|mistakes|mutants`.

`pairs`: real pairs against their class; `mistakes`: this project's broken kernels, each of which must get an
input that shows it; `mutants`: defects that change results against the dump they were made from, and harmless
rewrites, which must get no input. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import ROOT, default_folder, pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.data import Pair
    from tileir_diff.match.model import Execution, Semantics

    Show = Callable[["Result", bool], None]
    """Takes a result, and whether it agrees with what is known."""

SHOWN = frozenset({"precision", "logic", "assume", "bounds", "edge"})
"""Classes of pairs that an input must show."""
SHORT = {"python": "py", "rust": "rs", "cpp": "cpp"}
"""By front end: what its dump of one of this project's kernels is called."""
SILENT = frozenset({"same", "ulp"})
"""Classes of pairs that no input may show."""


class Result(NamedTuple):
    name: str
    kind: str
    settled: bool
    outcome: str
    detail: str
    seconds: float


def examine(
    reference: str, generated: str, launch: str | None, how: Execution
) -> tuple[bool, Semantics | None, list[Any]]:
    """Whether structure settles it, what running gives all the same, and the findings before that."""
    from tileir_diff.api import load
    from tileir_diff.equivalence.differential.pairs import is_settled, run_pair
    from tileir_diff.match.compare import compare
    from tileir_diff.match.launch import parse_launch
    from tileir_diff.match.model import CompareOptions

    modules = _parsed(reference, "reference"), _parsed(generated, "generated")
    for module in modules:
        load(module, "source")
    options = CompareOptions(launch=parse_launch([launch]) if launch else None)
    comparison = compare(*modules, options)
    settled = is_settled(comparison.differences, comparison)
    names = [(one, other) for one, other, _ in comparison.pairs if one is not None and other is not None]
    if len(names) != 1:
        return settled, None, comparison.differences
    entries = modules[0].entries[0], modules[1].entries[0]
    paths = "reference", "generated"
    conditions = bool(comparison.obligations)
    outcome, _ = run_pair(modules, entries, names[0], paths, comparison.differences, options, how, conditions)
    return settled, outcome, comparison.differences


def _parsed(text: str, name: str) -> Any:
    from tileir_diff.dialect import parse_text

    return parse_text(text, name)


def measure(
    name: str, kind: str, reference: str, generated: str, launch: Path | None, how: Execution
) -> Result:
    start = time.perf_counter()
    try:
        settled, outcome, _ = examine(reference, generated, str(launch) if launch else None, how)
    except Exception:
        text = traceback.format_exc(limit=-3)
        return Result(name, kind, False, "failed", text, time.perf_counter() - start)
    seconds = time.perf_counter() - start
    if outcome is None:
        return Result(name, kind, settled, "not-run", "several entries", seconds)
    return Result(name, kind, settled, outcome.outcome, outcome.detail, seconds)


def measured_pairs(options: argparse.Namespace, how: Execution, show: Show) -> None:
    folders = [Path(each) for each in options.folders] or [default_folder("pairs")]
    for pair in pairs(folders, options.sample, options.seed):
        kind = str(pair.meta.get("class", "unknown"))
        if options.only not in f"{kind} {pair.name}":
            continue
        launch = None if options.no_launch else pair.launch
        result = measure(pair.name, kind, *_texts(pair), launch, how)
        show(result, _agrees(kind, result))


def _texts(pair: Pair) -> tuple[str, str]:
    return pair.reference.read_text(encoding="utf-8"), pair.generated.read_text(encoding="utf-8")


def _agrees(kind: str, result: Result) -> bool:
    if kind in SHOWN:
        return result.outcome == "different"
    if kind in SILENT:
        return result.outcome == "equal" or (result.settled and result.outcome == "not-run")
    return result.outcome in ("equal", "different", "not-run")


def measured_mistakes(options: argparse.Namespace, how: Execution, show: Show) -> None:
    import tomllib

    for description in sorted((ROOT / "fixtures" / "mistakes").glob("*/mistake.toml")):
        home = description.parent
        facts = tomllib.loads(description.read_text(encoding="utf-8"))
        impact = str(facts["impact"])
        if options.only not in f"{impact} {home.name}":
            continue
        kernel = ROOT / "fixtures" / "kernels" / str(facts["kernel"])
        other = str(facts.get("reference", "rust" if facts["side"] == "python" else "python"))
        reference = (kernel / f"{SHORT[other]}.mlir").read_text(encoding="utf-8")
        launch = home / "launch.json"
        known = launch if launch.exists() and not options.no_launch else None
        generated = (home / "gen.mlir").read_text(encoding="utf-8")
        result = measure(home.name, impact, reference, generated, known, how)
        show(result, impact in ("hint", "none", "ulp") or result.outcome == "different")


def measured_mutants(options: argparse.Namespace, how: Execution, show: Show) -> None:
    from benchmarks.execute.launches import recorded
    from benchmarks.execute.screen import DIFFERS, UNKNOWN, Screen
    from benchmarks.mutate import DEFECT, HARMLESS, MODES, UNSEEN, mutants

    folders = [Path(each) for each in options.folders] or [default_folder("pairs")]
    chosen = pairs(folders, options.sample, options.seed)
    random.Random(options.seed).shuffle(chosen)
    start = time.perf_counter()
    for pair in chosen:
        if time.perf_counter() - start > options.seconds:
            break
        if pair.launch is None or options.only not in pair.name:
            continue
        text = pair.generated.read_text(encoding="utf-8")
        launch = _one_sided(pair.launch)
        known = recorded(pair.launch, pair.meta, "generated")
        screen = Screen(text, [known] if known is not None else None)
        whole = Screen(text, [known] if known is not None else None, whole=True)
        for mutant in mutants(
            text, f"{pair.name}/gen.mlir", per_file=options.per_file, seed=options.seed,
            classes=(DEFECT, HARMLESS), screen=screen if screen.runs else None,
        ):  # fmt: skip
            if mutant.cls == DEFECT and (mutant.doubt or not screen.runs or mutant.kind in UNSEEN):
                continue  # not known to change results
            name = f"{pair.name}: {mutant.what}"
            if mutant.cls == DEFECT and mutant.kind not in MODES:
                verdict = whole.judge(mutant.text)[0]
                verdict = screen.judge(mutant.text)[0] if verdict == UNKNOWN else verdict
                if verdict != DIFFERS:
                    print(
                        f"not counted, {verdict} once all blocks have run: {mutant.kind}, {name}", flush=True
                    )
                    continue
            # a mode alone mostly changes less than a unit in the last place of what is stored
            group = "mode" if mutant.kind in MODES else mutant.cls
            result = measure(name, f"{group} {mutant.kind}", text, mutant.text, launch, how)
            wanted = {"mode": ("different", "equal"), DEFECT: ("different",)}.get(group, ("equal",))
            show(result, result.outcome in wanted)
    _forget()


_LAUNCHES: list[Path] = []


def _one_sided(path: Path) -> Path:
    """A launch file with the generated side's launch for both."""
    import tempfile

    data = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8") as file:
        json.dump({"reference": data["generated"], "generated": data["generated"]}, file)
    _LAUNCHES.append(Path(file.name))
    return Path(file.name)


def _forget() -> None:
    for path in _LAUNCHES:
        path.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    from tileir_diff.equivalence.backend import torch
    from tileir_diff.match.model import Execution

    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semantics", description=__doc__)
    parser.add_argument("what", choices=("pairs", "mistakes", "mutants"))
    parser.add_argument("folders", nargs="*", help="folders of pairs")
    parser.add_argument("--sample", type=int, help="pairs to take")
    parser.add_argument("--per-file", type=int, default=6, help="mutants of a dump")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no dump after so long")
    parser.add_argument("--runs", type=int, default=Execution().runs)
    parser.add_argument("--budget", type=float, default=Execution().budget, help="seconds for one pair")
    parser.add_argument("--only", default="", help="pairs whose class and name hold this")
    parser.add_argument("--no-launch", action="store_true", help="without the launch beside the dumps")
    parser.add_argument("--json", metavar="FILE", help="write all results")
    parser.add_argument("-v", "--verbose", action="store_true", help="each pair")
    options = parser.parse_args(arguments)
    how = Execution(options.runs, options.seed, options.budget, small=False)
    results: list[tuple[Result, bool]] = []

    def show(result: Result, agrees: bool) -> None:
        results.append((result, agrees))
        if options.verbose or not agrees:
            mark = "      " if agrees else "WRONG "
            print(
                f"{mark}{result.kind:30} {result.seconds:6.1f} s  {result.name}: {result.detail}", flush=True
            )

    run = {"pairs": measured_pairs, "mistakes": measured_mistakes, "mutants": measured_mutants}
    run[options.what](options, how, show)
    _summary(results)
    if options.json:
        data = [{**each._asdict(), "agrees": agrees} for each, agrees in results]
        Path(options.json).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 0


def _summary(results: list[tuple[Result, bool]]) -> None:
    outcomes = ("equal", "different", "not-run", "failed")
    head = (
        f"{'class':30}{'n':>6}{'agree':>8}" + "".join(f"{each:>11}" for each in outcomes) + f"{'settled':>9}"
    )
    print(head, "-" * len(head), sep="\n")
    kinds = sorted({result.kind for result, _ in results})
    groups = sorted({kind.split()[0] for kind in kinds} - {*kinds})
    for kind in [*kinds, *groups, ""]:
        own = [
            (each, agrees)
            for each, agrees in results
            if f"{each.kind} ".startswith(f"{kind} " if kind else "")
        ]
        counts = "".join(f"{sum(each.outcome == name for each, _ in own):>11}" for name in outcomes)
        settled = sum(each.settled for each, _ in own)
        print(f"{kind or 'TOTAL':30}{len(own):>6}{sum(agrees for _, agrees in own):>8}{counts}{settled:>9}")


if __name__ == "__main__":
    sys.exit(main())
