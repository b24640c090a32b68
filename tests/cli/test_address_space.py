"""Pins what is said where `ulimit -v` leaves little memory: one line and a hint, and none of OpenBLAS's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hbc.cli.address_space import LEAST

pytest.importorskip("resource", reason="this system has no limits of that kind")
HBC = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from hbc.cli.main import main
main()
"""


@pytest.mark.parametrize("megabytes", [90, 120, 150, 180, 220, 255])
def test_little_memory(megabytes: int, gemm: Path) -> None:
    words = [
        sys.executable,
        "-c",
        HBC,
        str(megabytes * 1_000_000),
        "run",
        str(gemm),
        "--target",
        "c",
        "--schedule",
        "none",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is not enough memory")
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["error", "hint"]


def test_as_much_as_is_asked_for(gemm: Path) -> None:
    """And commands without NumPy ask for less."""
    words = [sys.executable, "-c", HBC, str(LEAST), "check", str(gemm)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "OpenBLAS" in done.stderr) == (0, False)
