"""Runs kernels on a few blocks, to tell mutants that mean something from those that do not.

It is no reference interpreter: floats are doubles that are rounded at conversions only, modes shift results
by a visible amount,
memory is a function of the address. Two kernels that differ in what they store, or in which memory they
touch, differ for sure;
two that agree on all runs may still differ. It shares no code with the comparison under test. Needs numpy.
"""
