"""Programs of registers, as C with intrinsics."""
