"""The CUDA file: kernels, launches, fragments, copies."""
