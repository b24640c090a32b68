"""The AMX emulator's shared library in this process. Imports nothing of hbc that takes time."""

from __future__ import annotations

import ctypes
import os
from enum import IntFlag
from pathlib import Path

from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.ground.record import record


class AmxFeature(IntFlag):
    """The bits of `amx_features()` and `hbc_amx_emulated()` in templates/amx_probe.h."""

    TILE = 1
    INT8 = 2
    BF16 = 4
    FP16 = 8


@record
class Emulator:
    """The emulator in this process. Code that asks for AMX must be loaded after it."""

    path: Path
    library: ctypes.CDLL

    def install(self) -> None:
        """Begins to emulate, in all threads; again, when another SIGILL handler was installed since
        (Python's faulthandler). A processor that has AMX goes on to execute what is not made to trap.
        ToolError when the system refuses."""
        error: int = self.library.amx_emulator_install()
        if error:
            raise ToolError(Diagnostic(f"cannot install the AMX emulator: {os.strerror(error)}"))

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


def open_emulator(path: Path) -> Emulator:
    """Loads the library, so that libraries loaded later find it; `install` makes it act. ToolError
    when it cannot be loaded."""
    try:
        library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as e:
        raise ToolError(Diagnostic(f"cannot load the AMX emulator `{path}`: {e}")) from e
    library.amx_emulator_counts.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    library.amx_emulator_counts.restype = ctypes.c_size_t
    library.amx_emulator_name.argtypes = (ctypes.c_size_t,)
    library.amx_emulator_name.restype = ctypes.c_char_p
    return Emulator(path, library)
