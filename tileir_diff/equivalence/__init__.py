"""What kernels compute, found out by running them.

`interpret` runs one kernel on the CPU, all blocks of the grid at once; docs/interpreter.md says how.
Needs torch: `pip install 'tileir-diff[run]'`.
"""
