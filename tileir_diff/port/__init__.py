"""Ports checked from their sources: both front ends dump a kernel for the same arguments, to be compared."""
