"""The parts of a movement's CUDA file: the function of a group of threads, a kernel, a launcher, `main`."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.gather_columns import Group
from hbc.codegen.gather_cuda_main import goal_functions, main_function
from hbc.codegen.gather_element import Element
from hbc.codegen.writer import Writer
from hbc.ir.movement import Movement
from hbc.ir.record import record

HEADERS = ("cuda_runtime.h", "stdint.h", "stdio.h", "math.h", "vector")
HALF_HEADERS = {"f16": "cuda_fp16.h", "bf16": "cuda_bf16.h"}


@record
class Result:
    """An output: its pointer's name and its elements. `registers`: the device function returns it in so
    many, element `registers * lane + j` in number j; 0: it stores them itself."""

    pointer: str
    size: int
    registers: int


@record
class CudaFile:
    """What the parts of the file need to know of each other."""

    name: str
    element: Element
    group: Group
    inputs: tuple[tuple[str, int], ...]
    results: tuple[Result, ...]
    shared: int
    groups: int  # of a block


def file_text(file: CudaFile, movement: Movement, notes: Sequence[str]) -> str:
    out = Writer()
    for note in notes:
        out.comment(note)
    half = HALF_HEADERS.get(file.element.dtype.name)
    for header in (*HEADERS, *([half] if half else [])):
        out.directive(f"#include <{header}>")
    out.blank()
    check = movement.check
    goals = goal_functions(check, file.element) if check else []
    for function in file.element.functions():
        out.raw(function)
        out.blank()
    for key, name in file.group.tables.items():
        values = ", ".join(map(str, key))
        out.line(f"__device__ const unsigned short {name}[{len(key)}] = {{{values}}};")
    _device_function(out, file)
    _kernel(out, file)
    _launcher(out, file)
    if check:
        for text in goals:
            out.blank()
            out.raw(text)
        main_function(out, file, check)
    return out.text()


def _stores(file: CudaFile) -> bool:
    """Whether the function must know which threads count."""
    clamped = file.group.threads > file.group.lanes
    return any(not result.registers for result in file.results) or bool(clamped and file.shared)


def _device_function(out: Writer, file: CudaFile) -> None:
    t = file.element.type
    parameters = ["int lane", *(f"const {t} *{pointer}" for pointer, _ in file.inputs)]
    for result in file.results:
        registers = f"{t} (&{result.pointer})[{result.registers}]"
        parameters.append(registers if result.registers else f"{t} *{result.pointer}")
    if _stores(file):
        parameters.append("bool active")
    if file.shared:
        parameters.append(f"{t} *shared")
    out.blank()
    lanes = "a warp" if file.group.lanes == 32 else f"{file.group.lanes} threads"
    out.comment(f"For {lanes}, all of which call it together.")
    out.function(f"__device__ __forceinline__ void {file.name}", parameters, "")
    with out.braces():
        out.lines += file.group.out.lines
    out.blank()


def _kernel(out: Writer, file: CudaFile) -> None:
    """Each group of threads on its own data; whole warps go on to the end, because shuffles need them."""
    t, group = file.element.type, file.group
    pointers = [f"const {t} *__restrict__ {pointer}" for pointer, _ in file.inputs]
    pointers += [f"{t} *__restrict__ {result.pointer}" for result in file.results]
    size = group.threads * file.groups
    head = f'extern "C" __global__ void __launch_bounds__({size}) {file.name}_kernel'
    out.comment("The data of so many groups, behind each other.")
    out.function(head, [*pointers, "int groups"], "")
    with out.braces():
        if file.shared:
            out.line(f"__shared__ {t} shared[{file.shared * file.groups}];")
        out.line(f"const int in_block = threadIdx.x / {group.threads};")
        thread = f"threadIdx.x % {group.threads}"
        clamped = group.threads > group.lanes
        out.line(f"const int thread = {thread};" if clamped else f"const int lane = {thread};")
        if clamped:
            last = group.lanes - 1
            out.line(f"const int lane = thread < {last} ? thread : {last};")
        out.line(f"const int group = blockIdx.x * {file.groups} + in_block;")
        whole = f" && thread < {group.lanes}" if clamped else ""
        out.line(f"const bool active = group < groups{whole};")
        out.line("const size_t mine = group < groups ? group : groups - 1;")
        arguments = ["lane", *(f"{p} + {size} * mine" for p, size in file.inputs)]
        for result in file.results:
            if result.registers:
                out.line(f"{t} {result.pointer}_registers[{result.registers}];")
                arguments.append(f"{result.pointer}_registers")
            else:
                arguments.append(f"{result.pointer} + {result.size} * mine")
        arguments += ["active"] if _stores(file) else []
        arguments += [f"shared + {file.shared} * in_block"] if file.shared else []
        out.line(f"{file.name}({', '.join(arguments)});")
        for result in (r for r in file.results if r.registers):
            with out.braces(f"for (int j = 0; active && j < {result.registers}; j++)"):
                place = f"{result.size} * mine + {result.registers} * lane + j"
                out.line(f"{result.pointer}[{place}] = {result.pointer}_registers[j];")
    out.blank()


def _launcher(out: Writer, file: CudaFile) -> None:
    t = file.element.type
    pointers = [f"const {t} *{pointer}" for pointer, _ in file.inputs]
    pointers += [f"{t} *{result.pointer}" for result in file.results]
    names = [pointer for pointer, _ in file.inputs] + [r.pointer for r in file.results]
    sized = [f"{p}[{size}]" for p, size in file.inputs]
    sized += [f"{r.pointer}[{r.size}]" for r in file.results]
    out.comment(
        f"On the device, for each group: {', '.join(sized)}, row-major. Returns a cudaError_t."
    )
    out.function(
        f'extern "C" int {file.name}_launch', ["int groups", *pointers, "cudaStream_t stream"], ""
    )
    size = file.group.threads * file.groups
    with out.braces():
        out.line("if (groups <= 0)")
        out.line("    return cudaSuccess;")
        out.line(f"const int blocks = (groups + {file.groups - 1}) / {file.groups};")
        call = (
            f"{file.name}_kernel<<<blocks, {size}, 0, stream>>>({', '.join([*names, 'groups'])});"
        )
        out.line(call)
        out.line("return cudaGetLastError();")
