"""Vectors as NEON intrinsics: tables for `vector`."""
