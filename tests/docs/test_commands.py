"""Pins that docs/commands.md and the manual pages are what `--help` says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# In a process of its own: click keeps the names of --help that a command was first called with.
PROGRAM = f"import json, sys; sys.path.insert(0, {str(DOCS)!r}); import make_commands as m; "
PROGRAM += "print(json.dumps([m.page(), m.manuals()]))"
AGAIN = "write it anew: python docs/make_commands.py"


@pytest.fixture(scope="module")
def made() -> tuple[str, dict[str, str]]:
    """The page, and the manual pages by their files."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    page, manuals = json.loads(done.stdout)
    return page, manuals


def test_the_page_is_what_help_says(made: tuple[str, dict[str, str]]) -> None:
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == made[0], AGAIN


def test_the_manual_is_what_help_says(made: tuple[str, dict[str, str]]) -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "man").iterdir()}
    assert kept == made[1], AGAIN


def test_the_manual_is_well_formed() -> None:
    """No request that roff does not know, and every option in the printed page."""
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("there is no groff")
    for path in sorted((DOCS / "man").iterdir()):
        done = subprocess.run(
            [groff, "-man", "-ww", "-Tascii", "-P-cbou", path],
            capture_output=True,
            text=True,
            check=True,
        )
        assert not done.stderr, path
        options = re.findall(r"^\\fB((?:\\-|\w)+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert all(option.replace("\\", "") in done.stdout for option in options), path
