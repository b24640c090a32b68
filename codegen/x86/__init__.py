"""Vectors as x86 intrinsics; files have the names of those of `neon`."""
