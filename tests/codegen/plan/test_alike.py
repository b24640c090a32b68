"""Functions for statements that do the same elsewhere: put back where they are called, they do what the
statements did; and what differs in more than open places is left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.codegen.plan.alike import Use, alike
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang.build import const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Stmt, const_index
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import map_stmt, rename_buffer, substitute, substitute_stmt
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
KERNELS = [
    ("apps/local_laplacian", "avx512", {"J": "3", "K": "2"}, {"H": 9, "W": 21}),
    ("apps/stencil_chain", "avx2", {"N": "3"}, {"H": 3, "W": 517}),
    ("apps/interpolate", "avx512", {"L": "4"}, {"H": 9, "W": 37}),
    ("apps/canny", "avx2", {}, {"H": 7, "W": 41}),
]


def put_back(s: Stmt, uses: dict[int, Use]) -> Stmt:
    """With the body of its function in the place of each call."""
    use = uses.get(id(s))
    if use is None:
        return map_stmt(s, lambda e: e, lambda c: put_back(c, uses))
    routine = use.routine
    given = {p.name: e for p, e in zip(routine.parameters, use.values, strict=True)}
    made = substitute_stmt(routine.body, given)
    pairs = [*zip(routine.buffers, use.buffers, strict=True)]
    for old, _ in pairs:
        made = rename_buffer(made, old, f"{old}~")
    for old, new in pairs:
        made = rename_buffer(made, f"{old}~", new)
    return made


def results(kernel: Kernel, sizes: dict[str, int]) -> dict[str, Array]:
    """All arrays after a run on small numbers; outputs begin poisoned."""
    random = np.random.default_rng(1)
    arrays = {}
    values = {n: const_index(v) for n, v in sizes.items()}
    for a in kernel.arguments:
        extents = [const_value(simplify(substitute(e, values))) for e in a.extents]
        numbers = random.integers(0, 5, [int(e or 0) for e in extents])
        arrays[a.name] = (numbers + 77 * a.output).astype(numpy_dtype(a.element))
    run(kernel, sizes, arrays)
    return arrays


@pytest.mark.parametrize(("name", "target", "parameters", "sizes"), KERNELS)
def test_functions_do_what_the_statements_did(
    name: str, target: str, parameters: dict[str, str], sizes: dict[str, int]
) -> None:
    p = load_pipeline(SAMPLES / f"{name}.hb", parameters)
    kernel = lower_to_kernel(p, choose_schedule(p, target, None), TARGETS[target])
    uses = alike(kernel.body)
    assert len(uses) > len({id(u.routine) for u in uses.values()}) > 0
    before = results(kernel, sizes)
    after = results(kernel.map_body(lambda s: put_back(s, uses)), sizes)
    for array, values in before.items():
        np.testing.assert_array_equal(values, after[array])


ROW = """for y from {first} count h_{first} {{ for x from 0 count 256 {{
    {b}[(({row} * y) + x)] = (({a}.f32[((m * y) + x)] * 2.0:f32) + {a}.f32[(((m * y) + x) + {next})])
    {b}[(({row} * y) + x)] = ((({a}.f32[({step} * x)] * 2.0:f32) + {a}.f32[(x + 3)])
        + ({a}.f32[(x + 9)] * 7.0:f32))
}} }}"""
SAME = {"b": "b", "a": "a", "row": "m", "next": "1", "step": "2"}


def calls(other: dict[str, str]) -> int:
    """How many calls there are in two loops over rows, with what the second has instead of the first."""
    rows = [ROW.format(**{**SAME, **o, "first": n}) for n, o in enumerate(({}, other))]
    return len(alike(read_stmt(f"{{ {' '.join(rows)} }}")))


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({}, 2),
        ({"b": "c", "a": "d", "row": "n"}, 2),
        ({"b": "a", "a": "b"}, 2),
        ({"next": "m"}, 2),
        ({"row": "40"}, 2),  # the inner loops: rows begin somewhere
        ({"step": "3"}, 0),  # a number that decides the code
        ({"b": "a"}, 0),  # reads what it writes
    ],
)
def test_places_sizes_and_arrays_may_differ(other: dict[str, str], expected: int) -> None:
    assert calls(other) == expected


def test_values_that_are_so_much_more_everywhere_share_a_parameter() -> None:
    rows = [
        f"""for y from 0 count h {{ for x from 0 count 256 {{
            {b}[((m * y) + x)] = (({a}.f32[(((n * y) + x) + {7 - k})] * {a}.f32[(((n * y) + x) + {9 - k})])
                + ({a}.f32[(((n * y) + x) + {12 - k})] * ({a}.f32[(((n * y) + x) + {14 - k})] + 3.0:f32)))
            {b}[((m * y) + x)] = (({a}.f32[(((n * y) + x) + {7 - k})] + {a}.f32[(((n * y) + x) + {9 - k})])
                * ({a}.f32[(((n * y) + x) + {12 - k})] + ({a}.f32[(((n * y) + x) + {14 - k})] * 3.0:f32)))
        }} }}"""
        for b, a, k in (("b", "a", 0), ("c", "b", 6))
    ]
    text = f"{{ {' '.join(rows)} }}"
    use = next(iter(alike(read_stmt(text)).values()))
    assert [show(e) for e in use.values] == ["h", "m", "7", "n"]


def test_short_rows_are_no_calls() -> None:
    """A call for 100 elements took 3 % of `samples/apps/heat_3d.hb`."""
    rows = [
        ROW.format(**{**SAME, "row": row, "first": n}).replace("256", "32")
        for n, row in enumerate(("m", "40"))
    ]
    assert not alike(read_stmt(f"{{ {' '.join(rows)} }}"))


def test_registers_are_not_passed() -> None:
    rows = [ROW.format(**{**SAME, "b": b, "first": 0}) for b in ("b", "c")]
    within = f"allocate b: f32[64] in registers {{ {' '.join(rows)} }}"
    assert not alike(read_stmt(within))
