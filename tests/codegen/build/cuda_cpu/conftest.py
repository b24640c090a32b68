"""Skips the tests of this folder without a C++ compiler."""

import pytest

from hbc.codegen.build.cuda_cpu import find_cpp
from hbc.ir.ground.diag import ToolError


@pytest.fixture(scope="session", autouse=True)
def cpp() -> str:
    """The compiler that stands in for nvcc."""
    try:
        return find_cpp()
    except ToolError as e:
        pytest.skip(str(e))
