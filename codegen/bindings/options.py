"""The options that a build system passes for emitted C; the language standard is a property of its own."""

from __future__ import annotations

from hbc.codegen.c.build_text import OPTIONS
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import Target

STANDARD = "-std=c11"


def compile_options(source: CSource, target: Target) -> list[str]:
    """Those of the command in the file's first comment, without the standard and OpenMP."""
    every = (*OPTIONS, *target.flags, *source.flags)
    return [o for o in dict.fromkeys(every) if o != STANDARD]
