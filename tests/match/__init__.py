"""Tests of the comparison of two kernels."""
