"""CUDA code of solutions and of random movements, executed on the CPU in several orders of the threads;
their `main` compares with the goals. nvcc compiles it where it is installed."""

from __future__ import annotations

import os
import subprocess
from math import prod
from pathlib import Path

import numpy as np
import pytest
from sketch_solver import sample

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE, ORDERS, Sanitizer, build, find_cpp
from hbc.codegen.moves.cuda import emit_cuda
from hbc.codegen.moves.lane_formula import condition, formula
from hbc.ir.ground.diag import HbcError, ToolError
from hbc.ir.lang.types import DTYPES
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather
from hbc.ir.moves.goal_check import Combined, GoalCheck, GoalTerm, Symbol
from hbc.ir.moves.movement import Folded, Input, Moved, Movement, Output
from hbc.synth.results.code import movement
from hbc.synth.results.cost import make_pricing
from hbc.synth.results.cost_table import cost_table

SAMPLES: list[tuple[str, dict[str, int | str], str]] = [
    ("crc", {"s": 3}, "f32"), ("crc", {"s": 5}, "u8"), ("rcr", {"s": 3}, "f64"),
    ("sum", {"s": 8}, "i16"), ("conv1d", {"k": 7}, "bf16"), ("conv1d_wswizzled", {"k": 3}, "f16"),
    ("stencil1d", {"k": 5}, "i64"), ("stencil2d", {"k": 7}, "f32"), ("ffm4", {}, "u32"),
    ("ffm8", {}, "f32"), ("ffm8_shared", {"level": 1}, "i32"), ("hvx_gaussian", {}, "f32"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def cpp() -> None:
    try:
        find_cpp()
    except ToolError as e:
        pytest.skip(str(e))


def solved(name: str, parameters: dict[str, int | str]) -> Movement:
    outcome = sample(name, **parameters)
    pricing = make_pricing(outcome.problem, cost_table("cuda_sm80"))
    return movement(outcome, next(iter(outcome.solutions(pricing))))


def check(text: str, folder: Path, sanitize: Sanitizer = "") -> None:
    """Runs the program in every order; it says itself whether all is right."""
    program = build(text, folder / "program", "program", name="test", sanitize=sanitize)
    for order in ORDERS if not sanitize else ORDERS[:2]:
        ran = subprocess.run(
            [program], capture_output=True, text=True, check=False, timeout=300,
            env={**os.environ, ORDER_VARIABLE: order, "ASAN_OPTIONS": "detect_leaks=0"},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "37 of 37 groups are right" in ran.stdout


@pytest.mark.parametrize(
    ("name", "parameters", "element"), SAMPLES,
    ids=[f"{n}{''.join(map(str, p.values()))}-{t}" for n, p, t in SAMPLES],
)  # fmt: skip
def test_samples(name: str, parameters: dict[str, int | str], element: str, tmp_path: Path) -> None:
    check(emit_cuda(solved(name, parameters), DTYPES[element]), tmp_path)


def test_nvcc_takes_the_samples(nvcc: tuple[str, ...], tmp_path: Path) -> None:
    for name, parameters, element in (SAMPLES[0], SAMPLES[4], SAMPLES[7], SAMPLES[11]):
        file = tmp_path / f"{name}.cu"
        file.write_text(emit_cuda(solved(name, parameters), DTYPES[element]), encoding="ascii")
        for arch in ("sm_80", "sm_90"):
            ran = subprocess.run(
                [*nvcc, "-std=c++17", f"-arch={arch}", "-cubin", "-Xptxas", "-v", "-o",
                 str(tmp_path / "cubin"), str(file)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert ran.returncode == 0, ran.stderr
            assert "warning" not in ran.stderr
            assert " 0 bytes spill stores" in ran.stderr


def test_a_column_goes_by_one_shuffle() -> None:
    """The transpose of the paper: a select of registers, a shuffle for each, and names."""
    text = emit_cuda(solved("crc", {"s": 3}), DTYPES["f32"])
    assert text.count("__shfl_sync(") == 3
    assert "const float b_0 = __shfl_sync(0xffffffffu, a_0, 3 * lane" in text
    assert "names only" in text
    assert "shared" not in text


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("crc", {"s": 4}), ("rcr", {"s": 8}), ("stencil2d", {"k": 3}), ("warp_transpose", {}), ("ffm8", {})],
)  # fmt: skip
def test_holes_are_moved_as_the_cost_says(name: str, parameters: dict[str, int | str]) -> None:
    outcome = sample(name, **parameters)
    pricing = make_pricing(outcome.problem, cost_table("cuda_sm80"))
    solution = next(iter(outcome.solutions(pricing)))
    holes = {outcome.problem.nodes[last].name for last in pricing.runs}
    hows = {cost.how for array, cost in outcome.costs(solution, pricing) if array in holes}
    text = emit_cuda(movement(outcome, solution), DTYPES["f32"]).partition("__global__")[0]
    assert ("__shfl" in text) == ("shuffles" in hows)
    assert ("shared[" in text) == ("shared memory" in hows)
    assert (", while loading" in text or name == "warp_transpose") == ("while loading" in hows)


def partial_exchanges(lanes: int, registers: int, seed: int) -> Movement:
    """Of every register some threads keep their own elements and others receive theirs: from neighbours
    that exchange two registers with them, from others at random, from nobody."""
    rng = np.random.default_rng(seed)
    lane, register = np.divmod(np.arange(lanes * registers), registers)
    partner = np.minimum(lane ^ 1, lanes - 1)
    exchange = np.where(
        (lane + register) % 2 == 0, lane * registers + register,
        partner * registers + (register ^ 1) % registers,
    )  # fmt: skip
    keep = rng.random(lane.size) < 0.6
    other = (lane + rng.integers(1, lanes)) % lanes * registers
    some = np.where(
        keep, lane * registers + register, other + rng.integers(0, registers, lane.size)
    )
    some = np.where(rng.random(lane.size) < 0.1, UNDEFINED, some)
    zeros = np.where(rng.random(lane.size) < 0.1, ZERO, exchange)
    shape, size = (lanes, registers), lanes * registers
    steps = [Moved("a0", ("x",), Gather((shape,), shape, np.arange(size, dtype=np.int32)), False)]
    content = np.arange(size)
    for number, index in enumerate((exchange, some, exchange, zeros, exchange), start=1):
        gather = Gather((shape,), shape, index.astype(np.int32))
        steps.append(Moved(f"a{number}", (f"a{number - 1}",), gather, True, "a[...]"))
        content = np.concatenate([content, [UNDEFINED, ZERO]])[index]
    last = Output(steps[-1].name, content != UNDEFINED)
    goal = tuple(term(int(number)) for number in content)
    check = GoalCheck(size, {"x": np.arange(size, dtype=np.int32)}, (goal,))
    return Movement("moves", (Input("x", shape),), tuple(steps), (last,), 1, check)


@pytest.mark.parametrize(
    ("lanes", "registers", "seed"), [(32, 4, 1), (8, 6, 2), (20, 2, 3), (2, 8, 4)]
)
def test_registers_that_share_shuffles(
    lanes: int, registers: int, seed: int, tmp_path: Path
) -> None:
    text = emit_cuda(partial_exchanges(lanes, registers, seed), DTYPES["i32"])
    assert "_received" in text
    check(text, tmp_path)


def test_an_exchange_takes_half_as_many_shuffles_as_registers() -> None:
    """Each stage of the transpose but the first, which happens while loading."""
    text = emit_cuda(solved("warp_transpose", {}), DTYPES["f32"])
    assert text.count("__shfl_xor_sync(") == 8
    assert "shared[" not in text


def random_movement(lanes: int, axes: int, seed: int) -> Movement:
    """Moves of every kind, each of an array made before, all of them outputs; and sums of them."""
    rng = np.random.default_rng(seed)
    registers = 3
    shape = (lanes, registers) if axes == 1 else (2, lanes // 2, registers)
    size = prod(shape)
    steps: list[Moved | Folded] = []
    content = {"x": np.arange(size)}
    names = ["x"]

    def add(index: np.ndarray, source: str) -> None:
        name = f"a{len(steps)}"
        gather = Gather((shape,), shape, index.astype(np.int32))
        steps.append(Moved(name, (source,), gather, len(steps) > 0, "a[...]"))
        known = np.concatenate([content[source], [UNDEFINED, ZERO]])
        content[name] = known[index]
        names.append(name)

    lane, register = np.divmod(np.arange(size), registers)
    add(lane + lanes * register, "x")
    turned = (lane * 7 + register) % lanes * registers
    for index in (
        lane * registers + (register + lane) % registers,
        turned + register,
        (lane ^ 1) % lanes * registers + (register + lane // 2) % registers,
        rng.integers(0, size, size),
        rng.integers(0, lanes, registers)[register] * registers + rng.integers(0, registers, size),
        np.where(lane < lanes // 2, ZERO, (lanes - 1 - lane) * registers + register),
        np.where(rng.random(size) < 0.2, UNDEFINED, rng.integers(0, size, size)),
        lane * registers + rng.integers(0, registers, size),
        np.where(rng.random(size) < 0.3, ZERO, lane * registers + register),
        rng.integers(0, min(2, lanes), size) * registers + register,
    ):
        add(index, names[int(rng.integers(1, len(names)))])
    made = {step.name for step in steps}
    outputs = [Output(name, content[name] != UNDEFINED) for name in names if name in made]
    goals: list[tuple[GoalTerm | None, ...]] = []
    for output in outputs:
        goals.append(tuple(term(number) for number in content[output.name]))
    steps.append(Folded("total", names[2], shape[:-1], registers, "+"))
    sums = content[names[2]].reshape(-1, registers)
    if (sums >= 0).all():
        outputs.append(Output("total", np.ones(lanes, dtype=np.bool_)))
        goals.append(tuple(Combined("+", tuple(map(Symbol, row))) for row in sums.tolist()))
    check = GoalCheck(size, {"x": np.arange(size, dtype=np.int32)}, tuple(goals))
    return Movement("moves", (Input("x", (size,)),), tuple(steps), tuple(outputs), axes, check)


def term(number: int) -> GoalTerm | None:
    if number == UNDEFINED:
        return None
    return Combined("+", ()) if number == ZERO else Symbol(int(number))


@pytest.mark.parametrize(
    ("lanes", "axes", "seed"),
    [(32, 1, 1), (16, 2, 3), (20, 2, 5), (1, 1, 6), (40, 1, 7)],
)
def test_random_movements(lanes: int, axes: int, seed: int, tmp_path: Path) -> None:
    check(emit_cuda(random_movement(lanes, axes, seed), DTYPES["i32"]), tmp_path)


@pytest.mark.parametrize(("lanes", "sanitize"), [(40, "address"), (32, "thread"), (40, "thread")])
def test_random_movements_under_sanitizers(lanes: int, sanitize: Sanitizer, tmp_path: Path) -> None:
    text = emit_cuda(random_movement(lanes, 1, 9), DTYPES["f32"])
    assert "shared[" in text
    check(text, tmp_path, sanitize)


def test_a_missing_barrier_is_found(tmp_path: Path) -> None:
    text = emit_cuda(random_movement(40, 1, 9), DTYPES["f32"]).replace("__syncthreads();", "")
    with pytest.raises(AssertionError, match=r"of group|data race"):
        check(text, tmp_path)


def test_elements_without_the_operation_are_refused() -> None:
    made = random_movement(8, 1, 1)
    fold = Folded("bits", "a1", (8,), 3, "^")
    made = Movement(
        made.name, made.inputs, (*made.steps, fold), (Output("bits", np.ones(8, dtype=np.bool_)),)
    )
    with pytest.raises(HbcError, match="elements of type f32 have no operation"):
        emit_cuda(made, DTYPES["f32"])


LANE = np.arange(32)
FORMULAS = {
    "3 * lane + 7": 3 * LANE + 7,
    "31 - lane": 31 - LANE,
    "lane ^ 5": LANE ^ 5,
    "(3 * lane + 5) & 31": (3 * LANE + 5) % 32,
    "(2 * lane + 1) % 3": (2 * LANE + 1) % 3,
    "(3 * lane + lane / 4) & 31": (3 * LANE + LANE // 4) % 32,
    "32 * ((2 * lane + 1) % 3) + lane": 32 * ((2 * LANE + 1) % 3) + LANE,
    "6 * (lane / 4) + (lane % 4)": LANE // 4 * 6 + LANE % 4,
}


@pytest.mark.parametrize("expected", FORMULAS)
def test_formulas(expected: str) -> None:
    assert formula(FORMULAS[expected], np.ones(32, dtype=np.bool_)) == expected


def test_formulas_are_right_wherever_they_are_found() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(150):
        g, d, m = (int(rng.choice(c)) for c in ((4, 8, 16, 32), (2, 4, 64), (2, 3, 5, 8, 32)))
        a, b, h = (int(v) for v in rng.integers(0, 32, 3))
        inner = LANE % g
        values = h * (LANE // g) + (a * inner + inner // d + b) % m
        cared = rng.random(32) < rng.choice((0.5, 0.9, 1))
        text = formula(values, cared)
        if text is not None:
            found += 1
            got = evaluated(text)
            assert (got[cared] == values[cared]).all(), text
        mask = values % 2 == 0
        test = evaluated(condition(mask, cared)) != 0
        assert (test[cared] == mask[cared]).all()
    assert found > 140


def evaluated(text: str) -> np.ndarray:
    """C's meaning: numbers are not negative where `/` and `%` are used."""
    python = text.replace("/", "//").replace("&&", " and ").replace("||", " or ")
    python = python.replace("!(", "not (").replace("true", "1").replace("false", "0")
    python = python.rstrip("u").replace("ull", "").replace("u >>", " >>")
    return np.array([int(eval(python, {"lane": int(lane)})) for lane in LANE])
