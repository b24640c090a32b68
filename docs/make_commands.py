"""Writes docs/commands.md and the manual pages docs/man/*.1 from what `--help` says:

    python docs/make_commands.py

tests/docs/test_commands.py compares them with what this writes.
"""

from __future__ import annotations

from pathlib import Path

import click
from make_man import manual

from hbc.cli.main import COMMANDS, commands

PAGE = Path(__file__).parent / "commands.md"
MANUALS = Path(__file__).parent / "man"
WIDTH = 110
HEAD = """# Commands

What `hbc COMMAND --help` says. Exit codes and targets are in the README; keys of `--json` are in
[json.md](json.md), and stay as they are.
"""


def context_of(name: str) -> click.Context:
    """That of a command, or of `hbc` for an empty name."""
    root = click.Context(
        commands, info_name="hbc", terminal_width=WIDTH, max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )  # fmt: skip
    if not name:
        return root
    command = commands.get_command(root, name)
    assert command is not None
    return click.Context(
        command, info_name=name, parent=root, terminal_width=WIDTH, max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )  # fmt: skip


def page() -> str:
    parts = [HEAD]
    for name in ("", *COMMANDS):
        lines = [line.rstrip() for line in context_of(name).get_help().splitlines()]
        parts.append(f"## {f'hbc {name}'.strip()}\n\n```\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


def manuals() -> dict[str, str]:
    """The text of each manual page, by the name of its file."""
    return {
        f"hbc-{name}.1" if name else "hbc.1": manual(name, context_of(name))
        for name in ("", *COMMANDS)
    }


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    for old in MANUALS.glob("*.1"):
        old.unlink()
    for file, text in manuals().items():
        (MANUALS / file).write_text(text, encoding="utf-8")
