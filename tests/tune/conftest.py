"""Lets the tests import `tuning_fakes`, which importlib mode leaves off the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
