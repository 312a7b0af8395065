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
    compare = verbs.add_parser("compare")
    compare.add_argument("results", type=Path)
    compare.add_argument("-v", "--verbose", action="store_true")
    record = verbs.add_parser("record")
    record.add_argument("results", type=Path)
    record.add_argument("output", type=Path)
    record.add_argument("--device", required=True)
    for verb in (prepare, compare):
        verb.add_argument("--only", default="", help="launches whose name holds this")
    options = parser.parse_args()
    if options.verb == "prepare":
        from benchmarks.hardware.prepare import prepare as prepare_all

        return prepare_all(options.folder, options.arch, options.only)
    if options.verb == "record":
        from benchmarks.hardware.record import record as record_all

        return record_all(options.results, options.device, options.output)
    from benchmarks.hardware.compare import compare as compare_all

    return compare_all(options.results, options.only, options.verbose)


if __name__ == "__main__":
    sys.exit(main())
