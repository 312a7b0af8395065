"""`tileir-diff gate`: the check of a kernel before any test, and what its verdict is worth later."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tileir_diff.cli.guard import guarded
from tileir_diff.cli.output import PATH, emit
from tileir_diff.errors import InputError

if TYPE_CHECKING:
    from tileir_diff.pipeline.artifacts import GateVerdict

STATUS = {"PASS": 0, "FAIL": 1, "NO_BUILD": 1}


@click.command(short_help="Check a kernel before any test, or what a verdict is worth.")
@click.option("--analysis", type=PATH, metavar="FILE", help="analysis.json; its references lie beside it.")
@click.option("--kernel", type=PATH, metavar="FILE", help="kernel.rs.")
@click.option("--waivers", type=PATH, metavar="FILE", help="A settings file, of which the waivers count.")
@click.option("--key", type=PATH, metavar="FILE", help="A run's key: signs, or tells what was signed.")
@click.option(
    "--verify", type=PATH, metavar="VERDICT", help="In place of a check: what this verdict is worth."
)
@click.option("--root", type=PATH, metavar="FOLDER", help="With --verify: where the verdict's files are.")
@click.option("--recompute", is_flag=True, help="With --verify: decide again, and compare; needs no key.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-o", "--output", type=PATH, metavar="FILE", help="Write the verdict, as JSON, to a file.")
@click.pass_context
def gate(ctx: click.Context, **given: Any) -> None:
    """Build kernel.rs, and compare every variant with its reference: the check before any test.

    With --verify it says whether a verdict is true, stale, altered, unsigned or forged.

    Exit status: 0 PASS (or the verdict is true), 1 it is not, 2 an input cannot be read.
    """
    verify = given["verify"]
    with guarded(verify or given["kernel"] or "gate"):
        if verify is not None:
            status = _verify(verify, given)
        else:
            if given["analysis"] is None or given["kernel"] is None:
                raise click.UsageError("give --analysis and --kernel, or --verify", ctx)
            status = _check(given)
    ctx.exit(status)


def _check(given: dict[str, Any]) -> int:
    from tileir_diff.pipeline.show import verdict_text

    verdict = _made(given["analysis"], given["kernel"], given["waivers"], given["key"])
    text = verdict.to_json()
    if given["output"] is not None:
        emit(text, given["output"])
    emit(text if given["format_"] == "json" else verdict_text(verdict), None)
    return STATUS.get(verdict.outcome, 2)


def _made(analysis: str, kernel: str, waivers: str | None, key: str | None) -> GateVerdict:
    """The verdict of the kernel's gate, signed as far as there is a key. Raises InputError."""
    from datetime import date

    from tileir_diff.pipeline.gates.common import WAIVERS, Given
    from tileir_diff.pipeline.gates.kernel import judge
    from tileir_diff.pipeline.sign import read_key, signed

    secret = read_key(Path(key)) if key is not None else None
    files = _files(analysis, kernel, waivers)
    with tempfile.TemporaryDirectory(prefix="tileir-gate-") as place:
        for path, source in files.items():
            target = Path(place, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copyfile(source, target)
            except OSError as error:
                raise InputError(f"cannot read: {error.strerror}", str(source)) from None
        settings = {"today": date.today().isoformat()} if WAIVERS in files else {}
        return signed(judge(Given(Path(place), settings)).verdict, secret)


def _files(analysis: str, kernel: str, waivers: str | None) -> dict[str, Path]:
    """Where each file of a verdict is, by the name that the verdict has for it. Raises InputError."""
    from tileir_diff.ingest.text import read_text
    from tileir_diff.pipeline.artifacts import Analysis
    from tileir_diff.pipeline.gates.common import WAIVERS

    found = {"analysis.json": Path(analysis), "kernel.rs": Path(kernel)}
    for variant in Analysis.read(read_text(analysis), analysis).variants:
        found[variant.reference] = Path(analysis).parent / variant.reference
    if waivers is not None:
        found[WAIVERS] = Path(waivers)
    return found


def _verify(path: str, given: dict[str, Any]) -> int:
    from tileir_diff.ingest.text import read_text
    from tileir_diff.pipeline.artifacts import GateVerdict
    from tileir_diff.pipeline.gates.common import WAIVERS
    from tileir_diff.pipeline.log import sha256
    from tileir_diff.pipeline.sign import STANDINGS, bare, read_key, standing

    verdict = GateVerdict.read(read_text(path), path)
    own = Path(path).resolve().parent
    root = Path(given["root"]) if given["root"] else own.parent if own.name == "gates" else own
    places = {name: root / name for name in verdict.saw}
    for name, option in (("analysis.json", "analysis"), ("kernel.rs", "kernel"), (WAIVERS, "waivers")):
        if given[option] is not None:
            if name not in verdict.saw:
                raise InputError(f"this verdict has not seen {name}", f"--{option}")
            places[name] = Path(given[option])
    now = {name: sha256(place.read_bytes()) if place.is_file() else None for name, place in places.items()}
    key = read_key(Path(given["key"])) if given["key"] is not None else None
    worth, why = standing(verdict, now, key)
    if given["recompute"] and worth not in ("stale", "altered"):
        if verdict.stage != "kernel":
            raise InputError("only the kernel's verdict is decided again: `port replay` does all", path)
        unseen = [name for name in ("analysis.json", "kernel.rs") if name not in places]
        if unseen:
            raise InputError(f"it has not seen {unseen[0]}: no gate decides so", path)
        waivers = places.get(WAIVERS)
        again = _made(
            str(places["analysis.json"]), str(places["kernel.rs"]), str(waivers) if waivers else None, None
        )
        same = bare(again, "settings") == bare(verdict, "settings")
        worth, why = (
            ("true", "decided again: the same") if same else ("forged", f"decided again: {again.outcome}")
        )
    emit(f"{verdict.stage} {verdict.outcome}: {worth}: {why}\n  {STANDINGS[worth]}\n", None)
    return 0 if worth == "true" else 1
