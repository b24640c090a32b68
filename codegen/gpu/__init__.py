"""IR to IR for GPUs: shared memory, copies that run ahead, swizzles, launches."""
