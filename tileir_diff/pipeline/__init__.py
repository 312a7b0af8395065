"""The port pipeline: workers propose, gates decide; imported only by `port`, `gate` and `mcp`."""
