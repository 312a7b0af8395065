"""Reads dumps: files or standard input, text or bytecode."""

from tileir_diff.ingest.source import SourceFile, read_source

__all__ = ["SourceFile", "read_source"]
