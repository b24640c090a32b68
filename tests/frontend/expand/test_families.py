"""Families of Funcs mean what is written out by hand, in definitions and in schedules."""

import numpy as np
import pytest

from hbc.cli.pipeline import lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import evaluate
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.fmt import format_source
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.show import show, show_kernel
from hbc.ir.lang.target import TARGETS

HEAD = """
size   N
param  J: i32 = 3
type   T = f32
input  A: f32[N]
output O: f32[N]
edge = clamp_edge(A)
def left(f)[x] = f[x - 1]
"""


def pipeline(text: str, **settings: str) -> Pipeline:
    return check(parse(Source("test.hb", HEAD + text)), settings)


def shown(p: Pipeline) -> list[str]:
    """Every definition and schedule as text."""
    found = []
    for f in p.funcs:
        found.append(f"{f.name}: {f.element}[{', '.join(f.variables)}] = {show(f.pure)}")
        found += [f"{f.name}: {show(u.value)}" for u in f.updates]
    return found


# What is written, what it stands for, and `--set`.
SAME = [
    (
        "g[0][x] = edge[x]\nfor l in 1 .. J { g[l][x] = 2 * g[l - 1][x] }\nO[x] = g[J - 1][x]\n",
        "g_0[x] = edge[x]\ng_1[x] = 2 * g_0[x]\ng_2[x] = 2 * g_1[x]\nO[x] = g_2[x]\n", {},
    ),
    (
        "g[0][x] = edge[x]\nfor l in 1 .. J { g[l][x] = 2 * g[l - 1][x] }\nO[x] = g[J - 1][x]\n",
        "g_0[x] = edge[x]\ng_1[x] = 2 * g_0[x]\nO[x] = g_1[x]\n", {"J": "2"},
    ),
    # The index is a number in values, conditions and indices; an inner one may depend on an outer one.
    (
        "O[x] = 0\nfor a in 0 .. 3, b in 0 .. a { O[x] += f32(10 * a + b) * edge[x - b] where x > a }\n",
        "O[x] = 0\nO[x] += f32(10 * 1 + 0) * edge[x - 0] where x > 1\n"
        "O[x] += f32(10 * 2 + 0) * edge[x - 0] where x > 2\n"
        "O[x] += f32(10 * 2 + 1) * edge[x - 1] where x > 2\n", {},
    ),
    (
        "for a in -1 .. 2 { for b in 0 .. 2 { h[a, b][x] = A[x] + f32(a); h[a, b][x] *= 2 } }\n"
        "O[x] = h[-1, 0][x] + h[1, 1][x]\n",
        "hm[x] = A[x] + f32(-1)\nhm[x] *= 2\nhp[x] = A[x] + f32(1)\nhp[x] *= 2\nO[x] = hm[x] + hp[x]\n", {},
    ),
    # By functions that stand for Funcs, and as their arguments; the type is given.
    (
        "g[0] = left(edge)\nfor l in 1 .. J { g[l] = left(g[l - 1]) }\n"
        "t[1]: f64[x] = 0\nO[x] = left(g[J - 1])[x] + f32(t[1][x])\n",
        "g_0[x] = edge[x - 1]\ng_1[x] = g_0[x - 1]\ng_2[x] = g_1[x - 1]\n"
        "t_1: f64[x] = 0\nO[x] = g_2[x - 1] + f32(t_1[x])\n", {},
    ),
    # A `let` hides the index; functions read members, and hide them by their parameters.
    (
        "g[1][x] = A[x]\ndef f(g, i) = g + i\ndef h(x) = g[1][x]\n"
        "O[x] = 0\nfor l in 1 .. 2 { O[x] += (let l = A[x] in l) + f(A[x], l) + h(x) }\n",
        "g_1[x] = A[x]\nO[x] = 0\nO[x] += (let l = A[x] in l) + (A[x] + 1) + g_1[x]\n", {},
    ),
    # The number of members may follow from a type, and be none.
    (
        "param B: i32 = 8 / bytes(T)\nO[x] = A[x]\nfor l in 0 .. B - 1 { O[x] += 1 }\n",
        "param B: i32 = 8 / bytes(T)\nO[x] = A[x]\n", {"T": "f64"},
    ),
]  # fmt: skip


def renamed(lines: list[str]) -> list[str]:
    return [s.replace("h_m1_0", "hm").replace("h_1_1", "hp") for s in lines]


@pytest.mark.parametrize(("short", "long", "given"), SAME)
def test_it_is_what_is_written_out(short: str, long: str, given: dict[str, str]) -> None:
    assert renamed(shown(pipeline(short, **given))) == shown(pipeline(long, **given))


FAMILY = "g[0][x] = edge[x]\nfor l in 1 .. J { g[l][x] = 2 * g[l - 1][x] }\nO[x] = g[J - 1][x]\n"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("g.compute_root()", "g_0.compute_root() g_1.compute_root() g_2.compute_root()"),
        ("g[1 ..].compute_root()", "g_1.compute_root() g_2.compute_root()"),
        ("g[0 .. J - 1].compute_root()", "g_0.compute_root() g_1.compute_root()"),
        ("g[J - 1].compute_root()", "g_2.compute_root()"),
        ("g[J ..].compute_root()", ""),  # `--set J=1` must not break `g[1 ..]`
        (
            "g[1].compute_root() g[0].compute_at(g[1], x)",
            "g_1.compute_root() g_0.compute_at(g_1, x)",
        ),
    ],
)
def test_schedules_name_members(line: str, meant: str) -> None:
    def lowered(text: str) -> str:
        p = pipeline(f"{FAMILY}schedule s for c {{ {text} }}\n")
        return show_kernel(lower_to_kernel(p, p.schedules[0], TARGETS["c"])).replace("g[1]", "g_1")

    assert lowered(line) == lowered(meant)


def pyramid(a: np.ndarray, levels: int) -> np.ndarray:
    """The document's pyramid, level by level, each large enough to need no edge but that of the input."""
    wide = ((len(a) >> levels) + 4) << levels
    g = [np.concatenate([a, np.full(wide - len(a), a[-1])])]
    for _ in range(1, levels):
        g.append((g[-1][0::2] + g[-1][1::2]) / 2)
    up = g[-1]
    for level in reversed(g[:-1]):
        up = 0.5 * up[np.arange(len(level)) // 2] + level
    return up[: len(a)]


@pytest.mark.parametrize("levels", [1, 3, 8])
@pytest.mark.parametrize("n", [4, 133])
def test_a_pyramid_is_what_numpy_makes(levels: int, n: int) -> None:
    text = """
size N
param J: i32 = 4
input A: f64[N]
output O: f64[N]
def down(f)[x] = (f[2 * x] + f[2 * x + 1]) / 2
edge = clamp_edge(A)
g[0][x] = edge[x]
for l in 1 .. J { g[l][x] = down(g[l - 1])[x] }
up[J - 1][x] = g[J - 1][x]
for t in 2 .. J + 1 { up[J - t][x] = 0.5 * up[J - t + 1][x / 2] + g[J - t][x] }
O[x] = up[0][x]
"""
    p = check(parse(Source("pyramid.hb", text)), {"J": str(levels)})
    a = np.random.default_rng(7).random(n)
    found = evaluate(p, {"N": n}, {"A": a})["O"].exact
    assert np.allclose(found, pyramid(a, levels), rtol=1e-12, atol=0)


def test_a_mistake_is_said_once() -> None:
    text = "for l in 0 .. 9 { g[l][x] = gian + A[x, 1] }\nO[x] = g[3][x]\n"
    with pytest.raises(HbcError) as raised:
        pipeline(text)
    places = [(d.span.start, d.span.end) for d in raised.value.diagnostics if d.span]
    assert len(places) == len(set(places)) == 2


def test_formatting() -> None:
    text = (
        "for l in 1..J {\n# why\n g[l] [x]=g[l-1][x]+1;g[l][x]+=3\nfor m in 0..2{h[l,m][x]=2*\n g[l][x]}\n}\n"
        "for l in 0..2 {k[l][x]=3 }\nschedule s for c { g[0 .. ].split(x,xo,xi,4);g[1..3].unroll(x,2)}\n"
    )
    want = (
        "for l in 1 .. J {\n    # why\n    g[l][x] = g[l - 1][x] + 1; g[l][x] += 3\n"
        "    for m in 0 .. 2 {\n        h[l, m][x] = 2 *\n            g[l][x]\n    }\n}\n"
        "for l in 0 .. 2 { k[l][x] = 3 }\n"
        "schedule s for c { g[0 ..].split(x, xo, xi, 4); g[1 .. 3].unroll(x, 2) }\n"
    )
    assert format_source(Source("f.hb", text)) == want
    assert format_source(Source("f.hb", want)) == want
