"""Targets in turn, for the tests of this folder."""

from runnable_targets import native_target

__all__ = ["native_target"]
