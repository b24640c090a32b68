"""The host's side of a movement's CUDA file: what the goals say, and a `main` that compares with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from hbc.codegen.gather_element import Element
from hbc.codegen.writer import Writer
from hbc.ir.goal_check import Combined, GoalCheck, GoalTerm, Symbol

if TYPE_CHECKING:
    from hbc.codegen.gather_cuda_file import CudaFile

TEST_GROUPS = 37  # not a multiple of the groups of a block


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
