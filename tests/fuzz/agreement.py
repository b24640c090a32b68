"""Holds one case against the oracle: the interpreter after each pass, then the native code."""

from __future__ import annotations

import re
import signal
import tempfile
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from case import Case, Sizes
from headers import precompiled
from tree_meaning import Meaning

from hbc.cli.automatic import automatic
from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import lower_to_kernel
from hbc.cli.runs.emulation import can_emulate
from hbc.cli.runs.instruction_error import expected_outputs
from hbc.cli.runs.native import Native, output_shapes
from hbc.cli.runs.stages import special_of
from hbc.cli.runs.strides import lengthened
from hbc.cli.runs.trials import Special, accepted
from hbc.cli.show.shared_memory import shared_lines
from hbc.codegen.build.amx_emulator import build_emulator
from hbc.codegen.build.cross import is_foreign
from hbc.codegen.build.processor import can_run, emulated_features
from hbc.codegen.build.program import build_callable, for_this_processor
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.codegen.c.work import always_on_threads
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import Reference, compare
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import GPU, TARGETS
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.meaning import interp
from hbc.ir.meaning.numpy_types import numpy_dtype, poison
from hbc.ir.meaning.verify import verify

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]
STRICT_C = ("-Wall", "-Wextra", "-Werror")
UNDEFINED = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
# What the second evaluator is for: functions, families, tuples, reductions in expressions, intervals of data,
# integers of 4 bits.
AGAIN = re.compile(
    r"(?m)^input \w+: [iu]4\[|^def |^for |^\(|\b(sum|product|max|min)\(\w+ in |^reduce .*\bptr\["
)
MOST_AGAIN = 600  # elements of outputs
SECONDS = 60.0  # for one native call
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 3e38, -1e30)

# Whose fault, when HbcError is raised at a stage: these are where a user's mistake is found.
FRONT = ("check", "lower", "the pass after")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`kind` is passed, invalid (the program was refused), rejected (the schedule was), unfit (none
    of its sizes is allowed), slow (the oracle or the interpreter was not done in time) or failed;
    `where` is what failures of one cause have in common. `runs`: at how many sets of sizes it ran.
    `selected`: tensor instructions do some of it. `shares`: some of its Funcs share memory."""

    kind: str
    where: str = ""
    detail: str = ""
    runs: int = 0
    selected: bool = False
    shares: bool = False


class Disagreement(Exception):
    """An output that is not within the oracle's bounds."""


class Stuck(Exception):
    """A case took more processor time than it may."""


@dataclass(frozen=True, slots=True)
class Run:
    """One set of sizes with its inputs and what they must give."""

    sizes: Sizes
    inputs: Arrays
    references: Mapping[str, Reference]
    apart: bool  # rows lie apart in memory


def examine(case: Case, native: bool = True, seconds: float = 60.0, auto: bool = False) -> Outcome:
    """Runs a case through everything, within a limit on processor time where the system has alarms
    (wall clock would let a busy machine decide). `auto`: by a schedule of hbc's own instead of its."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        return _examine(case, native, auto)

    def ring(*_: object) -> None:
        raise Stuck(f"not done after {seconds:g} s of processor time")

    old = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return _examine(case, native, auto)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def _examine(case: Case, native: bool, auto: bool) -> Outcome:
    stage = ["check"]
    kernels: list[tuple[str, Kernel]] = []
    target = TARGETS[case.target]

    def after(name: str, kernel: Kernel) -> None:
        stage[0] = f"verify after {name}"
        verify(kernel, name)
        if not kernels or kernels[-1][1] is not kernel:
            kernels.append((name, kernel))
        stage[0] = f"the pass after {name}"

    try:
        pipeline = check_case(case)
        stage[0] = "lower"
        schedule = pipeline.schedules[0] if pipeline.schedules else None
        if auto:
            stage[0] = "automatic"
            schedule = made_for(pipeline, case)
            stage[0] = "lower"
        lower_to_kernel(pipeline, schedule, target, after)
        kernel = kernels[-1][1]
        # Where too many tiles are refused. (CUDA is for the tests of GPUs.)
        source = None if target.machine == GPU else emit_c(kernel, target)
        stage[0] = "oracle"
        runs = [r for n in range(len(case.sizes)) if (r := prepare(pipeline, kernel, case, n))]
        if not runs:
            return Outcome("unfit", "no sizes are allowed")
        for name, each in kernels:
            stage[0] = f"interp after {name}"
            interpret(each, pipeline, runs)
        if AGAIN.search(case.program):
            stage[0] = "the tree"
            for run in runs:
                from_the_tree(case, pipeline, run)
        if native and source is not None and (can_run(target) or can_emulate(target)):
            stage[0] = f"native {case.target}"
            run_native(source, kernel, pipeline, case, runs)
    except HbcError as e:
        if stage[0].startswith(FRONT):
            kind = "invalid" if stage[0] == "check" else "rejected"
            return Outcome(kind, general(e.diagnostics[0].message), str(e))
        return failure(stage[0], e)
    except Stuck as e:
        if stage[0].startswith(("interp", "oracle", "the tree")):
            return Outcome("slow", stage[0], str(e))
        return failure(stage[0], e)
    except Exception as e:  # noqa: BLE001  whatever is raised is a finding
        return failure(stage[0], e)
    shares = bool(shared_lines(kernel))
    return Outcome("passed", "", "", len(runs), bool(kernel.instructions), shares)


def made_for(p: Pipeline, case: Case) -> Schedule | None:
    """The schedule that hbc makes for the case. A candidate that crashes is a finding."""
    settings = {n: str(v) for n, v in case.sizes[0].items()}
    plain = replace(p, schedules=())
    found = automatic(plain, TARGETS[case.target], settings, case.fixed)
    return None if found is None else found.schedule


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
    if isinstance(e, (RecursionError, Stuck)):
        function = ""
    where = f"{stage}: {type(e).__name__} {function} {message[:80]}"
    return Outcome("failed", where, "".join(traceback.format_exception(e, limit=-6)))


def general(message: str) -> str:
    """A message without the names and numbers that differ from program to program."""
    message = re.sub(r"`[^`]*`|‘[^’]*’", "`_`", message)
    return re.sub(r"(, )?[\w.]+ = 0|\(last.*", "", re.sub(r"\d+", "0", message))


def check_case(case: Case) -> Pipeline:
    settings = {n: str(v) for n, v in case.sizes[0].items()} if case.fixed else {}
    return check(parse(Source("fuzz.hb", case.program)), settings, case.fixed)


def prepare(p: Pipeline, kernel: Kernel, case: Case, number: int) -> Run | None:
    """The inputs for one of the sets of sizes; None when the kernel is to refuse them."""
    sizes = case.sizes[number]
    if not accepted(p, kernel.checks, sizes):
        return None
    rng = np.random.default_rng([case.seed, number])
    special = (case.seed + number) % 3 == 2 and special_of(kernel) == Special()
    inputs = fill_inputs(p, sizes, rng, special)
    expected = expected_outputs(p, sizes, inputs, kernel.instructions)
    return Run(sizes, inputs, expected, (case.seed + number) % 4 == 1)


def fill_inputs(p: Pipeline, sizes: Sizes, rng: np.random.Generator, special: bool) -> Arrays:
    """Random inputs, full range; what a `bound` promises holds."""
    bounds = {b.name: b for b in p.bounds}
    found = {}
    for image in p.inputs:
        shape = extents(image, sizes)
        if image.name in bounds:
            promised = bounds[image.name]
            low = interp.evaluate(promised.lo, sizes, {})[0]
            high = interp.evaluate(promised.hi, sizes, {})[0]
            data = rng.integers(low, max(high, low + 1), shape)
            found[image.name] = data.astype(numpy_dtype(image.element))
        else:
            found[image.name] = random_array(rng, image.element, shape, special)
    return found


def random_array(
    rng: np.random.Generator, t: DType, shape: tuple[int, ...], special: bool
) -> Array:
    """Full-range integers; floats of either sign over ten binades, some `special` (NaN, infinite)."""
    if t == BOOL:
        return rng.random(shape) < 0.5
    if t.is_int:
        low, high = t.limits
        return rng.integers(low, high, shape, numpy_dtype(t), endpoint=True)
    data = rng.uniform(-1, 1, shape) * np.exp2(rng.integers(-6, 4, shape))
    if special:
        data = np.where(rng.random(shape) < 0.1, rng.choice(np.array(SPECIAL), shape), data)
    with np.errstate(all="ignore"):
        return data.astype(numpy_dtype(t))


def interpret(kernel: Kernel, p: Pipeline, runs: list[Run]) -> None:
    """Interprets the kernel on each run, into poisoned outputs, and compares."""
    call = interp.prepare(kernel)
    for run in runs:
        arrays = {**run.inputs}
        for image in p.outputs:
            shape = extents(image, run.sizes)
            count = int(np.prod(shape))
            arrays[image.name] = np.array(poison(image.element, count)).reshape(shape)
        call(run.sizes, arrays)
        compare_all(arrays, run)


def from_the_tree(case: Case, p: Pipeline, run: Run) -> None:
    """Evaluates the text once more, by what shares nothing with the oracle, where that is soon done."""
    if sum(reference.exact.size for reference in run.references.values()) > MOST_AGAIN:
        return
    with np.errstate(all="ignore"):
        meaning = Meaning(case.program, Path(), run.sizes, run.inputs)
        compare_all({image.name: meaning.result(image.name) for image in p.outputs}, run)


def run_native(source: CSource, kernel: Kernel, p: Pipeline, case: Case, runs: list[Run]) -> None:
    """Compiles without warnings and runs in a child process, behind guard pages; tiles in an emulator
    where the processor has none."""
    target = TARGETS[case.target]
    foreign = is_foreign(target.machine)
    emulated = not foreign and emulated_features(target, source.instructions)
    emulator = build_emulator() if emulated else None
    source = always_on_threads(source)
    extra = (*STRICT_C, *(("-O1",) if foreign else levels(case.seed)))
    if not foreign:
        source, target = for_this_processor(source, target, emulate=emulator is not None)
        extra += precompiled(source, target, extra)
    with tempfile.TemporaryDirectory(prefix="hbc-fuzz-") as folder:
        library = build_callable(source, target, Path(folder), extra=extra)
        with Native(library, 2, SECONDS, emulator) as loaded:
            for run in runs:
                images = (*p.inputs, *p.outputs) if run.apart else ()
                rows = {i.name: lengthened(i, kernel.gapless) for i in images}
                called = loaded.call(
                    p.name,
                    [run.sizes[s.name] for s in p.sizes],
                    {image.name: run.inputs[image.name] for image in p.inputs},
                    output_shapes(p, run.sizes),
                    guarded=True,
                    lengthen=rows,
                    in_place=p.in_place,
                )
                compare_all(called.outputs, run)


def levels(seed: int) -> tuple[str, ...]:
    """As users compile it; with undefined behaviour trapped; or quickly."""
    match seed % 6:
        case 0:
            return ()
        case 1:
            return ("-O1", *UNDEFINED)
        case _:
            return ("-O1",)


def compare_all(got: Mapping[str, Any], run: Run) -> None:
    """Raises Disagreement for the first output that differs."""
    for name, reference in run.references.items():
        c = compare(got[name], reference)
        if not c.ok:
            at = " ".join(f"{n}={v}" for n, v in run.sizes.items())
            raise Disagreement(
                f"at {at}: {name}{list(c.first or ())} is {c.got}, the oracle says {c.want} "
                f"+- {c.bound} ({c.mismatches} of {reference.exact.size} elements differ)"
            )
