"""Runs the IR after each pass, and the native code, on trials; keeps what differs from the oracle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from hbc.cli.compiled import Chosen
from hbc.cli.files.inputs import gather_inputs
from hbc.cli.files.sizes import extents, given_sizes
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.instruction_error import expected_outputs
from hbc.cli.runs.interpreted import statements_run
from hbc.cli.runs.native import Native, output_shapes
from hbc.cli.runs.strides import lengthened, padding
from hbc.cli.runs.trials import MEDIUM, SMALL, Special, Trial
from hbc.cli.runs.trials_by_size import Tried, count_taken, trials_for
from hbc.cli.runs.work import count_work
from hbc.cli.show.report import Progress, notice
from hbc.frontend.oracle.oracle import Reference
from hbc.frontend.program.funcs import Example, Pipeline
from hbc.ir.ground.diag import HbcError, InternalError, ToolError
from hbc.ir.ground.record import mutable
from hbc.ir.lang.instruction import Subnormals
from hbc.ir.lang.kernel import Kernel
from hbc.ir.meaning.interp import InterpError, Prepared, prepare
from hbc.ir.meaning.numpy_types import poison

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

SEED = 1  # the same trials every time
INTERPRETED_WORK = 20_000  # operations: the interpreter takes microseconds for each
NATIVE_WORK = 20_000_000
EXAMPLE_WORK = 20_000_000_000  # more keeps the oracle busy for minutes
LONG_RUN = 1_000_000  # statements: seconds; later trials have a tenth
KEPT_MISTAKES = 3  # of each stage

Outputs = Mapping[str, "Array"]


@mutable
class Stage:
    """What was found of one stage: a pass, or the native code. `worst` is the largest error over
    its bound. `emulated`: how often native code executed each instruction that an emulator has.
    `anything`: of so many `elements` that were compared, those whose bounds hold every value."""

    name: str
    trials: int = 0
    worst: float = 0.0
    mistakes: list[str] = field(default_factory=list)
    emulated: Mapping[str, int] = field(default_factory=dict)
    elements: int = 0
    anything: int = 0

    @property
    def ok(self) -> bool:
        return not self.mistakes

    def attempt(
        self, trial: Trial, compute: Callable[[], Outputs], expected: Mapping[str, Reference]
    ) -> None:
        """Runs the stage on a trial and compares. Refusing the trial is a mistake too, crashing a
        bug; a machine that cannot run it is neither."""
        self.trials += 1
        try:
            checked = check_outputs(compute(), expected)
        except ToolError:
            raise
        except HbcError as failure:
            texts: tuple[str, ...] = tuple(d.message for d in failure.diagnostics)
        except InterpError as failure:
            texts = (str(failure),)
        except InternalError as failure:
            raise InternalError(f"{self.name}: at {trial}: {failure}") from failure
        else:
            self.worst = max(self.worst, checked.max_error_over_bound)
            self.elements += checked.elements
            self.anything += checked.anything
            texts = checked.mistakes
        room = KEPT_MISTAKES - len(self.mistakes)
        self.mistakes += [f"{self.name}: at {trial}: {text}" for text in texts[:room]]


@dataclass(frozen=True, slots=True, eq=False)
class _Pass:
    """The kernel after a pass, and what is found of it."""

    stage: Stage
    kernel: Kernel
    run: Prepared


def verify_passes(
    chosen: Chosen, given: Mapping[str, int], example: Example,
    kernels: Sequence[tuple[str, Kernel]], count: int, shown: Progress, tried: Tried | None = None,
) -> list[Stage]:  # fmt: skip
    """Interprets the kernel after each pass at small odd sizes. Passes that changed nothing are left
    out. Those that run too many statements, as big tiles do element by element, are interpreted where the
    last one is wrong, to tell which pass it was; in the first trial they may run more. `tried` counts the
    trials for each of several schedules."""
    p = chosen.pipeline
    changed = [
        (name, kernel)
        for number, (name, kernel) in enumerate(kernels)
        if number == 0 or kernel is not kernels[number - 1][1]
    ]
    made = [_Pass(Stage(name), kernel, prepare(kernel)) for name, kernel in changed]
    last = kernels[-1][1]
    trials = trials_for(
        chosen, last.checks, given, example, SMALL, INTERPRETED_WORK, count, SEED, special_of(last),
        tried,
    )  # fmt: skip
    for number, trial in enumerate(trials):
        shown.step(f"interpreting at {trial}")
        expected = _expected(p, trial, last)
        most = LONG_RUN if number == 0 else LONG_RUN // 10
        late = [
            s for s in made if statements_run(s.kernel, trial.sizes) > most and s is not made[-1]
        ]
        for one in (s for s in made if s not in late):
            one.stage.attempt(trial, partial(_interpret, p, one.run, trial), expected)
        for one in late if not made[-1].stage.ok else ():
            one.stage.attempt(trial, partial(_interpret, p, one.run, trial), expected)
    return [one.stage for one in made]


def verify_native(
    chosen: Chosen, settings: Mapping[str, str], example: Example, kernel: Kernel,
    native: Native, count: int, shown: Progress, tried: Tried | None = None,
) -> Stage:  # fmt: skip
    """Runs the compiled code on the example, then at odd sizes: with guarded memory, and in every
    third trial with rows that lie apart, in every other third with constant inputs packed beforehand."""
    p = chosen.pipeline
    constants = () if chosen.fallback else tuple(i.name for i in p.inputs if i.constant)
    stage = Stage("native")
    given = given_sizes(p, settings)
    trials = trials_for(
        chosen, kernel.checks, given, example, MEDIUM, NATIVE_WORK, count, SEED, special_of(kernel),
        tried,
    )  # fmt: skip
    examples = list(_example_trial(p, settings, example))
    for trial in examples:
        count_taken(chosen, trial, tried)
    for number, trial in enumerate(chain(examples, trials)):
        shown.step(f"running at {trial}")
        expected = _expected(p, trial, kernel)
        apart, packs = number % 3 == 2, constants if number % 3 == 0 else ()
        stage.attempt(trial, partial(outputs_at, p, kernel, native, trial, apart, packs), expected)
    return stage


def _expected(p: Pipeline, trial: Trial, kernel: Kernel) -> Mapping[str, Reference]:
    return expected_outputs(p, trial.sizes, trial.inputs, kernel.instructions)


def special_of(kernel: Kernel) -> Special:
    """The special inputs that the kernel can be held to. Its instructions may take subnormal numbers for
    zeros, as no schedule says: infinity times one is then NaN, and infinity for the oracle."""
    roundings = (i.rounding.subnormals for i in kernel.instructions)
    return Special(Subnormals.FLUSHED not in roundings, not kernel.assumes_finite)


def _example_trial(p: Pipeline, settings: Mapping[str, str], example: Example) -> Iterator[Trial]:
    """The example as it stands, unless the file has none or the oracle would take minutes."""
    if not p.examples:
        return
    run = gather_inputs(p, settings, example, {})
    if count_work(p, run.sizes).total <= EXAMPLE_WORK:
        yield Trial(run.sizes, "the example's", run.inputs)
    else:
        notice("note: the example is left out, the oracle would take minutes for it")


def _interpret(p: Pipeline, run: Prepared, trial: Trial) -> Outputs:
    outputs = {
        image.name: poison(image.element, math.prod(shape)).reshape(shape)
        for image in p.outputs
        for shape in [extents(image, trial.sizes)]
    }
    with np.errstate(all="ignore"):
        run(trial.sizes, {**trial.inputs, **outputs})
    return outputs


def outputs_at(
    p: Pipeline, kernel: Kernel, native: Native, trial: Trial, apart: bool, packs: Sequence[str]
) -> Outputs:
    """The outputs of a library on a trial, in guarded memory; with rows that lie `apart`, or with constant
    inputs packed beforehand."""
    sizes = [trial.sizes[size.name] for size in kernel.sizes]
    shapes = output_shapes(p, trial.sizes)
    images = (*p.inputs, *p.outputs) if apart else ()
    rows = {image.name: lengthened(image, kernel.gapless) for image in images}
    called = native.call(
        kernel.name, sizes, trial.inputs, shapes, guarded=True, lengthen=rows,
        padding=padding(kernel.checks), packs=packs, in_place=p.in_place,
    )  # fmt: skip
    return called.outputs
