"""Reads source files: UTF-8 text, of a size that somebody can have written."""

from __future__ import annotations

import sys
from pathlib import Path

from hbc.ir.ground.diag import error
from hbc.ir.host.file_bytes import file_bytes
from hbc.ir.host.trace import trace

STDIN = "-"
MOST_BYTES = 1 << 26  # of what is read at all; the parser says which length it takes


def read_source(path: Path) -> str:
    """The text, lines ending in `\\n`, without a byte order mark. HbcError when there is none."""
    trace(f"reading {source_name(path)}")
    try:
        if str(path) == STDIN:
            raw = sys.stdin.buffer.read(MOST_BYTES)
        else:
            raw = file_bytes(path, MOST_BYTES)
    except OSError as failure:
        raise error(f"cannot read `{path}`: {failure.strerror or failure}") from failure
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise error(f"`{source_name(path)}` is not UTF-8 text (byte {failure.start})") from failure
    return text.replace("\r\n", "\n").replace("\r", "\n")


def source_name(path: Path) -> str:
    """What diagnostics call the file."""
    return "<stdin>" if str(path) == STDIN else str(path)


def is_sketch(file: Path) -> bool:
    """Whether its name says that a file is a sketch; others are kernels."""
    return file.suffix.lower() == ".sf"
