"""IR to IR for GPUs: shared memory, copies that run ahead, fragments, swizzles, a thread's own view."""
