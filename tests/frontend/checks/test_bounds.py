"""Pins the proofs that reads stay inside their arrays, and the requirements where sizes decide."""

import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.show import show

ARRAYS = "size M, N, T\ninput A: f32[N]\ninput Q: i32[N]\ninput U: u8[N]\ninput S: f32[M, N]\n"


def requirements(text: str, of_extents: bool = False) -> list[str]:
    """The conditions that the checker adds for reads, or those for extents."""
    p = check(parse(Source("test.hb", ARRAYS + "require T > 0\n" + text)), {})
    added = p.requirements[1:]
    return [show(r.condition) for r in added if r.message.startswith("extent") is of_extents]


@pytest.mark.parametrize(
    "text",
    [
        "output B: f32[N]\nB[i] = A[i]",
        "output B: f32[N]\nB[i] = A[N - 1 - i]",
        "output B: f32[N - 2]\nB[i] = A[i] + A[i + 1] + A[i + 2]",
        "output B: f32[N - 2]\nf[x] = A[x + 1]\nB[i] = f[i - 1] + f[i + 1]",
        "reduce r in T\noutput B: f32[N - T + 1]\nB[i] = 0\nB[i] += A[i + r]",
        "output B: f32[2 * N]\nB[i] = A[i / 2]",
        "output B: f32[2 * N]\nB[i] = A[i >> 1]",
        "output B: f32[N]\nB[i] = A[clamp(i - 7, 0, N - 1)]",
        "output B: f32[N]\nB[i] = clamp_edge(A)[i]",
        "output B: f32[N]\nB[i] = A[max(i - 1, 0)] + A[min(i + 1, N - 1)]",
        "output B: f32[N]\nB[i] = A[select(i > 3, i, N - 1 - i)]",
        "output B: f32[N]\nB[i] = A[select(i > 0, i - 1, 0)] + A[select(i + 1 < N, i + 1, i)]",
        "output B: f32[N]\nB[i] = A[select(i >= 2 and i < N - 2, i - 2, 0)]",
        "output B: f32[N]\nB[i] = A[select(i == 0, 0, i)] + A[i / 2 * 2] + A[i - i % 3]",
        "output B: f32[N]\nB[i] = A[(i + 5) % N] + wrap(A)[i - 3] + mirror(A)[i + 9]",
        "output B: f32[N]\ntable W: f32[4] = [1, 2, 3, 4]\nB[i] = W[i % 4] + W[i & 3]",
        "output B: f32[N]\nbound Q in 0 .. N\nB[i] = A[Q[i]]",
        "output B: f32[N]\nbound Q in 0 .. 4\ntable W: f32[4] [k] = k\nB[i] = W[Q[i]]",
        "output B: f32[N]\nB[i] = A[clamp(Q[i], 0, N - 1)]",
        "output B: f32[N]\nf[x] = clamp(i64(Q[x]) * 3, 0, N - 1)\nB[i] = A[f[i]]",
        "output B: f32[N]\ntable W: f32[256] [k] = k\nB[i] = W[U[i]]",
        "output B: f32[N]\ntable P: i32[2] = [0, 3]\ntable W: f32[4] [k] = k\nB[i] = W[P[i % 2]]",
        "output B: f32[N]\nB[i] = let k = N - 1 - i in A[k]",
        "output B: f32[M, N]\nB[y, x] = S[y, x]",
        "reduce t in 1 .. N\noutput B: f32[N]\nB[i] = A[i]\nB[t] += B[t - 1]",
        "reduce r in 3\noutput B: f32[N]\nB[i] = 0\n"
        "B[i] += A[i + r - 1] where i + r >= 1 and i + r <= N",
        "output B: f32[N]\nB[i] = A[abs(i)]",
        "output B: f32[N]\nf[x, y] = A[clamp(x + y, 0, N - 1)]\nB[i] = f[i * i, -i]",
        "size R\ninput X: f32[R, 64]\noutput Y: f32[R, 64]\n"  # neither end depends on how many there are
        "a[i, x] = X[i, x] + X[i, max(x - 1, 0)]\nb[i, x] = a[i, x] + a[i, max(x - 2, 0)]\n"
        "c[i, x] = b[i, x] + b[i, min(x + 4, 63)]\nd[i, x] = c[i, x] + c[i, max(x - 8, 0)]\n"
        "Y[i, x] = d[i, x] + d[i, max(x - 16, 0)]",
    ],
)
def test_proved(text: str) -> None:
    assert requirements(text) == []


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("output B: f32[M]\nB[i] = A[i]", ["M <= N"]),
        ("output B: f32[M]\nreduce r in T\nB[i] = 0\nB[i] += A[i + r]", ["M + T <= N + 1"]),
        ("output B: f32[N]\nB[i] = A[i + T - 5]", ["5 <= T", "T <= 5"]),
        ("output B: f32[M]\nB[i] = clamp_edge(A)[i]", ["1 <= N"]),
        ("output B: f32[M]\nB[i] = A[2 * i]", ["2 * M <= N + 1"]),
        ("output B: f32[M]\nB[i] = A[i / 2]", ["(M + 1) / 2 <= N"]),
    ],
)
def test_required(text: str, conditions: list[str]) -> None:
    assert requirements(text) == conditions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("output B: f32[N]\nB[i] = A[i + 1]", "reaches `N`"),
        ("output B: f32[N]\nB[i] = A[-i - 1]", "reaches `-N`"),
        ("output B: f32[2 * N + 1]\nB[i] = A[i / 2]", "reaches `N`"),
        ("output B: f32[N]\ntable W: f32[3] [k] = k\nB[i] = W[i % 4]", "reaches `3`"),
        ("output B: f32[N]\nB[i] = A[i32(U[i]) - 300]", "reaches `-300`"),
        ("output B: f32[N]\nB[i] = A[i64(A[i])]", "depends on the values of `A`"),
        ("output B: f32[N]\nf[x] = A[x]\ng[x] = f[x + 2]\nB[i] = g[i]", "reaches `N + 1`"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(HbcError) as raised:
        requirements(text)
    assert message in raised.value.diagnostics[0].message


def test_extents_must_not_be_negative() -> None:
    assert requirements("output B: f32[N - T]\nB[i] = A[i]", of_extents=True) == ["T <= N"]
    assert requirements("output B: f32[N + T - 1]\nB[i] = 0", of_extents=True) == []


def test_an_error_is_found_in_each_definition() -> None:
    with pytest.raises(HbcError) as raised:
        requirements("output B: f32[N]\noutput C: f32[N]\nB[i] = A[i + 1]\nC[i] = A[i - 1]")
    assert len(raised.value.diagnostics) == 2
