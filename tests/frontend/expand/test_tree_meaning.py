"""Functions, families, tuples and reductions in expressions mean what they say: two evaluators agree, one
of the checked program with all of it written out, one of the tree as it is parsed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from tree_meaning import Meaning
from tree_numbers import KINDS, cast, of_4_bits

from hbc.cli.files.sizes import extents
from hbc.cli.show.frames import CALL_DEPTH
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.meaning import interp
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "language.md"
DOCUMENTED = re.findall(r"```hb run\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
# Of each sample every size, where not all are 6.
SAMPLES = {
    "bilateral_grid": 5, "black_scholes": 6, "camera_pipe": 6, "canny": 6, "fft": 3, "gain": 6, "gemv": 6,
    "harris": 6, "heat_3d": 4, "hist": 6, "jacobi": 6, "layernorm": 6, "mandelbrot": 6, "median": 6,
    "nl_means": 3, "quantised_add": 6, "quantised_conv": 3, "quantised_fully_connected": 6,
    "quantised_pool": 3, "quantised_softmax": 6, "resnet_block": 3, "rmsnorm": 6, "sobel": 6, "softmax": 6,
    "stencil_chain": 4, "stft": 2, "top_k": 9, "unsharp": 6,
}  # fmt: skip
MOST = 40  # the largest size that is tried
sys.setrecursionlimit(max(sys.getrecursionlimit(), CALL_DEPTH))


def random_inputs(p: Pipeline, sizes: dict[str, int]) -> dict[str, Array]:
    """Positive numbers; what a `bound` promises holds."""
    rng = np.random.default_rng(1)
    bounds = {b.name: b for b in p.bounds}
    inputs: dict[str, Array] = {}
    for image in p.inputs:
        shape, kind = extents(image, sizes), numpy_dtype(image.element)
        if image.name in bounds:
            b = bounds[image.name]
            low, high = (int(interp.evaluate(e, sizes, {})[0]) for e in (b.lo, b.hi))
            inputs[image.name] = rng.integers(low, max(high, low + 1), shape).astype(kind)
        else:
            inputs[image.name] = (rng.random(shape) * (100 if image.element.is_int else 1)).astype(
                kind
            )
    return inputs


def differences(text: str, other: str, folder: Path, sizes: dict[str, int]) -> list[str]:
    """The outputs of which the two evaluators differ; the second one reads the other text."""
    p = check(parse(Source(str(folder / "k.hb"), text)), {})
    inputs = random_inputs(p, sizes)
    with np.errstate(all="ignore"):
        meaning = Meaning(other, folder, sizes, inputs)
        return [
            f"{name}: {found}"
            for name, reference in evaluate(p, sizes, inputs).items()
            if not (found := compare(meaning.result(name), reference)).ok
        ]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str) -> None:
    file = ROOT / "samples" / "apps" / f"{name}.hb"
    text = file.read_text(encoding="utf-8")
    p = check(parse(Source(str(file), text)), {})
    sizes = {s.name: SAMPLES[name] for s in p.sizes}
    assert differences(text, text, file.parent, sizes) == []


@pytest.mark.parametrize(
    "number", [n for n, t in enumerate(DOCUMENTED) if "kernel half {" not in t]
)
def test_every_construct_of_the_page(number: int) -> None:
    text = DOCUMENTED[number]
    p = check(parse(Source("k.hb", text)), {})
    for size in range(6, MOST):
        sizes = {s.name: size for s in p.sizes}
        if all(interp.evaluate(r.condition, sizes, {})[0] for r in p.requirements):
            break
    assert differences(text, text, PAGE.parent, sizes) == []


@pytest.mark.parametrize(
    "steps",
    [
        "B[x] = sum(q in 0 .. 4: A[x])",
        "B[x] = product(q in 0 .. x % 3: A[x]) + sum(k: 1) + sum(k, q in 0 .. k: 2)",
        "B[x] = 1; B[x] += zero(k)",
        "B[x] = 1; B[x] += zero(k) + A[x] where zero(k) == 7",
        "B[x] = 1; B[zero(k) - 7] += 3",
        "B[x] = 1; B[x] += sum(q in 0 .. 2: zero(k))",
        "B[x] = 1; B[x] += sum(k in 0 .. 2: zero(k))",
        "B[x] = let s = A[x] in let t = s + 1 in sum(q in 0 .. 3: A[q] * t) + s",
        "B[x] = thrice(A[x] + A[0] * 3) + (let m = max(k: A[k]) in sum(k: A[k] - m))",
        "B[x] = sum(k in 0 .. 3: A[x + k / 3] + max(k in 0 .. 2: A[k]))",
        "B[x] = sum(k in 0 .. 3: A[k] * max(k: A[k])) + sum(q in 0 .. 3: A[q] * max(q in 0 .. q: A[q]))",
        "(B[x], h[x]) = (1, 0); (B[x], h[x]) += (zero(k), 1)",
        "B[x] = 1; B[x] += (A[x] + i32(k)) ** 0",
        "B[x] = 1; B[x] += zero(k) ** 0 + A[x] where i32(k) ** 0 == 1",
        "B[x] = 1; B[x] += sum(q in 0 .. 3: i32(q) ** 0)",
    ],
)
def test_steps_and_values_around_reductions(steps: str) -> None:
    functions = (
        "def zero(a) = 7\ndef sums(a) = sum(q in 0 .. 3: a)\ndef thrice(a) = sums(a) + a - a"
    )
    text = f"size N\ninput A: i32[N]\noutput B: i32[N]\nreduce k in 5\n{functions}\nrequire 5 <= N\n{steps}\n"
    assert differences(text, text, PAGE.parent, {"N": 12}) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("twice(a) = a + a", "twice(a) = a + a + 1"),
        ("l in 1 .. 3", "l in 1 .. 2"),
        ("A[k] / 30 > m[o]", "A[k] / 30 >= m[o]"),
        ("sum(q in 0 .. x", "sum(q in 0 .. x + 1"),
        ("t[o] < 9", "t[o] < 8"),
    ],
)
def test_differences_are_seen(right: str, wrong: str) -> None:
    text = """size N
    input A: i32[N]
    output B: i32[N]
    output at: i32[1]
    output t: i32[1]
    reduce k in N
    def twice(a) = a + a
    g[0][x] = A[x] / 30
    for l in 1 .. 3 { g[l][x] = twice(g[l - 1][x]) + g[0][x] }
    B[x] = g[1][x] + sum(q in 0 .. x: g[0][q])
    for l in 1 .. 3 { B[x] += g[l][x] }
    (m[o], at[o]) = (0, 0)
    (m[o], at[o]) = select(A[k] / 30 > m[o], (A[k] / 30, i32(k)), (m[o], at[o]))
    t[o] = 0
    t[o] += 1 while k: t[o] < 9
    """
    assert right in text
    sizes = {"N": 12}
    assert differences(text, text, PAGE.parent, sizes) == []
    assert differences(text, text.replace(right, wrong), PAGE.parent, sizes) != []


@pytest.mark.parametrize("kind", ["bf16", "f32", "f64"])
def test_floats_beyond_64_bits_are_cut_off_at_the_ends(kind: str) -> None:
    """`int()` of the scalars of ml_dtypes goes through 64 bits, of whatever is beyond."""
    assert int(cast(KINDS[kind](3e38), "i64")) == 2**63 - 1
    assert int(cast(KINDS[kind](-3e38), "i64")) == -(2**63)
    assert int(cast(KINDS[kind](3e38), "u64")) == 2**64 - 1


def test_no_rows_of_4_bits() -> None:
    """Found by the fuzzer: an input without elements."""
    for rows in ((0,), (0, 3), (2, 0)):
        assert of_4_bits(np.zeros((*rows, 0), np.uint8), "i4", 0).shape == (*rows, 0)
    assert of_4_bits(np.array([[0x21, 0xF3]], np.uint8), "i4", 3).tolist() == [[1, 2, 3]]


def test_a_power_of_zero_reads_nothing() -> None:
    """Found by the fuzzer: the place that is not read may be before the first element."""
    text = """
    size W
    input A: f16[W + 11]
    output B: f16[5]
    B[x] = f16(x) * A[clamp(x, 0, W - 1)] ** 0
    """
    assert differences(text, text, PAGE.parent, {"W": 0}) == []
