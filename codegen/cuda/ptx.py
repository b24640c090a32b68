"""The functions around inline PTX that a CUDA file uses, out of `templates/cuda_ptx.h`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_TEMPLATE = Path(__file__).parents[1] / "templates" / "cuda_ptx.h"
_BEGIN, _END = "#ifndef CUDA_ON_CPU\n", "#endif\n"
_DEFINED = re.compile(
    r"\b(ptx_\w+)\((?=T |unsigned|const|void|float|\)|int|$)|#define (\w+)|^PTX_\w+\((\w+)", re.M
)
_WORD = re.compile(r"\w+")


def wrappers(text: str) -> str:
    """The definitions of the `ptx_` names in a text, for the compiler of a GPU alone; "" where it uses
    none. The twins on the CPU come with `cuda_on_cpu.h`."""
    used = set(_WORD.findall(text))
    wanted: list[str] = []
    for names, block in reversed(_blocks()):  # each uses only what stands before it
        if not used.isdisjoint(names):
            wanted.append(block)
            used |= set(_WORD.findall(block))
    if not wanted:
        return ""
    return f"{_BEGIN}{chr(10).join(reversed(wanted))}{_END}"


@cache
def _blocks() -> tuple[tuple[frozenset[str], str], ...]:
    """The paragraphs of the template, with the names that they define."""
    text = _TEMPLATE.read_text(encoding="ascii")
    body = text.partition(_BEGIN)[2].rpartition(_END)[0]
    blocks = []
    for block in body.strip("\n").split("\n\n"):
        names = {n for m in _DEFINED.finditer(_heads(block)) for n in m.groups() if n}
        blocks.append((frozenset(names), block + "\n"))
    return tuple(blocks)


def _heads(block: str) -> str:
    """The lines of a paragraph that begin a definition, which may go on for another line."""
    return "\n".join(
        line for line in block.splitlines() if not line.startswith(("    ", "//", "{", "}"))
    )
