"""Building the AMX emulator and loading it into this process. See docs/amx.md.

`templates/amx_emulator.c` executes AMX instructions that trap: all where the processor has no AMX, and
anywhere those of code that is made to trap; `templates/amx_soft.h` replaces the intrinsics.
"""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import replace
from pathlib import Path

from hbc.codegen.build.amx_library import Emulator, open_emulator
from hbc.codegen.build.toolchain import Compiler, build_cached
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.lang.target import TARGETS

TEMPLATES = Path(__file__).parents[1] / "templates"

AMX_OPTIONS = ("-mamx-tile", "-mamx-int8", "-mamx-bf16")

# For C that uses the `_tile_*` intrinsics: without AMX instructions, and with them.
SOFT_FLAGS = ("-include", str(TEMPLATES / "amx_soft.h"))
NATIVE_FLAGS = (*AMX_OPTIONS, "-include", str(TEMPLATES / "amx_intrinsics.h"))

# AMX_TRAP of amx_emulator.c, as assembly.
TRAP = ".byte 0x0f, 0x0b, 0x41, 0x4d, 0x58"

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


def trapping_intrinsics() -> str:
    """C for the beginning of a file: its tile intrinsics are the real instructions, each one behind a
    trap. Like amx_soft.h it stands before definitions of the file itself, and says that AMX is there."""
    text = (TEMPLATES / "amx_intrinsics.h").read_text(encoding="ascii")
    trapping = text.replace("__asm__ volatile(", rf'__asm__ volatile("{TRAP}\n\t" ')
    told = "/* Whoever asks for AMX is told that it is there. */"
    return f"{trapping}{told}\n#ifndef AMX_SOFT\n#define AMX_SOFT 1\n#endif\n"


def trapped(source: CSource) -> CSource:
    """The same code for the emulator on any processor, also on one that has AMX. It must be loaded
    after the emulator."""
    return replace(source, text=trapping_intrinsics() + source.text)


def with_includes(name: str) -> str:
    """The text of a template with its own headers in place of their includes."""
    text = (TEMPLATES / name).read_text(encoding="ascii")
    return _INCLUDE.sub(lambda include: with_includes(include[1]), text)
