"""Kernels without loops: every case is one vector statement into its own row of the output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hbc.codegen.c import CSource, emit_c
from hbc.codegen.load import Compiled, load
from hbc.codegen.toolchain import build_cached
from hbc.ir.cse import share
from hbc.ir.interp import Prepared
from hbc.ir.kernel import Argument, Kernel
from hbc.ir.legalize import legalize
from hbc.ir.nodes import Block, Expr, Load, Ramp, Store, const_index
from hbc.ir.numpy_types import Array, numpy_dtype
from hbc.ir.promote import promote
from hbc.ir.target import TARGETS
from hbc.ir.types import DType

LANES = 37  # 32 + 4 + 1, or 16 + 16 + 4 + 1: every width of every register


def row(number: int, lanes: int = LANES) -> Expr:
    """The places of one case in its output."""
    return Ramp(const_index(number * lanes), const_index(1), lanes)


def operand(name: str, t: DType, lanes: int = LANES) -> Expr:
    """All lanes of an input."""
    return Load(name, row(0, lanes), t(lanes))


def lanes_kernel(
    inputs: Mapping[str, DType], outputs: Mapping[str, Sequence[Expr]], lanes: int = LANES
) -> Kernel:
    """A kernel that computes each expression into a row of its output."""
    arguments = [Argument(n, t, (const_index(lanes),), False) for n, t in inputs.items()]
    stores = []
    for name, cases in outputs.items():
        rows = (const_index(len(cases)), const_index(lanes))
        arguments.append(Argument(name, cases[0].type.element, rows, True))
        stores += [Store(name, row(i, lanes), e) for i, e in enumerate(cases)]
    return Kernel("lanes", (), tuple(arguments), (), (), Block(tuple(stores)))


def finish(kernel: Kernel, target: str) -> Kernel:
    """The passes between vectorization and printing."""
    return share(promote(legalize(kernel, TARGETS[target])))


def compiled(kernel: Kernel, target: str, *, sanitize: bool = False) -> Compiled:
    """The kernel as native code."""
    done = finish(kernel, target)
    return load(build_cached(emit_c(done, TARGETS[target]), TARGETS[target]), done)


def text(kernel: Kernel, target: str) -> CSource:
    return emit_c(finish(kernel, target), TARGETS[target])


def poisoned(kernel: Kernel, a: Argument) -> Array:
    """An output full of bytes that no kernel computes by chance."""
    shape = tuple(int(e.value) for e in a.extents)
    array = np.empty(shape, numpy_dtype(a.element))
    array.view(np.uint8)[...] = 0xA5
    return array


def run_both(
    native: Compiled, meaning: Prepared, kernel: Kernel, inputs: Mapping[str, Array]
) -> list[tuple[str, Array, Array]]:
    """(output, native result, interpreter's result) for each output."""
    results = []
    for call in (native, meaning):
        arrays = dict(inputs)
        for a in kernel.arguments:
            if a.output:
                arrays[a.name] = poisoned(kernel, a)
        call({}, arrays)
        results.append(arrays)
    return [(a.name, results[0][a.name], results[1][a.name]) for a in kernel.arguments if a.output]
