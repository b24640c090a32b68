"""A precompiled <immintrin.h> for the C that is fuzzed: reading it is most of a compilation."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

from hbc.codegen.build.toolchain import Compiler, find_compiler, flags
from hbc.codegen.c.source import CSource
from hbc.ir.lang.target import Target

HEADER = "immintrin.h"


def precompiled(source: CSource, target: Target, extra: tuple[str, ...]) -> tuple[str, ...]:
    """Options that make `source` begin with the precompiled header, if it includes it at all."""
    compiler = find_compiler()
    if f"#include <{HEADER}>" not in source.text or compiler.kind != "gcc":
        return ()
    options = (*flags(source, target, compiler), *extra, "-fPIC")
    return ("-include", str(_header(compiler, options)))


@functools.cache
def _header(compiler: Compiler, options: tuple[str, ...]) -> Path:
    """A header with its compiled form beside it, made for exactly these options."""
    folder = Path(tempfile.mkdtemp(prefix="hbc-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    header = folder / "first.h"
    header.write_text(f"#include <{HEADER}>\n", encoding="ascii")
    compiled = [*compiler.command, *options, "-x", "c-header", str(header), "-o", f"{header}.gch"]
    subprocess.run(compiled, check=True, capture_output=True)
    return header
