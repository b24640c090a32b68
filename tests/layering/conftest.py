"""Lets the test import `room_map`, which importlib mode leaves off the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
