"""Kernels called from Python: arrays of any library in, compiled code run in this process."""
