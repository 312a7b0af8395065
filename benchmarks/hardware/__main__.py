"""`python -m benchmarks.hardware`: see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import benchmarks.hardware as package


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hardware",
        description=package.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    prepare = verbs.add_parser("prepare")
    prepare.add_argument("folder", type=Path)
    prepare.add_argument("--arch", default="sm_90")
    prepare.add_argument("--level", type=int, choices=range(4), help="of the assembler, its own by default")
    compare = verbs.add_parser("compare")
    compare.add_argument("results", type=Path)
    compare.add_argument("-v", "--verbose", action="store_true")
    record = verbs.add_parser("record")
    record.add_argument("results", type=Path)
    record.add_argument("output", type=Path)
    record.add_argument("--device", required=True)
    result = verbs.add_parser("result")
    result.add_argument("name", help="of the launch")
    result.add_argument("results", type=Path)
    result.add_argument("output", type=Path)
    result.add_argument(
        "--level0", type=Path, required=True, help="results of what was prepared with --level 0"
    )
    result.add_argument("--device", required=True)
    result.add_argument("--assembler", required=True, help="its version")
    for verb in (prepare, compare):
        verb.add_argument("--only", default="", help="launches whose name holds this")
    options = parser.parse_args()
    if options.verb == "prepare":
        from benchmarks.hardware.prepare import prepare as prepare_all

        return prepare_all(options.folder, options.arch, options.only, options.level)
    if options.verb == "record":
        from benchmarks.hardware.record import record as record_all

        return record_all(options.results, options.device, options.output)
    if options.verb == "result":
        from benchmarks.hardware.compare import gpu_result

        levels = {3: options.results, 0: options.level0}
        return gpu_result(options.name, levels, (options.device, options.assembler), options.output)
    from benchmarks.hardware.compare import compare as compare_all

    return compare_all(options.results, options.only, options.verbose)


if __name__ == "__main__":
    sys.exit(main())
