"""The MCP server: the tools of `tileir_diff.pipeline.tools`, over standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tileir_diff import __version__
from tileir_diff.errors import InputError
from tileir_diff.pipeline.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES: Final = ("diff", "check", "show", "explain", "run", "classify", "gate")
INSTRUCTIONS: Final = (
    "Compares CUDA Tile IR kernels. `diff` first; `classify` says whose fault a difference is; `explain` "
    "takes a rule from a finding; `gate` decides whether a port may be tested. Verdicts are computed."
)


def server(root: Path) -> Any:
    """The server for one folder. Raises InputError for no folder, and where the SDK is not installed."""
    if not root.is_dir():
        raise InputError("no such folder", str(root))
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise InputError("the MCP SDK is not installed: pip install 'tileir-diff[mcp]'", "mcp") from None
    made: Any = MCPServer("tileir-diff", version=__version__, instructions=INSTRUCTIONS)
    tools = Tools(root)
    for name in NAMES:
        made.add_tool(
            _told(getattr(tools, name), ToolError), name=name, description=getattr(tools, name).__doc__
        )
    return made


def _told(tool: Callable[..., str], error_class: type[Exception]) -> Callable[..., str]:
    """The same, with bad input as an error of the protocol."""
    from functools import wraps

    @wraps(tool)
    def ask(*args: Any, **kwargs: Any) -> str:
        try:
            return tool(*args, **kwargs)
        except InputError as error:
            raise error_class(str(error)) from None

    return ask
