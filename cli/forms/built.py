"""The forms that a compiler makes: libraries, objects, and what nvcc gives."""

from __future__ import annotations

import time
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.compiled import Compiled
from hbc.cli.files.replace_file import replace_file
from hbc.codegen.build.gpu import gpu_archs
from hbc.ir.ground.record import mutable

if TYPE_CHECKING:
    from hbc.codegen.build.nvcc import Resources
    from hbc.codegen.build.toolchain import Output
    from hbc.codegen.build.triple import Triple

LIBRARIES: dict[str, tuple[str, Output]] = {
    "so": ("{}.so", "so"), "a": ("{}.a", "a"), "obj": ("{}.o", "obj"), "pkgconfig": ("lib{}.a", "a"),
}  # fmt: skip
"""By form: the file's name, and what the C compiler makes."""


@mutable
class Made:
    """The files written, what GPUs need for the functions in them, and seconds by step."""

    files: list[Path] = field(default_factory=list)
    resources: list[Resources] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)


def build_c(
    form: str, compiled: Compiled, folder: Path, made: Made, triple: Triple | None = None
) -> None:
    """By the C compiler: this machine's, or one for the machine that `triple` names."""
    from hbc.cli.prepare import build_library
    from hbc.codegen.build.triple import compiler_for, file_name

    pattern, output = LIBRARIES[form]
    compiler = None if triple is None else compiler_for(triple)
    path = folder / file_name(pattern, compiled.source.name, output, triple)
    with replace_file(path) as beside:
        made.timings[f"C compiler ({output})"] = build_library(
            compiled, beside, output, compiler, path.name
        )
    made.files.append(path)


def build_gpu(form: str, compiled: Compiled, folder: Path, made: Made, listed: str | None) -> None:
    """By nvcc, for what `--arch` lists; PTX and cubins are one file for each architecture."""
    from hbc.codegen.build.nvcc import CUDA_SUFFIX, build_cuda
    from hbc.codegen.cuda.source import CudaSource

    source = compiled.source
    assert isinstance(source, CudaSource)
    archs = gpu_archs(listed, source.instructions)
    kind = next(k for k in CUDA_SUFFIX if k == form)
    groups = [(a,) for a in archs] if form in ("ptx", "cubin") else [archs]
    for group in groups:
        middle = f".{group[0]}" if len(groups) > 1 else ""
        path = folder / f"{source.name}{middle}{CUDA_SUFFIX[kind]}"
        start = time.perf_counter()
        with replace_file(path) as beside:
            made.resources += build_cuda(source, beside, kind, group)
        made.timings[f"nvcc ({path.name})"] = time.perf_counter() - start
        made.files.append(path)
