"""The C of solutions for x86 and NEON: compiled without a warning, executed, compared with the goal."""

from __future__ import annotations

from pathlib import Path

import compiled_moves as native
import numpy as np
import pytest
from count_instructions import count_instructions
from goal_oracle import goal_values, literal_values, symbols
from sketch_solver import SKETCHES, sample, solve_text
from synth_words import synth

from hbc.cli.sketches.synth_code import solution_code
from hbc.codegen.build import run_tool
from hbc.ir.ground.diag import HbcError
from hbc.ir.moves.sketch import Literal
from hbc.synth.results.code import movement
from hbc.synth.results.cost import make_pricing
from hbc.synth.results.cost_table import cost_table
from hbc.synth.results.solve import Outcome


def check(
    outcome: Outcome, target: str, element: str, folder: Path, every: bool = True
) -> str:  # fmt: skip
    """The cheapest solution's code, which makes every goal of random values, compiled by every compiler or
    only by the first."""
    native.require(target)
    sketch = outcome.problem.sketch
    solution = next(outcome.solutions())
    code = solution_code(outcome, solution, target, element, ["a test"])
    made = movement(outcome, solution)
    generator = np.random.default_rng(7)
    terms = symbols(sketch)
    numbers = native.random_values(generator, len(terms), element)
    values = dict(zip(terms, numbers, strict=True))
    poison = native.random_values(generator, 1, element)[0]
    literals = {s.name: s for s in sketch.statements if isinstance(s, Literal)}
    inputs = [literal_values(literals[i.name], values, poison) for i in made.inputs]
    inputs = [array.astype(numbers.dtype) for array in inputs]
    goals = [goal_values(g.cells, sketch, values, numbers.dtype) for g in sketch.goals]
    for compiler in native.compilers(target)[: None if every else 1]:
        loaded = native.library(code, target, folder, compiler.command)
        outputs = [native.poisoned(numbers, len(goal)) for goal in goals]
        native.call(loaded, made.name, inputs, outputs)
        for goal, got in zip(goals, outputs, strict=True):
            wanted = [i for i, value in enumerate(goal) if value is not None]
            right = np.array([goal[i] for i in wanted], dtype=numbers.dtype)
            assert (got[: len(goal)][wanted] == right).all()
            assert native.intact(got, len(goal))
    return code


SAMPLES = [
    ("crc", {"s": 3}, "f32"), ("crc", {"s": 4}, "u8"), ("rcr", {"s": 3}, "i16"),
    ("sum", {"s": 3}, "i64"), ("conv1d", {"k": 3}, "f32"), ("conv1d_wswizzled", {"k": 3}, "u8"),
    ("stencil1d", {"k": 5}, "f64"), ("stencil2d", {"k": 3}, "u16"), ("ffm4", {}, "i32"),
    ("ffm8", {}, "u32"), ("hvx_gaussian", {}, "i8"),
]  # fmt: skip


@pytest.mark.parametrize("target", ["avx512", "avx2"])
@pytest.mark.parametrize(("name", "settings", "element"), SAMPLES)
def test_samples(
    name: str, settings: dict[str, int], element: str, target: str, tmp_path: Path
) -> None:
    check(sample(name, **settings), target, element, tmp_path, target == "avx512")


@pytest.mark.parametrize(
    ("name", "element", "instructions"),
    [
        ("transpose8", "f32", 8),
        ("transpose16_bytes", "u8", 12),
        ("vnni_pack", "i8", 12),
        ("aos3", "f32", 6),
        ("aos4", "i32", 8),
    ],
)
def test_sketches_of_instructions(
    name: str, element: str, instructions: int, tmp_path: Path
) -> None:
    """As many instructions as the sketch has stages and registers, in the compiled object too."""
    code = check(sample(name), "avx512", element, tmp_path)
    assert (
        f"{instructions} instruction{'s' * (instructions != 1)} between loads and stores." in code
    )
    assert counted(code, name, tmp_path) == instructions


def counted(code: str, name: str, folder: Path) -> int:
    """The instructions of a block in the object that gcc makes, which has those that it is given."""
    compiler = next((c for c in native.compilers("avx512") if c.kind == "gcc"), None)
    if compiler is None:
        pytest.skip("there is no gcc, whose code has the instructions that it is given")
    source, made = folder / "counted.c", folder / "counted.so"
    source.write_text(code, encoding="utf-8")
    words = [*compiler.command, "-O2", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"]
    done = run_tool.compile_with([*words, "-shared", "-fPIC", str(source), "-o", str(made)], made)
    assert done.returncode == 0, done.stderr
    return count_instructions(made, f"{name}_block") or count_instructions(made, name)


TWO_STAGES = """
param target = avx512
param lane_axes = -1
param bits = 8
import "avx512_moves.sf"
set words(u: [n]) -> [n] = \\i. u[i % 2
        + (i/2 >> b0) % 2 * 2 + (i/2 >> b1) % 2 * 4 + (i/2 >> b2) % 2 * 8
        + (i/2 >> b3) % 2 * 16 + (i/2 >> b4) % 2 * 32]
    for b0 in 5, b1 in 5, b2 in 5, b3 in 5, b4 in 5
    where (1<<b0) + (1<<b1) + (1<<b2) + (1<<b3) + (1<<b4) == 31
set bytes(u: [n]) -> [n] = \\i. u[i / 16 * 16
        + (i >> b0) % 2 + (i >> b1) % 2 * 2 + (i >> b2) % 2 * 4 + (i >> b3) % 2 * 8]
    for b0 in 4, b1 in 4, b2 in 4, b3 in 4 where (1<<b0) + (1<<b1) + (1<<b2) + (1<<b3) == 15
x: [64]
a: [64] = ?instructions{of=words}(x)
b: [64] = ?instructions{of=bytes}(a)
goal b == [i in 64] x[i % 8 * 8 + i / 8]
"""


def test_stages_that_were_found_are_printed(tmp_path: Path) -> None:
    """8 x 8 bytes by words, then by bytes within their blocks: two instructions. Both together are none for
    processors without VBMI, and took ten. What the cost counts is what the code has."""
    outcome = solve_text(TWO_STAGES)
    code = check(outcome, "avx512", "u8", tmp_path)
    assert "2 instructions between loads and stores." in code
    assert counted(code, outcome.problem.sketch.name, tmp_path) == 2
    pricing = make_pricing(outcome.problem, cost_table("avx512"))
    (cost,) = (cost for _, cost in outcome.costs(next(outcome.solutions(pricing)), pricing))
    assert dict(cost.counts) == {"vpermw": 1, "vpshufb": 1, "vmovdqu64": 2}


def test_bytes_are_priced_by_what_the_processor_has() -> None:
    """A permutation of bytes at once is one instruction with VBMI, and ten without."""
    for vbmi, instructions in ((1, 1), (0, 10)):
        text = TWO_STAGES.replace('import "avx512_moves.sf"\n', "")
        start, end = text.index("set words"), text.index("goal")
        one = "x: [64]\nb: [64] = ?turned(x)\n"
        turned = "set turned(u: [64]) -> [64] = \\i. u[i % 8 * 8 + i / 8] for q in 1\n"
        text = text[:start] + f"param vbmi = {vbmi}\n" + turned + one + text[end:]
        outcome = solve_text(text)
        code = solution_code(outcome, next(outcome.solutions()), "avx512", "u8", [])
        pricing = make_pricing(outcome.problem, cost_table("avx512"))
        (cost,) = (cost for _, cost in outcome.costs(next(outcome.solutions()), pricing))
        moved = {name: count for name, count in cost.counts if name not in ("vmovdqu64", "kmov")}
        assert sum(moved.values()) == instructions
        assert (
            f"{instructions} instruction{'s' * (instructions != 1)} between loads and stores."
            in code
        )


OPERATIONS = ("+", "*", "min", "max", "&", "|", "^")


@pytest.mark.parametrize("target", ["avx512", "avx2", "neon", "sve256"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_folds(operation: str, target: str, tmp_path: Path) -> None:
    """With zeros among the elements, which are the identity of each operation."""
    text = f"""
        x: [7, 5]
        kept: [7, 5] = \\i, j. if j <= i then x[i, j] else 0
        z: [7] = fold({operation}) kept
        goal z == [i in 7] fold({operation}) [j in 5] if j <= i then x[i, j] else 0
    """
    elements = ("u8", "i16", "i32", "i64", *(("f32", "f64") if operation not in "&|^" else ()))
    # Each operation on each element, on one of the two machines.
    for element in elements[(OPERATIONS.index(operation) + (target == "avx2")) % 2 :: 2]:
        check(solve_text(text), target, element, tmp_path, element == "i32")


@pytest.mark.parametrize("target", ["avx512", "avx2", "neon", "sve256"])
@pytest.mark.parametrize("element", ["u8", "i16", "f32", "f64"])
def test_any_permutation_with_zeros_and_blanks(target: str, element: str, tmp_path: Path) -> None:
    """Random tables over several registers of two arguments: every way that a plan can take."""
    generator = np.random.default_rng(5)
    for size in (9, 64, 150):
        row = generator.integers(-2, 2 * size, size=size)
        cells = ", ".join({-1: "zero", -2: "_"}.get(int(c), str(int(c))) for c in row)
        wanted = ", ".join(
            {-1: "0", -2: "_"}.get(int(c), f"{'xy'[int(c) // size]}[{int(c) % size}]") for c in row
        )
        text = f"""
            gather mixed(a, b) = table [[{cells}]]
            x: [{size}]
            y: [{size}]
            z: [{size}] = mixed(x, y)
            goal z == [{wanted}]
        """
        check(solve_text(text), target, element, tmp_path, size == 64)


def test_several_goals_and_copies(tmp_path: Path) -> None:
    text = """
        int: [20]
        y: [20] = \\i. int[19 - i]
        goal y == [i in 20] int[19 - i]
        goal int == [i in 20] int[i]
    """
    check(solve_text(text), "avx512", "f32", tmp_path)


def test_a_fold_needs_an_operation() -> None:
    outcome = solve_text("x: [4]\ny: [2] = fold{length=2}(x)\ngoal y == [fold{x0, x1}, _]")
    with pytest.raises(HbcError, match="names no operation"):
        solution_code(outcome, next(outcome.solutions()), "avx512", "f32", [])


def test_floats_have_no_bits() -> None:
    outcome = solve_text("x: [4]\ny: [2] = fold(^){length=2}(x)\ngoal y == [_, fold(^){x2, x3}]")
    with pytest.raises(HbcError, match="no operation of theirs"):
        solution_code(outcome, next(outcome.solutions()), "avx512", "f32", [])


def test_the_command_writes_it(tmp_path: Path) -> None:
    out = tmp_path / "ffm4.c"
    words = [str(SKETCHES / "ffm4.sf"), "--target", "avx2", "--type", "i32", "-o", str(out)]
    assert synth(*words).stdout.startswith("# solution 1")
    text = out.read_text(encoding="utf-8")
    assert (
        "void ffm4(const int32_t *restrict a, const int32_t *restrict b, int32_t *restrict out);"
        in text
    )
    words[-1] = "-"
    assert synth(*words).stdout == text
    words[2] = "avx3"
    synth(*words, code=2)
