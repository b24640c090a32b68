"""Pins that bf16 and floats of 8 bits alone load the library that has them, and how their arrays are told
from others."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np

from hbc.ir.meaning.numpy_types import is_of_ml_dtypes

THEIRS = (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
ROUNDED = """
import sys
import numpy as np
from hbc.ir.lang.types import BF16, F32
from hbc.ir.meaning.arith_cast import round_to
assert round_to(np.array([1 / 3]), F32).dtype == np.float32
assert "ml_dtypes" not in sys.modules, "it takes as long as a tenth of a second start"
assert round_to(np.array([1 / 3], np.float32), BF16).view(np.uint16).tolist() == [0x3EAB]
"""


def test_floats_are_rounded_without_the_library_of_bf16() -> None:
    subprocess.run([sys.executable, "-c", ROUNDED], check=True, timeout=60)


def test_arrays_of_that_library_are_known() -> None:
    assert all(map(is_of_ml_dtypes, map(np.dtype, THEIRS)))
    assert not any(map(is_of_ml_dtypes, map(np.dtype, ("f2", "f4", "u1", "u2", "V1", "V2"))))
