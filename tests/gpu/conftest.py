"""Lets the tests import their kernels here and the checks of the fuzzer next door."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fuzz")]
