"""The instructions that the C compiler makes of the C, each with the line that it comes from."""

from __future__ import annotations

import re

from hbc.codegen.build.toolchain import assembly_of
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import Target

LOCATION = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
FILE = re.compile(r'\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"')
DIRECTIVE = re.compile(r"\s*\.\w+(\s|$)")
LABEL = re.compile(r"([.\w$]+):")


def listing(source: CSource, target: Target, computing: range) -> list[tuple[str, int | None]]:
    """Instructions, each with its line of the C, and the labels that they name; of the functions that have
    any of the lines `computing`. ToolError where there is no compiler for the target."""
    functions: list[list[tuple[str, int | None]]] = []
    for line, at in read_listing(assembly_of(source, target), f"{source.name}.c"):
        if not functions or not line.startswith((" ", ".")):
            functions.append([])
        functions[-1].append((line, at))
    return [x for f in functions if any(at in computing for _, at in f) for x in f]


def read_listing(text: str, file: str) -> list[tuple[str, int | None]]:
    """All of what `cc -S -g1` prints: `file` is the one whose lines count."""
    kept: list[tuple[str, int | None]] = []
    numbers: set[str] = set()
    at: int | None = None
    in_code = False
    for line in text.splitlines():
        if named := FILE.match(line):
            if named[2].endswith(file):
                numbers.add(named[1])
        elif place := LOCATION.match(line):
            at = int(place[2]) if place[1] in numbers and int(place[2]) else None
        elif re.match(r"\s*\.(text|section)\b", line):
            in_code = ".text" in line
        elif (
            in_code and not DIRECTIVE.match(line) and line.strip() and line.strip()[0] not in "#/@;"
        ):
            kept.append((line.rstrip().expandtabs(8), at))
    used = {word for line, _ in kept if line[0] == " " for word in re.findall(r"[.\w$]+", line)}
    return [
        (line, at if line[0] == " " else None)
        for line, at in kept
        if line[0] == " " or not line.startswith(".") or _name(line) in used
    ]


def _name(line: str) -> str:
    label = LABEL.match(line)
    return "" if label is None else label[1]
