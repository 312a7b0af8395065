"""Says whether two CUDA Tile IR kernels compute the same, and which line is wrong where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tileir_diff.api import diff, op_graph
    from tileir_diff.bytecode import assemble
    from tileir_diff.equivalence.interpret import interpret
    from tileir_diff.errors import InputError
    from tileir_diff.match.model import Execution
    from tileir_diff.report.model import Report
    from tileir_diff.verdict.config import Waiver

__version__ = "0.1.0"

__all__ = [
    "Execution",
    "InputError",
    "Report",
    "Waiver",
    "__version__",
    "assemble",
    "diff",
    "interpret",
    "op_graph",
]


def __getattr__(name: str) -> object:
    # Loaded on first use: the command must not pay for the pydantic models that only the Python API needs.
    if name in ("diff", "op_graph"):
        from tileir_diff import api

        return getattr(api, name)
    if name == "assemble":
        from tileir_diff.bytecode import assemble

        return assemble
    if name == "interpret":
        from tileir_diff.equivalence.interpret import interpret

        return interpret
    if name == "Execution":
        from tileir_diff.match.model import Execution

        return Execution
    if name == "Report":
        from tileir_diff.report.model import Report

        return Report
    if name == "Waiver":
        from tileir_diff.verdict.config import Waiver

        return Waiver
    if name == "InputError":
        from tileir_diff.errors import InputError

        return InputError
    raise AttributeError(f"module 'tileir_diff' has no attribute {name!r}")
