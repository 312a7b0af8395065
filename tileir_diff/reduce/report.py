"""The report of a failure for those who can mend it: versions, command, message, kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tileir_diff.reduce.search import Reduction

MESSAGE_LINES = 40


class Failure(NamedTuple):
    """What failed and how."""

    title: str
    command: str
    message: str
    versions: dict[str, str]


def render(reduction: Reduction, failure: Failure, source: str) -> str:
    """The report as Markdown. `source` names the kernel that it came from."""
    kernel = reduction.smallest
    lines = failure.message.splitlines()
    message = "\n".join(lines[:MESSAGE_LINES]) or "(no message)"
    state = "nothing more can be taken away" if reduction.finished else "stopped before it was done"
    versions = ", ".join(f"{name} {version}" for name, version in failure.versions.items())
    return "\n".join(
        [
            f"# {failure.title}",
            "",
            f"- versions: {versions}",
            f"- command: `{failure.command}`",
            f"- reduced from {source}: {reduction.before} ops to {kernel.size}; {state}",
            "- the kernel passes the verifier",
            "",
            "## Message",
            "",
            *_block("text", message),
            "",
            "## Kernel",
            "",
            *_block("mlir", kernel.text.rstrip("\n")),
            "",
            "As bytecode: `tileir-diff assemble k.mlir -o k.tilebc`.",
            "",
        ]
    )


def _block(language: str, text: str) -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text, fence]
