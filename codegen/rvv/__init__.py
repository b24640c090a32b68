"""RISC-V's vectors as RVV 1.0 intrinsics: tables for `vector`."""
