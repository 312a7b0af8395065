"""What of the compilers, libraries and drivers is there, and what fits together."""
