"""Candidates measured on other machines: the workers of a Dask scheduler, one task on each at a time."""
