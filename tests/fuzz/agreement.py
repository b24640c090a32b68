"""Holds one case against the oracle: the interpreter after each pass, then the native code."""

from __future__ import annotations

import re
import signal
import tempfile
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from case import Case

from hbc.cli.machine import can_run
from hbc.cli.native import Native, output_shapes
from hbc.cli.pipeline import lower_to_kernel
from hbc.cli.sizes import extents
from hbc.codegen.c import emit_c
from hbc.codegen.toolchain import build
from hbc.frontend.check import check
from hbc.frontend.funcs import Pipeline
from hbc.frontend.oracle import Reference, compare, evaluate
from hbc.frontend.parse import parse
from hbc.ir import interp
from hbc.ir.diag import HbcError
from hbc.ir.kernel import Kernel
from hbc.ir.numpy_types import numpy_dtype, poison
from hbc.ir.source import Source
from hbc.ir.target import TARGETS
from hbc.ir.types import BOOL, DType
from hbc.ir.verify import verify

Arrays = dict[str, np.ndarray[Any, Any]]
STRICT_C = ("-Wall", "-Wextra", "-Werror")
SECONDS = 60.0  # for one native call


@dataclass(frozen=True, slots=True)
class Outcome:
    """`kind` is passed, invalid (the program was refused), rejected (the schedule was) or failed;
    `where` is what failures have in common when they have one cause."""

    kind: str
    where: str = ""
    detail: str = ""


class Disagreement(Exception):
    """An output that is not within the oracle's bounds."""


class Stuck(Exception):
    """A case took longer than it may."""


def examine(case: Case, native: bool = True, seconds: float = 60.0) -> Outcome:
    """Runs a case through everything, within a time limit where the system has alarms."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        return _examine(case, native)

    def ring(*_: object) -> None:
        raise Stuck(f"not done after {seconds:g} s")

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return _examine(case, native)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _examine(case: Case, native: bool) -> Outcome:
    stage = ["check"]
    try:
        pipeline = check_case(case)
        stage[0] = "oracle"
        inputs = fill_inputs(pipeline, case)
        references = evaluate(pipeline, case.sizes, inputs)
    except HbcError as e:
        return Outcome("invalid", f"{stage[0]}: {general(e.diagnostics[0].message)}", str(e))
    except Exception as e:  # noqa: BLE001  whatever is raised is a finding
        return failure(stage[0], e)
    kernels: list[Kernel] = []

    def after(name: str, kernel: Kernel) -> None:
        stage[0] = f"verify after {name}"
        verify(kernel, name)
        stage[0] = f"interp after {name}"
        if not kernels or kernels[-1] is not kernel:
            compare_all(interpret(kernel, pipeline, case, inputs), references)
        kernels.append(kernel)
        stage[0] = f"the pass after {name}"

    try:
        stage[0] = "lower"
        schedule = pipeline.schedules[0] if pipeline.schedules else None
        lower_to_kernel(pipeline, schedule, TARGETS[case.target], after)
        if native and can_run(TARGETS[case.target]):
            stage[0] = f"native {case.target}"
            compare_all(run_native(kernels[-1], pipeline, case, inputs), references)
    except HbcError as e:
        if stage[0].startswith(("lower", "the pass")):
            return Outcome("rejected", general(e.diagnostics[0].message), str(e))
        return failure(stage[0], e)
    except Exception as e:  # noqa: BLE001  whatever is raised is a finding
        return failure(stage[0], e)
    return Outcome("passed")


def failure(stage: str, e: Exception) -> Outcome:
    """Where it happened: the stage, the exception, and the innermost function of hbc."""
    inside = [f for f in traceback.extract_tb(e.__traceback__) if "/tests/" not in f.filename]
    function = f"{Path(inside[-1].filename).name}:{inside[-1].name}" if inside else ""
    lines = str(e).splitlines() or [""]
    # Of a refused C text, the first error of the compiler.
    line = next((x.partition("error:")[2] for x in lines[1:] if "error:" in x), lines[0])
    message = general(line)
    if isinstance(e, Disagreement):
        message, function = "wrong values", ""
    where = f"{stage}: {type(e).__name__} {function} {message[:80]}"
    return Outcome("failed", where, "".join(traceback.format_exception(e, limit=-6)))


def general(message: str) -> str:
    """A message without the names and numbers that differ from program to program."""
    message = re.sub(r"`[^`]*`|‘[^’]*’", "`_`", message)
    return re.sub(r"\d+", "0", message)


def check_case(case: Case) -> Pipeline:
    settings = {n: str(v) for n, v in case.sizes.items()} if case.fixed else {}
    return check(parse(Source("fuzz.hb", case.program)), settings, case.fixed)


def fill_inputs(p: Pipeline, case: Case) -> Arrays:
    """Random inputs, full range; what a `bound` promises holds."""
    rng = np.random.default_rng(case.seed)
    bounds = {b.name: b for b in p.bounds}
    found = {}
    for image in p.inputs:
        shape = extents(image, case.sizes)
        if image.name in bounds:
            promised = bounds[image.name]
            low = interp.evaluate(promised.lo, case.sizes, {})[0]
            high = interp.evaluate(promised.hi, case.sizes, {})[0]
            data = rng.integers(low, high, shape)
            found[image.name] = data.astype(numpy_dtype(image.element))
        else:
            found[image.name] = random_array(rng, image.element, shape, case.seed == 9)
    return found


def random_array(
    rng: np.random.Generator, t: DType, shape: tuple[int, ...], special: bool
) -> np.ndarray[Any, Any]:
    """Full-range integers; floats of either sign over ten binades, some `special` (NaN, infinite)."""
    if t == BOOL:
        return rng.random(shape) < 0.5
    if t.is_int:
        low, high = t.limits
        return rng.integers(low, high, shape, numpy_dtype(t), endpoint=True)
    data = rng.uniform(-1, 1, shape) * np.exp2(rng.integers(-6, 4, shape))
    if special:
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38, -1e30])
        data = np.where(rng.random(shape) < 0.1, rng.choice(odd, shape), data)
    with np.errstate(all="ignore"):
        return data.astype(numpy_dtype(t))


def interpret(kernel: Kernel, p: Pipeline, case: Case, inputs: Arrays) -> Arrays:
    arrays = {**inputs}
    for image in p.outputs:
        shape = extents(image, case.sizes)
        count = int(np.prod(shape))
        arrays[image.name] = np.array(poison(image.element, count)).reshape(shape)
    interp.run(kernel, case.sizes, arrays)
    return arrays


def run_native(kernel: Kernel, p: Pipeline, case: Case, inputs: Arrays) -> Mapping[str, Any]:
    """Compiles without warnings and runs in a child process, behind guard pages."""
    target = TARGETS[case.target]
    source = emit_c(kernel, target)
    level = () if case.seed % 3 == 0 else ("-O1",)
    with tempfile.TemporaryDirectory(prefix="hbc-fuzz-") as folder:
        library = build(source, target, Path(folder, "k.so"), extra=(*STRICT_C, *level))
        with Native(library, threads=2, timeout=SECONDS) as loaded:
            sizes = [case.sizes[s.name] for s in p.sizes]
            shapes = output_shapes(p, case.sizes)
            ordered = {image.name: inputs[image.name] for image in p.inputs}
            return loaded.call(p.name, sizes, ordered, shapes, guarded=True).outputs


def compare_all(got: Mapping[str, Any], references: Mapping[str, Reference]) -> None:
    """Raises Disagreement for the first output that differs."""
    for name, reference in references.items():
        c = compare(got[name], reference)
        if not c.ok:
            raise Disagreement(
                f"{name}{list(c.first or ())} is {c.got}, the oracle says {c.want} +- {c.bound} "
                f"({c.mismatches} of {reference.exact.size} elements differ)"
            )
