"""Tile IR as cuTile Rust: a mechanical translation, op for op. Imported only by `transpile`."""

from tileir_diff.transpile.kernel import Transpiled, rust_name, transpile

__all__ = ["Transpiled", "rust_name", "transpile"]
