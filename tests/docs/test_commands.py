"""Pins that docs/commands.md is what `--help` says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
# In a process of its own: click keeps the names of --help that a command was first called with.
PROGRAM = f"import sys; sys.path.insert(0, {str(DOCS)!r}); import make_commands as m; print(m.page(), end='')"


def test_the_page_is_what_help_says() -> None:
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    again = "write it anew: python docs/make_commands.py"
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == made, again
