"""Writes docs/commands.md from what `--help` says:

    python docs/make_commands.py

tests/docs/test_commands.py compares the page with what this writes.
"""

from __future__ import annotations

from pathlib import Path

import click

from hbc.cli.main import COMMANDS, commands

PAGE = Path(__file__).parent / "commands.md"
WIDTH = 110
HEAD = """# Commands

What `hbc COMMAND --help` says. Exit codes and targets are in the README; keys of `--json` stay as they are.
"""


def help_of(name: str) -> str:
    """The help of a command, or of `hbc` for an empty name."""
    root = click.Context(
        commands, info_name="hbc", terminal_width=WIDTH, max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )  # fmt: skip
    if not name:
        return commands.get_help(root)
    command = commands.get_command(root, name)
    assert command is not None
    context = click.Context(
        command, info_name=name, parent=root, terminal_width=WIDTH, max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )  # fmt: skip
    return command.get_help(context)


def page() -> str:
    parts = [HEAD]
    for name in ("", *COMMANDS):
        lines = [line.rstrip() for line in help_of(name).splitlines()]
        parts.append(f"## {f'hbc {name}'.strip()}\n\n```\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
