"""A schedule as a plan of loops and places for each stage, and whether it is legal."""
