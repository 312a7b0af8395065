"""Measurements: how much the comparison finds, how often it cries wolf, how long it takes, what breaks it."""
