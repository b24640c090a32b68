"""The manual pages hbc.1 and hbc-COMMAND.1 from what `--help` says; make_commands.py writes them.

A wheel installs them below share/man."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from hbc.cli.main import COMMANDS

HOME = (
    "The README and the folder docs/ of the repository; each command explains itself with --help."
)


def manual(command: str, context: click.Context) -> str:
    """The page of a command, or of `hbc` for an empty name."""
    return "\n".join(_lines(command, context)) + "\n"


def _lines(command: str, context: click.Context) -> Iterator[str]:
    name = f"hbc-{command}" if command else "hbc"
    about = context.command
    text = (about.help or "").split("\f")[0].strip()
    first = COMMANDS.get(command) or text.split("\n\n")[0].split(". ")[0]
    first = first[:1].lower() + first[1:].rstrip(".")
    yield f'.TH {name.upper()} 1 "" "hbc" "hbc"'
    yield from (".SH NAME", f"{name} \\- {escaped(first)}", ".SH SYNOPSIS")
    yield f".B {context.command_path}"
    yield escaped(" ".join(about.collect_usage_pieces(context)))
    yield ".SH DESCRIPTION"
    for n, paragraph in enumerate(text.split("\n\n")):
        yield from [".PP"] if n else []
        yield from _block(paragraph)
    if not command:
        yield ".SH COMMANDS"
        for each, says in COMMANDS.items():
            yield from (".TP", f"\\fBhbc\\-{escaped(each)}\\fR(1)", escaped(says))
    yield ".SH OPTIONS"
    for parameter in about.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            yield from (".TP", f"\\fB{escaped(record[0])}\\fR", escaped(record[1]))
    if about.epilog:
        yield from (".SH EXIT STATUS", escaped(about.epilog))
    yield from (".SH SEE ALSO", f"\\fBhbc\\fR(1). {HOME}" if command else HOME)


def _block(paragraph: str) -> Iterator[str]:
    """A paragraph of a docstring; after `\\b` its lines stay as they are."""
    if paragraph.startswith("\b"):
        yield from (".nf", *map(escaped, paragraph.lstrip("\b\n").splitlines()), ".fi")
    else:
        yield escaped(re.sub(r"\s+", " ", paragraph.strip()))


def escaped(text: str) -> str:
    """As roff prints it: backslashes, dashes that are typed, and no request at the start of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{text}" if text.startswith((".", "'")) else text
