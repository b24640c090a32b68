"""Entry points for constant inputs: how much memory what is made of one takes, what makes it, and the kernel
that takes it instead of the input.

    [8 bytes: made by which kernel] [8 bytes for each size that matters] .. [array] [array] ..

Every array begins at a multiple of 64 bytes, as the memory itself does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from hbc.codegen.c import codes
from hbc.codegen.c.abi import Abi, ordered
from hbc.codegen.c.entry import (
    Call,
    cautious,
    check_arguments,
    check_sizes,
    dense_strides,
    probe_processor,
    refuse,
    return_call,
    unread_named,
)
from hbc.codegen.text.functions import ALLOCATE, RELEASE_MEMORY
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.beforehand.split import Beforehand, Split
from hbc.ir.lang.kernel import Argument
from hbc.ir.lang.show import show_kernel

ALIGNMENT, WORD = 64, 8


def packed_header(abi: Abi) -> list[str]:
    """Lines that declare the entry points."""
    k, out = abi.kernel, Writer()
    constants = [a for a in k.arguments if a.constant]
    out.raw(
        "\n/* A constant input is packed once, into memory of the caller's that begins at a multiple of\n"
        f"   {ALIGNMENT} bytes, for all calls at these sizes. First how many bytes that are; below 0,\n"
        "   an error code, negated. */"
    )
    for a in constants:
        out.function(f"int64_t {k.name}_packed_size_{a.name}", abi.sizes(), ";")
        out.function(f"int {k.name}_pack_{a.name}", _pack_parameters(abi, a), ";")
    out.blank()
    out.raw(f"/* The same as {k.name}, of inputs that were packed so. */")
    out.function(f"int {k.name}_packed", _packed_parameters(abi), ";")
    return out.lines


def packed_entries(
    abi: Abi, split: Split, calls: Mapping[str, Call], probed: bool, unit: Unit
) -> None:
    """Prints them. `calls`: of the functions that compute, by the names of the kernels."""
    for made in split.packs:
        unit.out.blank()
        _size_entry(abi, made, unit)
        unit.out.blank()
        _pack_entry(abi, made, calls[made.kernel.name], probed, unit)
    unit.out.blank()
    _packed_entry(abi, split, calls[split.rest.name], probed, unit)


def packing_call(abi: Abi, split: Split, calls: Mapping[str, Call], unit: Unit) -> Call:
    """Prints the function that packs, computes, and gives the memory back: what the other entry points
    call."""
    k, out, body = abi.kernel, unit.out, Writer(depth=1)
    unit.prelude.add("allocate", ALLOCATE)
    unit.prelude.add("release", RELEASE_MEMORY)
    unit.out = body
    unit.scope.push()
    body.line(f"int status = {abi.code('MEMORY')};")
    for made in split.packs:
        sizes = [str(_head(made)), *(_bytes(each, unit) for each in made.kept)]
        body.line(f"char *const {abi.packed(made.input)} = allocate({' + '.join(sizes)}, 1);")
    there = " && ".join(f"{abi.packed(made.input)} != NULL" for made in split.packs)
    with body.braces(f"if ({there})"):
        body.line("status = 0;")
        for made in split.packs:
            pack = calls[made.kernel.name]
            _declare_kept(abi, made, (pack, calls[split.rest.name]), "", unit)
            _run(pack, "if (status == 0)", unit)
        _run(calls[split.rest.name], "if (status == 0)", unit)
    for made in split.packs:
        body.line(f"release({abi.packed(made.input)});")
    body.line("return status;")
    unit.scope.pop()
    unit.out = out
    said = body.names()
    parameters = {p: re.split(r"[ *]", p)[-1] for p in abi.strided()}
    used = [p for p, name in parameters.items() if name in said]
    out.raw("/* The computation, which packs first. */")
    out.function(f"static int {k.name}_compute", used, "")
    with out.braces():
        out.lines += body.lines
    return Call(f"{k.name}_compute({', '.join(parameters[p] for p in used)})", True)


def _run(call: Call, condition: str, unit: Unit) -> None:
    unit.out.line(condition)
    unit.out.depth += 1
    unit.out.line(f"status = {call.text};" if call.fails else f"{call.text};")
    unit.out.depth -= 1


def _pack_parameters(abi: Abi, a: Argument) -> list[str]:
    return [*abi.sizes(), abi.array(a), f"void *{abi.packed(a)}"]


def _packed_parameters(abi: Abi) -> list[str]:
    arrays = (
        f"const void *{abi.packed(a)}" if a.constant else abi.array(a) for a in ordered(abi.kernel)
    )
    return [*abi.sizes(), *arrays]


def _size_entry(abi: Abi, made: Beforehand, unit: Unit) -> None:
    k, a, out = abi.kernel, made.input, unit.out
    out.function(f"int64_t {k.name}_packed_size_{a.name}", abi.sizes(), "")
    with out.braces(), cautious(abi, unit):
        check_sizes(abi, unit, "-")
        extents = ", ".join(str(scalar(e, unit)) for e in a.extents)
        strides = ", ".join([*(str(scalar(s, unit)) for s in dense_strides(a)), "1"])
        place = ordered(k).index(a) + 1
        text = f"measure(allocated, {len(a.extents)}, (const int64_t[]){{{extents}}}, "
        text += f"(const int64_t[]){{{strides}}}, sizeof({c_type(a.element)}))"
        out.line(f"static const {c_type(a.element)} allocated[1];")
        out.line(f"const int64_t bytes = {text};")
        refuse("bytes < 0", f"bytes - {codes.code_value(0, place)}", unit)
        sizes = [_bytes(each, unit) for each in made.kept]
        out.line(f"return {' + '.join([str(_head(made)), *sizes])};")


def _pack_entry(abi: Abi, made: Beforehand, call: Call, probed: bool, unit: Unit) -> None:
    k, a, out = abi.kernel, made.input, unit.out
    memory = abi.packed(a)
    out.function(f"int {k.name}_pack_{a.name}", _pack_parameters(abi, a), "")
    with out.braces(), cautious(abi, unit):
        check_sizes(abi, unit)
        _declare_strides(abi, [a], unit)
        check_arguments(abi, unit, [a])
        refuse(f"{memory} == NULL || (uintptr_t){memory} % {ALIGNMENT} != 0", _code(abi, a), unit)
        probe_processor(probed, unit)
        head = unit.scope.fresh("head")
        out.line(f"uint64_t *const {head} = {memory};")
        out.line(f"{head}[0] = 0; // until all is there")
        for n, size in enumerate(made.sizes, 1):
            out.line(f"{head}[{n}] = (uint64_t){abi.names[size]};")
        _declare_kept(abi, made, (call,), "", unit)
        if call.fails:
            failed = unit.scope.fresh("failed")
            out.line(f"const int {failed} = {call.text};")
            refuse(f"{failed} != 0", failed, unit)
        else:
            out.line(f"{call.text};")
        out.line(f"{head}[0] = {_key(made)};")
        out.line(f"return {abi.code('OK')};")


def _packed_entry(abi: Abi, split: Split, call: Call, probed: bool, unit: Unit) -> None:
    k, out = abi.kernel, unit.out
    others = [a for a in ordered(k) if not a.constant]
    out.function(f"int {k.name}_packed", _packed_parameters(abi), "")
    with out.braces(), cautious(abi, unit), unread_named(abi, unit):
        check_sizes(abi, unit)
        _declare_strides(abi, others, unit)
        check_arguments(abi, unit, others)
        for made in split.packs:
            memory = abi.packed(made.input)
            head = f"((const uint64_t *){memory})"
            wrong = [f"{memory} == NULL", f"(uintptr_t){memory} % {ALIGNMENT} != 0"]
            wrong.append(f"{head}[0] != {_key(made)}")
            for n, size in enumerate(made.sizes, 1):
                wrong.append(f"{head}[{n}] != (uint64_t){abi.names[size]}")
            refuse(" || ".join(wrong), _code(abi, made.input), unit)
        probe_processor(probed, unit)
        for made in split.packs:
            _declare_kept(abi, made, (call,), "const ", unit)
        return_call(call, abi, unit)


def _declare_strides(abi: Abi, arrays: list[Argument], unit: Unit) -> None:
    for a in arrays:
        for name, stride in zip(abi.strides(a), dense_strides(a), strict=True):
            unit.out.line(f"const int64_t {name} = {scalar(stride, unit)};")


def _declare_kept(
    abi: Abi, made: Beforehand, calls: Sequence[Call], const: str, unit: Unit
) -> None:
    """Pointers to the arrays in the memory of an input, those that the calls take."""
    said = {word for call in calls for word in re.findall(r"\w+", call.text)}
    wanted = [n for n, each in enumerate(made.kept) if abi.names[each.name] in said]
    if not wanted:
        return
    out, at = unit.out, unit.scope.fresh("at")
    out.line(f"{const}char *{at} = ({const}char *){abi.packed(made.input)} + {_head(made)};")
    for n, each in enumerate(made.kept[: wanted[-1] + 1]):
        kind = f"{const}{c_type(each.element)} *"
        if n in wanted:
            out.line(f"{kind}const {abi.names[each.name]} = ({kind}){at};")
        if n < wanted[-1]:
            out.line(f"{at} += {_bytes(each, unit)};")


def _head(made: Beforehand) -> int:
    """Bytes before the first array."""
    return -(-WORD * (1 + len(made.sizes)) // ALIGNMENT) * ALIGNMENT


def _bytes(each: Argument, unit: Unit) -> str:
    """Those of an array, up to where another one can begin."""
    extent = scalar(each.extents[0], unit)
    last = ALIGNMENT - 1
    return f"({extent.at(14)} * {each.element.bytes} + {last}) / {ALIGNMENT} * {ALIGNMENT}"


def _key(made: Beforehand) -> str:
    """What says that this kernel, as it is, made the arrays."""
    text = show_kernel(replace(made.kernel, instructions=()))
    return f"UINT64_C(0x{sha256(text.encode()).hexdigest()[:16]})"


def _code(abi: Abi, a: Argument) -> str:
    kind = codes.PACKED
    place = [x.name for x in ordered(abi.kernel) if x.constant].index(a.name) + 1
    value = codes.code_value(kind, place)
    return next(c.name for c in abi.codes if c.value == value)
