"""Automatic schedules: a checked program in, candidates of a schedule out, as text of the language."""
