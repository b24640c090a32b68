"""Which GPU architectures `--arch` means, and whether the code suits them."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.cli.compiled import Compiled
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.lang.instruction import Instruction


def gpu_archs(listed: str | None, instructions: Sequence[Instruction] = ()) -> tuple[str, ...]:
    """Those of --arch, else that of the GPU here, else the usual ones that have the instructions."""
    from hbc.codegen.build.gpu import gpu_arch, gpu_count
    from hbc.codegen.build.nvcc import DEFAULT_ARCHS, checked_archs

    if listed is not None:
        return checked_archs([a.strip() for a in listed.split(",")])
    if gpu_count():
        return (gpu_arch(),)
    from hbc.codegen.cuda.limits import able_archs

    return able_archs(instructions, DEFAULT_ARCHS)


def check_archs(compiled: Compiled, listed: str) -> None:
    """Whether the code suits those of --arch, which matters for a `.cu` too: somebody compiles it."""
    from hbc.codegen.cuda.limits import check_instructions, check_shared
    from hbc.codegen.cuda.source import CudaSource

    source = compiled.source
    if not isinstance(source, CudaSource):
        name = compiled.chosen.target.name
        raise UsageError(Diagnostic(f"`--arch` is for GPUs, and the target is `{name}`"))
    archs = gpu_archs(listed)
    check_shared(source.shared, archs)
    check_instructions(source.instructions, archs, source.fragments)
