"""Vectors as x86 intrinsics: AVX2 and AVX-512 as tables for `vector`."""
