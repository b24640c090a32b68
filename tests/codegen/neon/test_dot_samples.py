"""The samples for ARM: the instructions that each setting selects, and the results, with tails."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from hbc.cli.files.inputs import gather_inputs
from hbc.cli.files.sizes import extents
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.instruction_error import with_instructions
from hbc.cli.runs.native import Native
from hbc.cli.runs.work import count_work
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import evaluate
from hbc.frontend.program.funcs import Example, Fill
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.nodes import Instruct
from hbc.ir.lang.target import Target
from hbc.ir.lang.walk import nodes

FOLDER = Path(__file__).resolve().parents[3] / "samples" / "arm"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
GEMM = ("M N K", ((8, 32, 16), (1, 1, 1), (3, 17, 2), (4, 16, 3), (7, 33, 37)))
LAYER = ("N H W C K", ((1, 2, 5, 8, 32), (2, 3, 4, 4, 17), (1, 1, 1, 4, 1), (1, 2, 9, 12, 48)))
UNSIGNED = {"A_type": "u8", "B_type": "u8", "S": "u32"}
FLOATS = {"A_type": "bf16", "B_type": "bf16", "S": "f32"}


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    settings: Mapping[str, str]
    instructions: tuple[str, ...]  # the last one does all but the edges
    sizes: tuple[str, tuple[tuple[int, ...], ...]]
    schedule: str | None = None

    def __str__(self) -> str:
        return f"{self.name}-{self.instructions[-1]}"


CASES = (
    Case("gemm", {}, ("sdot",), GEMM),
    Case("gemm", {"A_type": "u8"}, ("usdot",), GEMM),
    Case("gemm", UNSIGNED, ("udot",), GEMM),
    Case("gemm", FLOATS, ("bfdot", "bfmmla"), GEMM),
    Case("gemm", {}, ("sdot", "smmla"), GEMM, "blocks"),
    Case("gemm", {"B_type": "u8"}, ("usdot", "usmmla"), GEMM, "blocks"),
    Case("gemm", UNSIGNED, ("udot", "ummla"), GEMM, "blocks"),
    Case("conv_layer", {}, ("usdot",), LAYER),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_sample(arm: Target, case: Case, tmp_path: Path) -> None:
    path = FOLDER / f"{case.name}.hb"
    p = check(parse(Source(path.name, path.read_text(encoding="utf-8"))), case.settings)
    kernel = lower_to_kernel(p, choose_schedule(p, arm.name, case.schedule), arm)
    assert tuple(i.name for i in kernel.instructions) == case.instructions
    source = emit_c(kernel, arm)
    executed = [n.name for n in nodes(kernel.body) if isinstance(n, Instruct)]
    assert executed.count(case.instructions[-1]) >= 16
    assert f" = execute_{case.instructions[-1]}(" in source.text
    assert not re.search(r"vmulq|vfmaq", source.text), "products that no instruction does"
    program = build_callable(source, arm, tmp_path, extra=STRICT)
    names, values = case.sizes
    fills = tuple((i.name, Fill("random", (n,))) for n, i in enumerate(p.inputs))
    with Native(program, 1, 60.0) as native:
        for sizes in (dict(zip(names.split(), v, strict=True)) for v in values):
            given = {**case.settings, **{name: str(n) for name, n in sizes.items()}}
            run = gather_inputs(p, given, Example("", (), fills), {})
            shapes = {o.name: (extents(o, sizes), o.element) for o in p.outputs}
            called = native.call(
                source.name, list(sizes.values()), run.inputs, shapes, guarded=True
            )
            work = count_work(p, sizes).total
            expected = with_instructions(evaluate(p, sizes, run.inputs), kernel.instructions, work)
            found = check_outputs(called.outputs, expected)
            assert found.ok, (sizes, found.mistakes)
