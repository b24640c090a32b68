"""A file for each command, found by its name."""
