"""The system headers of generated C, compiled once for many kernels: reading `immintrin.h` takes most of
the time that a small kernel does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from hbc.codegen.build.run_tool import run_tool
from hbc.codegen.build.toolchain import Compiler
from hbc.ir.ground.diag import ToolError

_KNOWN = re.compile(
    r"^#include (<(?:std\w+|string|math|cpuid|immintrin|arm_neon)\.h>)$", re.MULTILINE
)
_SUFFIX = {"gcc": ".gch", "clang": ".pch"}


def precompiled(
    text: str, options: Sequence[str], compiler: Compiler, folder: Path
) -> tuple[str, ...]:  # fmt: skip
    """Options that give a compilation with these options the headers of a text, compiled in `folder` when
    they are first asked for. None where the compiler cannot, or says nothing of it."""
    suffix = _SUFFIX.get(compiler.kind)
    headers = list(dict.fromkeys(_KNOWN.findall(text)))
    if suffix is None or not headers:
        return ()
    key = sha256("\0".join([*headers, *options]).encode()).hexdigest()[:16]
    header = folder / f"headers-{key}.h"
    made = header.with_name(header.name + suffix)
    if not made.exists():
        lines = "".join(f"#include {name}\n" for name in headers)
        header.write_text(lines, encoding="ascii")
        beside = made.with_name(f"new-{made.name}")
        command = [
            *compiler.command,
            *options,
            "-fPIC",
            "-x",
            "c-header",
            str(header),
            "-o",
            str(beside),
        ]
        try:
            answer = run_tool(command, temporary=folder)
        except ToolError:
            return ()
        if answer.returncode != 0 or not beside.exists():
            return ()
        beside.replace(made)
    return ("-include", str(header))
