"""Shared fixtures."""

from tests.pipeline.real import cargo

__all__ = ["cargo"]
