"""Runs both kernels on the same inputs, and compares what they store and what goes wrong.

`pairs` is the whole of it: for each pair of entries inputs are made (`launches`, `values`), both sides run
(`sides`), their results are compared within what rounding leaves open (`compare`), a difference is made
small (`shrink`), and what came out changes the findings (`effects`).
"""
