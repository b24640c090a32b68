"""Vectors as NEON intrinsics; files have the names of those of `x86`."""
