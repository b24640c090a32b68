"""What runs at given sizes is what runs there of the whole program, and gives the same."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.files.sizes import extents
from hbc.cli.measuring.guard import guarded
from hbc.cli.measuring.taken import taken
from hbc.cli.pipeline import load_pipeline
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.instruction_error import expected_outputs
from hbc.cli.runs.interpreted import statements_run
from hbc.frontend.lowering.lower import lower
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import prepare
from hbc.ir.meaning.numpy_types import poison

SAMPLES = Path(__file__).parents[3] / "samples"
BLOCKS = """\
schedule blocks for avx512vnni {
    acc.compute_at(O, ko).vectorize(k, 16).unroll(x)
    acc.update
        .split(c, co, ci, 4)
        .reorder(r, s, co, x, k, ci)
        .atomic()
        .vectorize(ci)
        .vectorize(k, 16)
        .unroll(x)
    O.split(x, xo, xi, 3, tail = shift)
        .split(k, ko, ki, 32, tail = shift)
        .reorder(y, xo, ko, xi, ki)
        .vectorize(ki, 16)
        .unroll(xi)
}
"""
CONV = {"R": "2", "S": "2"}
PLACES = {  # whole pieces; fewer columns than a block; fewer pixels; a rest of the reduction
    "whole": {"H": 3, "W": 8, "C": 4, "K": 32},
    "few columns": {"H": 3, "W": 8, "C": 4, "K": 7},
    "few pixels": {"H": 3, "W": 3, "C": 4, "K": 33},
    "rest": {"H": 3, "W": 8, "C": 6, "K": 37},
    "rest alone": {"H": 3, "W": 8, "C": 3, "K": 37},
}


@pytest.mark.parametrize("sizes", PLACES.values(), ids=PLACES)
def test_it_computes_the_same_by_the_same_statements(sizes: dict[str, int]) -> None:
    p = load_pipeline(SAMPLES / "conv2d_u8s8.hb", CONV)
    target = TARGETS["avx512vnni"]
    whole = guarded(p, BLOCKS, target, CONV, selects=True, strict=False)
    part = guarded(p, BLOCKS, target, CONV, selects=True, strict=False, sizes=sizes)
    assert statements_run(part, sizes) == statements_run(whole, sizes)
    assert len(list(nodes(part.body))) < 0.7 * len(list(nodes(whole.body)))
    settings = {**CONV, **{name: str(n) for name, n in sizes.items()}}
    run = gather_inputs(p, settings, choose_example(p, None), {})
    outputs = {}
    for o in p.outputs:
        shape = extents(o, run.sizes)
        outputs[o.name] = poison(o.element, math.prod(shape)).reshape(shape)
    with np.errstate(all="ignore"):
        prepare(part)(run.sizes, {**run.inputs, **outputs})
    expected = expected_outputs(p, run.sizes, run.inputs, part.instructions)
    checked = check_outputs(outputs, expected)
    assert checked.ok, checked.mistakes


def test_what_is_left_knows_the_condition() -> None:
    text = """\
    size N
    input A: f32[N]
    output B: f32[N]
    B[i] = A[i] * 2
    schedule s for c { B.split(i, io, ii, 4, tail = shift).unroll(ii) }
    """
    p = load_pipeline(Source("k.hb", text), {})
    body = lower(p, p.schedules[0], TARGETS["c"]).body
    long, short = taken(body, {"N": 9}), taken(body, {"N": 3})
    assert [long, short] == [taken(long, {"N": 9}), taken(short, {"N": 3})]
    assert {type(s).__name__ for s in (long, short)} == {"If"}
    assert long != short and taken(body, {}) is body
    assert taken(long, {"N": 9}) is long
