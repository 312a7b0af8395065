"""Dumps straight from a front end: what its compiler makes of a kernel for given arguments."""
