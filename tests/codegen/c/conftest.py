"""Targets in turn, for the tests of this folder."""

from runnable_targets import native_target, native_vector_target, target, vector_target

__all__ = ["native_target", "native_vector_target", "target", "vector_target"]
