"""The verifier: every constraint of the dialect, judged on the typed IR.

`verify(module)` gives the broken constraints of a parsed module, in the order of its text; `RULES` says what
each rule demands. An op is blamed for the first constraint it breaks; ops are judged independently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tileir_diff.dialect.verifier.broken import CheckError
from tileir_diff.dialect.verifier.walk import RULES, Verifier

if TYPE_CHECKING:
    from xdsl.ir import Operation

__all__ = ["RULES", "CheckError", "verify"]


def verify(module: Operation) -> list[CheckError]:
    """The broken constraints of `module`, by line and column; an empty list if it is valid."""
    verifier = Verifier()
    verifier.run(module)
    return sorted(verifier.errors, key=lambda error: error.position)
