"""Reads layout changes by name, such as `interleave(k=4, bytes)`, and writes the sketches that look for them.

A change is a name of `ir/moves/layout_change.py` with its parameters and the type of the elements, in any
order: `transpose(rows=8, cols=8, f32)`, `aos_to_soa(channels=3, f32)`, `deinterleave(k=2, count=64, u8)`.
"""

from __future__ import annotations

import re
from math import prod

from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span
from hbc.ir.lang.types import DTYPES, DType
from hbc.ir.moves.layout_change import CHANGES, LayoutChange

FORM = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
WIDTHS = {"bytes": "u8", "words": "u16"}
MOST = 1 << 12  # elements


@record
class LayoutSpec:
    """A change of elements of a type."""

    change: LayoutChange
    dtype: DType
    title: str  # as it was written, with what was left out


def parse_spec(text: str, register_bits: int) -> LayoutSpec:
    """The change; a `count` left out is what fills registers. UsageError for anything else."""
    source = Source("--spec", text)
    match = FORM.fullmatch(text)
    if match is None:
        raise _wrong(source, 0, len(text), f"`{text}` is no layout change", _forms())
    name = match[1]
    if name not in CHANGES:
        hint = did_you_mean(name, CHANGES) or _forms()
        raise _wrong(
            source, match.start(1), match.end(1), f"there is no layout change `{name}`", hint
        )
    parameters, make = CHANGES[name]
    dtype = DTYPES["f32"]
    values: dict[str, int] = {}
    at = match.start(2)
    for piece in match[2].split(","):
        word = piece.strip()
        start = at + len(piece) - len(piece.lstrip())
        at += len(piece) + 1
        key, equal, value = (part.strip() for part in word.partition("="))
        if not equal and WIDTHS.get(word, word) in DTYPES and word != "bool":
            dtype = DTYPES[WIDTHS.get(word, word)]
        elif key in parameters and value.isdigit() and 0 < int(value) <= MOST:
            values[key] = int(value)
        else:
            hint = f"it is written `{_form(name)}`, with numbers from 1 to {MOST}"
            raise _wrong(source, start, start + len(word), f"`{word}` has no meaning here", hint)
    first, second = parameters
    if first not in values or (second not in values and second != "count"):
        missing = first if first not in values else second
        raise _wrong(source, 0, len(text), f"`{name}` needs `{missing}`", f"`{_form(name)}`")
    values.setdefault(second, register_bits // dtype.bits)
    change = make(values[first], values[second])
    if change.size > MOST:
        raise _wrong(
            source, 0, len(text), f"{change.size} elements are too many", f"at most {MOST}"
        )
    title = f"{name}({first}={values[first]}, {second}={values[second]}, {dtype})"
    return LayoutSpec(change, dtype, title)


def function_name(spec: LayoutSpec) -> str:
    """An identifier for the code: `interleave_4x64_u8`."""
    return re.sub(r"\W+", "_", re.sub(r"\w+=(\d+), \w+=(\d+), ", r"\1x\2_", spec.title)).strip("_")


def sketch_text(spec: LayoutSpec, lanes: int, stages: int, moves: str, vbmi: bool) -> str:
    """A sketch of `stages` moves of all registers. Needs as many input as output registers."""
    count = spec.change.size // lanes
    lines = [
        f"# {spec.title} in {stages} stages",
        f"param bits = {spec.dtype.bits}",
        "param lane_axes = -1",
        *(["param vbmi = 1"] if vbmi else []),
        f'import "{moves}"',
        'import "registers.sf"',
        *_declared(spec.change),
        f"s0: [{count}, {lanes}] = reshape(all)",
    ]
    for stage in range(stages):
        hole = "?instructions{of=pairs_by_bits}"
        lines.append(f"s{stage + 1}: [{count}, {lanes}] = {hole}(s{stage})")
    lines.append(f"made: [{count}, {lanes}] = ?renamed(s{stages})")
    return "\n".join([*lines, *_outputs(spec.change, "made"), *_goals(spec.change), ""])


def _declared(change: LayoutChange) -> list[str]:
    names = input_names(change)
    lines = [
        f"{name}: [{', '.join(map(str, shape))}]"
        for name, shape in zip(names, change.inputs, strict=True)
    ]
    flat = [f"reshape({name})" for name in names]
    sizes = [prod(shape) for shape in change.inputs]
    if len(names) == 1:
        return [*lines, f"all: [{sizes[0]}] = {flat[0]}"]
    return [*lines, f"all: [{sum(sizes)}] = concat({', '.join(names)})"]


def _outputs(change: LayoutChange, made: str) -> list[str]:
    lines = [f"flat: [{change.size}] = reshape({made})"]
    start = 0
    for name, shape in zip(output_names(change), change.outputs, strict=True):
        extents = ", ".join(map(str, shape))
        variables = [f"i{d}" for d in range(len(shape))]
        linear = "0"
        for variable, extent in zip(variables, shape, strict=True):
            linear = f"({linear}) * {extent} + {variable}"
        lines.append(f"{name}: [{extents}] = \\{', '.join(variables)}. flat[{start} + {linear}]")
        start += prod(shape)
    return lines


def _goals(change: LayoutChange) -> list[str]:
    """Element by element: the change itself says which."""
    names = input_names(change)
    cells = [
        f"{name}[{', '.join(map(str, place))}]"
        for name, shape in zip(names, change.inputs, strict=True)
        for place in _places(shape)
    ]
    lines: list[str] = []
    start = 0
    for name, shape in zip(output_names(change), change.outputs, strict=True):
        index = change.gather.index[start : start + prod(shape)]
        lines.append(f"goal {name} == {_nested([cells[i] for i in index], shape)}")
        start += prod(shape)
    return lines


def _places(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    if not shape:
        return [()]
    return [(i, *rest) for i in range(shape[0]) for rest in _places(shape[1:])]


def _nested(cells: list[str], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"[{', '.join(cells)}]"
    step = len(cells) // shape[0]
    rows = (cells[i : i + step] for i in range(0, len(cells), step))
    return f"[{', '.join(_nested(row, shape[1:]) for row in rows)}]"


def input_names(change: LayoutChange) -> list[str]:
    return ["x"] if len(change.inputs) == 1 else [f"x{i}" for i in range(len(change.inputs))]


def output_names(change: LayoutChange) -> list[str]:
    return ["out"] if len(change.outputs) == 1 else [f"out{i}" for i in range(len(change.outputs))]


def _form(name: str) -> str:
    first, second = CHANGES[name][0]
    return f"{name}({first}=4, {second}=64, u8)"


def _forms() -> str:
    return "write one of " + ", ".join(f"`{_form(name)}`" for name in CHANGES)


def _wrong(source: Source, start: int, end: int, message: str, hint: str) -> UsageError:
    return UsageError(Diagnostic(message, Span(source, start, max(start + 1, end)), hint))
