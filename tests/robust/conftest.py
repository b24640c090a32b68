"""Lets the tests import the generator from here, and the checks of selection next door."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "select")]
