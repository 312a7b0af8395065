"""`python -m tileir_diff`."""

from tileir_diff.cli import main

main()
