"""`python -m tileir_diff.cli`."""

from tileir_diff.cli import main

main()
