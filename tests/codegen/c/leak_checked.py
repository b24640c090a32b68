"""Programs of C files, built and run under the sanitizers, those of leaks among them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from hbc.codegen.build.toolchain import Compiler


def run_checked(
    compiler: Compiler, options: Sequence[str], parts: Sequence[Path], threads: int
) -> subprocess.CompletedProcess[str]:
    """What the program of `parts` answers with so many threads. Skips where there is no libasan."""
    program = parts[0].with_name("main")
    linked = subprocess.run(
        [*compiler.command, *options, *map(str, parts), "-lm", "-o", str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "cannot find -lasan" in linked.stderr:
        pytest.skip("the C compiler has no libasan")
    assert linked.returncode == 0, linked.stderr
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "ASAN_OPTIONS": "detect_leaks=1"}
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
