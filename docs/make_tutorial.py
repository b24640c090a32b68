"""Writes docs/tutorial.md from the files of samples/tutorial:

    python docs/make_tutorial.py

The comment that a file begins with becomes text, its first line a title, and the rest a program.
tests/docs/test_tutorial.py compares the page with what this writes.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
STEPS = ROOT / "samples" / "tutorial"
HEAD = """# Tutorial

Steps of some minutes each, from a copy to a GPU and to synthesis. Their files lie in `samples/tutorial`; the
commands are typed in that folder.
"""


def steps() -> list[Path]:
    """The files, in the order of their numbers."""
    return sorted(path for path in STEPS.iterdir() if path.suffix in (".hb", ".sf"))


def parts(text: str) -> tuple[str, str, str]:
    """The title of a step, what its first comment says, and the program."""
    comment, _, program = text.partition("\n\n")
    title, *said = [line.removeprefix("#").removeprefix(" ") for line in comment.splitlines()]
    return title.removesuffix("."), "\n".join(said).strip("\n"), program.strip("\n")


def page() -> str:
    written = [HEAD]
    for path in steps():
        title, said, program = parts(path.read_text(encoding="utf-8"))
        written.append(f"## {title}\n\n{said}\n\n`{path.name}`:\n\n```\n{program}\n```\n")
    return "\n".join(written)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
