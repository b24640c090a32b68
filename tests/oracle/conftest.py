"""Lets these tests import `naive`, which importlib mode leaves off the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
