"""Kernels that apply operations to whole arrays, compiled, and what the interpreter says of them.

Every case is a loop of its own over the same inputs and has its own row in an output, so that
hundreds of cases are one C file and one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from values import values

from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.ir.lang.build import add, mul
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import Block, Expr, For, Load, LoopKind, Ramp, Stmt, Store, Var, const_index
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES, DType
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.numpy_types import Array
from hbc.ir.passes.legalize import legalize
from hbc.ir.passes.promote import promote
from hbc.ir.passes.share import share

# 32 + 4 + 1, or 16 + 16 + 4 + 1: pieces of every width and a lane alone.
LANES = 37
COUNT = LANES * 16  # elements of every input
QUICK = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
SECONDS = 60.0  # for one call

Read = Callable[[str, DType], Expr]
"""The lanes at hand of the input `a`, `b` or `c` of a type."""


@dataclass(frozen=True, slots=True)
class Case:
    """An operation on inputs. `ulps`: how far a float result may be from the interpreter's.
    `signed_zero`: whether -0 is told from 0."""

    name: str
    value: Callable[[Read], Expr]
    ulps: float = 0
    signed_zero: bool = True


def disagreements(
    cases: Sequence[Case], target: str, lanes: int, folder: Path,
    options: Sequence[str] = QUICK, given: Mapping[str, Array] | None = None,
) -> list[str]:  # fmt: skip
    """A line for every case whose native result, in vectors of `lanes`, is not the interpreter's.
    `given`: the inputs, all of one length, if not those of `values`."""
    rows, inputs = native_rows(cases, target, lanes, folder, options, given)
    count = len(rows[0])
    lines = []
    for case, row in zip(cases, rows, strict=True):
        y = evaluate(case.value(reader(const_index(0), count)), {}, inputs)
        x = row[: len(y)]
        wrong = np.flatnonzero(differ(x, y, case.ulps, case.signed_zero))
        if len(wrong):
            i, lanes = int(wrong[0]), count // len(y)
            names = _loaded(case.value(reader(const_index(0), lanes)))
            read = {name: inputs[name][i * lanes : (i + 1) * lanes].tolist() for name in names}
            lines.append(f"{case.name}: {len(wrong)} differ: {x[i]!r}, not {y[i]!r}, for {read}")
    return lines


def native_rows(
    cases: Sequence[Case], target: str, lanes: int, folder: Path,
    options: Sequence[str] = QUICK, given: Mapping[str, Array] | None = None,
) -> tuple[list[Array], Mapping[str, Array]]:  # fmt: skip
    """What native code gives for each case, and the inputs by name."""
    count = len(next(iter(given.values()))) if given else COUNT
    kernel, places = make_kernel(cases, lanes, count)
    names = [a.name for a in kernel.arguments if not a.output]
    inputs = {name: given[name] if given else values(name) for name in names}
    got = call(kernel, inputs, target, folder, options)
    return [got[name][row] for name, row in places], inputs


def make_kernel(
    cases: Sequence[Case], lanes: int, count: int = COUNT
) -> tuple[Kernel, list[tuple[str, int]]]:
    """A loop for each case; its results are a row of the output for their element type."""
    counts: dict[str, int] = {}
    places: list[tuple[str, int]] = []
    loops: list[Stmt] = []
    inputs: dict[str, None] = {}
    first = mul(Var("r"), lanes)
    for case in cases:
        value = case.value(reader(first, lanes))
        output = f"out_{value.type.element}"
        row = counts.get(output, 0)
        counts[output] = row + 1
        places.append((output, row))
        width = value.type.lanes  # fewer than `lanes` for a reduction
        store = Store(output, span(add(mul(Var("r"), width), row * count), width), value)
        rounds = const_index(count // lanes)
        loops.append(For("r", const_index(0), rounds, LoopKind.SERIAL, store, case.name))
        inputs |= dict.fromkeys(_loaded(value))
    arguments = [Argument(n, DTYPES[n[2:]], (const_index(count),), False) for n in inputs]
    for name, rows in counts.items():
        extents = const_index(rows), const_index(count)
        arguments.append(Argument(name, DTYPES[name[4:]], extents, True))
    return Kernel("lanes", (), tuple(arguments), (), (), Block(tuple(loops))), places


def reader(first: Expr, lanes: int) -> Read:
    """Loads of `lanes` elements from `first` on."""
    return lambda name, t: Load(f"{name}_{t}", span(first, lanes), t(lanes))


def span(first: Expr, lanes: int) -> Expr:
    """So many adjacent elements."""
    return first if lanes == 1 else Ramp(first, const_index(1), lanes)


def _loaded(e: Expr) -> Iterable[str]:
    return sorted({n.buffer for n in nodes(e) if isinstance(n, Load)})


def finish(kernel: Kernel, target: str) -> CSource:
    """The C, after the passes that follow vectorization."""
    machine = TARGETS[target]
    return emit_c(share(promote(legalize(kernel, machine))), machine)


def call(
    kernel: Kernel, inputs: Mapping[str, Array], target: str, folder: Path,
    options: Sequence[str] = QUICK, sizes: Mapping[str, int] = MappingProxyType({}),
    sanitize: bool = False,
) -> Mapping[str, Array]:  # fmt: skip
    """The outputs, computed in a child process in which memory behind every array faults."""
    machine = TARGETS[target]
    library = build_callable(
        finish(kernel, target), machine, folder, extra=options, sanitize=sanitize
    )
    shapes = {a.name: (shape_of(a), a.element) for a in kernel.arguments if a.output}
    with Native(library, 1, SECONDS) as native:
        return native.call(kernel.name, list(sizes.values()), inputs, shapes, guarded=True).outputs


def shape_of(a: Argument) -> tuple[int, ...]:
    """The extents of an argument, which are literals."""
    return tuple(int(evaluate(e, {}, {})[0]) for e in a.extents)


def differ(x: Array, y: Array, ulps: float = 0, signed_zero: bool = True) -> Array:
    """Where the native x is not the y that is right: bools are bytes 0 or 1, every NaN is alike."""
    bits = np.dtype(f"uint{8 * x.dtype.itemsize}")
    wrong = x.view(bits) != y.view(bits)
    if x.dtype.kind in "biu":
        return np.asarray(wrong)
    if ulps:
        wrong &= _distance(x, y) > ulps
    with np.errstate(invalid="ignore"):  # signalling NaNs
        nan_x, nan_y = x != x, y != y
        if not signed_zero:
            wrong &= (x != 0) | (y != 0)
    return np.asarray((nan_x != nan_y) | (wrong & ~nan_x & ~nan_y))


def _distance(x: Array, y: Array) -> Array:
    """How many floats lie between x and y, across 0 too."""
    signed = np.dtype(f"int{8 * x.dtype.itemsize}")
    least = np.iinfo(signed).min
    a, b = (
        np.where(v < 0, least - v, v).astype(np.int64) for v in (x.view(signed), y.view(signed))
    )
    return np.abs(a - b)
