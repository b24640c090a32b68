"""Compiles a program for a target with tensor instructions and holds it against the oracle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from hbc.cli.files.inputs import gather_inputs
from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.codegen.c.file import emit_c
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.program.funcs import Example, Fill, Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Binary, Op, VectorReduce
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import I64
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import prepare
from hbc.ir.meaning.numpy_types import poison
from hbc.ir.meaning.verify import verify

Array = np.ndarray[Any, Any]
Sizes = Mapping[str, int]
CHECKED = ("select", "hoist")  # the passes after which a kernel is run: selection, and the last


def compiled(
    text: str, target: str, schedule: str | None = None, settings: Mapping[str, str] | None = None,
    name: str = "test.hb",
) -> tuple[Pipeline, dict[str, Kernel]]:  # fmt: skip
    """The program and its kernels after the passes of `CHECKED`."""
    p = check(parse(Source(name, text)), settings or {})
    found: dict[str, Kernel] = {}

    def after(stage: str, kernel: Kernel) -> None:
        verify(kernel, stage)
        if stage in CHECKED:
            found[stage] = kernel

    kernel = lower_to_kernel(p, choose_schedule(p, target, schedule), TARGETS[target], after)
    emit_c(kernel, TARGETS[target])  # where tiles get their registers
    return p, found


class _Done(Exception):
    """Selection is done; later passes are not wanted."""


def selected(text: str, target: str) -> tuple[Pipeline, Kernel]:
    """The program with its first schedule, and its kernel after selection."""
    p = check(parse(Source("test.hb", text)), {})
    found: list[Kernel] = []

    def after(stage: str, kernel: Kernel) -> None:
        if stage == "select":
            found.append(kernel)
            raise _Done

    with suppress(_Done):
        lower_to_kernel(p, p.schedules[0], TARGETS[target], after)
    verify(found[0], "select")
    return p, found[0]


def products_left(kernel: Kernel) -> int:
    """Sums of products that no instruction does."""
    return sum(
        isinstance(n, VectorReduce)
        and n.op is Op.ADD
        and any(
            isinstance(m, Binary) and m.op is Op.MUL and m.type.element != I64
            for m in nodes(n.value)
        )
        for n in nodes(kernel.body)
    )


def assert_selected(kernel: Kernel) -> None:
    """Every sum of products is done by instructions of the target."""
    assert kernel.instructions, "no tensor instruction was selected"
    assert products_left(kernel) == 0, "sums of products are left"


def assert_agrees(p: Pipeline, kernel: Kernel, sizes: Sizes, seed: int = 1) -> None:
    """The interpreted kernel gives what the oracle says, on random inputs of the whole range."""
    fills = tuple(
        (image.name, Fill("random", (seed + n, *((-1, 1) if image.element.is_float else ()))))
        for n, image in enumerate(p.inputs)
    )
    run = gather_inputs(p, {n: str(v) for n, v in sizes.items()}, Example("", (), fills), {})
    expected = evaluate(p, run.sizes, run.inputs)
    outputs: dict[str, Array] = {}
    for image in p.outputs:
        shape = extents(image, run.sizes)
        outputs[image.name] = poison(image.element, math.prod(shape)).reshape(shape)
    with np.errstate(all="ignore"):
        prepare(kernel)(run.sizes, {**run.inputs, **outputs})
    for name, reference in expected.items():
        found = compare(outputs[name], reference)
        assert found.mismatches == 0, f"{name} at {dict(sizes)}: {found}"
