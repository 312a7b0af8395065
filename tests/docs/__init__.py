"""The documentation, checked: every command shown in it is run, every link followed."""
