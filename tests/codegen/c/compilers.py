"""The C compilers that tests ask for by name."""

from __future__ import annotations

import shutil

import pytest

from hbc.codegen.build.toolchain import Compiler, all_compilers


def compiler_named(command: str) -> Compiler:
    """gcc or clang; skips the test when this machine has none."""
    if not shutil.which(command):
        pytest.skip(f"{command} is not installed")
    return next(c for c in all_compilers() if c.command == (command,))
