"""Every path that the pages for contributors name is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"docs/architecture.md": ("",), "CONTRIBUTING.md": ("",), "tests/README.md": ("", "tests")}
"""The folders from which the paths of each page start."""

SUFFIXES = "c egg h hb lark md py sf sh stderr toml tsv txt"
PATH = re.compile(rf"`((?:[\w.*-]*/)+[\w.*-]*|[\w.*-]+\.(?:{SUFFIXES.replace(' ', '|')}))`")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])[A-Z]{2,}(?![A-Za-z])")
"""`TARGET` in `codegen/isa/TARGET.hb`: any name. (`README` is the name of a file, which matches too.)"""


def unknown(text: str, starts: tuple[str, ...]) -> Iterator[str]:
    """The paths that lead nowhere. In a row or paragraph a path may go on from the one named before it:
    `conflicts.py`, or `text/names.py`, after `codegen/threads/elements.py`."""
    for part in re.split(r"\n\n|\n(?=\||\d+\. |\* )", text):
        before = ROOT
        for path in PATH.findall(part):
            if path.startswith("build/"):  # what make and the tests write
                continue
            folders = [ROOT / start for start in starts]
            folders += [
                f for f in (before, *before.parents) if f.is_relative_to(ROOT) and f != ROOT
            ]
            found = next(filter(None, (_first(f, path) for f in folders)), None)
            if found is None:
                yield path
            else:
                before = found


def _first(folder: Path, path: str) -> Path | None:
    pattern = PLACEHOLDER.sub("*", path).rstrip("/")
    return next(folder.glob(pattern), None) if folder.is_dir() else None


@pytest.mark.parametrize("page", PAGES)
def test_paths_of_contributors_pages_exist(page: str) -> None:
    missing = list(unknown((ROOT / page).read_text(encoding="utf-8"), PAGES[page]))
    assert not missing, f"{page} names what is not there: {', '.join(missing)}"


def test_a_path_that_is_not_there_is_found() -> None:
    """A path of its own, one that goes on from another, one after another row's, a pattern without a file."""
    text = (
        "`ir/lang/nodes.py`, `walk.py`, `nowhere.py`, `algebra/rules.py`, `algebra/nowhere.py`\n\n"
        "`walk.py` and `tests/synth/test_code_*.py`, `codegen/isa/TARGET.hb`, `build/demo/x.py`, `a / b`"
    )
    assert list(unknown(text, ("",))) == [
        "nowhere.py", "algebra/nowhere.py", "walk.py", "tests/synth/test_code_*.py",
    ]  # fmt: skip


def test_make_generated_runs_what_tests_ask_for() -> None:
    """Where a generated file is not what tables say, a test names the program that writes it."""
    texts = [f.read_text(encoding="utf-8") for f in (ROOT / "tests").rglob("test_*.py")]
    asked = {name for text in texts for name in re.findall(r'(?::|") ?python ([\w/]+\.py)"', text)}
    recipe = (
        (ROOT / "Makefile").read_text(encoding="utf-8").split("\ngenerated:")[1].split("\n\n")[0]
    )
    assert len(asked) > 3
    assert asked == set(re.findall(r"python ([\w/]+\.py)", recipe))
