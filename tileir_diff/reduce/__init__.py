"""Shrinks a kernel while a failure stays: delta debugging on the typed IR, each step a valid module."""
