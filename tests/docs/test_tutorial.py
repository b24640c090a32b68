"""Pins that docs/tutorial.md is made of the files of samples/tutorial, and of all of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
AGAIN = "write it anew: python docs/make_tutorial.py"


def test_the_page_is_what_the_files_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    m = import_module("make_tutorial")
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert page == m.page(), AGAIN
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    numbers = [int(title.removeprefix("## ").split(".")[0]) for title in titles]
    assert numbers == list(range(1, len(m.steps()) + 1))
    for path in m.steps():
        _, said, program = m.parts(path.read_text(encoding="utf-8"))
        assert said in page
        assert program in page
        assert not program.startswith("#")  # of what the step says, nothing is left out
