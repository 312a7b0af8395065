"""Whose fault a difference is: a ladder of steps, each with its evidence, and the cause that follows."""
