"""The parts of a movement's CUDA file: the function of a group of threads, a kernel, a launcher, and a
`main` that compares with what the goals say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from hbc.codegen.moves.columns import Group
from hbc.codegen.moves.element import Element
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.record import record
from hbc.ir.moves.goal_check import Combined, GoalCheck, GoalTerm, Symbol
from hbc.ir.moves.movement import Movement

HEADERS = ("cuda_runtime.h", "stdint.h", "stdio.h", "math.h", "vector")
HALF_HEADERS = {"f16": "cuda_fp16.h", "bf16": "cuda_bf16.h"}
TEST_GROUPS = 37  # not a multiple of the groups of a block


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


def goal_functions(check: GoalCheck, element: Element) -> list[str]:
    """A function for each output, of the symbols' values: element by element, as the sketch says."""
    functions = []
    for number, goal in enumerate(check.goals):
        body = Writer(depth=1)
        if all(term is None or isinstance(term, Symbol) for term in goal):
            numbers = ", ".join(
                str(term.number) if isinstance(term, Symbol) else "-1" for term in goal
            )
            body.line(f"static const int symbol[{len(goal)}] = {{{numbers}}};")
            body.line(f"for (int i = 0; i < {len(goal)}; i++)")
            body.line(f"    goal[i] = symbol[i] < 0 ? {element.number('0')} : value[symbol[i]];")
        else:
            for place, term in enumerate(goal):
                if term is not None:
                    body.line(f"goal[{place}] = {_value(term, element)};")
        head = f"static void goal_{number}(const {element.type} *value, {element.type} *goal)"
        functions.append(f"{head}\n{{\n{body.text()}}}")
    return functions


def _value(term: GoalTerm, element: Element) -> str:
    match term:
        case Symbol(number):
            return f"value[{number}]"
        case Combined(operation, parts):
            if not parts:
                return element.number("0")
            text = _value(parts[0], element)
            for part in parts[1:]:
                text = element.combined(operation, text, _value(part, element))
            return text
        case _:
            assert_never(term)


def main_function(out: Writer, file: CudaFile, check: GoalCheck) -> None:
    """Prints `main`: small whole numbers, for which sums are exact, unless elements only move."""
    t = file.element.type
    out.blank()
    for number, (pointer, _) in enumerate(file.inputs):
        cells = list(check.inputs.values())[number].tolist()
        numbers = ", ".join(map(str, cells))
        out.line(f"static const int {pointer}_symbols[{len(cells)}] = {{{numbers}}};")
    out.blank()
    out.comment(
        f"Runs {TEST_GROUPS} groups and compares every element with its goal; 0: all are right."
    )
    out.line("int main()")
    with out.braces():
        out.line(f"const int groups = {TEST_GROUPS};")
        out.line(f"std::vector<{t}> value({check.symbols} * groups);")
        out.line("unsigned state = 1;")
        with out.braces("for (size_t i = 0; i < value.size(); i++)"):
            out.line("state = state * 1664525u + 1013904223u;")
            out.line(f"value[i] = {t}({_test_value(check, file)});")
        sizes = [*file.inputs, *((r.pointer, r.size) for r in file.results)]
        for pointer, size in sizes:
            out.line(f"std::vector<{t}> host_{pointer}({size} * groups, {t}(0));")
        for pointer, size in file.inputs:
            with out.braces(f"for (int i = 0; i < {size} * groups; i++)"):
                out.line(f"const int symbol = {pointer}_symbols[i % {size}];")
                place = f"{check.symbols} * (i / {size}) + symbol"
                out.line("if (symbol >= 0)")
                out.line(f"    host_{pointer}[i] = value[{place}];")
        _on_the_device(out, file)
        out.line("int wrong = 0;")
        with out.braces("for (int group = 0; group < groups; group++)"):
            out.line("bool right = true;")
            for number, result in enumerate(file.results):
                _compare(out, number, result.pointer, result.size, file, check)
            out.line("wrong += !right;")
        out.line(f'printf("{file.name}: %d of %d groups are right\\n", groups - wrong, groups);')
        out.line("return wrong != 0;")


def _test_value(check: GoalCheck, file: CudaFile) -> str:
    if check.moves_only():
        return "(int)(i % 251)" if file.element.dtype.bits <= 16 else "(int)i"
    return (
        "(int)(state >> 24) % 4 - 1"
        if file.element.dtype.bits <= 16
        else "(int)(state >> 24) % 15 - 7"
    )


def _on_the_device(out: Writer, file: CudaFile) -> None:
    """Copies there, the launch, and back."""
    t = file.element.type
    names = [pointer for pointer, _ in file.inputs] + [r.pointer for r in file.results]
    out.line(f"{t} {', '.join(f'*{name}' for name in names)};")
    out.line("int error = 0;")
    for name in names:
        size = f"sizeof({t}) * host_{name}.size()"
        out.line(f"error |= cudaMalloc(&{name}, {size});")
        out.line(
            f"error |= cudaMemcpy({name}, host_{name}.data(), {size}, cudaMemcpyHostToDevice);"
        )
    out.line(f"error |= {file.name}_launch({', '.join(['groups', *names, '0'])});")
    for result in file.results:
        size = f"sizeof({t}) * host_{result.pointer}.size()"
        copy = f"host_{result.pointer}.data(), {result.pointer}, {size}, cudaMemcpyDeviceToHost"
        out.line(f"error |= cudaMemcpy({copy});")
    for name in names:
        out.line(f"error |= cudaFree({name});")
    with out.braces("if (error)"):
        out.line('fprintf(stderr, "CUDA: %s\\n", cudaGetErrorString((cudaError_t)error));')
        out.line("return 2;")


def _compare(
    out: Writer, number: int, pointer: str, size: int, file: CudaFile, check: GoalCheck
) -> None:
    t = file.element.type
    free = [place for place, term in enumerate(check.goals[number]) if term is None]
    with out.braces():
        out.line(f"{t} goal[{size}];")
        out.line(f"goal_{number}(&value[{check.symbols} * group], goal);")
        out.line(f"const {t} *found = &host_{pointer}[{size} * group];")
        with out.braces(f"for (int i = 0; right && i < {size}; i++)"):
            if free:
                places = " || ".join(f"i == {place}" for place in free)
                out.line(f"if ({places})")
                out.line("    continue;")
            out.line("right = found[i] == goal[i];")
            out.line("if (!right)")
            message = f"{pointer}[%d] of group %d is %g, not %g\\n"
            values = "i, group, (double)(float)found[i], (double)(float)goal[i]"
            out.line(f'    fprintf(stderr, "{message}", {values});')
