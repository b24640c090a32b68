"""Kernels as text that execute described instructions of NEON, and how they are built and called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path

import numpy as np

from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.build.toolchain import Compiler
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import load_instructions
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import ARM, Target
from hbc.ir.lang.types import DType
from hbc.ir.meaning.contraction import shape
from hbc.ir.meaning.numpy_types import Array, bits_dtype, numpy_dtype
from hbc.ir.passes.legalize import legalize
from hbc.ir.passes.promote import promote
from hbc.ir.passes.share import share

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
SECONDS = 60.0  # for one call
INSTRUCTIONS = [
    i for i in load_instructions(builtin_descriptions()).instructions if i.place.machine == ARM
]


def kernel_of(name: str, instructions: Sequence[Instruction]) -> Kernel:
    """One after the other: accumulators in registers, over N steps of a loop."""
    parts = [_loop(i) for i in instructions]
    heads = "\n".join([head for head, _ in parts] + [f"instruction {i.name}" for i in instructions])
    bodies = "\n".join(body for _, body in parts)
    return read_kernel(f"kernel {name}\nsize N\n{heads}\n{{\n{bodies}\n}}\n", instructions)


FORMS = 4  # ways in which the operands come


def _loop(i: Instruction) -> tuple[str, str]:
    """The arguments and the statements for one instruction: its operands loaded, a group of four
    bytes or of eight repeated, and one execution on top of another."""
    c, a, b = (i.operands[n] for n in (i.accumulator, *i.factors))
    counts = [prod(shape(i, n, {})) for n in (i.accumulator, *i.factors)]
    lanes, width = counts[0], counts[1]
    n = i.name
    head = (
        f"input A_{n}: {a.element}[N, {width}]\ninput B_{n}: {b.element}[N, {width}]\n"
        f"input C_{n}: {c.element}[{lanes}]\noutput D_{n}: {c.element}[{FORMS}, {lanes}]"
    )
    A = f"A_{n}.{a.element}x{width}[ramp(k * A_{n}_stride0, 1, {width})]"
    B = f"B_{n}.{b.element}x{width}[ramp(k * B_{n}_stride0, 1, {width})]"
    four, eight = 4 // a.element.bytes, 8 // b.element.bytes
    A4 = f"x{width // four}(A_{n}.{a.element}x{four}[ramp(k * A_{n}_stride0 + {four}, 1, {four})])"
    B8 = f"x{width // eight}(B_{n}.{b.element}x{eight}[ramp(k * B_{n}_stride0, 1, {eight})])"

    def acc(form: int) -> str:
        return f"acc_{n}.{c.element}x{lanes}[ramp({form * lanes}, 1, {lanes})]"

    def do(total: str, x: str, y: str) -> str:
        given = {c.name: total, a.name: x, b.name: y}
        arguments = ", ".join(given[o.name] for o in i.operands)
        return f"instruct<{n}:{c.element}x{lanes}>({arguments})"

    values = [do(acc(0), A, B), do(acc(1), A4, B), do(acc(2), A, B8), do(do(acc(3), A, B), A4, B8)]
    place = [f"ramp({form * lanes}, 1, {lanes})" for form in range(FORMS)]
    lines = [f"allocate acc_{n}: {c.element}[{FORMS * lanes}] in registers {{"]
    start = f"C_{n}.{c.element}x{lanes}[ramp(0, 1, {lanes})]"
    lines += [f"  acc_{n}[{p}] = {start}" for p in place]
    lines.append("  for k from 0 count N {")
    lines += [f"    acc_{n}[{p}] = {v}" for p, v in zip(place, values, strict=True)]
    lines.append("  }")
    lines += [f"  D_{n}[ramp(D_{n}_stride0 * {f}, 1, {lanes})] = {acc(f)}" for f in range(FORMS)]
    return head, "\n".join([*lines, "}"])


def inputs_of(kernel: Kernel, steps: int, seed: int) -> dict[str, Array]:
    """Any bits at all for integers; floats of all sizes, now and then any bits."""
    rng = np.random.default_rng(seed)
    found = {}
    for a in kernel.arguments:
        if not a.output:
            rows = (steps,) if len(a.extents) == 2 else ()
            width = int(getattr(a.extents[-1], "value", 0))
            found[a.name] = _random(rng, a.element, (*rows, width))
    return found


def _random(rng: np.random.Generator, t: DType, extents: tuple[int, ...]) -> Array:
    bits = rng.integers(0, 1 << t.bits, extents, bits_dtype(t).type).view(numpy_dtype(t))
    if not t.is_float:
        return bits
    usual = (rng.uniform(-1, 1, extents) * np.exp2(rng.integers(-30, 31, extents))).astype(
        numpy_dtype(t)
    )
    return np.where(rng.random(extents) < 0.002, bits, usual)


def finished(kernel: Kernel, target: Target) -> CSource:
    """The C, after the passes that follow selection."""
    return emit_c(share(promote(legalize(kernel, target))), target)


def called(
    kernel: Kernel, target: Target, compiler: Compiler, folder: Path, steps: int,
    inputs: Mapping[str, Array],
) -> Mapping[str, Array]:  # fmt: skip
    """The outputs, computed under the emulator where this is no ARM processor."""
    source = finished(kernel, target)
    program = build_callable(source, target, folder, compiler=compiler, extra=STRICT)
    shapes = {
        a.name: (tuple(int(getattr(e, "value", 0)) for e in a.extents), a.element)
        for a in kernel.arguments
        if a.output
    }
    with Native(program, 1, SECONDS) as native:
        return native.call(kernel.name, [steps], inputs, shapes, guarded=True).outputs
