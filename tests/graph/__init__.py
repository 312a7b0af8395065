"""Tests of the value graph: integer terms, floating-point normal form, evaluation of ops."""
