"""What a failure on the GPU means: a mistake of the compiler, or a machine that cannot do it."""

from __future__ import annotations

import re

from hbc.ir.ground.diag import Diagnostic, InternalError, ToolError

# What only code that does something wrong can cause.
_WRONG_CODE = re.compile(
    r"cudaError(IllegalAddress|MisalignedAddress|IllegalInstruction|InvalidPc|InvalidAddressSpace"
    r"|HardwareStackError|LaunchFailure|Assert)\b|something was written"
)
_SEVERAL = "one of "


def gpu_failure(function: str, said: str) -> InternalError | ToolError:
    """`said`: CUDA's words, with the kernel and its launch where one ran."""
    message = f"`{function}` failed on the GPU: {said}"
    hint = None
    if said.startswith(_SEVERAL):
        hint = "CUDA_LAUNCH_BLOCKING=1 in the environment tells which"
    elif "no room for" in said or "out of memory" in said:
        hint = "try smaller sizes"
    if _WRONG_CODE.search(said):
        return InternalError(message if hint is None else f"{message} ({hint})")
    return ToolError(Diagnostic(message, hint=hint))
