"""The AMX emulator: building it, loading it into this process, its counts. See docs/amx.md.

`templates/amx_emulator.c` traps real AMX instructions; `templates/amx_soft.h` replaces the intrinsics.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import sys
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path

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

_INCLUDE = re.compile(r'^#include "(.*)"\n', re.MULTILINE)


class AmxFeature(IntFlag):
    """The bits of `amx_features()` and `hbc_amx_emulated()` in templates/amx_probe.h."""

    TILE = 1
    INT8 = 2
    BF16 = 4
    FP16 = 8


@dataclass(frozen=True, slots=True)
class Emulator:
    """The emulator in this process. Code that asks for AMX must be loaded after it."""

    path: Path
    library: ctypes.CDLL

    def install(self) -> bool:
        """Begins to emulate, in all threads; again, when another SIGILL handler was installed since
        (Python's faulthandler). False when the processor has AMX itself: then nothing is emulated
        or counted. ToolError when the system refuses."""
        error: int = self.library.amx_emulator_install()
        if error not in (0, errno.EEXIST):
            raise ToolError(Diagnostic(f"cannot install the AMX emulator: {os.strerror(error)}"))
        return error == 0

    def counts(self) -> dict[str, int]:
        """How often each instruction was executed, by its name in lower case, zeros included."""
        kinds = self.library.amx_emulator_counts(None, 0)
        values = (ctypes.c_uint64 * kinds)()
        self.library.amx_emulator_counts(values, kinds)
        return {self.library.amx_emulator_name(i).decode(): n for i, n in enumerate(values)}

    def reset_counts(self) -> None:
        self.library.amx_emulator_reset_counts()

    def set_features(self, features: AmxFeature) -> None:
        """What the emulated processor has, at first everything. No feature is one without AMX."""
        self.library.amx_emulator_set_features(features.value)


def build_emulator(compiler: Compiler | None = None) -> Path:
    """The emulator's shared library, for loading or LD_PRELOAD; built once and kept in the cache.
    ToolError: no C compiler, or not x86-64 Linux."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        message = (
            f"the AMX emulator needs x86-64 Linux, this is {platform.machine()} {sys.platform}"
        )
        raise ToolError(Diagnostic(message))
    source = CSource("amx_emulator", with_includes("amx_emulator.c"), "")
    return build_cached(source, TARGETS["c"], compiler=compiler)


def load_emulator(compiler: Compiler | None = None) -> Emulator:
    """Loads the emulator, so that libraries loaded later find it; `install` makes it act.
    ToolError as `build_emulator`, or when it cannot be loaded."""
    path = build_emulator(compiler)
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as e:
        raise ToolError(Diagnostic(f"cannot load the AMX emulator `{path}`: {e}")) from e
    library.amx_emulator_counts.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    library.amx_emulator_counts.restype = ctypes.c_size_t
    library.amx_emulator_name.argtypes = (ctypes.c_size_t,)
    library.amx_emulator_name.restype = ctypes.c_char_p
    return Emulator(path, library)


def with_includes(name: str) -> str:
    """The text of a template with its own headers in place of their includes."""
    text = (TEMPLATES / name).read_text(encoding="ascii")
    return _INCLUDE.sub(lambda include: with_includes(include[1]), text)
