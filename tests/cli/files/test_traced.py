"""Traces have every value that the loops compute, once for each time, in their order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbc.cli.files.traced import write_trace
from hbc.cli.pipeline import load_pipeline
from hbc.frontend.lowering.lower import lower
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

BLUR = """
size   H, W
input  I: f64[H, W]
output O: f64[H, W]
P = clamp_edge(I)
rows[y, x] = P[y, x - 1] + P[y, x + 1]
O[y, x] = rows[y - 1, x] - rows[y + 1, x]
"""
STEPS = """
size   W, T
input  A: f64[W]
output O: f64[W]
reduce t in 1 .. T
u[s, i] = A[i]
u[t, i] = u[t - 1, i] * 0.5
O[i] = u[T - 1, i]
"""
PAIR = """
size   W
input  A: f64[W]
output p: f64[W]
output q: u8[W]
(p[i], q[i]) = (1 / A[i], u8(i))
"""


def traced(
    tmp_path: Path, program: str, schedule: str, sizes: dict[str, int], **arrays: Any
) -> list[dict[str, Any]]:
    text = f"{program}schedule s for c, avx512 {{ {schedule} }}\n"
    pipeline = load_pipeline(Source("traced.hb", text), {})
    kernel = lower(pipeline, pipeline.schedules[0], TARGETS["avx512"], trace=True)
    path = tmp_path / "trace"
    count = write_trace(kernel, sizes, arrays, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == count
    return [json.loads(line) for line in lines]


def blurred(image: Any, y: int, x: int) -> float:
    """`rows` of BLUR, by hand."""
    high, wide = image.shape
    row = image[min(max(y, 0), high - 1)]
    return float(row[min(max(x - 1, 0), wide - 1)] + row[min(max(x + 1, 0), wide - 1)])


@pytest.mark.parametrize(
    ("schedule", "rows"),
    [
        ("rows.store_root().compute_at(O, y)", [-1, 0, 1, 2, 3, 4, 5]),
        ("rows.store_root().compute_at(O, y).fold_storage(y, 3)", [-1, 0, 1, 2, 3, 4, 5]),
        (
            "rows.compute_at(O, y)",
            [-1, 0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5],
        ),
        ("O.split(y, yo, yi, 2) rows.compute_at(O, yo)", [-1, 0, 1, 2, 1, 2, 3, 4, 3, 4, 5]),
        ("rows.compute_root().vectorize(x, 8)", [-1, 0, 1, 2, 3, 4, 5]),
    ],
)
def test_rows_in_the_order_of_the_loops(tmp_path: Path, schedule: str, rows: list[int]) -> None:
    image = np.random.default_rng(1).normal(size=(5, 11)) * 1e200
    out = np.zeros((5, 11))
    lines = traced(tmp_path, BLUR, schedule, {"H": 5, "W": 11}, I=image, O=out)
    made = [x for x in lines if x["step"] == "rows"]
    assert [x["at"] for x in made] == [[y, x] for y in rows for x in range(11)]
    assert all(x["value"] == blurred(image, *x["at"]) for x in made)
    last = [x for x in lines if x["step"] == "O"]
    assert [x["at"] for x in last] == [[y, x] for y in range(5) for x in range(11)]
    assert all(x["value"] == blurred(image, x["at"][0] - 1, x["at"][1]) - blurred(
        image, x["at"][0] + 1, x["at"][1]) for x in last)  # fmt: skip
    assert all(x["value"] == out[tuple(x["at"])] for x in last)


def test_what_the_schedule_names_alone(tmp_path: Path) -> None:
    image = np.ones((3, 4))
    lines = traced(
        tmp_path, BLUR, "rows.compute_root().trace()", {"H": 3, "W": 4}, I=image, O=image * 0
    )
    assert {x["step"] for x in lines} == {"rows"} and len(lines) == 5 * 4


def test_steps_of_updates(tmp_path: Path) -> None:
    lines = traced(
        tmp_path, STEPS, "u.fold_storage(s, 2).trace()", {"W": 2, "T": 5},
        A=np.array([1.0, -3.0]), O=np.zeros(2),
    )  # fmt: skip
    assert [x["at"] for x in lines if x["step"] == "u.update"] == [
        [t, i] for i in range(2) for t in range(1, 5)
    ]
    assert [x["value"] for x in lines if x["step"] == "u.update"] == [
        v * 0.5**t for v in (1.0, -3.0) for t in range(1, 5)
    ]
    assert all(x["value"] == (1.0, -3.0)[x["at"][1]] for x in lines if x["step"] == "u")


def test_arrays_of_several_values_and_what_is_no_number(tmp_path: Path) -> None:
    lines = traced(
        tmp_path, PAIR, "p.vectorize(i, 4)", {"W": 3},
        A=np.array([0.0, -0.0, np.nan]), p=np.zeros(3), q=np.zeros(3, np.uint8),
    )  # fmt: skip
    assert [(x["array"], x["at"], x["value"]) for x in lines if x["array"] == "q"] == [
        ("q", [i], i) for i in range(3)
    ]
    assert [x["value"] for x in lines if x["array"] == "p"] == ["inf", "-inf", "nan"]


def test_the_command_writes_it_beside_what_it_prints(hbc: Any, tmp_path: Path) -> None:
    kernel, trace = tmp_path / "blur.hb", tmp_path / "trace.jsonl"
    kernel.write_text(BLUR + "example { H = 3; W = 4; I = random(1) }\n", encoding="utf-8")
    done = hbc("run", kernel, "--target", "c", "--schedule", "none", "--trace", trace)
    assert done.code == 0, done.err
    assert f"12 values in the order of the loops: {trace}" in done.out
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert [x["at"] for x in lines] == [[y, x] for y in range(3) for x in range(4)]


def test_threads_of_a_gpu_have_no_order(hbc: Any, tmp_path: Path) -> None:
    kernel, trace = tmp_path / "blur.hb", tmp_path / "trace.jsonl"
    kernel.write_text(BLUR + "example { H = 3; W = 4; I = random(1) }\n", encoding="utf-8")
    done = hbc("run", kernel, "--target", "cuda", "--trace", trace)
    assert done.code == 2 and "threads of a GPU have none" in done.err
    assert not trace.exists()
