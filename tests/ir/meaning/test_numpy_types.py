"""Pins that bf16 alone loads the library that has it, and how its arrays are told from others."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np

from hbc.ir.meaning.numpy_types import is_bf16

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


def test_arrays_of_bf16_are_known() -> None:
    assert is_bf16(np.dtype(ml_dtypes.bfloat16))
    assert not any(map(is_bf16, map(np.dtype, ("f2", "f4", "u2", "V2"))))
