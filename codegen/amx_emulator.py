"""Building the AMX emulator and loading it into this process. See docs/amx.md.

`templates/amx_emulator.c` traps real AMX instructions; `templates/amx_soft.h` replaces the intrinsics.
"""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

from hbc.codegen.amx_library import Emulator, open_emulator
from hbc.codegen.c import CSource
from hbc.codegen.toolchain import Compiler, build_cached
from hbc.ir.diag import Diagnostic, ToolError
from hbc.ir.target import TARGETS

TEMPLATES = Path(__file__).with_name("templates")

# For C that uses the `_tile_*` intrinsics: without AMX instructions, and with them.
SOFT_FLAGS = ("-include", str(TEMPLATES / "amx_soft.h"))
NATIVE_FLAGS = (
    "-mamx-tile", "-mamx-int8", "-mamx-bf16", "-include", str(TEMPLATES / "amx_intrinsics.h"),
)  # fmt: skip

# The features that the emulator stands for, as /proc/cpuinfo spells them.
EMULATED = frozenset({"amx_tile", "amx_int8", "amx_bf16", "amx_fp16"})

_INCLUDE = re.compile(r'^#include "(.*)"\n', re.MULTILINE)


def is_possible() -> bool:
    """Whether the emulator knows this machine's signals and instructions."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def build_emulator(compiler: Compiler | None = None) -> Path:
    """The emulator's shared library, for loading or LD_PRELOAD; built once and kept in the cache.
    ToolError: no C compiler, or not x86-64 Linux."""
    if not is_possible():
        message = (
            f"the AMX emulator needs x86-64 Linux, this is {platform.machine()} {sys.platform}"
        )
        raise ToolError(Diagnostic(message))
    source = CSource("amx_emulator", with_includes("amx_emulator.c"), "")
    return build_cached(source, TARGETS["c"], compiler=compiler)


def load_emulator(compiler: Compiler | None = None) -> Emulator:
    """Loads the emulator, so that libraries loaded later find it; `install` makes it act.
    ToolError as `build_emulator`, or when it cannot be loaded."""
    return open_emulator(build_emulator(compiler))


def with_includes(name: str) -> str:
    """The text of a template with its own headers in place of their includes."""
    text = (TEMPLATES / name).read_text(encoding="ascii")
    return _INCLUDE.sub(lambda include: with_includes(include[1]), text)
