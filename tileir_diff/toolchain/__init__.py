"""The external programs: where they are, and how they are run."""

from tileir_diff.toolchain.find import Toolchain, find_tool, find_toolchain
from tileir_diff.toolchain.run import disassemble, tool_version

__all__ = ["Toolchain", "disassemble", "find_tool", "find_toolchain", "tool_version"]
