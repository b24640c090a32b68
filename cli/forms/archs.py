"""Whether code suits the GPU architectures that `--arch` lists."""

from __future__ import annotations

from hbc.cli.compiled import Compiled
from hbc.codegen.build.gpu import gpu_archs
from hbc.ir.ground.diag import Diagnostic, UsageError


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
