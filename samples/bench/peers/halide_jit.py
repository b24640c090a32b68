"""Compiles Halide pipelines for this host and picks the fastest of several schedules."""

import contextlib
import importlib.metadata
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import bfloat
import numpy as np
import timing

LANES = 16  # f32 lanes of an AVX-512 vector
hl: Any = timing.load("halide") if importlib.util.find_spec("halide") else None

# A Buffer inside an Expr does not keep its NumPy array alive.
_kept: list[Any] = []


@dataclass(frozen=True, slots=True)
class Schedule:
    """A pipeline with one schedule: `build` returns the output Func and its parameters in order."""

    note: str
    build: Callable[[], tuple[Any, list[Any]]]


def names(text: str) -> list[Any]:
    """One Var for each word."""
    return [hl.Var(name) for name in text.split()]


def reduction_names(text: str) -> list[Any]:
    """One RVar for each word."""
    return [hl.RVar(name) for name in text.split()]


def funcs(text: str) -> list[Any]:
    """One Func for each word."""
    return [hl.Func(name) for name in text.split()]


def dense(parameter: Any, *extents: int) -> None:
    """Fixes a parameter's bounds and strides to a dense array, innermost extent first."""
    stride = 1
    for dimension, extent in enumerate(extents):
        parameter.dim(dimension).set_bounds(0, extent).set_stride(stride)
        stride *= extent


def constant_table(array: timing.Array) -> Any:
    """A Buffer for use inside expressions."""
    buffer = hl.Buffer(array)
    _kept.append((array, buffer))
    return buffer


def bf16_buffer(bits: bfloat.Bits) -> Any:
    """A bf16 Buffer; NumPy cannot hand one over, so Halide copies the bits."""
    source = hl.Buffer(bits)
    variables = names(" ".join(f"v{axis}" for axis in range(bits.ndim)))
    copy = hl.Func("bits")
    copy[tuple(variables)] = hl.reinterpret(hl.BFloat(16), source[tuple(variables)])
    return copy.realize(list(bits.shape[::-1]))


def require() -> None:
    """Raises MissingPeer where Halide is not installed; starts its compiler where it is."""
    if hl is None:
        raise timing.MissingPeer("halide")
    (x,) = names("x")
    first = hl.Func("first")
    first[x] = x
    first.realize([LANES])


def fastest(
    schedules: Sequence[Schedule], inputs: Sequence[Any], output: timing.Array, peer: str = ""
) -> timing.Candidate:
    """Tries each schedule briefly and returns the best; `inputs` are arrays or Buffers.

    Raises Unsuitable where Halide refuses every one, as it does below the size of a block.
    """
    found: list[tuple[float, timing.Candidate]] = []
    refusal = ""
    for schedule in schedules:
        try:
            with contextlib.redirect_stdout(sys.stderr):  # Halide's warnings
                candidate = _compile(schedule, inputs, output, peer)
            found.append((timing.measure(candidate.run, 0.1, 1.0).best, candidate))
        except hl.HalideError as error:
            refusal = str(error).strip().partition("\n")[0]
    if not found:
        raise timing.Unsuitable(refusal)
    return min(found, key=lambda entry: entry[0])[1]


def _compile(
    schedule: Schedule, inputs: Sequence[Any], output: timing.Array, peer: str
) -> timing.Candidate:
    func, parameters = schedule.build()
    start = time.perf_counter()
    call = func.compile_to_callable(parameters, hl.get_jit_target_from_environment())
    seconds = time.perf_counter() - start
    arguments = [hl.Buffer(i) if isinstance(i, np.ndarray) else i for i in inputs]
    result = hl.Buffer(output)

    def run() -> None:
        call(*arguments, result)

    return timing.Candidate(
        version=importlib.metadata.version("halide"),
        run=run,
        output=output,
        note=schedule.note,
        peer=peer,
        seconds_compile=seconds,
    )
