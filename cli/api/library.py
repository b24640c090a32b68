"""The compiled code of a kernel, loaded into this process and called through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbc.cli.compiled import packs_of
from hbc.codegen.build.cross import is_foreign
from hbc.codegen.build.gpu import gpu_arch
from hbc.codegen.build.processor import missing_features, runs_here
from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import build_cached
from hbc.codegen.c.by_value import C_TYPES
from hbc.codegen.c.codes import CUDA, MEMORY, code_kind
from hbc.codegen.c.source import CSource
from hbc.frontend.program.funcs import Image
from hbc.ir.ground.diag import ArgumentError, Diagnostic, ToolError

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled
    from hbc.codegen.cuda.source import CudaSource

Code = Any  # a ctypes function


class Library:
    """Entry points of a kernel: `dense` on arrays without gaps, `strided` with the strides of each
    array behind its pointer; on a GPU, those for arrays in its memory, with a stream as the last
    argument; where inputs are constant, `packed` and `packs`, by input. The code stays loaded as long as
    the process lives."""

    def __init__(self, compiled: Compiled, threads: int | None, on_cpu: bool) -> None:
        """ToolError when this machine cannot build or run the code."""
        self.device = not isinstance(compiled.source, CSource)
        # Of the GPU that the code is for; "" where the processor runs it.
        self.arch = gpu_arch() if self.device and not on_cpu else ""
        path = _built(compiled, on_cpu)
        try:
            loaded = ctypes.CDLL(str(path))
        except OSError as failure:
            raise ToolError(Diagnostic(f"cannot load `{path}`: {failure}")) from failure
        name = compiled.source.name
        sizes = len(compiled.chosen.pipeline.sizes)
        p = compiled.chosen.pipeline
        images = [i for i in (*p.inputs, *p.outputs) if i.name not in p.in_place.values()]
        plain = [ctypes.c_int64] * sizes + [_passed_as(image) for image in images]
        apart: list[Any] = [ctypes.c_int64] * sizes
        for image in images:
            apart += [_passed_as(image), *[ctypes.c_int64] * (len(image.extents) - 1)]
        self.dense: Code = _function(loaded, name, plain)
        self.strided: Code = _function(loaded, f"{name}_strided", apart)
        if self.device:
            stream = [ctypes.c_void_p]
            self.dense_device: Code = _function(loaded, f"{name}_device", plain + stream)
            self.strided_device: Code = _function(loaded, f"{name}_device_strided", apart + stream)
        self.inputs = tuple(i.name for i in images if i not in p.outputs)
        self.packs: dict[str, tuple[Code, Code]] = {}
        counts = [ctypes.c_int64] * sizes
        for each in packs_of(compiled):
            length = _function(loaded, f"{name}_packed_size_{each}", counts)
            length.restype = ctypes.c_int64
            pack = _function(loaded, f"{name}_pack_{each}", [*counts, *[ctypes.c_void_p] * 2])
            self.packs[each] = length, pack
        if self.packs:
            self.packed: Code = _function(loaded, f"{name}_packed", plain)
        self._strerror = getattr(loaded, f"{name}_strerror")
        self._strerror.restype, self._strerror.argtypes = ctypes.c_char_p, [ctypes.c_int]
        self._cuda_error = getattr(loaded, f"{name}_cuda_error", None)
        if self._cuda_error is not None:
            self._cuda_error.restype = ctypes.c_char_p
        # Of OpenMP's runtime, which the code is linked with: counts for the calling thread.
        self._set_threads = getattr(loaded, "omp_set_num_threads", None) if threads else None
        self.threads = None if self._set_threads is None else threads

    def prepare_thread(self) -> None:
        """What a call from this thread needs first where `threads` says how many do the work."""
        if self._set_threads is not None:
            self._set_threads(self.threads)

    def error(self, code: int, at: Sequence[str]) -> ArgumentError:
        """What the kernel's error code means, in its own words; `at` says the sizes."""
        said = self._strerror(code).decode()
        if self._cuda_error is not None and code_kind(code) in (CUDA, MEMORY):
            said = self._cuda_error().decode()
        where = f" (at {', '.join(at)})" if at else ""
        return ArgumentError(Diagnostic(f"the kernel refuses the call: {said}{where}"))


def _passed_as(image: Image) -> Any:
    return C_TYPES[image.element.name] if image.is_scalar else ctypes.c_void_p


def _function(library: ctypes.CDLL, name: str, parameters: list[Any]) -> Code:
    function = getattr(library, name)
    function.restype, function.argtypes = ctypes.c_int, parameters
    return function


def _built(compiled: Compiled, on_cpu: bool) -> Path:
    """The shared library, from the cache when it was built before."""
    target, source = compiled.chosen.target, compiled.source
    if not isinstance(source, CSource):
        return _built_cuda(source, on_cpu)
    if is_foreign(target.machine):
        raise ToolError(
            Diagnostic(
                f"`{target.name}` code does not run in this process",
                hint="`hbc run` and `hbc verify` run it under an emulator",
            )
        )
    if missing_features(target) and not compiled.chosen.fallback and not runs_here(target):
        from hbc.cli.prepare import require_runnable

        require_runnable(target)
    if compiled.chosen.fallback:
        return build_cached(source, target)
    return build_cached(*for_this_processor(source, target))


def _built_cuda(source: CudaSource, on_cpu: bool) -> Path:
    if on_cpu:
        import tempfile

        from hbc.codegen.build.cuda_cpu import build as build_for_cpu

        folder = Path(tempfile.mkdtemp(prefix="hbc-"))
        (folder / f"{source.name}.h").write_text(source.header, encoding="utf-8")
        return build_for_cpu(
            source.text, folder / f"{source.name}.so", "so", name=source.name,
            extra=(f"-I{folder}",), instructions=source.instructions,
        )  # fmt: skip
    from hbc.codegen.build.gpu import gpu_facts
    from hbc.codegen.build.nvcc import build_cuda_cached, check_driver

    facts = gpu_facts()
    check_driver(facts.driver)
    return build_cuda_cached(source, facts.arch)
