"""NVIDIA's compiler: finding it, building PTX, cubins, libraries and fat binaries, what a kernel uses.

Measured with nvcc 13.0: a kernel takes 0.7 s an architecture; compute capabilities below 7.5 are
refused.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

from hbc.codegen.build.occupancy import occupancy
from hbc.codegen.build.refused_text import Refused, refusal
from hbc.codegen.build.run_tool import compile_with, run_tool
from hbc.codegen.build.toolchain import folder_of, kept_library
from hbc.codegen.cuda.limits import check_instructions, check_shared, suited_archs
from hbc.codegen.cuda.source import CudaSource
from hbc.ir.ground.diag import Diagnostic, ToolError, UsageError
from hbc.ir.ground.record import record
from hbc.ir.host.scratch import scratch_folder

CudaOutput = Literal["ptx", "cubin", "fatbin", "so"]
CUDA_SUFFIX: dict[CudaOutput, str] = {
    "ptx": ".ptx", "cubin": ".cubin", "fatbin": ".fatbin", "so": ".so",
}  # fmt: skip
DEFAULT_ARCHS = ("sm_80", "sm_90")
# A product and a sum stay apart unless the text says fmaf: the CPU then gives the same bits.
FLAGS = ("-std=c++17", "-O3", "-fmad=false", "-Xptxas", "-v")
FMAD = re.compile(r"--?fmad\b")  # in NVCC's words: then the user has said it
LINES = ("-lineinfo", "--generate-line-info", "-G", "--device-debug")
_ARCH = re.compile(r"sm_(\d{2,3})(a|f)?$")
_OLDEST = 75
_FUNCTION = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_RELEASE = re.compile(r"release (\d+)\.(\d+)")
_UNKNOWN_ARCH = re.compile(r"Unsupported gpu architecture '(\w+)'")
_SHARED = re.compile(r"(\d+) bytes smem")


@record
class Resources:
    """What a device function uses of an architecture: registers of a thread, bytes of its stack, bytes
    that it spills (stores and loads), bytes of shared memory of a block. Threads of a block; how many
    blocks a multiprocessor holds at once, the percentage of its threads that they are, and what
    keeps it from more (0, 0 and nothing where that is not known)."""

    function: str
    arch: str
    registers: int
    stack: int
    spills: int
    shared: int
    threads: int = 0
    blocks: int = 0
    occupancy: int = 0
    limit: str = ""


@cache
def find_nvcc() -> tuple[str, ...]:
    """$NVCC, else nvcc on the path or where the toolkit installs it. ToolError says what to install."""
    if wanted := shlex.split(os.environ.get("NVCC", "")):
        return tuple(wanted)
    path = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if path is None:
        raise ToolError(
            Diagnostic(
                "no nvcc: the CUDA toolkit is not installed",
                hint="install it from NVIDIA, or name its nvcc with the environment variable NVCC",
            )
        )
    return (path,)


@cache
def _version() -> str:
    """What nvcc says of itself."""
    return run_tool([*find_nvcc(), "--version"]).stdout


def flags() -> tuple[str, ...]:
    """What nvcc is given beside the words of $NVCC, which may say `-fmad=true` instead."""
    said = any(FMAD.match(word) for word in find_nvcc())
    return tuple(flag for flag in FLAGS if not (said and FMAD.match(flag)))


def check_driver(driver: int) -> None:
    """ToolError when a driver (13000 is of CUDA 13.0) cannot run what this nvcc makes: that takes one
    of the same major version at least."""
    made = _RELEASE.search(_version())
    if made is None or driver // 1000 >= int(made[1]):
        return
    has, needs = f"{driver // 1000}.{driver % 1000 // 10}", f"{made[1]}.{made[2]}"
    raise ToolError(
        Diagnostic(
            f"the GPU's driver is of CUDA {has}, too old for code of nvcc {needs}: update the"
            f" driver, or name an nvcc of CUDA {driver // 1000} with NVCC"
        )
    )


def checked_archs(archs: Sequence[str]) -> tuple[str, ...]:
    """The architectures without repetition. UsageError for what is none or is too old."""
    for arch in archs:
        match = _ARCH.match(arch)
        if match is None:
            hint = "write compute capabilities as sm_80 or sm_90"
            raise UsageError(Diagnostic(f"`{arch}` is no GPU architecture", hint=hint))
        if int(match[1]) < _OLDEST:
            hint = f"the oldest that CUDA 13 makes code for is sm_{_OLDEST}"
            raise UsageError(Diagnostic(f"`{arch}` is too old", hint=hint))
    return tuple(dict.fromkeys(archs))


def build_cuda(
    source: CudaSource, out: Path, kind: CudaOutput, archs: Sequence[str] = DEFAULT_ARCHS
) -> list[Resources]:
    """Compiles into the file `out`, complete or not at all; PTX and cubins are for one architecture.
    HbcError: more shared memory than one of them has, or an instruction that it has not. ToolError:
    no nvcc, or it takes too long. UsageError: it knows no such architecture. InternalError: it
    refuses our text. HbcError: the same with an instruction in it that the user describes."""
    check_shared(source.shared, archs)
    check_instructions(source.instructions, archs, source.fragments)
    archs = suited_archs(source.instructions, archs)
    with scratch_folder(folder_of(out)) as folder:
        text = folder / f"{source.name}.cu"
        text.write_text(_located(source, out), encoding="utf-8")
        (folder / f"{source.name}.h").write_text(source.header, encoding="utf-8")
        made = folder / f"made{CUDA_SUFFIX[kind]}"
        answer = compile_with(
            [*find_nvcc(), *flags(), *_kind_flags(kind, archs), str(text), "-o", str(made)], made
        )
        if answer.returncode != 0:
            if unknown := _UNKNOWN_ARCH.search(answer.stderr):
                raise _unknown_arch(unknown[1].replace("compute", "sm"))
            file, said = f"{source.name}.cu", answer.stderr or answer.stdout
            raise refusal(Refused("nvcc", file, source.text, source.instructions, said))
        made.replace(out)
    return [_of_launch(r, source) for r in resources(answer.stderr + answer.stdout)]


def _located(source: CudaSource, out: Path) -> str:
    """The text; where $NVCC asks for line tables, these name the `.cu` that `--emit cu` writes beside
    what is built, instead of one that is gone. Lines keep their numbers."""
    if not set(LINES) & set(find_nvcc()):
        return source.text
    name = str(folder_of(out).resolve() / f"{source.name}.cu")
    quoted = name.replace("\\", r"\\").replace('"', r"\"")
    return f'#line 1 "{quoted}"\n{source.text}'


def _of_launch(r: Resources, source: CudaSource) -> Resources:
    """With what the launch asks for: the compiler knows of static shared memory alone."""
    shared = r.shared + source.dynamic_shared.get(r.function, 0)
    bounds = re.search(rf"__launch_bounds__\((\d+)[^()]*\) {r.function}\(", source.text)
    threads = int(bounds[1]) if bounds else 0
    held = occupancy(r.arch, threads, r.registers, shared)
    if held is None:
        return replace(r, shared=shared, threads=threads)
    return replace(
        r, shared=shared, threads=threads, blocks=held.blocks, occupancy=held.percent,
        limit=held.limit,
    )  # fmt: skip


def _unknown_arch(arch: str) -> UsageError:
    """For an architecture that is spelled like one, and which this nvcc does not know."""
    known = run_tool([*find_nvcc(), "--list-gpu-code"]).stdout.split()
    hint = f"it knows {', '.join(known)}" if known else None
    return UsageError(Diagnostic(f"{find_nvcc()[0]} makes no code for `{arch}`", hint=hint))


def build_cuda_cached(source: CudaSource, arch: str) -> Path:
    """The library for one architecture, from the cache when the same was built before."""
    key = hashlib.sha256()
    for part in (_version(), *find_nvcc(), *flags(), arch, source.text, source.header):
        key.update(part.encode() + b"\0")
    name = f"{source.name}-{arch}-{key.hexdigest()[:32]}.so"
    return kept_library(name, lambda out: build_cuda(source, out, "so", (arch,)))


def _kind_flags(kind: CudaOutput, archs: Sequence[str]) -> list[str]:
    if kind in ("ptx", "cubin"):
        (arch,) = archs
        if not arch.endswith("a"):
            return [f"-{kind}", f"-arch={arch}"]
        virtual = arch.replace("sm", "compute")  # `-arch` compiles for sm_90 too, by some versions
        return [f"-{kind}", f"-gencode=arch={virtual},code={virtual if kind == 'ptx' else arch}"]
    flags = []
    for arch in archs:
        flags += ["-gencode", f"arch={arch.replace('sm', 'compute')},code={arch}"]
    last = archs[-1].replace("sm", "compute")
    flags += ["-gencode", f"arch={last},code={last}"]  # newer GPUs compile it themselves
    return [*flags, "-fatbin"] if kind == "fatbin" else [*flags, "-shared", "-Xcompiler", "-fPIC"]


def resources(said: str) -> list[Resources]:
    """The functions of ptxas's report, in its order."""
    kernels: list[Resources] = []
    function, arch, frame = "", "", (0, 0, 0)
    for line in said.splitlines():
        if match := _FUNCTION.search(line):
            function, arch = match[1], match[2]
        elif match := _SPILLS.search(line):
            frame = (int(match[1]), int(match[2]), int(match[3]))
        elif (match := _USED.search(line)) and function:
            shared = _SHARED.search(line)
            used = Resources(
                function, arch, int(match[1]), frame[0], frame[1] + frame[2],
                int(shared[1]) if shared else 0,
            )  # fmt: skip
            kernels.append(used)
            function = ""
    return kernels
