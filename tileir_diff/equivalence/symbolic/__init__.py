"""Proofs: whether two kernels can differ in addresses, masks, trip counts and other integers, by z3.

`prove.prove` asks about each pair of effects that the comparison does not show to be equal; docs/proofs.md
says how.
Needs z3: `pip install 'tileir-diff[prove]'`.
"""
