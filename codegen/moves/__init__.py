"""Movements that `hbc synth` finds, as code for each machine."""
