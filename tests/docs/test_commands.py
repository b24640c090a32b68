"""Pins that docs/commands.md is what `--help` says."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_what_help_says() -> None:
    made = runpy.run_path(str(DOCS / "make_commands.py"))["page"]()
    again = "write it anew: python docs/make_commands.py"
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == made, again
